package dev.parley.mcp.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.concurrent.Executors;

/** Front of an MCP server over HTTP, for tests, after which it has the revisions with sessions only. */
public final class OlderFront implements AutoCloseable {
    private static final List<String> HEADERS =
            List.of("Content-Type", "Accept", "MCP-Protocol-Version", "Mcp-Session-Id");

    private final HttpClient http = HttpClient.newHttpClient();
    private final HttpServer server;
    private final URI target;

    public OlderFront(String target) throws IOException {
        this.target = URI.create(target);
        this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::pass);
        server.start();
    }

    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/mcp";
    }

    private void pass(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            if (new String(body, UTF_8).contains("server/discover")) {
                exchange.sendResponseHeaders(400, -1);
                return;
            }
            HttpRequest.Builder request = HttpRequest.newBuilder(target)
                    .method(
                            exchange.getRequestMethod(),
                            body.length == 0 ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body));
            HEADERS.forEach(name -> exchange.getRequestHeaders()
                    .getOrDefault(name, List.of())
                    .forEach(value -> request.header(name, value)));
            HttpResponse<InputStream> answer = http.send(request.build(), BodyHandlers.ofInputStream());
            HEADERS.forEach(name -> answer.headers()
                    .allValues(name)
                    .forEach(value -> exchange.getResponseHeaders().add(name, value)));
            exchange.sendResponseHeaders(answer.statusCode(), answer.statusCode() == 202 ? -1 : 0);
            byte[] buffer = new byte[8192];
            try (InputStream in = answer.body()) {
                for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                    exchange.getResponseBody().write(buffer, 0, read);
                    exchange.getResponseBody().flush();
                }
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        server.stop(0);
        http.shutdownNow();
    }
}
