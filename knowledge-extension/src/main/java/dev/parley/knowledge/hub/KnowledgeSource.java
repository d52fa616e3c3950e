package dev.parley.knowledge.hub;

import static dev.parley.protocol.settings.SettingSpec.Trait.SECRET;
import static dev.parley.protocol.settings.SettingType.PATH;
import static dev.parley.protocol.settings.SettingType.TEXT;
import static java.util.Objects.requireNonNull;

import dev.parley.extension.HubCheck;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubPage;
import dev.parley.extension.HubParts;
import dev.parley.knowledge.Graph;
import dev.parley.knowledge.api.KnowledgeEndpoint;
import dev.parley.knowledge.api.KnowledgeExtension;
import dev.parley.knowledge.api.KnowledgeProtocol;
import dev.parley.knowledge.api.KnowledgeTokenVerifier;
import dev.parley.knowledge.model.SparqlService;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingType;
import dev.parley.store.database.Database;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
    private final boolean hubTokens;
    private final boolean strictStatuses;
    private final @Nullable SparqlService statements;

    /** The graph in the hub's own database; tokens in the metadata of operations are dropped. */
    public KnowledgeSource() {
        this(null, null, false, false, null);
    }

    private KnowledgeSource(
            @Nullable Graph graph,
            @Nullable KnowledgeTokenVerifier tokens,
            boolean hubTokens,
            boolean strictStatuses,
            @Nullable SparqlService statements) {
        this.statements = statements;
        this.graph = graph;
        this.tokens = tokens;
        this.hubTokens = hubTokens;
        this.strictStatuses = strictStatuses;
    }

    /** This source with a graph that is open already; the hub closes it with itself. */
    public KnowledgeSource graph(Graph other) {
        return new KnowledgeSource(requireNonNull(other, "graph"), tokens, hubTokens, strictStatuses, statements);
    }

    /** This source with a verifier of the tokens in the metadata of operations. */
    public KnowledgeSource tokens(KnowledgeTokenVerifier verifier) {
        return new KnowledgeSource(graph, requireNonNull(verifier, "verifier"), hubTokens, strictStatuses, statements);
    }

    /**
     * Reads the setting {@code kg-http-status}: whether errors of {@code knowledge/query} and {@code knowledge/update} have their HTTP
     * status, instead of 200, the only status with which published clients of the extension read them; and {@code
     * knowledge-store}, the server of the statements, with its credentials; and {@code kg-tokens}, whether the hub verifies tokens in the
     * metadata of operations, unless this source has a verifier.
     */
    @Override
    public HubExtensionSource configured(SettingReader in) {
        String statuses = in.get(
                SettingType.oneOf("legacy", "strict"),
                "kg-http-status",
                "legacy",
                "TABLE",
                "HTTP status of errors of knowledge/query and knowledge/update: legacy is 200, strict is their own.");
        String metadata = in.get(
                SettingType.oneOf("drop", "verify"),
                "kg-tokens",
                "drop",
                "USE",
                "Tokens in the metadata of knowledge operations: drop them, or verify them as tokens and API keys of the hub"
                        + " and tokens of its issuers.");
        return new KnowledgeSource(graph, tokens, metadata.equals("verify"), statuses.equals("strict"), statements(in));
    }

    private static @Nullable SparqlService statements(SettingReader in) {
        String store = in.find(
                TEXT,
                "knowledge-store",
                "STORE",
                "Server of the statements of knowledge graphs, as sparql=URL, or sparql=URL,URL for queries and updates;"
                        + " default: the database.");
        String value = in.find(
                TEXT,
                "knowledge-store-authorization",
                "VALUE",
                "Header Authorization for that server, such as 'Bearer …'. Do not set it on the command line, which"
                        + " other users can read.",
                SECRET);
        Path file = in.find(
                PATH,
                "knowledge-store-authorization-file",
                "FILE",
                "The same from a file, read again for each request.");
        if (store == null) {
            return null;
        }
        if (value != null && file != null) {
            throw new IllegalArgumentException(
                    "--knowledge-store-authorization and --knowledge-store-authorization-file"
                            + " together (expected: one of them)");
        }
        try {
            return SparqlService.parse(store, file == null ? () -> value == null ? "" : value : () -> content(file));
        } catch (UncheckedIOException unreadable) {
            throw new IllegalArgumentException(
                    "--knowledge-store-authorization-file: " + unreadable.getMessage(), unreadable);
        }
    }

    private static String content(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException unreadable) {
            throw new UncheckedIOException("cannot read " + file, unreadable);
        }
    }

    /** A graph that is given may be in another database. */
    @Override
    public boolean sharesDatabase() {
        return graph == null;
    }

    @Override
    public String uri() {
        return KnowledgeEndpoint.EXTENSION_URI;
    }

    @Override
    public List<ExtensionMethod<?, ?>> administration() {
        return GraphOperation.ROWS;
    }

    @Override
    public Map<String, HubPage> pages() {
        return Map.of(
                KnowledgeEndpoint.EXTENSION_PATH,
                page("text/markdown; charset=utf-8", "knowledge-graph.md"),
                KnowledgeExtension.SCHEMA_PATH,
                page("application/schema+json", "knowledge-graph.schema.json"));
    }

    private static HubPage page(String contentType, String resource) {
        return HubPage.of(KnowledgeSource.class, contentType, resource);
    }

    @Override
    public List<HubCheck> checks(Database database) {
        return Graph.checkStore(database)
                .map(store -> new HubCheck(
                        "graph",
                        store.problem() == null,
                        "statements on "
                                + (store.problem() == null ? store.server() + ", which answers" : store.problem())))
                .stream()
                .toList();
    }

    @Override
    public List<ModuleTables> tables(DatabaseKind kind) {
        return List.of(Graph.tables(kind));
    }

    @Override
    public HubExtension open(HubParts hub) {
        if (statements != null && (graph != null || !hub.isKept())) {
            throw new IllegalArgumentException(
                    "--knowledge-store together with --in-memory or another graph (expected: a data directory)");
        }
        return new GraphOfHub(
                graph,
                statements,
                tokens == null && hubTokens ? new HubTokens(hub) : tokens,
                strictStatuses ? KnowledgeProtocol.STRICT : KnowledgeProtocol.EXTENSION,
                hub);
    }
}
