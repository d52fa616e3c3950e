package dev.parley.knowledge.hub;

import dev.parley.engine.AgentExtension;
import dev.parley.extension.Handlers;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubParts;
import dev.parley.extension.PersonalData;
import dev.parley.knowledge.Graph;
import dev.parley.knowledge.api.KnowledgeExtension;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeTokenVerifier;
import dev.parley.knowledge.model.SparqlService;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.support.Lazy;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** The knowledge graph of a hub, opened at its first use: many hubs have no agent with one. Safe for any thread. */
final class GraphOfHub implements HubExtension, PersonalData {
    private final @Nullable SparqlService statements;
    private final @Nullable KnowledgeTokenVerifier tokens;
    private final ExtensionProtocol protocol;
    private final HubParts hub;
    private final Lazy<Graph> graph;
    private volatile boolean closed;

    /**
     * @param graph if it is open already
     * @param statements their server; null if they are in the database
     */
    GraphOfHub(
            @Nullable Graph graph,
            @Nullable SparqlService statements,
            @Nullable KnowledgeTokenVerifier tokens,
            ExtensionProtocol protocol,
            HubParts hub) {
        this.statements = statements;
        this.tokens = tokens;
        this.protocol = protocol;
        this.hub = hub;
        this.graph = new Lazy<>(() -> graph == null ? opened() : graph);
        if (graph != null) {
            this.graph.get();
        }
    }

    private Graph graph() {
        return graph.get();
    }

    /** @throws IllegalStateException if it was not opened before the hub was closed */
    private Graph opened() {
        if (closed) {
            throw new IllegalStateException("the hub is closed");
        }
        return Graph.in(hub.database(), hub.audit(), InstantSource.system(), statements);
    }

    @Override
    public AgentExtension of(String hubUrl, String agent, boolean streams) {
        Graph used = graph();
        List<String> languages = used.queryLanguages();
        boolean subscribes = streams && languages.contains(Query.GRAPHQL);
        String name = agent.substring(agent.lastIndexOf('/') + 1);
        BiFunction<String, CallContext, String> tasks =
                (task, caller) -> hub.tasks().named(caller.scope(), name, task).orElse(task);
        return AgentExtension.of(KnowledgeExtension.of(hubUrl, agent, languages, subscribes))
                .operations(protocol, new GraphTokens(used, tokens, tasks).endpoint());
    }

    @Override
    public AgentEndpoint operations() {
        return graph().endpoint();
    }

    @Override
    public String name() {
        return "graph";
    }

    @Override
    public AgentEndpoint before(AgentEndpoint agent) {
        return new KnowledgeOfTasks(agent, graph());
    }

    @Override
    public Handlers administration() {
        return new KnowledgePages(this::graph).handlers();
    }

    @Override
    public Optional<String> problem() {
        return Optional.ofNullable(graph.ifMade()).flatMap(Graph::storeProblem);
    }

    @Override
    public Optional<PersonalData> personalData() {
        return Optional.of(this);
    }

    @Override
    public void unlink(Collection<String> ids, CallContext operator) {
        graph().unlink(ids, operator);
    }

    @Override
    public Map<String, Object> erase(String principal, boolean withStatements, CallContext operator) {
        Graph.Erased erased = graph().erase(principal, withStatements, operator);
        return Map.of("statements", erased.statements(), "knowledgeRows", erased.rows());
    }

    @Override
    public void close() {
        closed = true; // before the look, so that each graph is either seen here or not opened
        Graph opened = graph.ifBegun();
        if (opened != null) {
            opened.close();
        }
    }
}
