package dev.parley.registry;

import static dev.parley.protocol.extension.RestParameter.body;
import static dev.parley.protocol.extension.RestParameter.member;
import static dev.parley.protocol.extension.RestParameter.path;
import static dev.parley.protocol.extension.RestParameter.query;

import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.ExtensionStyle;
import dev.parley.protocol.extension.ExtensionUri;
import dev.parley.protocol.extension.JsonForm;
import dev.parley.protocol.extension.MethodCall;
import dev.parley.protocol.extension.RestDescription;
import dev.parley.protocol.extension.RestParameter;
import dev.parley.protocol.extension.RestParameter.Type;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Operations of a registry on the wire. The agent {@value #AGENT} answers them, at {@code /registry}. */
public final class RegistryProtocol implements ExtensionProtocol.Provider {
    /** Name of the agent. */
    public static final String AGENT = "registry";

    public static final String REGISTER = "registry/register";
    public static final String LIST = "registry/list";
    public static final String SEARCH = "registry/search";
    public static final String FACETS = "registry/facets";
    public static final String SHOW = "registry/show";
    public static final String CARD = "registry/card";
    public static final String PUBLISH = "registry/publish";
    public static final String UPDATE = "registry/update";
    public static final String DELETE = "registry/delete";
    public static final String RESTORE = "registry/restore";
    public static final String RENEW = "registry/renew";
    public static final String TRANSFER = "registry/transfer";
    public static final String VERSIONS = "registry/versions";
    public static final String DIFF = "registry/diff";
    public static final String REVIEW = "registry/review";
    public static final String NOTE = "registry/note";
    public static final String REVIEWS = "registry/reviews";
    public static final String VIEWS = "registry/views";
    public static final String SET_VIEWS = "registry/views/set";
    public static final String CHANGES = "registry/changes";
    public static final String REVOKE = "registry/revoke";
    public static final String REVOCATIONS = "registry/revocations";
    public static final String HEALTH = "registry/health";
    public static final String INSPECT = "registry/inspect";
    public static final String WATCH = "registry/changes/watch";
    public static final String EXPORT = "registry/export";
    public static final String IMPORT = "registry/import";

    /** Operations on the record that callers without credentials may call, on public entries. */
    public static final Set<String> OPEN = Set.of(
            LIST, SEARCH, FACETS, SHOW, CARD, VERSIONS, DIFF, REVIEWS, CHANGES, WATCH, EXPORT, REVOCATIONS, HEALTH);

    /**
     * Watches changes.
     *
     * @param filter parameters of a filter
     * @param after number of the last change that the caller has; 0 for none, -1 for new ones only
     */
    public record WatchChanges(Map<String, @Nullable Object> filter, long after)
            implements Operation.ExtensionWatch<Map<String, Object>> {
        @Override
        public String name() {
            return WATCH;
        }
    }

    /**
     * Refuses members of a filter of changes that it does not have.
     *
     * @throws dev.parley.protocol.InvalidField naming the first one
     */
    public static void requireFilter(Set<String> members) {
        WATCHED.requireKnown(members);
    }

    private static WatchChanges watch(Map<String, @Nullable Object> json) {
        requireFilter(json.keySet());
        Object after = json.get("after");
        return new WatchChanges(json, after == null ? -1 : number(String.valueOf(after)));
    }

    private static long number(String id) {
        try {
            return Math.max(0, Long.parseLong(id));
        } catch (NumberFormatException foreign) {
            return 0; // no id of this registry: all changes
        }
    }

    private static Map<String, Object> members(Map<String, @Nullable Object> json) {
        var members = new LinkedHashMap<String, Object>();
        json.forEach((name, value) -> {
            if (value != null) {
                members.put(name, value);
            }
        });
        return members;
    }

    /** Member of entries in answers: ids of entries whose names look like its own. */
    public static final String LOOK_ALIKES = "lookAlikes";

    /** Largest page of a list. */
    public static final int MAX_PAGE = 500;

    /** Names of the fields of a filter that are parameters by themselves. */
    public static final List<String> FIELDS = List.of(
            "type",
            "provider",
            "capability",
            "binding",
            "dialect",
            "scheme",
            "health",
            "trust",
            "tee",
            "owner",
            "group",
            "publisher",
            "status",
            "humanId");

    private static final RestParameter[] OF_CHANGES =
            filtered(query("after", Type.NUMBER, "NUMBER", "Number of the last change that is known."));

    private static final RestDescription WATCHED = new RestDescription("", List.of(OF_CHANGES), Map.of());

    private static final RestParameter ID = path("id", "ID", "URN or readable id of the entry.");
    private static final Map<String, Object> OBJECT = Map.of("type", "object");

    /** The operations. */
    public static final ExtensionProtocol PROTOCOL = new ExtensionProtocol(
                    ExtensionUri.permanent("/extensions/registry/v1"),
                    Stream.of(ofStore(), ofTrust(), ofHealth(), ofSearch(), FaceProtocol.rows())
                            .flatMap(Collection::stream)
                            .toList(),
                    ExtensionStyle.A2A,
                    List.of())
            .with(RegistryError.values());

    /** A row of the registry: its parameters in the path begin with the id if the path has one. */
    static ExtensionMethod<MethodCall, Object> row(
            String name, String place, String summary, RestParameter... parameters) {
        var all = new ArrayList<RestParameter>();
        if (place.contains("{id}")) {
            all.add(ID);
        }
        all.addAll(List.of(parameters));
        return ExtensionMethod.described(name, place, new RestDescription(summary, all, OBJECT).strict());
    }

    /** The parameters of a filter, and further ones behind them. */
    static RestParameter[] filtered(RestParameter... further) {
        var all = new ArrayList<RestParameter>();
        all.add(query("skill", Type.TEXTS, "SKILL", "Id of a skill; repeated ones are all needed."));
        all.add(query("tag", Type.TEXTS, "TAG", "Tag; repeated ones are all needed."));
        for (String field : FIELDS) {
            all.add(query(field, Type.TEXTS, "VALUE", "Value of this field; repeated ones are alternatives."));
        }
        all.add(query("metadata", Type.TEXTS, "NAME=VALUE", "Value of a further member."));
        all.add(query("hidden", Type.TRUTH, "", "Also entries that are deleted, expired or revoked."));
        all.add(query("pageSize", Type.NUMBER, "COUNT", "Limit of the entries; default 50.")
                .atMost(MAX_PAGE));
        all.add(query("pageToken", Type.TEXT, "TOKEN", "Token of the page, from the page before."));
        all.addAll(List.of(further));
        return all.toArray(RestParameter[]::new);
    }

    private static RestParameter[] publication(boolean isNew) {
        var all = new ArrayList<>(List.of(
                member("url", Type.TEXT, "URL", "Address of the document, or of the agent; it is fetched."),
                member("card", Type.OBJECT, "CARD", "The document as JSON."),
                member("bytes", Type.TEXT, "BASE64", "The bytes of the document in base64, for signed ones."),
                member("type", Type.TEXT, "TYPE", "Media type of the document; default " + Entry.AGENT_CARD + "."),
                member("humanId", Type.TEXT, "ORG/AGENT", "Readable id."),
                member("visibility", Type.TEXT, "WHO", "private, group or public; default group."),
                member("lease", Type.NUMBER, "SECONDS", "Time after which the entry expires without a heartbeat."),
                member("refuse", Type.TEXTS, "KINDS", "Kinds of changes to refuse: breaking, trust."),
                member("metadata", Type.OBJECT, "OBJECT", "Further members, which filters find.")));
        if (isNew) {
            all.add(member("id", Type.TEXT, "URN", "URN of the entry; default: of publisher, group and name.")
                    .flag("--id"));
        }
        return all.toArray(RestParameter[]::new);
    }

    /** Operations on the record of entries. */
    public static List<ExtensionMethod<?, ?>> ofStore() {
        return List.of(
                row(REGISTER, "POST /agents", "Register an agent, or publish a version of its card", publication(true)),
                row(
                        LIST,
                        "GET /agents",
                        "List or search entries",
                        filtered(
                                query("order", Type.TEXT, "ORDER", "name or change; default name."),
                                query("q", Type.TEXT, "WORDS", "Words to search for."))),
                row(SHOW, "GET /agents/{id}", "Show an entry"),
                row(
                        CARD,
                        "GET /agents/{id}/card",
                        "Read the document of an entry, as its publisher signed it or as the view of the caller",
                        query("revision", Type.NUMBER, "NUMBER", "A version of the document; default the newest.")),
                row(
                        PUBLISH,
                        "PUT /agents/{id}",
                        "Publish a version; without a document, fetch it again",
                        publication(false)),
                row(
                        UPDATE,
                        "PATCH /agents/{id}",
                        "Change what is not in the document",
                        member("visibility", Type.TEXT, "WHO", "private, group or public."),
                        member("status", Type.TEXT, "STATUS", "active or deprecated."),
                        member("reason", Type.TEXT, "TEXT", "Why, for readers of the changes."),
                        member("humanId", Type.TEXT, "ORG/AGENT", "Readable id."),
                        member("metadata", Type.OBJECT, "OBJECT", "Further members, in place of those before.")),
                row(DELETE, "DELETE /agents/{id}", "Delete an entry; it can be restored for 30 days"),
                row(RESTORE, "POST /agents/{id}:restore", "Restore a deleted entry"),
                row(
                        RENEW,
                        "POST /agents/{id}:renew",
                        "Renew the lease of an entry: a heartbeat",
                        member("lease", Type.NUMBER, "SECONDS", "Length of the lease; default as before.")),
                row(
                        TRANSFER,
                        "POST /agents/{id}:transfer",
                        "Give an entry to another owner",
                        member("principal", Type.TEXT, "NAME", "The new owner.").asRequired(),
                        member("group", Type.TEXT, "GROUP", "Group of the new owner; default that of the caller.")),
                row(VERSIONS, "GET /agents/{id}/versions", "List versions, with the kinds of their changes"),
                row(
                        DIFF,
                        "GET /agents/{id}/diff",
                        "Compare two versions: breaking, safe and trust changes",
                        query("from", Type.NUMBER, "NUMBER", "The older version; default the one before."),
                        query("to", Type.NUMBER, "NUMBER", "The newer version; default the newest.")),
                row(
                        REVIEW,
                        "POST /agents/{id}:review",
                        "Review an entry, in place of an earlier review of the caller",
                        member("stars", Type.NUMBER, "STARS", "1 to 5; 0 removes the review.")
                                .asRequired()
                                .atMost(5),
                        member("text", Type.TEXT, "TEXT", "Text of the review.")),
                row(
                        NOTE,
                        "POST /agents/{id}:note",
                        "Write a note for the group of the caller; an empty one removes it",
                        member("text", Type.TEXT, "TEXT", "Text of the note.").asRequired()),
                row(REVIEWS, "GET /agents/{id}/reviews", "List reviews, and notes of the caller's group"),
                row(VIEWS, "GET /agents/{id}/views", "Show the selective views of an entry to its owner"),
                row(
                        SET_VIEWS,
                        "PUT /agents/{id}/views",
                        "Set the selective views of an entry",
                        member("views", Type.OBJECT, "OBJECT", "Views by name, the most specific first.")
                                .asRequired()),
                row(CHANGES, "GET /changes", "List changes, the oldest first", OF_CHANGES),
                ExtensionMethod.stream(
                                WATCH,
                                WatchChanges.class,
                                JsonForm.object(RegistryProtocol::watch, WatchChanges::filter),
                                JsonForm.object(RegistryProtocol::members, LinkedHashMap::new))
                        .rest("GET /changes")
                        .resumable(
                                change -> String.valueOf(change.get("number")),
                                (watch, id) -> new WatchChanges(watch.filter(), number(id))),
                row(EXPORT, "GET /export", "Export entries with their documents, page by page", filtered()),
                row(
                        IMPORT,
                        "POST /import",
                        "Import exported entries as entries of the caller",
                        body("export", "OBJECT", "A page of an export.")));
    }

    /** Operations on trust. */
    public static List<ExtensionMethod<?, ?>> ofTrust() {
        return List.of(
                row(
                        REVOKE,
                        "POST /agents/{id}:revoke",
                        "Revoke an entry for good",
                        member("reason", Type.TEXT, "TEXT", "Reason, which readers see.")
                                .asRequired()),
                row(REVOCATIONS, "GET /revocations", "Get the signed list of revoked entries"));
    }

    /** Operations on health. */
    public static List<ExtensionMethod<?, ?>> ofHealth() {
        return List.of(
                row(HEALTH, "GET /agents/{id}/health", "Show the health of an agent, and its last probes"),
                row(
                        INSPECT,
                        "POST /inspect",
                        "Check a card, its signatures and its addresses, and register nothing",
                        member("url", Type.TEXT, "URL", "Address of the card, or of the agent; it is fetched."),
                        member("card", Type.OBJECT, "CARD", "The card as JSON."),
                        member("bytes", Type.TEXT, "BASE64", "The bytes of the card in base64, for signed ones."),
                        member("agent", Type.TEXT, "NAME", "Agent of this hub."),
                        member("id", Type.TEXT, "URN", "URN or readable id of an entry.")
                                .flag("--id"),
                        member("probe", Type.TRUTH, "", "Whether the interfaces are called; default true.")));
    }

    /** Search by words. */
    public static List<ExtensionMethod<?, ?>> ofSearch() {
        RestParameter words = query("q", Type.TEXT, "WORDS", "Words to search for, in any order.");
        RestParameter typing = query("typing", Type.TRUTH, "", "The last word is the begin of one.");
        return List.of(
                row(SEARCH, "GET /search", "Rank entries for words, with score and reasons", filtered(words, typing)),
                row(
                        FACETS,
                        "GET /facets",
                        "Count the values of fields over all entries that a search finds",
                        filtered(
                                words,
                                typing,
                                query("facet", Type.TEXTS, "FIELD", "Field to count, such as tag; repeatable."),
                                query("limit", Type.NUMBER, "COUNT", "Limit of the values of a field; default 20.")
                                        .atMost(MAX_PAGE))));
    }

    @Override
    public Collection<ExtensionProtocol> protocols() {
        return List.of(PROTOCOL);
    }
}
