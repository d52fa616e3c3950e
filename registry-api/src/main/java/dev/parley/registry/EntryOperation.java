package dev.parley.registry;

import static dev.parley.protocol.json.Codecs.BYTES;
import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.WORDS;
import static dev.parley.registry.EntryModel.ENTRY;
import static dev.parley.registry.EntryModel.VISIBILITY;

import dev.parley.protocol.InvalidField;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.WireDocument;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.Documents;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.protocol.json.WordCodecs;
import dev.parley.registry.Entry.Status;
import dev.parley.registry.Entry.Visibility;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Operations on the entries of a registry: their requests, their answers, and a row for each. */
public final class EntryOperation {
    private EntryOperation() {}

    /**
     * A version of a document. A null member has its default in a new entry and keeps its value in an existing entry.
     *
     * @param url address of the document, or of the agent; it is fetched if neither {@code card} nor {@code bytes} is given
     * @param card the document as JSON
     * @param bytes the bytes of the document, for signed ones
     * @param type media type of the document; {@link Entry#AGENT_CARD} by default
     * @param visibility {@link Visibility#GROUP} by default
     * @param lease time after which the entry expires without a heartbeat
     * @param refuse kinds of changes to refuse
     * @param metadata further members, which filters find
     */
    public record Publication(
            @Nullable String url,
            @Nullable Map<String, @Nullable Object> card,
            byte @Nullable [] bytes,
            @Nullable String type,
            @Nullable String humanId,
            @Nullable Visibility visibility,
            @Nullable Duration lease,
            List<Difference.Kind> refuse,
            @Nullable Map<String, @Nullable Object> metadata) {
        /** The document at an address, which the registry fetches. */
        public static Publication at(String url) {
            return new Publication(url, null, null, null, null, null, null, List.of(), null);
        }

        /** The bytes of a document. */
        public static Publication of(byte[] bytes) {
            return new Publication(null, null, bytes, null, null, null, null, List.of(), null);
        }

        /** This publication with a visibility of its entry. */
        public Publication with(Visibility other) {
            return new Publication(url, card, bytes, type, humanId, other, lease, refuse, metadata);
        }
    }

    /** @param id URN of the entry; null for one of publisher, group and name */
    @RegistryCall.Named("registry/register")
    public record RegisterEntry(
            Publication publication, @Nullable String id) implements RegistryCall<Entry> {}

    /** Order of a list: ascending, or descending after a minus. */
    public enum Order {
        NAME("name"),
        NAME_DESCENDING("-name"),
        CHANGE("change"),
        CHANGE_DESCENDING("-change"),
        UPDATED("updated"),
        UPDATED_DESCENDING("-updated"),
        CREATED("created"),
        CREATED_DESCENDING("-created");

        private final String word;

        Order(String word) {
            this.word = word;
        }

        /** The word on the wire. */
        @Override
        public String toString() {
            return word;
        }
    }

    /** @param order null for the one by names */
    @RegistryCall.Named("registry/list")
    public record ListEntries(
            EntryFilter filter,
            @Nullable Long pageSize,
            @Nullable String pageToken,
            @Nullable Order order,
            @Nullable String words)
            implements RegistryCall<EntryPage> {}

    @RegistryCall.Named("registry/show")
    public record ShowEntry(String id) implements RegistryCall<ShownEntry> {}

    /** @param revision null for the newest */
    @RegistryCall.Named("registry/card")
    public record ReadDocument(String id, @Nullable Long revision) implements RegistryCall<WireDocument> {}

    @RegistryCall.Named("registry/publish")
    public record PublishVersion(String id, Publication publication) implements RegistryCall<Entry> {}

    /**
     * Changes members of an entry that its document does not have. A null member keeps its value.
     *
     * @param status {@link Status#ACTIVE} or {@link Status#DEPRECATED}
     * @param humanId blank to remove it
     * @param metadata in place of those before
     */
    @RegistryCall.Named("registry/update")
    public record UpdateEntry(
            String id,
            @Nullable Visibility visibility,
            @Nullable Status status,
            @Nullable String reason,
            @Nullable String humanId,
            @Nullable Map<String, @Nullable Object> metadata)
            implements RegistryCall<Entry> {}

    @RegistryCall.Named("registry/delete")
    public record DeleteEntry(String id) implements RegistryCall<Entry> {}

    @RegistryCall.Named("registry/restore")
    public record RestoreEntry(String id) implements RegistryCall<Entry> {}

    /** @param lease null for one as long as before */
    @RegistryCall.Named("registry/renew")
    public record RenewLease(String id, @Nullable Duration lease) implements RegistryCall<Entry> {}

    /** @param group null for that of the caller */
    @RegistryCall.Named("registry/transfer")
    public record TransferEntry(
            String id, String principal, @Nullable String group) implements RegistryCall<Entry> {}

    /**
     * A page of entries.
     *
     * @param next token of the next page; null on the last one
     * @param total number of all entries that match; -1 if unknown
     */
    public record EntryPage(List<Entry> entries, @Nullable String next, long total) {}

    private static final Codec<EntryPage> PAGE = ObjectCodec.<EntryPage>of()
            .required("agents", Codecs.list(ENTRY), EntryPage::entries)
            .optional("nextPageToken", TEXT, EntryPage::next)
            .optional("total", COUNT, -1L, EntryPage::total)
            .as(v -> new EntryPage(v.next(), v.next(), v.<Long>next()));

    /** Seconds of a lease. */
    private static final Codec<Duration> LEASE = Codecs.via(COUNT, Duration::ofSeconds, Duration::toSeconds);

    private static Codec<Order> order() {
        var words = new EnumMap<Order, String>(Order.class);
        var orders = new HashMap<String, Order>();
        for (Order order : Order.values()) {
            words.put(order, order.toString());
            orders.put(order.toString(), order);
        }
        return WordCodecs.reading(Codecs.words(words, Map.of()), word -> {
            if (!word.isBlank() && !orders.containsKey(word)) {
                throw InvalidField.of("", word + " (expected: name, change, updated or created)");
            }
            return orders.get(word);
        });
    }

    private static final Codec<Status> SETTABLE =
            Codecs.words(new EnumMap<>(Map.of(Status.ACTIVE, "active", Status.DEPRECATED, "deprecated")), Map.of());

    private static <T> ObjectCodec.Builder<T> publication(ObjectCodec.Builder<T> shape, Function<T, Publication> of) {
        return shape.optional("url", WORDS, request -> of.apply(request).url())
                .help("URL", "Address of the document, or of the agent; it is fetched.")
                .optional("card", STRUCT, request -> of.apply(request).card())
                .help("CARD", "The document as JSON.")
                .optional("bytes", BYTES, request -> of.apply(request).bytes())
                .help("BASE64", "The bytes of the document in base64, for signed ones.")
                .optional("type", WORDS, request -> of.apply(request).type())
                .help("TYPE", "Media type of the document; default " + Entry.AGENT_CARD + ".")
                .optional("humanId", WORDS, request -> of.apply(request).humanId())
                .help("ORG/AGENT", "Readable id.")
                .optional(
                        "visibility",
                        Codecs.orBlank(VISIBILITY),
                        request -> of.apply(request).visibility())
                .help("WHO", "private, group or public; default group.")
                .optional("lease", LEASE, request -> of.apply(request).lease())
                .help("SECONDS", "Time after which the entry expires without a heartbeat.")
                .optional(
                        "refuse",
                        Codecs.list(Difference.KIND),
                        List.of(),
                        request -> of.apply(request).refuse())
                .help("KINDS", "Kinds of changes to refuse: breaking, trust.")
                .optional("metadata", STRUCT, request -> of.apply(request).metadata())
                .help("OBJECT", "Further members, which filters find.");
    }

    private static Publication publication(ObjectCodec.Values v) {
        return new Publication(
                v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next());
    }

    /** Begins the shape of a request about an entry. */
    static <T> ObjectCodec.Builder<T> ofEntry(Function<T, String> id) {
        return ObjectCodec.<T>of().required("id", TEXT, id).argument("ID", "URN or readable id of the entry.");
    }

    /** Adds the members of a request for a page to a shape. */
    static <T> ObjectCodec.Builder<T> page(
            ObjectCodec.Builder<T> shape, Function<T, @Nullable Long> size, Function<T, @Nullable String> token) {
        return shape.optional("pageSize", Codecs.number(0, EntryFilter.MAX_PAGE), size)
                .help("COUNT", "Limit of the entries; default 50.")
                .optional("pageToken", WORDS, token)
                .help("TOKEN", "Token of the page, from the page before.");
    }

    public static final ExtensionMethod<RegisterEntry, Entry> REGISTER = RegistryCall.row(
            RegisterEntry.class,
            "POST /agents",
            "Register an agent, or publish a version of its card",
            publication(ObjectCodec.<RegisterEntry>of(), RegisterEntry::publication)
                    .optional("id", WORDS, RegisterEntry::id)
                    .help("URN", "URN of the entry; default: of publisher, group and name.")
                    .as(v -> new RegisterEntry(publication(v), v.next())),
            ENTRY);

    public static final ExtensionMethod<ListEntries, EntryPage> LIST = RegistryCall.row(
            ListEntries.class,
            "GET /agents",
            "List or search entries",
            page(EntryFilter.shape(ListEntries::filter), ListEntries::pageSize, ListEntries::pageToken)
                    .optional("order", order(), ListEntries::order)
                    .help("ORDER", "name or change; default name.")
                    .optional("q", TEXT, ListEntries::words)
                    .help("WORDS", "Words to search for.")
                    .as(v -> new ListEntries(EntryFilter.read(v), v.next(), v.next(), v.next(), v.next())),
            PAGE);

    public static final ExtensionMethod<ShowEntry, ShownEntry> SHOW = RegistryCall.row(
            ShowEntry.class,
            "GET /agents/{id}",
            "Show an entry",
            ofEntry(ShowEntry::id).as(v -> new ShowEntry(v.next())),
            Codecs.via(ENTRY, ShownEntry::of, ShownEntry::entry));

    public static final ExtensionMethod<ReadDocument, WireDocument> CARD = RegistryCall.row(
            ReadDocument.class,
            "GET /agents/{id}/card",
            "Read the document of an entry, as its publisher signed it or as the view of the caller",
            ofEntry(ReadDocument::id)
                    .optional("revision", COUNT, ReadDocument::revision)
                    .help("NUMBER", "A version of the document; default the newest.")
                    .as(v -> new ReadDocument(v.next(), v.next())),
            Documents.JSON);

    public static final ExtensionMethod<PublishVersion, Entry> PUBLISH = RegistryCall.row(
            PublishVersion.class,
            "PUT /agents/{id}",
            "Publish a version; without a document, fetch it again",
            publication(ofEntry(PublishVersion::id), PublishVersion::publication)
                    .as(v -> new PublishVersion(v.next(), publication(v))),
            ENTRY);

    public static final ExtensionMethod<UpdateEntry, Entry> UPDATE = RegistryCall.row(
            UpdateEntry.class,
            "PATCH /agents/{id}",
            "Change what is not in the document",
            ofEntry(UpdateEntry::id)
                    .optional("visibility", Codecs.orBlank(VISIBILITY), UpdateEntry::visibility)
                    .help("WHO", "private, group or public.")
                    .optional("status", Codecs.orBlank(SETTABLE), UpdateEntry::status)
                    .help("STATUS", "active or deprecated.")
                    .optional("reason", WORDS, UpdateEntry::reason)
                    .help("TEXT", "Why, for readers of the changes.")
                    .optional("humanId", TEXT, UpdateEntry::humanId)
                    .help("ORG/AGENT", "Readable id.")
                    .optional("metadata", STRUCT, UpdateEntry::metadata)
                    .help("OBJECT", "Further members, in place of those before.")
                    .as(v -> new UpdateEntry(v.next(), v.next(), v.next(), v.next(), v.next(), v.next())),
            ENTRY);

    public static final ExtensionMethod<DeleteEntry, Entry> DELETE = RegistryCall.row(
            DeleteEntry.class,
            "DELETE /agents/{id}",
            "Delete an entry; it can be restored for 30 days",
            ofEntry(DeleteEntry::id).as(v -> new DeleteEntry(v.next())),
            ENTRY);

    public static final ExtensionMethod<RestoreEntry, Entry> RESTORE = RegistryCall.row(
            RestoreEntry.class,
            "POST /agents/{id}:restore",
            "Restore a deleted entry",
            ofEntry(RestoreEntry::id).as(v -> new RestoreEntry(v.next())),
            ENTRY);

    public static final ExtensionMethod<RenewLease, Entry> RENEW = RegistryCall.row(
            RenewLease.class,
            "POST /agents/{id}:renew",
            "Renew the lease of an entry: a heartbeat",
            ofEntry(RenewLease::id)
                    .optional("lease", LEASE, RenewLease::lease)
                    .help("SECONDS", "Length of the lease; default as before.")
                    .as(v -> new RenewLease(v.next(), v.next())),
            ENTRY);

    public static final ExtensionMethod<TransferEntry, Entry> TRANSFER = RegistryCall.row(
            TransferEntry.class,
            "POST /agents/{id}:transfer",
            "Give an entry to another owner",
            ofEntry(TransferEntry::id)
                    .required("principal", TEXT, TransferEntry::principal)
                    .help("NAME", "The new owner.")
                    .optional("group", WORDS, TransferEntry::group)
                    .help("GROUP", "Group of the new owner; default that of the caller.")
                    .as(v -> new TransferEntry(v.next(), v.next(), v.next())),
            ENTRY);

    static final List<ExtensionMethod<?, ?>> ROWS =
            List.of(REGISTER, LIST, SHOW, CARD, PUBLISH, UPDATE, DELETE, RESTORE, RENEW, TRANSFER);
}
