package dev.parley.knowledge.api;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Capabilities;
import dev.parley.protocol.AgentCard.Extension;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.extension.ExtensionUri;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The knowledge graph extension as cards tell of it.
 *
 * <p>The published extension has two flags of its own for that, only in {@code agent.json}; cards of A2A 0.3 and 1.0 have
 * an entry among their extensions instead. Here it is always such an entry.
 */
public final class KnowledgeExtension {
    /** Where the address of a hub's JSON Schema ends. */
    public static final String SCHEMA_PATH = "/schemas/knowledge-graph.json";

    /** Path of the REST binding below an agent's address. */
    public static final String REST_PATH = "/kg";

    /** The header that tells after which change a subscription begins; over gRPC it is metadata in lower case. */
    public static final String POSITION = "Knowledge-Position";

    public static final String GRPC_SERVICE = "knowledge.v1.KnowledgeService";

    private static final String LANGUAGES = "queryLanguages";
    private static final String SUBSCRIPTIONS = "subscriptions";
    private static final String SCHEMA_URL = "schemaUrl";
    private static final String REST_BASE = "restBase";

    private KnowledgeExtension() {}

    /**
     * Returns what the card of an agent says.
     *
     * @param server the address of the server, which serves the specification
     * @param agent the address of the agent
     */
    public static Extension of(String server, String agent, List<String> languages, boolean subscriptions) {
        var params = new LinkedHashMap<String, @Nullable Object>();
        if (!languages.isEmpty()) {
            params.put(LANGUAGES, languages);
        }
        params.put(SUBSCRIPTIONS, subscriptions);
        if (languages.contains(KnowledgeOperation.GRAPHQL)) {
            params.put(SCHEMA_URL, agent + REST_PATH + KnowledgeProtocol.SCHEMA);
        }
        params.put("jsonSchemaUrl", server + SCHEMA_PATH);
        params.put("methods", subscriptions ? KnowledgeOperation.NAMES : KnowledgeOperation.NAMES.subList(0, 2));
        params.put(REST_BASE, agent + REST_PATH);
        params.put("grpcService", GRPC_SERVICE);
        params.put("limits", Map.of("maxMutations", KnowledgeOperation.MAX_MUTATIONS));
        return new Extension(
                KnowledgeEndpoint.EXTENSION_URI, "Query, change and watch this agent's knowledge graph", false, params);
    }

    /** Returns what a card says of the extension; empty if its agent does not have it. */
    public static Optional<Extension> in(AgentCard card) {
        return in(card.capabilities());
    }

    /**
     * The graph that the card of an agent offers.
     *
     * @throws A2AException UNSUPPORTED_OPERATION if it offers none
     */
    public static KnowledgeEndpoint endpoint(AgentEndpoint agent, AgentCard card) {
        Extension entry = in(card).orElseThrow(() -> A2AException.of(
                A2AError.UNSUPPORTED_OPERATION,
                "The agent " + card.name() + " offers no knowledge graph (expected: "
                        + KnowledgeEndpoint.EXTENSION_URI
                        + " among the extensions of its card, or the flag knowledgeGraph)"));
        return KnowledgeEndpoint.of(agent, languagesOrDefault(entry));
    }

    static Optional<Extension> in(Capabilities capabilities) {
        return capabilities.extensions().stream()
                .filter(one -> isUri(one.uri()))
                .findFirst();
    }

    /** True for the URI of the extension on any server. */
    public static boolean isUri(String uri) {
        return ExtensionUri.isSame(uri, KnowledgeEndpoint.EXTENSION_URI);
    }

    /** The query languages of an agent with this entry in its card. */
    public static List<String> languages(Extension entry) {
        var languages = new ArrayList<String>();
        if (entry.params().get(LANGUAGES) instanceof List<?> named) {
            named.forEach(one -> languages.add(String.valueOf(one)));
        }
        return languages;
    }

    /** The query languages of an agent with this entry in its card; GraphQL if the card lists none. */
    public static List<String> languagesOrDefault(Extension entry) {
        List<String> listed = languages(entry);
        return listed.isEmpty() ? List.of(KnowledgeOperation.GRAPHQL) : listed;
    }

    /** Whether an agent with this entry in its card streams changes. */
    public static boolean hasSubscriptions(Extension entry) {
        return !Boolean.FALSE.equals(entry.params().get(SUBSCRIPTIONS));
    }

    /** Where the GraphQL schema of an agent with this entry in its card is; empty if it does not say. */
    public static Optional<String> schemaUrl(Extension entry) {
        return entry.params().get(SCHEMA_URL) instanceof String url ? Optional.of(url) : Optional.empty();
    }

    /** Where the REST binding of an agent is. */
    static String restBase(@Nullable Extension entry, String agent) {
        return entry != null && entry.params().get(REST_BASE) instanceof String base ? base : agent + REST_PATH;
    }

    /** The entry that the two flags stand for, without an address. */
    static Extension ofFlags(List<String> languages) {
        return new Extension(KnowledgeEndpoint.EXTENSION_URI, null, false, Map.of(LANGUAGES, languages));
    }
}
