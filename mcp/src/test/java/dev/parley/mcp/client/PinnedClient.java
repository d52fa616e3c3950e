package dev.parley.mcp.client;

import dev.parley.mcp.wire.Revision;
import java.net.URI;
import java.net.http.HttpClient;
import java.util.List;
import java.util.Map;

/** Clients of one revision, for tests. */
public final class PinnedClient {
    private PinnedClient() {}

    public static McpClient http(String url, HttpClient http, Revision revision) throws InterruptedException {
        return McpClient.connect(
                () -> new HttpTransport(URI.create(url), http, Map.of(), McpCredentials.NONE),
                McpClient.Limits.DEFAULT,
                revision);
    }

    /** @param command program with a server */
    public static McpClient stdio(List<String> command, Revision revision) throws InterruptedException {
        return McpClient.connect(
                () -> StdioTransport.start(
                        new StdioTransport.Program("serve", command, Map.of(), null), line -> {}, () -> {}),
                McpClient.Limits.DEFAULT,
                revision);
    }
}
