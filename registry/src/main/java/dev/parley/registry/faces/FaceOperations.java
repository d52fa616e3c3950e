package dev.parley.registry.faces;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.spi.WireFace;
import dev.parley.engine.AgentExtension.CallHandler;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.extension.WireDocument;
import dev.parley.protocol.support.Excerpt;
import dev.parley.registry.Entry;
import dev.parley.registry.EntryFilter;
import dev.parley.registry.EntryOperation.EntryPage;
import dev.parley.registry.EntryOperation.Order;
import dev.parley.registry.EntryOperation.RegisterEntry;
import dev.parley.registry.ExchangeOperation.ImportEntries;
import dev.parley.registry.ExchangeOperation.Imported;
import dev.parley.registry.ExchangeOperation.ImportedEntry;
import dev.parley.registry.FaceProtocol;
import dev.parley.registry.FaceProtocol.FaceCall;
import dev.parley.registry.RegistryError;
import dev.parley.registry.SearchOperation;
import dev.parley.registry.SearchOperation.Facet;
import dev.parley.registry.SearchOperation.FoundPage;
import dev.parley.registry.SearchQuery;
import dev.parley.registry.document.Document;
import dev.parley.registry.faces.JsonFace.Members;
import dev.parley.registry.federation.Federation;
import dev.parley.registry.search.Search;
import dev.parley.registry.store.Entries;
import dev.parley.registry.store.EntryReader;
import dev.parley.registry.trust.CatalogSigner;
import dev.parley.registry.trust.TrustCheck;
import dev.parley.store.database.Database;
import dev.parley.store.spi.ModuleTables;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Handlers of the operations behind ARD, AI Catalog, the MCP registry and the API catalog. */
public final class FaceOperations {
    /** Table of MCP servers. */
    public static final ModuleTables TABLES = McpServerTable.TABLES;

    static final int MAX_PAGE = 100;
    private static final int MAX_CATALOG = 1000;
    private static final int MAX_FACETS = 20;
    private static final Pattern HOST = Pattern.compile("[a-z0-9.-]{1,253}[a-z]");
    private static final Pattern URN = Pattern.compile("urn:air:[a-zA-Z0-9.-]+(:[a-zA-Z0-9._-]+)+");
    private static final Map<String, Order> ORDERS = Map.of(
            "displayname", Order.NAME,
            "name", Order.NAME,
            "displayname desc", Order.NAME_DESCENDING,
            "name desc", Order.NAME_DESCENDING,
            "updatedat", Order.UPDATED,
            "updatedat desc", Order.UPDATED_DESCENDING,
            "createdat", Order.CREATED,
            "createdat desc", Order.CREATED_DESCENDING);

    private final EntryReader reader;
    private final McpOperations mcp;
    private final Search search;
    private final @Nullable Federation federation;
    private final Supplier<ArdModel> model;
    private final FusedLists fused;
    private final Map<String, Handler> handlers;

    /**
     * @param bridge whether a caller may call agents of the hub itself over MCP
     * @param federation null for a registry without peers
     * @param hub address of the hub, once it is known
     */
    public FaceOperations(
            Database database,
            Entries entries,
            Predicate<CallContext> bridge,
            Search search,
            @Nullable Federation federation,
            CatalogSigner signer,
            Supplier<String> hub) {
        this.reader = entries.reader();
        this.mcp = new McpOperations(database, entries, bridge);
        this.search = search;
        this.federation = federation;
        this.model = () -> new ArdModel(hub.get(), signer);
        this.fused = new FusedLists(database);
        this.handlers = handlers();
    }

    /** Answers a request of another protocol, in JSON or with a document. */
    public Object answer(FaceCall call, CallContext caller) {
        return requireNonNull(handlers.get(call.name())).answer(call.params(), caller);
    }

    /** Handler of a request of another protocol. */
    private interface Handler {
        Object answer(Map<String, @Nullable Object> given, CallContext caller);
    }

    private Map<String, Handler> handlers() {
        return Map.of(
                FaceProtocol.HOST_CARD, this::card,
                FaceProtocol.ARD_SEARCH, this::search,
                FaceProtocol.ARD_EXPLORE, this::explore,
                FaceProtocol.ARD_LIST, this::list,
                FaceProtocol.ARD_SHOW, this::show,
                FaceProtocol.CATALOG, this::catalog,
                FaceProtocol.MCP_LIST, mcp::list,
                FaceProtocol.MCP_SHOW, mcp::show,
                FaceProtocol.APIS, (given, caller) -> apis(),
                FaceProtocol.IDENTITY, (given, caller) -> identity());
    }

    /**
     * Imports a page of an export, or a catalog.
     *
     * @param pages imports the entries of a page
     * @param register registers an entry of a catalog
     */
    public static Imported imported(
            ImportEntries given,
            BiFunction<@Nullable Object, CallContext, List<ImportedEntry>> pages,
            CallHandler<RegisterEntry, Entry> register,
            TrustCheck trust,
            CallContext caller) {
        return CatalogReader.isCatalog(given.export())
                ? CatalogReader.imported(given.export(), register, trust, caller)
                : new Imported(pages.apply(given.export().get("entries"), caller), null, null);
    }

    /** Protocols in front of the operations, by paths. */
    public Map<String, WireFace> faces() {
        return ProtocolFaces.of(
                host -> ofHost(host, CallContext.unauthenticated("")).isPresent());
    }

    /** The agent whose URN has a host name as its publisher. The domain of the hub itself names its default agent. */
    private Optional<Entry> ofHost(String host, CallContext caller) {
        if (host.indexOf('.') < 0
                || host.equals(model.get().publisher())
                || !HOST.matcher(host).matches()) {
            return Optional.empty();
        }
        var agents = new EntryFilter(
                List.of(), List.of(), Map.of("publisher", List.of(host), "type", List.of(Entry.AGENT_CARD)), false);
        List<Entry> found = reader.list(agents, Order.NAME, 2, null, caller).entries();
        return found.size() == 1 ? Optional.of(found.getFirst()) : Optional.empty();
    }

    private Object card(Map<String, @Nullable Object> given, CallContext caller) {
        Entry entry = ofHost(String.valueOf(given.get("host")), caller)
                .orElseThrow(() -> A2AException.of(RegistryError.ENTRY_NOT_FOUND));
        Document document = reader.document(entry.id(), null, caller);
        return new WireDocument(document.bytes(), document.mediaType(), document.etag());
    }

    private Object identity() {
        return model.get()
                .signer()
                .document()
                .orElseThrow(() -> A2AException.of(
                        RegistryError.NOT_SIGNED,
                        "identity: this hub has no card key of ES256 (expected: --card-key)"));
    }

    private Object search(Map<String, @Nullable Object> given, CallContext caller) {
        Map<?, ?> query = query(given);
        if (!(query.get("text") instanceof String text) || text.isBlank()) {
            throw A2AException.invalidParams("query.text", "missing (expected: a text)");
        }
        String mode = given.get("federation") == null ? "auto" : String.valueOf(given.get("federation"));
        if (!List.of("auto", "referrals", "none").contains(mode)) {
            throw A2AException.invalidParams(
                    "federation", Excerpt.of(mode, 40) + " (expected: auto, referrals or none)");
        }
        EntryFilter filter = ArdQuery.filter(query);
        int size = size(given, "pageSize", 10);
        String token = token(given, "pageToken");
        if (FusedLists.is(token)) {
            return shown(fused.page(requireNonNull(token), size, caller)).object();
        }
        boolean asksPeers = mode.equals("auto") && token == null && federation != null;
        FoundPage found =
                search.search(new SearchQuery(text, false, filter), asksPeers ? MAX_PAGE : size, token, caller);
        List<Map<String, @Nullable Object>> own = found.results().stream()
                .map(each -> {
                    Map<String, @Nullable Object> result = model.get().result(each.agent(), each.score());
                    result.put("parley:why", SearchOperation.REASONS.toJson(each.why()));
                    return result;
                })
                .toList();
        if (asksPeers) {
            Federation.Merged merged = requireNonNull(federation).search(json(query), MAX_PAGE, own, caller);
            return shown(fused.begin(merged.results(), size, caller))
                    .add(Federation.OUTCOMES, merged.peers())
                    .object();
        }
        Members answer = shown(new FusedLists.Page(own, found.next()));
        if (mode.equals("referrals")) {
            answer.add("referrals", federation == null ? List.of() : federation.referrals());
        }
        return answer.object();
    }

    private static Members shown(FusedLists.Page page) {
        return new Members().add("results", page.results()).add("pageToken", page.next());
    }

    private Object explore(Map<String, @Nullable Object> given, CallContext caller) {
        Map<?, ?> query = given.get("query") == null ? Map.of() : query(given);
        Map<String, String> prefixes = ArdQuery.prefixes(query.get("@context"));
        if (!(given.get("resultType") instanceof Map<?, ?> type)
                || !(type.get("facets") instanceof List<?> wanted)
                || wanted.isEmpty()
                || wanted.size() > MAX_FACETS) {
            throw A2AException.invalidParams(
                    "resultType", "no facets (expected: {\"facets\": [{\"field\": …}]}, at most " + MAX_FACETS + ")");
        }
        String text = query.get("text") instanceof String words ? words : "";
        EntryFilter filter = ArdQuery.filter(query);
        var facets = new LinkedHashMap<String, Object>();
        for (Object one : wanted) {
            if (!(one instanceof Map<?, ?> facet) || !(facet.get("field") instanceof String path)) {
                throw A2AException.invalidParams("resultType.facets", "no field (expected: a term path)");
            }
            String field = ArdQuery.field(path, prefixes);
            int limit = size(json(facet), "limit", 20);
            int least = facet.get("minCount") == null ? 1 : size(json(facet), "minCount", 1);
            Facet found =
                    requireNonNull(search.facets(new SearchQuery(text, false, filter), List.of(field), limit, caller)
                            .facets()
                            .get(field));
            var buckets = new ArrayList<Map<String, Object>>();
            found.buckets().forEach(bucket -> {
                if (bucket.count() >= least) {
                    buckets.add(new Members()
                            .add("value", bucket.value())
                            .add("count", bucket.count())
                            .object());
                }
            });
            var shown =
                    new Members().add("buckets", buckets).add("otherCount", found.others() > 0 ? found.others() : null);
            facets.put(path, shown.object());
        }
        return new Members().add("resultType", "facets").add("facets", facets).object();
    }

    private Object list(Map<String, @Nullable Object> given, CallContext caller) {
        String order = given.get("orderBy") instanceof String text && !text.isBlank() ? text.strip() : "displayName";
        Order column = ORDERS.get(
                order.toLowerCase(Locale.ROOT).replaceAll("\\s+", " ").replaceFirst(" asc$", ""));
        if (column == null) {
            throw A2AException.invalidParams(
                    "orderBy", Excerpt.of(order, 40) + " (expected: displayName, updatedAt or createdAt, and DESC)");
        }
        EntryPage page = reader.list(
                ArdQuery.ofList(given), column, size(given, "pageSize", 20), token(given, "pageToken"), caller);
        return new Members()
                .add("items", page.entries().stream().map(model.get()::entry).toList())
                .add("total", page.total() >= 0 ? page.total() : null)
                .add("pageToken", page.next())
                .object();
    }

    private Object show(Map<String, @Nullable Object> given, CallContext caller) {
        String id = ArdQuery.written(String.valueOf(given.get("identifier")));
        if (!URN.matcher(id).matches()) {
            throw A2AException.invalidParams("identifier", Excerpt.of(id, 100) + " (expected: urn:air:PUBLISHER:NAME)");
        }
        Map<String, @Nullable Object> self = model.get().self();
        return id.equals(self.get("identifier"))
                ? self
                : model.get()
                        .entry(found(reader.find(id, caller))
                                .orElseThrow(() -> A2AException.of(RegistryError.ENTRY_NOT_FOUND, id + ": unknown")));
    }

    private static Optional<Entry> found(Optional<Entry> entry) {
        return entry.filter(Entry::isUsable);
    }

    private Object catalog(Map<String, @Nullable Object> given, CallContext caller) {
        ArdModel written = model.get();
        var all = new ArrayList<Map<String, @Nullable Object>>();
        all.add(written.self());
        var ofHub = new EntryFilter(List.of(), List.of(), Map.of("publisher", List.of(written.publisher())), false);
        String token = null;
        do {
            EntryPage page = reader.list(ofHub, Order.NAME, EntryFilter.MAX_PAGE, token, caller);
            page.entries().forEach(entry -> all.add(written.catalogEntry(entry)));
            token = page.next();
        } while (token != null && all.size() < MAX_CATALOG);
        var host = new Members()
                .add("displayName", written.publisher())
                .add("identifier", written.publisher())
                .add("documentationUrl", written.hub() + "/");
        var catalog = new LinkedHashMap<String, @Nullable Object>();
        catalog.put("specVersion", "1.0");
        catalog.put("host", host.object());
        catalog.put("entries", all);
        return written.signer().catalog(catalog);
    }

    /** Addresses of the protocols of the registry. Source: RFC 9727. */
    private Object apis() {
        String hub = model.get().hub();
        var registry = new Members()
                .add("anchor", hub + "/registry")
                .add("service-desc", List.of(link(hub + "/openapi.json", "application/json")))
                .add("service-meta", List.of(link(hub + "/.well-known/ard.json", ArdModel.CATALOG)))
                .add("status", List.of(link(hub + "/health", "application/json")));
        List<Map<String, String>> items = List.of(
                Map.of("href", hub + "/registry"),
                Map.of("href", hub + "/registry/ard"),
                Map.of("href", hub + "/v0.1/servers"));
        var catalog =
                new Members().add("anchor", hub + "/.well-known/api-catalog").add("item", items);
        return Map.of("linkset", List.of(catalog.object(), registry.object()));
    }

    private static Map<String, Object> link(String href, String type) {
        return new Members().add("href", href).add("type", type).object();
    }

    private static Map<?, ?> query(Map<String, @Nullable Object> given) {
        if (given.get("query") instanceof Map<?, ?> query) {
            return query;
        }
        throw A2AException.invalidParams("query", "missing (expected: an object)");
    }

    private static Map<String, @Nullable Object> json(Map<?, ?> object) {
        var json = new LinkedHashMap<String, @Nullable Object>();
        object.forEach((name, value) -> json.put(String.valueOf(name), value));
        return json;
    }

    static int size(Map<String, @Nullable Object> given, String name, int otherwise) {
        Object size = given.get(name);
        if (size == null) {
            return otherwise;
        }
        String digits = size.toString();
        if (!digits.matches("[0-9]{1,9}") || digits.equals("0")) {
            throw A2AException.invalidParams(name, Excerpt.of(digits, 40) + " (expected: a number from 1)");
        }
        return Math.min(MAX_PAGE, Integer.parseInt(digits));
    }

    static @Nullable String token(Map<String, @Nullable Object> given, String name) {
        Object token = given.get(name);
        if (token == null || token.equals("")) {
            return null;
        }
        if (token instanceof String text && text.getBytes(StandardCharsets.UTF_8).length <= 2000) {
            return text;
        }
        throw A2AException.invalidParams(name, "no token (expected: one of the page before)");
    }
}
