package dev.parley.mcp.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpServer;
import dev.parley.testkit.AddressContract;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The operator names the MCP server, which names the address as that of its authorization server. */
class AuthorizationAddressTest extends AddressContract {
    @Override
    protected String scheme() {
        return "https";
    }

    @Override
    protected List<String> ofThisMachine() {
        return List.of("127.0.0.2", "[::1]");
    }

    @Override
    protected String call(String url, List<String> allowed) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        URI mcp = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/mcp");
        server.createContext("/mcp", exchange -> {
            exchange.getResponseHeaders().set("WWW-Authenticate", "Bearer");
            exchange.sendResponseHeaders(401, -1);
            exchange.close();
        });
        server.createContext("/.well-known/", exchange -> {
            byte[] body =
                    ("{\"resource\":\"" + mcp + "\",\"authorization_servers\":[\"" + url + "\"]}").getBytes(UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        var entry = new ServersFile.Entry(
                "raw",
                List.of(),
                Map.of(),
                null,
                mcp,
                Map.of(),
                new ServersFile.OAuthClient("id", "secret", null, null),
                null,
                Duration.ofSeconds(10),
                List.of());
        try (var connections = new ServerConnections();
                var client = connections.connect(entry, line -> {}, () -> {})) {
            return client.tools().toString();
        } finally {
            server.stop(0);
        }
    }
}
