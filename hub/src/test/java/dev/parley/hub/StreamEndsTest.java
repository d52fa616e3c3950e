package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.grpc.v1.A2AServiceGrpc;
import dev.parley.dialect.grpc.v1.Message;
import dev.parley.dialect.grpc.v1.Part;
import dev.parley.dialect.grpc.v1.Role;
import dev.parley.dialect.grpc.v1.SendMessageRequest;
import dev.parley.dialect.grpc.v1.StreamResponse;
import dev.parley.hub.Outsider.Frame;
import dev.parley.hub.Outsider.Frames;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.okhttp.OkHttpChannelBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The server closes the stream of a send when its task waits for the caller, in the way of each version. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class StreamEndsTest {
    private final Hub hub =
            Hub.builder().inMemory().port(0).agents(new MatrixAgents().all()).start();
    private final Outsider outsider = new Outsider(hub.url() + "/agents/");

    @AfterAll
    void stop() {
        hub.close();
    }

    private static String message(String text) {
        return "{'message':{'messageId':'" + text + System.nanoTime() + "','role':'ROLE_USER','parts':[{'text':'" + text
                + "'}]}}";
    }

    @ParameterizedTest
    @CsvSource({"input,TASK_STATE_INPUT_REQUIRED", "credentials,TASK_STATE_AUTH_REQUIRED"})
    void streamsOverJsonRpcEndWithTheQuestion(String text, String state) throws Exception {
        try (Frames frames = outsider.stream("states", "SendStreamingMessage", message(text))) {
            List<Frame> all = frames.all();

            assertThat(all.getFirst().at("result").names()).containsExactly("task");
            assertThat(all.getLast()
                            .at("result", "statusUpdate", "status", "state")
                            .text())
                    .isEqualTo(state);
        }
    }

    @ParameterizedTest
    @CsvSource({"input,TASK_STATE_INPUT_REQUIRED", "credentials,TASK_STATE_AUTH_REQUIRED"})
    void streamsOverRestEndWithTheQuestion(String text, String state) throws Exception {
        try (Frames frames = outsider.streamOf("POST", "states/message:stream", message(text))) {
            assertThat(frames.all()
                            .getLast()
                            .at("statusUpdate", "status", "state")
                            .text())
                    .isEqualTo(state);
        }
    }

    @ParameterizedTest
    @CsvSource({"input,TASK_STATE_INPUT_REQUIRED", "credentials,TASK_STATE_AUTH_REQUIRED"})
    void streamsOverGrpcEndWithTheQuestion(String text, String state) {
        ManagedChannel channel = OkHttpChannelBuilder.forTarget(
                        hub.url().replace("http://", ""), InsecureChannelCredentials.create())
                .build();
        try {
            var events = new ArrayList<StreamResponse>();
            A2AServiceGrpc.newBlockingStub(channel)
                    .sendStreamingMessage(SendMessageRequest.newBuilder()
                            .setTenant("states")
                            .setMessage(Message.newBuilder()
                                    .setMessageId("grpc-" + text)
                                    .setRole(Role.ROLE_USER)
                                    .addParts(Part.newBuilder().setText(text)))
                            .build())
                    .forEachRemaining(events::add);

            assertThat(events.getLast().getStatusUpdate().getStatus().getState())
                    .hasToString(state);
        } finally {
            channel.shutdownNow();
        }
    }

    @Test
    void theStreamOfAnAnswerGoesOnToTheNextQuestion() throws Exception {
        String id = outsider.result("asks", "SendMessage", message("bread"))
                .at("task", "id")
                .text();

        String again = message("butter").replace("'role'", "'taskId':'" + id + "','role'");
        try (Frames frames = outsider.stream("asks", "SendStreamingMessage", again)) {
            assertThat(states(frames).getLast()).isEqualTo("TASK_STATE_INPUT_REQUIRED");
        }
        String enough = message("enough").replace("'role'", "'taskId':'" + id + "','role'");
        try (Frames frames = outsider.stream("asks", "SendStreamingMessage", enough)) {
            assertThat(states(frames).getLast()).isEqualTo("TASK_STATE_COMPLETED");
        }
    }

    @Test
    void aSubscriptionGoesOnBeyondTheQuestion() throws Exception {
        String id = outsider.result("asks", "SendMessage", message("milk"))
                .at("task", "id")
                .text();

        try (Frames frames = outsider.stream("asks", "SubscribeToTask", "{'id':'" + id + "'}")) {
            assertThat(frames.next()).isNotNull();
            outsider.result("asks", "SendMessage", message("enough").replace("'role'", "'taskId':'" + id + "','role'"));

            assertThat(states(frames)).containsExactly("TASK_STATE_WORKING", "TASK_STATE_COMPLETED");
        }
    }

    @Test
    void streamsOf03EndWithAFinalQuestion() throws Exception {
        try (Frames frames = outsider.stream(
                "states",
                "message/stream",
                "{'message':{'kind':'message','messageId':'k','role':'user','parts':[{'kind':'text','text':'input'}]}}")) {
            Frame last = frames.all().getLast();

            assertThat(last.at("result", "status", "state").text()).isEqualTo("input-required");
            assertThat(last.at("result", "final").value()).isEqualTo(true);
        }
    }

    /** 0.1 has one word for both, so it also has one end for both. */
    @ParameterizedTest
    @CsvSource({"input", "credentials"})
    void streamsOf01EndWithAFinalQuestion(String text) throws Exception {
        try (Frames frames = outsider.stream(
                "states",
                "tasks/sendSubscribe",
                "{'id':'t-" + text + "','message':{'role':'user','parts':[{'type':'text','text':'" + text + "'}]}}")) {
            Frame last = frames.all().getLast();

            assertThat(last.at("result", "status", "state").text()).isEqualTo("input-required");
            assertThat(last.at("result", "final").value()).isEqualTo(true);
        }
    }

    /** The states that a stream of 1.0 shows, in its first task and in its events. */
    private static List<String> states(Frames frames) {
        return frames.all().stream()
                .flatMap(frame -> Stream.of("task", "statusUpdate").map(event -> frame.at("result", event)))
                .filter(event -> event.value() != null)
                .map(event -> event.at("status", "state").text())
                .toList();
    }
}
