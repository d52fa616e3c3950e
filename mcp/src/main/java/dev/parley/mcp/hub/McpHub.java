package dev.parley.mcp.hub;

import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.extension.AuthorizeTask;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubParts;
import dev.parley.mcp.ServerInfo;
import dev.parley.mcp.Tool;
import dev.parley.mcp.server.HttpEngine;
import dev.parley.mcp.server.McpExchange;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.ExtensionUri;
import dev.parley.protocol.extension.ExtensionView;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The MCP server of one hub: the built-in agent {@value #AGENT}, whose operations are the requests of MCP. Each operation that it makes of
 * a request is a call of the same caller, after authorization, limits, metrics, traces and the audit (ADR 62).
 */
final class McpHub implements HubExtension {
    static final String AGENT = "mcp";
    static final String PAGE = "/ui/credential";
    static final ExtensionProtocol PROTOCOL = McpExchange.protocol(ExtensionUri.permanent("/extensions/mcp/v1"));

    /** Apart from the others, which messages can carry: messages are kept, and credentials are not. */
    private static final ExtensionProtocol CREDENTIAL_PROTOCOL =
            ExtensionProtocol.of(PROTOCOL.uri(), AuthorizeAgentTask.ROW);

    private static final ExtensionView<AgentEndpoint> OPERATIONS =
            new ExtensionView<>(PROTOCOL.uri(), ExtensionView.Use::operations);
    private static final String PATH = "/mcp";
    private static final String AGENTS = "/agents/";
    private static final String CREDENTIALS = PATH + "/credentials";

    private final HubParts hub;
    private final Duration wait;
    private final HubChanges changes = new HubChanges();
    private final McpFaces face = new McpFaces(() -> url());
    private final Map<String, HttpEngine> engines = new ConcurrentHashMap<>();
    private volatile String url = "";

    McpHub(HubParts hub, Duration wait) {
        this.hub = hub;
        this.wait = wait;
    }

    private String url() {
        return url;
    }

    @Override
    public String name() {
        return AGENT;
    }

    @Override
    public List<Agent> agents() {
        return List.of(Agent.named(AGENT, "Offers the agents of the hub as tools of MCP, at " + PATH)
                .skill("tools", "Lists the tools that the caller may call", "mcp")
                .uses(OPERATIONS)
                .handle((request, reply) -> reply.message(listed(request.context()))));
    }

    private String listed(CallContext caller) {
        return provider(null).tools(caller).stream().map(Tool::name).collect(Collectors.joining("\n"));
    }

    @Override
    public AgentExtension of(String hubUrl, String agentUrl, boolean streams) {
        url = hubUrl;
        var requests = new Requests();
        return AgentExtension.of(PROTOCOL, "Agents as tools of MCP")
                .operations(CREDENTIAL_PROTOCOL, requests)
                .operations(PROTOCOL, requests);
    }

    @Override
    public Map<String, Face> faces() {
        return Map.of(
                PATH,
                new Face(AGENT, face),
                AGENTS + "{agent}" + PATH,
                new Face(AGENT, face, "MCP"),
                CREDENTIALS,
                new Face(AGENT, new CredentialFace()));
    }

    /** Requests of MCP, and credentials for tasks. */
    private final class Requests implements AgentEndpoint {
        @Override
        @SuppressWarnings("unchecked") // the answer of the one operation
        public <R> R call(Operation.Call<R> operation, CallContext caller) {
            if (!(operation instanceof AuthorizeAgentTask given)) {
                throw A2AException.of(A2AError.METHOD_NOT_FOUND);
            }
            if (given.agent() == null) {
                throw A2AException.invalidParams("agent", "missing (expected: a text)");
            }
            var authorize = new AuthorizeTask(given.taskId(), given.credential());
            return (R) hub.agents().endpoint(given.agent()).call(authorize, caller);
        }

        @Override
        @SuppressWarnings("unchecked") // the elements of the one operation
        public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext caller) {
            if (!(operation instanceof McpExchange exchange)) {
                throw A2AException.of(A2AError.METHOD_NOT_FOUND);
            }
            String only = agent(exchange.request().arrival().path());
            if (only != null && !hub.agents().cards(caller).containsKey(only)) {
                throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is nothing at this address");
            }
            return (Feed<E>) engine(only).answer(exchange, caller);
        }
    }

    /** The agent at whose address a request came; null for the address of all. */
    static @Nullable String agent(String path) {
        return path.startsWith(AGENTS) ? path.substring(AGENTS.length(), path.length() - PATH.length()) : null;
    }

    private HttpEngine engine(@Nullable String only) {
        return engines.computeIfAbsent(
                only == null ? "" : only,
                name -> new HttpEngine(
                        provider(only),
                        new ServerInfo("parley", "Parley", version(), instructions(only)),
                        hub.key(AGENT + "/requestState")));
    }

    private AgentProvider provider(@Nullable String only) {
        return new AgentProvider(new HubOffer(hub.agents(), hub.tasks(), changes, this::url, only), wait);
    }

    private static String version() {
        String version = McpHub.class.getPackage().getImplementationVersion();
        return version == null ? "0" : version;
    }

    private static String instructions(@Nullable String only) {
        return "Each tool sends a message to " + (only == null ? "an agent" : "the agent " + only)
                + ". Results carry the contextId, which continues the conversation in a further call, and the taskId. A task that is not"
                + " finished is followed by task_result, and a question of its agent is answered by task_reply.";
    }

    @Override
    public void started() {
        changes.follow(hub.agents());
    }

    @Override
    public void stopping() {
        engines.values().forEach(HttpEngine::close);
    }
}
