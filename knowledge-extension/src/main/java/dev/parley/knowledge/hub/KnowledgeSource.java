package dev.parley.knowledge.hub;

import static java.util.Objects.requireNonNull;

import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubPage;
import dev.parley.extension.HubParts;
import dev.parley.knowledge.Graph;
import dev.parley.knowledge.api.KnowledgeEndpoint;
import dev.parley.knowledge.api.KnowledgeExtension;
import dev.parley.knowledge.api.KnowledgeProtocol;
import dev.parley.knowledge.api.KnowledgeTokenVerifier;
import dev.parley.protocol.ExtensionMethod;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingType;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The knowledge graph of a hub, for {@code HubBuilder.extension}. Hubs that find it by the service loader open a graph in their own
 * database, or in memory one that is gone with them.
 */
public final class KnowledgeSource implements HubExtensionSource {
    private final @Nullable Graph graph;
    private final @Nullable KnowledgeTokenVerifier tokens;
    private final boolean strictStatuses;

    /** The graph in the hub's own database; tokens in the metadata of operations are dropped. */
    public KnowledgeSource() {
        this(null, null, false);
    }

    private KnowledgeSource(@Nullable Graph graph, @Nullable KnowledgeTokenVerifier tokens, boolean strictStatuses) {
        this.graph = graph;
        this.tokens = tokens;
        this.strictStatuses = strictStatuses;
    }

    /** This source with a graph that is open already; the hub closes it with itself. */
    public KnowledgeSource graph(Graph other) {
        return new KnowledgeSource(requireNonNull(other, "graph"), tokens, strictStatuses);
    }

    /** This source with a verifier of the tokens in the metadata of operations. */
    public KnowledgeSource tokens(KnowledgeTokenVerifier verifier) {
        return new KnowledgeSource(graph, requireNonNull(verifier, "verifier"), strictStatuses);
    }

    /**
     * Reads the setting {@code kg-http-status}: whether errors of {@code knowledge/query} and {@code knowledge/update} have their HTTP
     * status, instead of 200, the only status with which published clients of the extension read them.
     */
    @Override
    public HubExtensionSource configured(SettingReader in) {
        String statuses = in.get(
                SettingType.oneOf("legacy", "strict"),
                "kg-http-status",
                "legacy",
                "TABLE",
                "HTTP status of errors of knowledge/query and knowledge/update: legacy is 200, strict is their own.");
        return new KnowledgeSource(graph, tokens, statuses.equals("strict"));
    }

    @Override
    public String uri() {
        return KnowledgeEndpoint.EXTENSION_PATH;
    }

    @Override
    public List<ExtensionMethod<?, ?>> administration() {
        return KnowledgePages.rows();
    }

    @Override
    public Map<String, HubPage> pages() {
        return Map.of(
                KnowledgeEndpoint.EXTENSION_PATH,
                page("text/markdown; charset=utf-8", "knowledge-graph.md"),
                KnowledgeExtension.SCHEMA_PATH,
                page("application/schema+json", "knowledge-graph.schema.json"),
                "/ui/graph",
                page("text/html; charset=utf-8", "graph.html"),
                "/ui/graph.js",
                page("text/javascript; charset=utf-8", "graph.js"),
                "/ui/graph.css",
                page("text/css; charset=utf-8", "graph.css"));
    }

    private static HubPage page(String contentType, String resource) {
        return HubPage.of(KnowledgeSource.class, contentType, resource);
    }

    @Override
    public HubExtension open(HubParts hub) {
        return new GraphOfHub(
                graph, tokens, strictStatuses ? KnowledgeProtocol.STRICT : KnowledgeProtocol.EXTENSION, hub);
    }
}
