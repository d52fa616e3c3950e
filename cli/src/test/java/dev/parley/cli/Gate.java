package dev.parley.cli;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;

/** What people put in front of a hub: it lets in only who has the credential, and now and then it loses connections. */
final class Gate implements AutoCloseable {
    private static final Set<String> PASSED_ON =
            Set.of("accept", "content-type", "a2a-version", "last-event-id", "a2a-extensions");

    private final HttpServer http;
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final List<InputStream> open = new CopyOnWriteArrayList<>();
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private volatile String hub = "";
    private volatile String header = "";
    private volatile String credential = "";
    private volatile String schemes = "";

    Gate() {
        try {
            http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
        http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        http.createContext("/", this::pass);
        http.start();
    }

    String url() {
        return "http://127.0.0.1:" + http.getAddress().getPort();
    }

    /** Leads to {@code hub}, whose cards then name this gate instead. */
    Gate before(String hub) {
        this.hub = hub;
        return this;
    }

    /** From now on, only requests for cards pass without this header; cards say so. */
    Gate wants(String header, String credential, String scheme) {
        this.header = header;
        this.credential = credential;
        this.schemes =
                "\"securitySchemes\":{\"main\":" + scheme + "},\"securityRequirements\":[{\"schemes\":{\"main\":{}}}],";
        return this;
    }

    /** Loses every answer that is under way. */
    void cut() throws IOException {
        for (InputStream answer : open) {
            answer.close();
        }
    }

    /** The bodies of the calls that came, in order. */
    List<String> asked() {
        return List.copyOf(asked);
    }

    private void pass(HttpExchange exchange) throws IOException {
        boolean card = exchange.getRequestURI().getPath().contains("/.well-known/");
        byte[] body = exchange.getRequestBody().readAllBytes();
        if (!card) {
            asked.add(new String(body, StandardCharsets.UTF_8));
        }
        if (!card
                && !header.isEmpty()
                && !credential.equals(exchange.getRequestHeaders().getFirst(header))) {
            exchange.sendResponseHeaders(401, -1);
            exchange.close();
            return;
        }
        try {
            HttpResponse<InputStream> answer = client.send(request(exchange, body), BodyHandlers.ofInputStream());
            answer.headers()
                    .firstValue("Content-Type")
                    .ifPresent(type -> exchange.getResponseHeaders().set("Content-Type", type));
            exchange.sendResponseHeaders(answer.statusCode(), 0);
            try (InputStream from = answer.body()) {
                open.add(from);
                if (card) {
                    String text = new String(from.readAllBytes(), StandardCharsets.UTF_8);
                    String own = text.replace(hub, url()).replaceFirst("\\{", "{" + schemes);
                    exchange.getResponseBody().write(own.getBytes(StandardCharsets.UTF_8));
                } else {
                    copy(from, exchange);
                }
            }
            exchange.close();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private HttpRequest request(HttpExchange exchange, byte[] body) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(hub + exchange.getRequestURI()))
                .method(
                        exchange.getRequestMethod(),
                        body.length == 0 ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body));
        Headers headers = exchange.getRequestHeaders();
        PASSED_ON.stream().filter(headers::containsKey).forEach(name -> request.header(name, headers.getFirst(name)));
        return request.build();
    }

    private static void copy(InputStream from, HttpExchange to) throws IOException {
        byte[] buffer = new byte[8192];
        for (int length = from.read(buffer); length >= 0; length = from.read(buffer)) {
            to.getResponseBody().write(buffer, 0, length);
            to.getResponseBody().flush();
        }
    }

    @Override
    public void close() {
        http.stop(0);
        client.shutdownNow();
    }
}
