package dev.parley.registry.faces;

import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Endpoint;
import dev.parley.registry.Entry.Resource;
import dev.parley.registry.faces.JsonFace.Members;
import dev.parley.registry.trust.CatalogSigner;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Entries of the registry in the model of ARD and AI Catalog.
 *
 * @param hub address of the hub
 * @param signer of trust manifests
 */
record ArdModel(String hub, CatalogSigner signer) {
    static final String CATALOG = "application/ai-catalog+json";
    static final String REGISTRY = "application/ai-registry+json";
    static final String MCP_CARD = "application/mcp-server-card+json";

    /** Extension of entries of AI Catalog: digest and manifests by contributors, which its next version has. */
    static final String TRUST = "https://agent-card.github.io/ai-catalog/trust/2";

    private static final int LEAST_QUERIES = 2;
    private static final int MOST_QUERIES = 5;

    /** Domain of the hub in URNs. */
    String publisher() {
        return signer.publisher();
    }

    /** Base address of the registry in ARD. */
    String registry() {
        return hub + "/registry/ard";
    }

    /** An entry as ARD shows it. */
    Map<String, @Nullable Object> entry(Entry entry) {
        Resource resource = entry.resource();
        Map<String, @Nullable Object> json = head(entry.id(), resource.name(), resource.type());
        json.put("url", resource.url() == null ? document(entry) : resource.url());
        if (!resource.description().isBlank()) {
            json.put("description", resource.description());
        }
        if (!resource.version().isBlank()) {
            json.put("version", resource.version());
        }
        put(json, "tags", resource.tags());
        put(
                json,
                "capabilities",
                Stream.concat(resource.skills().stream().map(Entry.Skill::id), resource.capabilities().stream())
                        .distinct()
                        .toList());
        List<String> queries = resource.skills().stream()
                .flatMap(skill -> skill.examples().stream())
                .distinct()
                .limit(MOST_QUERIES)
                .toList();
        if (queries.size() >= LEAST_QUERIES) {
            json.put("representativeQueries", queries);
        }
        json.put("updatedAt", entry.state().updated().toString());
        var metadata = new LinkedHashMap<String, Object>();
        resource.metadata().forEach((name, value) -> {
            if (value instanceof String || value instanceof Number || value instanceof Boolean) {
                metadata.put(name, value);
            }
        });
        if (!metadata.isEmpty()) {
            json.put("metadata", metadata);
        }
        if (resource.metadata().get("trustManifest") instanceof Map<?, ?> manifest
                && manifest.containsKey("identity")) {
            json.put("trustManifest", manifest);
        }
        return json;
    }

    /** A result of a search. */
    Map<String, @Nullable Object> result(Entry entry, int score) {
        Map<String, @Nullable Object> json = entry(entry);
        json.remove("representativeQueries");
        json.put("score", score);
        json.put("source", registry());
        return json;
    }

    /** An entry of an AI Catalog: with its digest, and as a catalog of its own if the agent has both protocols. */
    Map<String, @Nullable Object> catalogEntry(Entry entry) {
        Map<String, @Nullable Object> json = entry(entry);
        List<Endpoint> mcp = entry.resource().endpoints().stream()
                .filter(endpoint -> endpoint.binding().equalsIgnoreCase("MCP"))
                .toList();
        if (mcp.isEmpty() || !entry.resource().type().equals(Entry.AGENT_CARD)) {
            json.put("extensions", Map.of(TRUST, trust(entry.id(), entry)));
            return json;
        }
        Map<String, @Nullable Object> agent =
                head(entry.id() + ":a2a", entry.resource().name(), Entry.AGENT_CARD);
        agent.put("url", json.remove("url"));
        if (json.containsKey("version")) {
            agent.put("version", json.get("version"));
        }
        agent.put("extensions", Map.of(TRUST, trust(entry.id() + ":a2a", entry)));
        Map<String, @Nullable Object> server =
                head(entry.id() + ":mcp", entry.resource().name(), MCP_CARD);
        server.put("data", McpModel.server(entry));
        json.put("type", CATALOG);
        json.put(
                "data",
                new Members()
                        .add("specVersion", "1.0")
                        .add("entries", List.of(agent, server))
                        .object());
        return json;
    }

    /** Digest of the document, manifests that were given with the entry, and that of the publisher. */
    private Map<String, Object> trust(String id, Entry entry) {
        Resource resource = entry.resource();
        var manifests = new ArrayList<Object>();
        if (resource.metadata().get("trustManifests") instanceof List<?> given) {
            manifests.addAll(given);
        }
        if (entry.trust().outcome() != Entry.Outcome.TAMPERED) {
            signer.manifest(id, resource.type(), resource.version(), resource.digest())
                    .ifPresent(manifests::add);
        }
        return new Members()
                .add("digest", resource.digest())
                .add("trustManifests", manifests.isEmpty() ? null : manifests)
                .object();
    }

    /** The registry itself, of which consumers take the address. */
    Map<String, @Nullable Object> self() {
        Map<String, @Nullable Object> json =
                head("urn:air:" + publisher() + ":registry", "Registry of " + publisher(), REGISTRY);
        json.put("url", registry());
        json.put("description", "Agents and tools that are registered at this hub");
        json.put(
                "representativeQueries",
                List.of("Find an agent that translates documents", "Which agents of this hub handle invoices?"));
        return json;
    }

    private static Map<String, @Nullable Object> head(String id, String name, String type) {
        var json = new LinkedHashMap<String, @Nullable Object>();
        json.put("identifier", id);
        json.put("displayName", name);
        json.put("type", type);
        return json;
    }

    private static void put(Map<String, @Nullable Object> json, String name, List<String> values) {
        if (!values.isEmpty()) {
            json.put(name, values);
        }
    }

    /** Address of the document that the registry keeps. */
    private String document(Entry entry) {
        return hub + "/registry/agents/" + URLEncoder.encode(entry.id(), StandardCharsets.UTF_8) + "/card";
    }
}
