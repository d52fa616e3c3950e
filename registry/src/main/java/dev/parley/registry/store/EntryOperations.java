package dev.parley.registry.store;

import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.Json;
import dev.parley.extension.Handlers;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.extension.WireDocument;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Ownership;
import dev.parley.registry.Entry.Status;
import dev.parley.registry.Entry.Visibility;
import dev.parley.registry.EntryChange;
import dev.parley.registry.EntryFilter;
import dev.parley.registry.EntryOperation;
import dev.parley.registry.EntryOperation.DeleteEntry;
import dev.parley.registry.EntryOperation.EntryPage;
import dev.parley.registry.EntryOperation.ListEntries;
import dev.parley.registry.EntryOperation.Order;
import dev.parley.registry.EntryOperation.PublishVersion;
import dev.parley.registry.EntryOperation.ReadDocument;
import dev.parley.registry.EntryOperation.RegisterEntry;
import dev.parley.registry.EntryOperation.RestoreEntry;
import dev.parley.registry.EntryOperation.ShowEntry;
import dev.parley.registry.EntryOperation.TransferEntry;
import dev.parley.registry.EntryOperation.UpdateEntry;
import dev.parley.registry.ExchangeOperation;
import dev.parley.registry.ExchangeOperation.ExportEntries;
import dev.parley.registry.ExchangeOperation.ExportPage;
import dev.parley.registry.ExchangeOperation.ExportedEntry;
import dev.parley.registry.ExchangeOperation.ImportedEntry;
import dev.parley.registry.HistoryOperation;
import dev.parley.registry.HistoryOperation.ChangePage;
import dev.parley.registry.HistoryOperation.ListChanges;
import dev.parley.registry.HistoryOperation.WatchChanges;
import dev.parley.registry.RegistryError;
import dev.parley.registry.ReviewOperation;
import dev.parley.registry.ReviewOperation.ReviewList;
import dev.parley.registry.ShownEntry;
import dev.parley.registry.document.CardFetch;
import dev.parley.registry.document.CardFetch.Fetched;
import dev.parley.registry.document.CardReader;
import dev.parley.registry.document.Document;
import dev.parley.registry.document.SecretScan;
import dev.parley.registry.spi.Publication;
import dev.parley.registry.store.ChangeFeed.Batch;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/** Handlers of the operations on the record of entries. */
public final class EntryOperations {
    private static final int DEFAULT_PAGE = 50;

    private static final int MAX_TEXT = 4_000;
    private static final int IMPORTS_AT_ONCE = 32;

    private final EntryReader reader;
    private final EntryWriter writer;
    private final EntryPublisher publisher;
    private final EntryLog log;
    private final History history;
    private final EntryReviews reviews;
    private final LookAlikes lookAlikes;
    private final CardFetch fetch;

    public EntryOperations(Entries entries, LookAlikes lookAlikes, CardFetch fetch) {
        this.reader = entries.reader();
        this.writer = entries.writer();
        this.publisher = entries.publisher();
        this.log = entries.changes().log();
        this.history = entries.changes().history();
        this.reviews = entries.reviews();
        this.lookAlikes = lookAlikes;
        this.fetch = fetch;
    }

    /** Handlers of the operations that are not audited, but for lists. */
    public Handlers handlers() {
        return Handlers.NONE
                .call(EntryOperation.SHOW, this::show)
                .call(EntryOperation.CARD, this::card)
                .call(EntryOperation.RENEW, (given, caller) -> writer.renew(given.id(), given.lease(), caller))
                .call(
                        HistoryOperation.VERSIONS,
                        (given, caller) ->
                                history.list(reader.whole(given.id(), caller).number()))
                .call(
                        HistoryOperation.DIFF,
                        (given, caller) ->
                                history.diff(reader.whole(given.id(), caller).number(), given.from(), given.to()))
                .call(HistoryOperation.CHANGES, this::changes)
                .watch(HistoryOperation.WATCH, this::watch)
                .call(
                        ReviewOperation.NOTE,
                        (given, caller) -> review(given.id(), PersonalEntries.Kind.NOTE, 0, given.text(), caller))
                .call(ReviewOperation.REVIEWS, (given, caller) -> reviews(given.id(), caller))
                .call(ReviewOperation.VIEWS, (given, caller) -> reader.views(given.id(), caller))
                .call(ExchangeOperation.EXPORT, this::export);
    }

    public Entry register(RegisterEntry given, CallContext caller) {
        Publication publication =
                publication(given.publication(), given.id(), null, document(given.publication(), null, caller));
        publisher.refuseAnother(publication, caller);
        return lookAlikes.flagged(publisher.publish(publication, caller), caller);
    }

    /** Publishes a version of an entry; what the request leaves out stays as it is. */
    public Entry publish(PublishVersion given, CallContext caller) {
        Entry entry = reader.shown(given.id(), caller);
        Fetched document = document(given.publication(), entry, caller);
        return lookAlikes.flagged(
                publisher.publish(publication(given.publication(), null, entry, document), caller), caller);
    }

    private Fetched document(EntryOperation.Publication given, @Nullable Entry entry, CallContext caller) {
        String address = given.url();
        if (given.bytes() != null) {
            return new Fetched(address, given.bytes());
        }
        if (given.card() != null && !given.card().isEmpty()) { // generated clients send an empty one for none
            return new Fetched(address, Json.write(given.card()));
        }
        if (address == null && entry != null) {
            address = entry.resource().url();
        }
        if (address == null) {
            throw A2AException.invalidParams("card", "missing (expected: url, card or bytes)");
        }
        String group = caller.scope().group();
        return type(given, entry).equals(Entry.AGENT_CARD)
                ? fetch.card(group, address)
                : fetch.document(group, address);
    }

    private static String type(EntryOperation.Publication given, @Nullable Entry entry) {
        return requireNonNullElse(
                given.type(),
                entry == null ? Entry.AGENT_CARD : entry.resource().type());
    }

    private static Publication publication(
            EntryOperation.Publication given, @Nullable String id, @Nullable Entry entry, Fetched document) {
        Map<String, @Nullable Object> metadata = given.metadata();
        return new Publication(
                entry != null ? entry.id() : id,
                type(given, entry),
                document.bytes(),
                document.url(),
                given.humanId(),
                requireNonNullElse(
                        given.visibility(),
                        entry == null ? Visibility.GROUP : entry.ownership().visibility()),
                given.lease(),
                given.refuse(),
                metadata != null
                        ? present(metadata)
                        : entry == null ? Map.of() : entry.resource().metadata());
    }

    public EntryPage list(ListEntries given, CallContext caller) {
        EntryPage page = reader.list(
                given.filter(),
                requireNonNullElse(given.order(), Order.NAME),
                size(given.pageSize()),
                given.pageToken(),
                caller);
        return new EntryPage(lookAlikes.flagged(page.entries(), caller), page.next(), page.total());
    }

    private static int size(@Nullable Long given) {
        return given == null ? DEFAULT_PAGE : (int) Math.max(1, given);
    }

    /** An entry with its stored bytes, which are not read again: look-ups are the most frequent calls. */
    private ShownEntry show(ShowEntry given, CallContext caller) {
        Entry entry = reader.shown(given.id(), caller);
        Entry flagged = lookAlikes.flagged(entry, caller);
        return flagged.lookAlikes().isEmpty()
                ? new ShownEntry(entry, reader.json(given.id(), caller))
                : ShownEntry.of(flagged);
    }

    private WireDocument card(ReadDocument given, CallContext caller) {
        Document document = reader.document(given.id(), given.revision(), caller);
        return new WireDocument(document.bytes(), document.mediaType(), document.etag());
    }

    public Entry delete(DeleteEntry given, CallContext caller) {
        return writer.change(given.id(), EntryChange.Kind.DELETED, Map.of(), caller, EntryOperations::deleted);
    }

    private static Entry deleted(Entry entry) {
        if (entry.state().status() == Status.REVOKED) {
            throw A2AException.of(RegistryError.REFUSED_CHANGE, "entry " + entry.id() + ": revoked");
        }
        return entry.with(entry.state().with(Status.DELETED));
    }

    public Entry restore(RestoreEntry given, CallContext caller) {
        return writer.change(
                given.id(), EntryChange.Kind.CHANGED, Map.of("restored", true), caller, EntryOperations::restored);
    }

    /** A deleted entry active again; another one, and one whose content is erased, as it is. */
    static Entry restored(Entry entry) {
        return entry.state().status() == Status.DELETED
                        && !entry.resource().digest().isEmpty()
                ? entry.with(entry.state().with(Status.ACTIVE))
                : entry;
    }

    public Entry update(UpdateEntry given, CallContext caller) {
        var details = new LinkedHashMap<String, Object>();
        if (given.reason() != null) {
            details.put("reason", limited("reason", given.reason()));
        }
        Map<String, Object> metadata = given.metadata() == null ? null : present(given.metadata());
        SecretScan.refuse(metadata);
        return writer.change(
                given.id(),
                given.status() == Status.DEPRECATED ? EntryChange.Kind.DEPRECATED : EntryChange.Kind.CHANGED,
                details,
                caller,
                entry -> updated(entry, given, metadata));
    }

    private static Entry updated(Entry entry, UpdateEntry given, @Nullable Map<String, Object> metadata) {
        String humanId = given.humanId() == null ? entry.resource().humanId() : given.humanId();
        Ownership owner = entry.ownership();
        Entry changed = entry.with(CardReader.with(
                        entry.resource(),
                        humanId == null || humanId.isBlank() ? null : humanId,
                        metadata == null ? entry.resource().metadata() : CardReader.metadata(Map.of(), metadata)))
                .with(new Ownership(
                        owner.group(), owner.principal(), requireNonNullElse(given.visibility(), owner.visibility())));
        Status before = entry.state().status();
        boolean isShown = before != Status.DELETED && before != Status.REVOKED;
        return given.status() != null && isShown ? changed.with(changed.state().with(given.status())) : changed;
    }

    private static String limited(String name, String text) {
        if (text.length() > MAX_TEXT) {
            throw A2AException.invalidParams(name, text.length() + " characters (expected: at most " + MAX_TEXT + ")");
        }
        return text;
    }

    public Entry transfer(TransferEntry given, CallContext caller) {
        String principal = given.principal();
        String group = requireNonNullElse(given.group(), caller.scope().group());
        if (principal.isBlank() || principal.equals(Entry.HUB) || group.startsWith("*")) {
            throw A2AException.invalidParams("principal", principal + " (expected: a principal of a group)");
        }
        return writer.change(
                given.id(),
                EntryChange.Kind.TRANSFERRED,
                Map.of("group", group, "owner", principal),
                caller,
                entry -> entry.with(
                        new Ownership(group, principal, entry.ownership().visibility())));
    }

    public ReviewList review(ReviewOperation.ReviewEntry given, CallContext caller) {
        return review(
                given.id(),
                PersonalEntries.Kind.REVIEW,
                given.stars(),
                given.stars() == 0 || given.text().isBlank() ? "" : given.text(),
                caller);
    }

    private ReviewList review(String id, PersonalEntries.Kind kind, long stars, String text, CallContext caller) {
        reviews.write(id, kind, stars, limited("text", text), caller);
        return reviews(id, caller);
    }

    private ReviewList reviews(String id, CallContext caller) {
        return reviews.list(id, caller);
    }

    public Map<String, ReviewOperation.View> setViews(ReviewOperation.SetViews given, CallContext caller) {
        writer.setViews(given.id(), given.views(), caller);
        return reader.views(given.id(), caller);
    }

    private ChangePage changes(ListChanges given, CallContext caller) {
        Batch batch = log.changesOnce(given.after(), given.filter(), size(given.pageSize()), caller);
        return new ChangePage(batch.changes(), batch.last());
    }

    /** Opens the feed of changes. */
    public Feed<EntryChange> watch(WatchChanges watch, CallContext caller) {
        long after = watch.after() == null ? log.newest() : watch.after();
        return log.changes(after, watch.filter(), caller);
    }

    private ExportPage export(ExportEntries given, CallContext caller) {
        EntryPage page =
                reader.list(given.filter(), Order.NAME, size(given.pageSize()), given.pageToken(), true, caller);
        return new ExportPage(
                page.entries().stream()
                        .map(entry -> new ExportedEntry(
                                entry, reader.document(entry.id(), null, caller).bytes()))
                        .toList(),
                page.next());
    }

    /**
     * Publishes exported entries for the caller. An entry that is refused does not stop the others.
     *
     * @param exported list of objects, as a page of an export has it
     */
    public List<ImportedEntry> imported(@Nullable Object exported, CallContext caller) {
        List<?> all = exported instanceof List<?> list ? list : List.of();
        if (all.isEmpty() || all.size() > EntryFilter.MAX_PAGE) {
            throw A2AException.invalidParams(
                    "entries", all.size() + " (expected: 1 to " + EntryFilter.MAX_PAGE + " exported entries)");
        }
        var permits = new Semaphore(IMPORTS_AT_ONCE);
        var results = new ArrayList<Future<ImportedEntry>>();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Object each : all) {
                results.add(threads.submit(() -> {
                    permits.acquire();
                    try {
                        ExportedEntry one = ExchangeOperation.EXPORTED.fromJson(each);
                        return new ImportedEntry(published(one, caller).id(), null);
                    } catch (A2AException refused) {
                        return new ImportedEntry(null, String.valueOf(refused.getMessage()));
                    } finally {
                        permits.release();
                    }
                }));
            }
        }
        return results.stream().map(Future::resultNow).toList();
    }

    private Entry published(ExportedEntry exported, CallContext caller) {
        Entry entry = exported.entry();
        var given = new Publication(
                entry.id(),
                entry.resource().type(),
                exported.document(),
                entry.resource().url(),
                entry.resource().humanId(),
                entry.ownership().visibility(),
                null,
                List.of(),
                entry.resource().metadata());
        publisher.refuseAnother(given, caller);
        return publisher.publish(given, caller);
    }

    private static Map<String, Object> present(Map<String, @Nullable Object> members) {
        var present = new LinkedHashMap<String, Object>();
        members.forEach((name, value) -> {
            if (value != null) {
                present.put(name, value);
            }
        });
        return present;
    }
}
