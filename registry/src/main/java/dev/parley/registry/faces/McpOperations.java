package dev.parley.registry.faces;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.registry.Entry;
import dev.parley.registry.RegistryError;
import dev.parley.registry.faces.JsonFace.Members;
import dev.parley.registry.faces.McpServerTable.Page;
import dev.parley.registry.faces.McpServerTable.Query;
import dev.parley.registry.faces.McpServerTable.Version;
import dev.parley.registry.store.Entries;
import dev.parley.registry.store.EntryReader;
import dev.parley.store.database.Database;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Handlers of the operations behind the MCP registry. */
final class McpOperations {
    /** Versions of a server, which are all on one page. */
    private static final int ALL = 100;

    private final EntryReader reader;
    private final McpServerTable servers;
    private final Predicate<CallContext> bridge;

    /** @param bridge whether a caller may call agents of the hub itself over MCP */
    McpOperations(Database database, Entries entries, Predicate<CallContext> bridge) {
        this.reader = entries.reader();
        this.bridge = bridge;
        this.servers = new McpServerTable(database, entries);
    }

    Object list(Map<String, @Nullable Object> given, CallContext caller) {
        Instant since = given.get("updated_since") instanceof String time ? ArdQuery.time("updated_since", time) : null;
        var query = new Query(
                null,
                given.get("search") instanceof String text ? text : "",
                given.get("version") instanceof String version ? version : null,
                since,
                since != null || "true".equals(given.get("include_deleted")), // followers of changes need deletions
                bridge.test(caller));
        Page page = servers.page(
                query, FaceOperations.size(given, "limit", 30), FaceOperations.token(given, "cursor"), caller);
        return answer(page, caller);
    }

    private Map<String, Object> answer(Page page, CallContext caller) {
        List<Map<String, Object>> shown =
                page.versions().stream().map(version -> json(version, caller)).toList();
        var metadata = new Members().add("count", shown.size()).add("nextCursor", page.next());
        return new Members()
                .add("servers", shown)
                .add("metadata", metadata.object())
                .object();
    }

    private Map<String, Object> json(Version version, CallContext caller) {
        Optional<Entry> entry =
                version.status() == Entry.Status.DELETED ? Optional.empty() : servers.entry(version, caller);
        return McpModel.answer(
                version, entry.map(now -> document(now, version, caller)).orElse(Map.of()));
    }

    /** The document {@code server.json}: as it was registered, or made of the entry. */
    private Map<String, @Nullable Object> document(Entry entry, Version version, CallContext caller) {
        if (!entry.resource().type().equals(Entry.AGENT_CARD)) {
            Map<String, @Nullable Object> document = new LinkedHashMap<>(JsonText.read(
                    reader.document(entry.id(), (long) version.revision(), caller)
                            .bytes(),
                    Codecs.STRUCT));
            if (McpModel.isServer(document)) {
                return document;
            }
        }
        return McpModel.server(entry);
    }

    /** One version of a server, or all that are kept. */
    Object show(Map<String, @Nullable Object> given, CallContext caller) {
        String name = String.valueOf(given.get("name")).replace("%2F", "/");
        String version = given.get("version") instanceof String text ? text : null;
        Page found = servers.page(new Query(name, "", version, null, false, bridge.test(caller)), ALL, null, caller);
        // Of two owners of one name, the first one has it.
        List<Version> versions = found.versions().stream()
                .filter(each -> each.entry() == found.versions().getFirst().entry())
                .toList();
        if (versions.isEmpty()) {
            throw A2AException.of(RegistryError.ENTRY_NOT_FOUND, "Server not found");
        }
        return version == null ? answer(new Page(versions, null), caller) : json(versions.getFirst(), caller);
    }
}
