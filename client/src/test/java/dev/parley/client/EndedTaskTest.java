package dev.parley.client;

import static dev.parley.client.TestAgent.beginStream;
import static dev.parley.client.TestAgent.chunk;
import static dev.parley.client.TestAgent.endStream;
import static dev.parley.client.TestAgent.rpc;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.RawServer.Connection;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import java.io.IOException;
import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Subscription to a task that ended, or began to wait, after the agent returned its id. */
@Timeout(30)
class EndedTaskTest {
    /** Form in which an agent refuses a subscription. */
    enum Refusal {
        AT_ONCE,
        AS_HTTP_STATUS,
        AS_UNKNOWN_METHOD,
        IN_THE_STREAM
    }

    @RegisterExtension
    final ClientThreads threads = new ClientThreads();

    private static final String ERROR = "\"code\":-32004,\"message\":\"The task has ended\"";

    private static void refuse(Refusal how, Connection connection) throws IOException {
        String body = "{\"jsonrpc\":\"2.0\",\"id\":" + RawServer.ID + ",\"error\":{" + ERROR + "}}";
        switch (how) {
            case AT_ONCE -> connection.answer(200, body, "Content-Type: application/json");
            case AS_UNKNOWN_METHOD ->
                connection.answer(200, body.replace("-32004", "-32601"), "Content-Type: application/json");
            case AS_HTTP_STATUS -> connection.answer(400, body, "Content-Type: application/json");
            case IN_THE_STREAM -> {
                beginStream(connection);
                chunk(connection, "event: error\ndata: {" + ERROR + "}\n\n");
                endStream(connection);
            }
        }
    }

    /** Agent that refuses every subscription. Its task is at work at the first read, and in state {@code then} after that. */
    private static TestAgent agent(Refusal how, String then) throws IOException {
        var reads = new AtomicInteger();
        var agent = new TestAgent((request, connection) -> {
            String text = request.text();
            if (text.contains("tasks/sendSubscribe")) {
                refuse(how, connection);
            } else if (text.contains("tasks/send")) {
                connection.answer(200, rpc("{\"id\":\"t1\"}"), "Content-Type: application/json");
            } else {
                String state = reads.getAndIncrement() == 0 ? "WORKING" : then;
                connection.answer(
                        200, rpc("{\"id\":\"t1\",\"state\":\"" + state + "\"}"), "Content-Type: application/json");
            }
        });
        String address =
                "{\"url\":\"" + agent.url() + "\",\"protocolBinding\":\"JSONRPC\",\"protocolVersion\":\"agentvault\"}";
        return agent.with(TestAgent.card(address, ""));
    }

    @ParameterizedTest
    @EnumSource
    void aMessageIsAnsweredWithTheTaskThatEndedMeanwhile(Refusal how) throws Exception {
        try (var agent = agent(how, "COMPLETED");
                var client = agent.client()) {
            var task = (Task) client.send("hello");

            assertThat(task.id()).isEqualTo("t1");
            assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aStreamShowsTheTaskThatEndedMeanwhile(Refusal how) throws Exception {
        try (var agent = agent(how, "COMPLETED");
                var client = agent.client()) {
            assertThat(client.task("t1").state()).isEqualTo(TaskState.WORKING);
            var events = new ArrayList<TaskEvent>();
            try (var stream = client.stream("hello")) {
                stream.forEachRemaining(events::add);
            }

            assertThat(events)
                    .singleElement()
                    .isInstanceOfSatisfying(
                            Task.class, task -> assertThat(task.state()).isEqualTo(TaskState.COMPLETED));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aQuestionThatWasAskedMeanwhileIsShown(Refusal how) throws Exception {
        try (var agent = agent(how, "INPUT_REQUIRED");
                var client = agent.client()) {
            assertThat(((Task) client.send("hello")).state()).isEqualTo(TaskState.INPUT_REQUIRED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void theRefusalOfATaskAtWorkIsToldAsItCame(Refusal how) throws Exception {
        try (var agent = agent(how, "WORKING");
                var client = agent.client()) {
            assertThatThrownBy(() -> client.send("hello"))
                    .isInstanceOfSatisfying(
                            A2AException.class,
                            refusal -> assertThat(refusal.error())
                                    .isEqualTo(
                                            how == Refusal.AS_UNKNOWN_METHOD
                                                    ? A2AError.METHOD_NOT_FOUND
                                                    : A2AError.UNSUPPORTED_OPERATION))
                    .hasMessageContaining("The task has ended");
        }
    }
}
