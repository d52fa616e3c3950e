package dev.parley.mcp.agent;

import dev.parley.mcp.client.HttpTransport;
import dev.parley.mcp.client.McpClient;
import dev.parley.mcp.client.McpCredentials;
import dev.parley.mcp.client.OAuth;
import dev.parley.mcp.client.StdioTransport;
import dev.parley.outbound.AddressRule;
import dev.parley.outbound.GuardedClients;
import dev.parley.outbound.http.Http1Client;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** Connects to MCP servers, by HTTP clients that last as long as the hub, however often a server is connected to. Safe for any thread. */
final class ServerConnections implements AutoCloseable {
    /** Clients of one server for authorization servers. */
    private record Guarded(GuardedClients clients, HttpClient http) {}

    private final HttpClient http = Http1Client.of(Duration.ofSeconds(10), null);
    private final Map<String, Guarded> guarded = new ConcurrentHashMap<>();

    McpClient connect(ServersFile.Entry entry, Consumer<String> log, Runnable onExit) throws InterruptedException {
        URI url = entry.url();
        if (url == null) {
            var program =
                    new StdioTransport.Program(entry.name(), entry.command(), entry.environment(), entry.directory());
            return McpClient.connect(
                    () -> StdioTransport.start(program, log, onExit), McpClient.Limits.DEFAULT, entry.revision());
        }
        McpCredentials credentials = credentials(entry, url);
        return McpClient.connect(
                () -> new HttpTransport(url, http, entry.headers(), credentials),
                McpClient.Limits.DEFAULT,
                entry.revision());
    }

    /** The server names the addresses of its authorization server, so these are guarded; the server itself is the operator's choice. */
    private McpCredentials credentials(ServersFile.Entry entry, URI url) {
        ServersFile.OAuthClient client = entry.oauth();
        if (client == null) {
            return McpCredentials.NONE;
        }
        HttpClient authorization = guarded.computeIfAbsent(entry.name(), server -> {
                    var clients = new GuardedClients(AddressRule.allowing(List.of(url.getHost()), "mcp-servers"));
                    return new Guarded(clients, clients.of("mcp-" + server));
                })
                .http();
        return new OAuth(
                url,
                authorization,
                new OAuth.Registration(
                        client.id(), client.secret(), client.privateKey(), client.scope(), null, "", null));
    }

    @Override
    public void close() {
        guarded.values().forEach(each -> each.clients().close());
        http.shutdownNow();
    }
}
