package dev.parley.registry.faces;

import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Endpoint;
import dev.parley.registry.Entry.Resource;
import dev.parley.registry.EntryModel;
import dev.parley.registry.FaceProtocol;
import dev.parley.registry.faces.JsonFace.Members;
import dev.parley.registry.faces.McpServerTable.Version;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Entries with MCP as servers of an MCP registry.
 *
 * <p>Source: schema server.json of 11 December 2025.
 */
final class McpModel {
    private static final String SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

    private static final String OFFICIAL = "io.modelcontextprotocol.registry/official";
    private static final Pattern NAME = Pattern.compile("[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+");
    /** Largest number of characters of a title or a description. */
    private static final int MAX_TEXT = 100;

    /** Types of documents about MCP servers. */
    private static final Set<String> SERVERS = Set.of(ArdModel.MCP_CARD, "application/mcp-server+json");

    private McpModel() {}

    /** The name of a server: its own, or one of the identity of the entry, such as {@code com.example/agents.weather}. */
    static String name(Entry entry) {
        String own = entry.resource().name();
        if (NAME.matcher(own).matches()) {
            return own;
        }
        String[] urn = entry.id().split(":");
        List<String> domain = Arrays.asList(urn[2].split("\\."));
        Collections.reverse(domain);
        return String.join(".", domain) + "/" + Arrays.stream(urn).skip(3).collect(Collectors.joining("."));
    }

    /** Whether an entry is about an MCP server: by the type of its document, or by an address. */
    static boolean isServer(Entry entry) {
        return SERVERS.contains(entry.resource().type())
                || entry.resource().endpoints().stream()
                        .anyMatch(endpoint -> endpoint.binding().equalsIgnoreCase(FaceProtocol.MCP_BINDING));
    }

    /** The document {@code server.json}. */
    static Map<String, @Nullable Object> server(Entry entry) {
        Resource resource = entry.resource();
        var server = new LinkedHashMap<String, @Nullable Object>();
        server.put("$schema", SCHEMA);
        server.put("name", name(entry));
        String description = resource.description().isBlank() ? resource.name() : resource.description();
        server.put("description", cut(description));
        server.put("version", version(entry));
        if (!name(entry).equals(resource.name())) {
            server.put("title", cut(resource.name()));
        }
        List<Map<String, Object>> remotes = resource.endpoints().stream()
                .filter(endpoint -> endpoint.binding().equalsIgnoreCase(FaceProtocol.MCP_BINDING))
                .map(McpModel::remote)
                .toList();
        if (!remotes.isEmpty()) {
            server.put("remotes", remotes);
        }
        return server;
    }

    private static String cut(String text) {
        if (text.length() <= MAX_TEXT) {
            return text;
        }
        return text.substring(0, Character.isHighSurrogate(text.charAt(MAX_TEXT - 1)) ? MAX_TEXT - 1 : MAX_TEXT);
    }

    private static Map<String, Object> remote(Endpoint endpoint) {
        return new Members()
                .add("type", endpoint.dialect().equals("sse") ? "sse" : "streamable-http")
                .add("url", endpoint.url())
                .object();
    }

    static String version(Entry entry) {
        String version = entry.resource().version();
        return version.isBlank() ? "0.0." + entry.state().revision() : version;
    }

    /**
     * A version of a server as the registry answers it.
     *
     * @param document the document {@code server.json}; empty for a deleted server
     */
    static Map<String, Object> answer(Version version, Map<String, @Nullable Object> document) {
        boolean isListed = version.status() == Entry.Status.ACTIVE || version.status() == Entry.Status.DEPRECATED;
        var official = new Members()
                .add("status", EntryModel.word(isListed ? version.status() : Entry.Status.DELETED))
                .add("statusChangedAt", version.updated().toString())
                .add("publishedAt", version.published().toString())
                .add("updatedAt", version.updated().toString())
                .add("isLatest", version.isLatest());
        var deleted = new Members()
                .add("$schema", SCHEMA)
                .add("name", version.name())
                .add("description", "deleted")
                .add("version", version.version());
        return new Members()
                .add("server", document.isEmpty() ? deleted.object() : document)
                .add("_meta", Map.of(OFFICIAL, official.object()))
                .object();
    }

    /** Whether a document is a {@code server.json} by itself. */
    static boolean isServer(Map<?, ?> document) {
        return document.get("name") instanceof String name
                && NAME.matcher(name).matches()
                && document.get("description") instanceof String
                && document.get("version") instanceof String;
    }
}
