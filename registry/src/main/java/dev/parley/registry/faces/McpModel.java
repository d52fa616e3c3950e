package dev.parley.registry.faces;

import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Endpoint;
import dev.parley.registry.Entry.Resource;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Entries with MCP as servers of an MCP registry.
 *
 * <p>Source: schema server.json of 11 December 2025.
 */
final class McpModel {
    /** Binding of endpoints, and label of entries, with MCP. */
    static final String BINDING = "MCP";

    private static final String SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
    private static final String OFFICIAL = "io.modelcontextprotocol.registry/official";
    private static final Pattern NAME = Pattern.compile("[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+");
    private static final int MAX_DESCRIPTION = 100;

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

    /** Identities that an entry with such a name may have; empty if it is no derived name. */
    static List<String> identities(String name) {
        int slash = name.indexOf('/');
        if (slash < 0) {
            return List.of();
        }
        List<String> domain = Arrays.asList(name.substring(0, slash).split("\\."));
        Collections.reverse(domain);
        String rest = name.substring(slash + 1);
        String urn = "urn:air:" + String.join(".", domain) + ":";
        return rest.chars().filter(c -> c == '.').count() > 8
                ? List.of()
                : IntStream.range(0, rest.length())
                        .filter(at -> rest.charAt(at) == '.')
                        .mapToObj(at -> urn + rest.substring(0, at) + ":" + rest.substring(at + 1))
                        .toList();
    }

    /** The document {@code server.json}. */
    static Map<String, @Nullable Object> server(Entry entry) {
        Resource resource = entry.resource();
        var server = new LinkedHashMap<String, @Nullable Object>();
        server.put("$schema", SCHEMA);
        server.put("name", name(entry));
        String description = resource.description().isBlank() ? resource.name() : resource.description();
        server.put(
                "description",
                description.length() <= MAX_DESCRIPTION ? description : description.substring(0, MAX_DESCRIPTION));
        server.put("version", version(entry));
        if (!name(entry).equals(resource.name())) {
            server.put("title", resource.name());
        }
        List<Map<String, Object>> remotes = resource.endpoints().stream()
                .filter(endpoint -> endpoint.binding().equalsIgnoreCase(BINDING))
                .map(McpModel::remote)
                .toList();
        if (!remotes.isEmpty()) {
            server.put("remotes", remotes);
        }
        return server;
    }

    private static Map<String, Object> remote(Endpoint endpoint) {
        return JsonFace.object(
                "type", endpoint.dialect().equals("sse") ? "sse" : "streamable-http", "url", endpoint.url());
    }

    static String version(Entry entry) {
        String version = entry.resource().version();
        return version.isBlank() ? "0.0." + entry.state().revision() : version;
    }

    /**
     * A server as the registry answers it.
     *
     * @param document members of the document if it is a {@code server.json}; else null
     */
    static Map<String, Object> answer(Entry entry, @Nullable Map<String, @Nullable Object> document) {
        var official = new LinkedHashMap<String, Object>();
        String status = entry.state().status();
        official.put("status", List.of("active", "deprecated").contains(status) ? status : "deleted");
        official.put("statusChangedAt", entry.state().updated().toString());
        official.put("publishedAt", entry.state().created().toString());
        official.put("updatedAt", entry.state().updated().toString());
        official.put("isLatest", true);
        return JsonFace.object(
                "server", document == null ? server(entry) : document, "_meta", Map.of(OFFICIAL, official));
    }

    /** Whether a document is a {@code server.json} by itself. */
    static boolean isServer(Map<?, ?> document) {
        return document.get("name") instanceof String name
                && NAME.matcher(name).matches()
                && document.get("description") instanceof String
                && document.get("version") instanceof String;
    }
}
