package dev.parley.mcp.agent;

import static java.util.Objects.requireNonNull;

import dev.parley.client.webhooks.GuardedClients;
import dev.parley.client.webhooks.WebhookRule;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.engine.spi.Tools;
import dev.parley.extension.AdminHandler;
import dev.parley.extension.AdminParameters;
import dev.parley.extension.AnswerSchema;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubParts;
import dev.parley.mcp.client.Credentials;
import dev.parley.mcp.client.HttpTransport;
import dev.parley.mcp.client.McpClient;
import dev.parley.mcp.client.OAuth;
import dev.parley.mcp.client.StdioTransport;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.store.audit.Entry;
import dev.parley.store.database.DatabaseKind;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The MCP servers of a hub as its agents, and their tools for the handlers of other agents. */
final class HostedServers implements HubExtension {
    /** After which a call that waits for its caller is forgotten. */
    private static final Duration LONGEST_WAIT = Duration.ofDays(30);

    /** Wait of the start of a hub for servers that it does not know yet. */
    private static final Duration FIRST_CONTACT = Duration.ofSeconds(10);

    private static final Duration EPOCH = Duration.ofSeconds(1);
    private static final System.Logger LOG = System.getLogger("dev.parley.mcp");

    private final CountDownLatch closing = new CountDownLatch(1);
    private final long opened = System.nanoTime();
    private final HubParts hub;
    private final @Nullable ToolTable table;
    private final Map<String, HostedServer> servers = new LinkedHashMap<>();
    private final Map<String, ToolAgent> agents = new LinkedHashMap<>();
    private final HttpClient http;
    private final List<GuardedClients> guarded = new ArrayList<>();

    HostedServers(HubParts hub, List<ServersFile.Entry> entries) {
        this.hub = hub;
        this.http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(Duration.ofSeconds(10))
                .build();
        if (entries.isEmpty()) {
            this.table = null;
            return;
        }
        ToolTable kept = new ToolTable(hub.database());
        kept.forgetBefore(Instant.now().minus(LONGEST_WAIT));
        this.table = kept;
        for (ServersFile.Entry entry : entries) {
            var server = new HostedServer(entry, kept, this::connect, () -> describe(entry.name()));
            servers.put(entry.name(), server);
            agents.put(entry.name(), new ToolAgent(server, kept));
        }
        kept.keepContacts(servers.keySet());
        servers.values().forEach(HostedServer::begin);
        if (hub.database().kind() == DatabaseKind.POSTGRESQL) {
            Thread.ofVirtual().name("mcp-approvals").start(() -> followApprovals(kept));
        }
    }

    /** Approvals of other hubs on the database take effect within a second. */
    private void followApprovals(ToolTable kept) {
        try {
            while (!closing.await(EPOCH.toMillis(), TimeUnit.MILLISECONDS)) {
                try {
                    Map<String, Long> versions = kept.versions();
                    servers.forEach((name, server) -> server.approved(versions.getOrDefault(name, 0L)));
                } catch (RuntimeException failure) {
                    LOG.log(System.Logger.Level.WARNING, "approvals of tools cannot be read", failure);
                }
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    private McpClient connect(ServersFile.Entry entry, Runnable onExit) throws InterruptedException {
        URI url = entry.url();
        if (url == null) {
            var program =
                    new StdioTransport.Program(entry.name(), entry.command(), entry.environment(), entry.directory());
            return McpClient.connect(
                    () -> StdioTransport.start(program, onExit), McpClient.Limits.DEFAULT, entry.revision());
        }
        Credentials credentials = credentials(entry, url);
        return McpClient.connect(
                () -> new HttpTransport(url, http, entry.headers(), credentials),
                McpClient.Limits.DEFAULT,
                entry.revision());
    }

    /** The server names the addresses of its authorization server, so these are guarded; the server itself is the operator's choice. */
    private Credentials credentials(ServersFile.Entry entry, URI url) {
        ServersFile.OAuthClient client = entry.oauth();
        if (client == null) {
            return Credentials.NONE;
        }
        var clients = new GuardedClients(WebhookRule.allowing(List.of(url.getHost()), "mcp-servers"));
        synchronized (guarded) {
            guarded.add(clients);
        }
        return new OAuth(
                url,
                clients.of("mcp-" + entry.name()),
                new OAuth.Registration(
                        client.id(), client.secret(), client.privateKey(), client.scope(), null, "", null));
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
        servers.keySet().forEach(this::describe); // of changes since the agents were made
    }

    @Override
    public Optional<BiFunction<Request, Reply, Tools>> tools() {
        return servers.isEmpty()
                ? Optional.empty()
                : Optional.of((request, reply) -> new AgentTools(hub.agents(), servers, request, reply));
    }

    @Override
    public Optional<String> problem() {
        String problems = servers.values().stream()
                .flatMap(server ->
                        server.problem().stream().map(problem -> server.entry().name() + ": " + problem))
                .collect(Collectors.joining("; "));
        return problems.isEmpty() ? Optional.empty() : Optional.of(problems);
    }

    @Override
    public Map<String, AdminHandler> administration() {
        return Map.of("mcp/tools", (parameters, operator) -> listed(), "mcp/tools/approve", this::approve);
    }

    private Object listed() {
        var list = new ArrayList<Object>();
        for (HostedServer server : servers.values()) {
            List<Object> tools = requireNonNull(table).rows(server.entry().name()).stream()
                    .map(row -> (Object) Trees.members(
                            "name", row.name(),
                            "state", row.held() == null ? "approved" : row.approved() == null ? "new" : "changed",
                            "digest", row.heldDigest() == null ? row.digest() : row.heldDigest(),
                            "pinned", row.approved() == null ? null : row.digest(),
                            "description",
                                    row.approved() == null
                                            ? null
                                            : row.approved().description(),
                            "differences", row.held() == null || row.approved() == null ? null : row.differences(),
                            "change", row.held() == null ? null : ToolTable.json(row.held())))
                    .toList();
            list.add(Trees.members(
                    "name",
                    server.entry().name(),
                    "state",
                    server.problem().isEmpty() ? "connected" : "unreachable",
                    "restarts",
                    server.restarts(),
                    "problem",
                    server.problem().orElse(null),
                    "lastProblem",
                    server.lastProblem().isEmpty() ? null : server.lastProblem(),
                    "tools",
                    tools));
        }
        return AnswerSchema.answer(ServersSource.SERVERS, list);
    }

    private Object approve(AdminParameters parameters, CallContext operator) {
        String name = parameters.text("server");
        HostedServer server = servers.get(name);
        if (server == null) {
            throw A2AException.invalidParams("server", "\"" + name + "\": unknown");
        }
        List<String> approved =
                requireNonNull(table).approve(name, parameters.textOrNull("tool"), parameters.textOrNull("digest"));
        server.approved();
        hub.audit()
                .note(new Entry(
                        operator.scope().group(),
                        operator.caller(),
                        "mcp.tools.approved",
                        name,
                        "",
                        "ok",
                        operator.address(),
                        Objects.toString(operator.traceparent(), ""),
                        Map.of("tools", approved)));
        return AnswerSchema.answer(ServersSource.APPROVED, approved);
    }

    @Override
    public void close() {
        closing.countDown();
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
        synchronized (guarded) {
            guarded.forEach(GuardedClients::close);
        }
        http.shutdownNow();
    }
}
