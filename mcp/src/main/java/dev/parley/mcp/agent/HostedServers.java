package dev.parley.mcp.agent;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.Tools;
import dev.parley.extension.Handlers;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubObserver;
import dev.parley.extension.HubParts;
import dev.parley.mcp.Tool;
import dev.parley.mcp.agent.ServerOperation.ApproveTools;
import dev.parley.mcp.agent.ServerOperation.ServerState;
import dev.parley.mcp.agent.ServerOperation.ServerView;
import dev.parley.mcp.agent.ServerOperation.ToolState;
import dev.parley.mcp.agent.ServerOperation.ToolView;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.store.audit.AuditEntry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The MCP servers of a hub as its agents, and their tools for the handlers of other agents. */
final class HostedServers implements HubExtension {
    /** After which a call that waits for its caller is forgotten. */
    private static final Duration LONGEST_WAIT = Duration.ofDays(30);

    /** Wait of the start of a hub for servers that it does not know yet. */
    private static final Duration FIRST_CONTACT = Duration.ofSeconds(10);

    private static final String UNUSABLE = "unusable";
    private static final System.Logger LOG = System.getLogger("dev.parley.mcp");

    private final long opened = System.nanoTime();
    private final HubParts hub;
    private final @Nullable ToolTable table;
    /** Servers in the order of the file. */
    private volatile Map<String, HostedServer> servers = Map.of();

    private volatile Map<String, ToolAgent> agents = Map.of();

    /** Reasons by the names of servers that cannot be used. */
    private final Map<String, String> unusable;

    private final ServerConnections connections = new ServerConnections();

    HostedServers(HubParts hub, ServersFile.Content content) {
        this.hub = hub;
        this.unusable = Collections.synchronizedMap(new LinkedHashMap<>(content.unusable()));
        content.notes().forEach(note -> LOG.log(System.Logger.Level.WARNING, "{0}", note));
        if (content.entries().isEmpty() && unusable.isEmpty()) {
            this.table = null;
            return;
        }
        ToolTable kept = new ToolTable(hub.database());
        kept.forgetBefore(Instant.now().minus(LONGEST_WAIT));
        this.table = kept;
        var open = new OpenCalls(hub.database(), name -> servers.get(name));
        var usable = new LinkedHashMap<String, HostedServer>();
        var asAgents = new LinkedHashMap<String, ToolAgent>();
        for (ServersFile.Entry entry : content.entries()) {
            var server = new HostedServer(entry, kept, connections::connect, () -> describe(entry.name()));
            usable.put(entry.name(), server);
            asAgents.put(entry.name(), new ToolAgent(server, kept, open));
        }
        this.servers = usable;
        this.agents = asAgents;
        kept.keepContacts(Stream.concat(servers.keySet().stream(), unusable.keySet().stream())
                .toList());
        unusable.forEach(this::tell);
        kept.keep(() -> servers.values().forEach(HostedServer::approved));
        servers.values().forEach(HostedServer::begin);
    }

    /** Shows the reason of a server that cannot be used in the log and to checks. */
    private void tell(String server, String reason) {
        LOG.log(System.Logger.Level.WARNING, "MCP server {0} cannot be used: {1}", server, reason);
        requireNonNull(table).contact(server, UNUSABLE + ": " + reason);
    }

    @Override
    public boolean without(String agent) {
        HostedServer server = servers.get(agent);
        if (server == null) {
            return false;
        }
        var others = new LinkedHashMap<>(servers);
        others.remove(agent);
        servers = others;
        var otherAgents = new LinkedHashMap<>(agents);
        otherAgents.remove(agent);
        agents = otherAgents;
        server.close();
        String reason = "another agent has the name";
        unusable.put(agent, reason);
        tell(agent, reason);
        return true;
    }

    private void describe(String server) {
        ToolAgent agent = agents.get(server);
        if (agent != null) {
            hub.describe(agent.agent());
        }
    }

    @Override
    public String name() {
        return "mcp-servers";
    }

    @Override
    public AgentExtension of(String hub, String agent, boolean streams) {
        return AgentExtension.of(ServersSource.URI, "Tools of MCP servers");
    }

    /** Cards of servers that were never asked before get their tools, if they can be asked soon. */
    @Override
    public List<Agent> agents() {
        servers.values().forEach(server -> server.awaitTools(opened + FIRST_CONTACT.toNanos()));
        return agents.values().stream().map(ToolAgent::agent).toList();
    }

    @Override
    public void started() {
        servers.values().forEach(HostedServer::report); // of changes since the agents were made
    }

    @Override
    public Optional<BiFunction<Request, Reply, Tools>> tools() {
        return servers.isEmpty()
                ? Optional.empty()
                : Optional.of((request, reply) -> new AgentTools(hub.agents(), servers, request, reply));
    }

    /** Gives calls up that wait for the answer to a question, when their tasks are canceled. */
    @Override
    public HubObserver hubObserver() {
        return new HubObserver() {
            @Override
            public void called(
                    String agent, Operation operation, CallContext caller, long nanos, @Nullable ErrorKind error) {
                ToolAgent canceled = agents.get(agent);
                if (canceled != null && error == null && operation instanceof CancelTask cancel) {
                    Thread.ofVirtual().name("mcp-cancel").start(() -> canceled.abandon(cancel.id()));
                }
            }

            @Override
            public void carried(String agent, Operation operation, CallContext caller, long received, long sent) {}

            @Override
            public void ran(String agent, Request request, long nanos) {}

            @Override
            public void offered(TaskKey task, String caller, boolean accepted) {}
        };
    }

    @Override
    public Optional<String> problem() {
        var all = new ArrayList<String>();
        unusable.forEach((server, reason) -> all.add(server + ": " + reason));
        servers.values()
                .forEach(server -> server.problem()
                        .ifPresent(problem -> all.add(server.entry().name() + ": " + problem)));
        String problems = String.join("; ", all);
        return problems.isEmpty() ? Optional.empty() : Optional.of(problems);
    }

    @Override
    public Handlers administration() {
        return Handlers.NONE
                .call(ServerOperation.LIST, (given, operator) -> listed())
                .call(
                        ServerOperation.LOG,
                        (given, operator) -> server(given.server()).log())
                .call(ServerOperation.APPROVE, this::approve);
    }

    private List<ServerView> listed() {
        var list = new ArrayList<ServerView>();
        for (HostedServer server : servers.values()) {
            list.add(new ServerView(
                    server.entry().name(),
                    server.problem().isEmpty() ? ServerState.CONNECTED : ServerState.UNREACHABLE,
                    server.restarts(),
                    server.problem().orElse(null),
                    server.lastProblem().isEmpty() ? null : server.lastProblem(),
                    requireNonNull(table).rows(server.entry().name()).stream()
                            .map(HostedServers::shown)
                            .toList()));
        }
        unusable.forEach((server, reason) ->
                list.add(new ServerView(server, ServerState.UNUSABLE, 0, reason, reason, List.of())));
        return list;
    }

    private static ToolView shown(ToolTable.Row row) {
        Tool approved = row.approved();
        Tool held = row.held();
        return new ToolView(
                row.name(),
                held == null ? ToolState.APPROVED : approved == null ? ToolState.NEW : ToolState.CHANGED,
                requireNonNullElse(row.heldDigest(), row.digest()),
                approved == null ? null : row.digest(),
                approved == null ? null : approved.description(),
                held == null || approved == null ? null : row.differences(),
                held == null ? null : ToolTable.json(held));
    }

    /** @throws A2AException INVALID_PARAMS if there is no such server */
    private HostedServer server(String name) {
        HostedServer server = servers.get(name);
        if (server == null) {
            throw A2AException.invalidParams(
                    "server",
                    "\"" + name + "\": unknown (expected: one of " + String.join(", ", servers.keySet()) + ")");
        }
        return server;
    }

    private List<String> approve(ApproveTools given, CallContext operator) {
        HostedServer server = server(given.server());
        String name = server.entry().name();
        ToolTable known = requireNonNull(table);
        ToolTable.Approval approval = known.approve(name, given.tool(), given.digest());
        server.approved();
        known.awaitSeen(approval);
        hub.audit()
                .note(new AuditEntry(
                        operator.scope().group(),
                        operator.caller(),
                        "mcp.tools.approved",
                        name,
                        "",
                        "ok",
                        operator.address(),
                        Objects.toString(operator.traceparent(), ""),
                        Map.of("tools", approval.tools())));
        return approval.tools();
    }

    @Override
    public void close() {
        var ending = servers.values().stream()
                .map(server -> Thread.ofVirtual().name("mcp-close").start(server::close))
                .toList();
        try {
            for (Thread each : ending) {
                each.join();
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
        connections.close();
    }
}
