package dev.parley.knowledge;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;

/** Passes requests on to a SPARQL server, unless it is told otherwise for updates. */
final class UnreliableProxy implements AutoCloseable {
    /** What becomes of an update. */
    enum Fault {
        NONE,
        /** The connection closes before the server gets it. */
        NOT_SENT,
        /** The connection closes after the server has done it. */
        NOT_ANSWERED
    }

    private final HttpServer server;
    private final HttpClient http = HttpClient.newHttpClient();
    private final URI target;
    private final List<String> updates = new CopyOnWriteArrayList<>();
    private final List<String> credentials = new CopyOnWriteArrayList<>();
    volatile Fault fault = Fault.NONE;

    UnreliableProxy(URI target) throws IOException {
        this.target = target;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/kg", this::pass);
        server.createContext("/moved", exchange -> {
            exchange.getResponseHeaders().set("Location", address().toString());
            exchange.sendResponseHeaders(307, -1);
            exchange.close();
        });
        server.start();
    }

    URI address() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/kg");
    }

    /** An address that redirects to the other one. */
    URI moved() {
        return address().resolve("/moved");
    }

    /** The updates that came. */
    List<String> updates() {
        return updates;
    }

    /** The credentials of all requests that came. */
    List<String> credentials() {
        return credentials;
    }

    private void pass(HttpExchange exchange) throws IOException {
        try (exchange) {
            String type = exchange.getRequestHeaders().getFirst("Content-Type");
            String text = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            credentials.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
            boolean isUpdate = type.startsWith("application/sparql-update");
            if (isUpdate) {
                updates.add(text);
            }
            if (isUpdate && fault == Fault.NOT_SENT) {
                return;
            }
            HttpResponse<byte[]> response = send(type, text);
            if (isUpdate && fault == Fault.NOT_ANSWERED) {
                return;
            }
            exchange.sendResponseHeaders(
                    response.statusCode(), response.body().length == 0 ? -1 : response.body().length);
            exchange.getResponseBody().write(response.body());
        }
    }

    /** Sends an update or a query to the server. */
    HttpResponse<byte[]> send(String type, String text) throws IOException {
        try {
            return http.send(
                    HttpRequest.newBuilder(target)
                            .header("Content-Type", type)
                            .header("Accept", "application/sparql-results+json")
                            .POST(HttpRequest.BodyPublishers.ofString(text))
                            .build(),
                    HttpResponse.BodyHandlers.ofByteArray());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IOException(stopped);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        http.shutdownNow();
    }
}
