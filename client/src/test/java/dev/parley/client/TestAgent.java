package dev.parley.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.client.RawServer.Connection;
import dev.parley.client.RawServer.Request;
import dev.parley.protocol.AgentCard;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A remote agent: it has a card, and answers what a test tells it to, on as many connections as it is called on. */
public final class TestAgent implements AutoCloseable {
    /** Answers one request to the agent's own address. */
    public interface Behaviour {
        void answer(Request request, Connection connection) throws IOException, InterruptedException;
    }

    /** The calls that came, in order; requests for the card are not among them. */
    public final Queue<Request> calls = new ConcurrentLinkedQueue<>();

    public final RawServer server;
    private volatile String card = "";

    public TestAgent(Behaviour behaviour) throws IOException {
        this("JSONRPC", behaviour);
    }

    public TestAgent(String binding, Behaviour behaviour) throws IOException {
        server = new RawServer(connection -> {
            for (Request request = connection.request(); request != null; request = connection.request()) {
                if (request.line().startsWith("GET /.well-known/agent-card.json ")) {
                    connection.answer(200, card, "Content-Type: application/json");
                } else {
                    calls.add(request);
                    behaviour.answer(request, connection);
                }
            }
        });
        card = card(url(), binding, "");
    }

    /** Publishes another card. */
    public TestAgent with(String card) {
        this.card = card;
        return this;
    }

    public String url() {
        return server.url("/agent");
    }

    public String origin() {
        return server.url("");
    }

    /** Connects with waits of a millisecond at most. */
    public AgentClient client() {
        return hasty().connect(origin());
    }

    /** Finds the card, for clients whose patience might not be enough for that. */
    AgentCard foundCard() {
        try (var patient = client()) {
            return patient.card();
        }
    }

    public static AgentClientBuilder hasty() {
        return AgentClient.builder().backoff(Duration.ZERO, Duration.ofMillis(1));
    }

    /** @param more members of the card, each followed by a comma */
    public static String card(String url, String binding, String more) {
        return card(
                "{\"url\":\"" + url + "\",\"protocolBinding\":\"" + binding + "\",\"protocolVersion\":\"1.0\"}", more);
    }

    public static String card(String interfaces, String more) {
        return """
                {%s"name":"test","description":"A test's agent","version":"1",
                 "supportedInterfaces":[%s],"capabilities":{"streaming":true},
                 "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}""".formatted(more, interfaces);
    }

    public static String task(String state) {
        return "{\"id\":\"t1\",\"contextId\":\"c1\",\"status\":{\"state\":\"TASK_STATE_" + state + "\"}}";
    }

    static String status(String state) {
        return "{\"statusUpdate\":{\"taskId\":\"t1\",\"contextId\":\"c1\",\"status\":{\"state\":\"TASK_STATE_" + state
                + "\"}}}";
    }

    static String artifact(String text) {
        return "{\"artifactUpdate\":{\"taskId\":\"t1\",\"contextId\":\"c1\",\"artifact\":{\"artifactId\":\"a\",\"parts\":[{\"text\":\""
                + text + "\"}]}}}";
    }

    public static String rpc(String result) {
        return "{\"jsonrpc\":\"2.0\",\"id\":" + RawServer.ID + ",\"result\":" + result + "}";
    }

    public static String rpcError(int code, String reason) {
        return "{\"jsonrpc\":\"2.0\",\"id\":" + RawServer.ID + ",\"error\":{\"code\":" + code
                + ",\"message\":\"because\",\"data\":[{\"@type\":"
                + "\"type.googleapis.com/google.rpc.ErrorInfo\",\"reason\":\"" + reason
                + "\",\"domain\":\"a2a-protocol.org\"}]}}";
    }

    /** Begins a stream whose end can be told from a cut. */
    public static void beginStream(Connection connection) throws IOException {
        connection.write("HTTP/1.1 200 OK\nContent-Type: text/event-stream\nTransfer-Encoding: chunked\n\n");
    }

    /** Sends a frame without id if {@code id} is 0. */
    public static void send(Connection connection, long id, String event) throws IOException {
        chunk(connection, (id == 0 ? "" : "id: " + id + "\n") + "data: " + rpc(event) + "\n\n");
    }

    /** Writes a chunk at once: after its first bytes a client may close the connection, and a second write would fail. */
    static void chunk(Connection connection, String text) throws IOException {
        var chunk = new ByteArrayOutputStream();
        byte[] bytes = connection.answering(text).getBytes(UTF_8);
        chunk.writeBytes((Integer.toHexString(bytes.length) + "\r\n").getBytes(UTF_8));
        chunk.writeBytes(bytes);
        chunk.writeBytes("\r\n".getBytes(UTF_8));
        connection.writeExactly(chunk.toByteArray());
    }

    public static void endStream(Connection connection) throws IOException {
        connection.write("0\n\n");
    }

    List<String> methods() {
        return calls.stream()
                .map(call -> call.text().replaceFirst("(?s).*\"method\":\"(\\w+)\".*", "$1"))
                .toList();
    }

    @Override
    public void close() {
        server.close();
    }
}
