package dev.parley.client.wire;

import static dev.parley.client.TestAgent.beginStream;
import static dev.parley.client.TestAgent.endStream;
import static dev.parley.client.TestAgent.rpc;
import static dev.parley.client.TestAgent.rpcError;
import static dev.parley.client.TestAgent.send;
import static dev.parley.client.TestAgent.task;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.client.AgentClient;
import dev.parley.client.AgentClientBuilder;
import dev.parley.client.Notes;
import dev.parley.client.RawServer;
import dev.parley.client.TestAgent;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.dialect.Json;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which interface of a card is used, and which one if nobody is there. */
@Timeout(30)
class PlacesTest {

    @Test
    void theOrderOfTheCardCountsUnlessABindingIsPreferred() {
        AgentCard card = card(
                at("http://127.0.0.1:1/grpc", "GRPC"),
                at("http://127.0.0.1:1/rest", "HTTP+JSON"),
                at("http://127.0.0.1:1/rpc", "JSONRPC"));

        assertThat(List.of(
                        used(AgentClient.builder(), card),
                        used(AgentClient.builder().prefer("jsonrpc"), card),
                        used(AgentClient.builder().prefer("GRPC", "JSONRPC"), card),
                        used(AgentClient.builder().prefer("GRPC"), card)))
                .containsExactly("HTTP+JSON", "JSONRPC", "JSONRPC", "HTTP+JSON");
    }

    @ParameterizedTest
    @ValueSource(ints = {404, 405, 410, 501})
    void whereNothingKnowsTheCallTheNextInterfaceTakesItAndIsKept(int status) throws Exception {
        try (var agent = at(status)) {
            var heard = new ArrayList<String>();
            try (var client = TestAgent.hasty().listener(new Notes(heard)).connect(agent.origin())) {
                SendResult result = client.send("Hello");
                client.task("t1");

                assertThat(result)
                        .isInstanceOfSatisfying(
                                Task.class, task -> assertThat(task.state()).isEqualTo(TaskState.COMPLETED));
                assertThat(client.address().protocolBinding()).isEqualTo("HTTP+JSON");
                assertThat(lines(agent))
                        .containsExactly(
                                "POST /old HTTP/1.1",
                                "POST /agent/message:send HTTP/1.1",
                                "GET /agent/tasks/t1 HTTP/1.1");
                assertThat(heard).anySatisfy(note -> assertThat(note).contains("another interface", "HTTP+JSON"));
            }
        }
    }

    @Test
    void whereNobodyTakesTheConnectionTheNextInterfaceIsUsed() throws Exception {
        String closed = closed();
        try (var agent = new TestAgent((request, connection) -> connection.answer(200, rpc(task("COMPLETED"))))) {
            AgentCard card = card(at(closed, "JSONRPC"), at(agent.url(), "JSONRPC"));

            try (var client =
                    TestAgent.hasty().allowOrigin(agent.origin()).retries(0).of(card)) {
                assertThat(client.task("t1").state()).isEqualTo(TaskState.COMPLETED);
                assertThat(client.address().url()).isEqualTo(agent.url());
            }
        }
    }

    @Test
    void aStreamBeginsAtTheNextInterfaceToo() throws Exception {
        try (var agent = new TestAgent((request, connection) -> {
            if (request.line().startsWith("POST /old ")) {
                connection.answer(404, "");
            } else {
                beginStream(connection);
                send(connection, 1, "{\"task\":" + task("COMPLETED") + "}");
                endStream(connection);
            }
        })) {
            agent.with(cardText(at(agent.origin() + "/old", "JSONRPC"), at(agent.url(), "JSONRPC")));

            try (var client = agent.client();
                    var stream = client.stream("go")) {
                assertThat(stream.next()).isInstanceOf(Task.class);
                assertThat(lines(agent)).containsExactly("POST /old HTTP/1.1", "POST /agent HTTP/1.1");
            }
        }
    }

    @Test
    void whatMayHaveHadAnEffectIsNotSentElsewhere() throws Exception {
        try (var agent = new TestAgent((request, connection) -> connection.reset())) {
            agent.with(both(agent));

            try (var client = agent.client()) {
                ClientException loss = catchThrowableOfType(ClientException.class, () -> client.send("Hello"));

                assertThat(loss.problem()).isEqualTo(Problem.LOST);
                assertThat(lines(agent)).containsExactly("POST /old HTTP/1.1");
            }
        }
    }

    @Test
    void anAnswerOfTheAgentSettlesWhichInterfaceIsUsed() throws Exception {
        try (var agent = new TestAgent((request, connection) -> {
            if (request.text().contains("GetTask")) {
                connection.answer(200, rpcError(-32001, "TASK_NOT_FOUND"));
            } else {
                connection.answer(404, "");
            }
        })) {
            agent.with(both(agent));

            try (var client = agent.client()) {
                A2AException unknown = catchThrowableOfType(A2AException.class, () -> client.task("t9"));
                A2AException gone = catchThrowableOfType(A2AException.class, () -> client.send("Hello"));

                assertThat(unknown.error()).isEqualTo(A2AError.TASK_NOT_FOUND);
                assertThat(gone.error()).isEqualTo(A2AError.METHOD_NOT_FOUND);
                assertThat(lines(agent)).containsExactly("POST /old HTTP/1.1", "POST /old HTTP/1.1");
            }
        }
    }

    @Test
    void ifNobodyIsThereAnywhereTheBestInterfaceTellsWhy() throws Exception {
        try (var agent = new TestAgent((request, connection) -> connection.answer(404, ""))) {
            AgentCard card = card(at(closed(), "JSONRPC"), at(agent.url(), "JSONRPC"));

            try (var client =
                    TestAgent.hasty().allowOrigin(agent.origin()).retries(1).of(card)) {
                ClientException refusal = catchThrowableOfType(ClientException.class, () -> client.send("Hello"));

                assertThat(refusal.problem()).isEqualTo(Problem.UNREACHABLE);
                assertThat(agent.calls).hasSize(2);
                assertThat(client.address().url()).isNotEqualTo(agent.url());
            }
        }
    }

    @Test
    void anOriginThatMayNotHaveTheCredentialsStandsInForNobody() throws Exception {
        try (var stranger = new TestAgent((request, connection) -> connection.answer(200, rpc(task("COMPLETED"))))) {
            AgentCard card = card(at(closed(), "JSONRPC"), at(stranger.url(), "JSONRPC"));

            try (var client = TestAgent.hasty().bearer("s3cret").retries(0).of(card)) {
                ClientException refusal = catchThrowableOfType(ClientException.class, () -> client.task("t1"));

                assertThat(refusal.problem()).isEqualTo(Problem.UNREACHABLE);
                assertThat(stranger.server.requests).isEmpty();
            }
        }
    }

    @Test
    void whatIsMeantToBeEncryptedIsNotSentInTheClear() throws Exception {
        try (var clear = new TestAgent((request, connection) -> connection.answer(200, rpc(task("COMPLETED"))))) {
            AgentCard card = card(at(closed().replace("http:", "https:"), "JSONRPC"), at(clear.url(), "JSONRPC"));

            try (var client =
                    TestAgent.hasty().allowOrigin(clear.origin()).retries(0).of(card)) {
                ClientException refusal = catchThrowableOfType(ClientException.class, () -> client.task("t1"));

                assertThat(refusal.problem()).isEqualTo(Problem.UNREACHABLE);
                assertThat(clear.server.requests).isEmpty();
            }
        }
    }

    /** An agent whose card leads first to JSON-RPC at an address that answers with {@code status}, then to REST. */
    private static TestAgent at(int status) throws IOException {
        var agent = new TestAgent((request, connection) -> {
            if (request.line().startsWith("POST /old ")) {
                connection.answer(status, "");
            } else {
                connection.answer(
                        200,
                        request.line().startsWith("POST ")
                                ? "{\"task\":" + task("COMPLETED") + "}"
                                : task("COMPLETED"));
            }
        });
        return agent.with(both(agent));
    }

    private static String both(TestAgent agent) {
        return cardText(at(agent.origin() + "/old", "JSONRPC"), at(agent.url(), "HTTP+JSON"));
    }

    private static String at(String url, String binding) {
        return "{\"url\":\"" + url + "\",\"protocolBinding\":\"" + binding + "\",\"protocolVersion\":\"1.0\"}";
    }

    private static String cardText(String... interfaces) {
        return TestAgent.card(Stream.of(interfaces).collect(Collectors.joining(",")), "");
    }

    private static AgentCard card(String... interfaces) {
        return Json.read(cardText(interfaces).getBytes(UTF_8), AgentCard.class);
    }

    private static String used(AgentClientBuilder builder, AgentCard card) {
        try (var client = builder.of(card)) {
            return client.address().protocolBinding();
        }
    }

    /** The URL of a port at which nobody listens. */
    private static String closed() throws IOException {
        var gone = new RawServer(connection -> {});
        gone.close();
        return gone.url("/agent");
    }

    private static List<String> lines(TestAgent agent) {
        return agent.calls.stream().map(RawServer.Request::line).toList();
    }
}
