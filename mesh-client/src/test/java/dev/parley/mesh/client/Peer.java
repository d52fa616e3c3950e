package dev.parley.mesh.client;

import static dev.parley.mesh.Envelope.JSON;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.mesh.Envelope;
import dev.parley.mesh.Envelope.Handling;
import dev.parley.mesh.Envelope.Party;
import dev.parley.mesh.EnvelopeModel;
import dev.parley.mesh.MeshContent;
import dev.parley.mesh.SignedForm;
import dev.parley.protocol.AgentCard;
import dev.parley.trust.cards.CardKeys;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** An agent at the other end, with scripted answers. */
final class Peer implements AutoCloseable {
    /** A request that arrived. */
    record Request(String method, String path, Map<String, List<String>> headers, byte[] body) {
        Envelope envelope() {
            return EnvelopeModel.ENVELOPE.fromJson(Json.read(body, Map.class));
        }

        String header(String name) {
            return headers.entrySet().stream()
                    .filter(header -> header.getKey().equalsIgnoreCase(name))
                    .map(header -> header.getValue().getFirst())
                    .findFirst()
                    .orElse("");
        }
    }

    /** An answer: bytes, or the envelope of a content. */
    record Answer(
            int status,
            Map<String, String> headers,
            @Nullable MeshContent content,
            byte[] body) {
        static Answer of(int status, MeshContent content) {
            return new Answer(status, Map.of("Retry-After", "0"), content, new byte[0]);
        }

        static Answer text(int status, String text) {
            return new Answer(status, Map.of("Retry-After", "0"), null, text.getBytes(UTF_8));
        }
    }

    static final String NAME = "researcher";

    final List<Request> requests = new CopyOnWriteArrayList<>();
    private final LinkedBlockingDeque<Answer> answers = new LinkedBlockingDeque<>();
    private final HttpServer server;

    @Nullable
    CardKeys signing;

    Peer() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::handle);
        server.start();
    }

    /** Adds an answer to the next request without one. */
    Peer answer(Answer answer) {
        answers.add(answer);
        return this;
    }

    private void handle(HttpExchange exchange) throws IOException {
        var request = new Request(
                exchange.getRequestMethod(),
                exchange.getRequestURI().getPath(),
                exchange.getRequestHeaders(),
                exchange.getRequestBody().readAllBytes());
        requests.add(request);
        try {
            Answer answer = answers.poll(60, TimeUnit.SECONDS);
            if (answer == null) {
                throw new IOException("no answer in the script");
            }
            byte[] body = answer.content() == null ? answer.body() : written(answer.content(), request);
            answer.headers().forEach(exchange.getResponseHeaders()::add);
            exchange.sendResponseHeaders(answer.status(), body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } finally {
            exchange.close();
        }
    }

    private byte[] written(MeshContent content, Request request) {
        return bytes(message(
                content,
                "planner",
                request.method().equals("POST") ? request.envelope().correlationId() : null));
    }

    Envelope message(MeshContent content, String to, @Nullable String correlationId) {
        var envelope = new Envelope(
                UUID.randomUUID().toString(),
                correlationId,
                Instant.now(),
                Party.of(NAME, url() + "/one"),
                Party.of(to, "http://localhost/"),
                EnvelopeModel.body(content),
                Handling.DEFAULT);
        return signing == null ? envelope : SignedForm.sign(envelope, signing::sign);
    }

    static byte[] bytes(Envelope envelope) {
        return Json.write(EnvelopeModel.ENVELOPE.toJson(envelope));
    }

    /** Posts to an address, and returns the status. */
    static int post(String url, byte[] body, Map<String, String> headers) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url))
                .header("Content-Type", JSON)
                .POST(HttpRequest.BodyPublishers.ofByteArray(body));
        headers.forEach(request::header);
        try (var http = HttpClient.newHttpClient()) {
            return http.send(request.build(), HttpResponse.BodyHandlers.discarding())
                    .statusCode();
        }
    }

    String url() {
        return "http://localhost:" + server.getAddress().getPort() + "/agents/" + NAME;
    }

    /** A client of this agent. */
    AgentClient client() {
        var skill = new AgentCard.Skill(
                "research",
                "Research",
                "Finds out",
                List.of("papers"),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                Map.of());
        return AgentClient.builder()
                .bearer("token-1")
                .of(new AgentCard(
                        NAME,
                        "Researches",
                        List.of(new AgentCard.Interface(url(), AgentCard.Interface.JSONRPC, null, "1.0")),
                        null,
                        "1",
                        null,
                        new AgentCard.Capabilities(null, null, List.of(), null),
                        Map.of(),
                        List.of(),
                        List.of("application/json"),
                        List.of("application/json"),
                        List.of(skill),
                        List.of(),
                        null));
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
