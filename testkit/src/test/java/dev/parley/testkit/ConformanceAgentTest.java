package dev.parley.testkit;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(20)
final class ConformanceAgentTest {
    private final LocalAgent agent = LocalAgent.of(ConformanceAgent.create(Duration.ofMillis(1)));

    @AfterEach
    void close() {
        agent.close();
    }

    @ParameterizedTest
    @CsvSource({
        "tck-complete-task-1a2b3c4d, COMPLETED",
        "tck-input-required-1a2b3c4d-jsonrpc, INPUT_REQUIRED",
        "tck-reject-task-1a2b3c4d, REJECTED",
        "tck-stream-002-1a2b3c4d, COMPLETED",
        "tck-dm-test-001-1a2b3c4d, COMPLETED",
        "anything, COMPLETED",
    })
    void theMessageIdDecidesHowATaskEnds(String messageId, TaskState state) {
        assertThat(send(messageId).state()).isEqualTo(state);
    }

    @ParameterizedTest
    @CsvSource({
        "tck-artifact-text-1a2b3c4d, Generated text content",
        "tck-stream-001-1a2b3c4d, Stream hello from TCK",
        "tck-stream-003-1a2b3c4d, Stream task lifecycle",
        "tck-stream-ordering-001-1a2b3c4d, Ordered output",
        "tck-stream-artifact-text-1a2b3c4d, Streamed text content",
    })
    void theMessageIdDecidesWhatATaskProduces(String messageId, String text) {
        Task task = send(messageId);

        assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(task.text()).isEqualTo(text);
    }

    @Test
    void ofTwoPrefixesTheLongerOneCounts() {
        assertThat(part(send("tck-artifact-file-1"))).isInstanceOf(Part.Raw.class);
        assertThat(part(send("tck-stream-artifact-file-1"))).isInstanceOf(Part.Raw.class);
        assertThat(part(send("tck-artifact-file-url-1")))
                .isEqualTo(Part.link("https://example.com/output.txt", "output.txt", "text/plain"));
        assertThat(part(send("tck-artifact-data-1"))).isEqualTo(Part.data(Map.of("key", "value", "count", 42)));
    }

    @Test
    void aCompletedTaskSaysSo() {
        assertThat(requireNonNull(send("tck-complete-task").status().message()).text())
                .isEqualTo("Hello from TCK");
    }

    @Test
    void oneIdStandsForAMessageInsteadOfATask() {
        assertThat(answer("tck-message-response-1"))
                .asInstanceOf(type(Message.class))
                .extracting(Message::text)
                .isEqualTo("Direct message response");
    }

    @Test
    void aRepeatedIdBeginsAnotherTask() {
        assertThat(send("tck-complete-task").id())
                .isNotEqualTo(send("tck-complete-task").id());
    }

    @Test
    void aRepeatedIdContinuesATaskEachTime() {
        Task first = send("tck-input-required");
        for (String text : List.of("one", "two")) {
            Message again = message("tck-input-required", Part.text(text)).in(first.contextId(), first.id());
            assertThat(((Task) agent.answer(again)).state()).isEqualTo(TaskState.INPUT_REQUIRED);
        }
        Message last = message("tck-complete-task", Part.text("three")).in(first.contextId(), first.id());

        Task task = (Task) agent.answer(last);

        assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(task.history()).extracting(Message::text).containsSubsequence("one", "two", "three");
    }

    @Test
    void aMadeUpMediaTypeIsTaken() {
        Part strange = Part.file("f", "application/x-unsupported-tck-type", new byte[] {1});

        Task task = (Task) agent.answer(message("tck-send-003", strange));

        assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
    }

    @ParameterizedTest
    @CsvSource({
        "tck-stream-001, 1",
        "tck-stream-artifact-chunked, 2",
        "test-resubscribe-message-id, 0",
    })
    void aStreamShowsWorkThenArtifactsThenTheEnd(String messageId, int pieces) throws InterruptedException {
        List<TaskEvent> events = agent.events(message(messageId, Part.text("go")));

        var kinds = new ArrayList<String>();
        for (TaskEvent event : events) {
            kinds.add(
                    switch (event) {
                        case Task task -> "task";
                        case Message message -> "message";
                        case TaskStatusUpdateEvent moved ->
                            moved.status().state().name();
                        case TaskArtifactUpdateEvent produced -> "artifact";
                    });
        }
        var expected = new ArrayList<>(List.of("task", "WORKING"));
        for (int i = 0; i < pieces; i++) {
            expected.add("artifact");
        }
        expected.add("COMPLETED");
        assertThat(kinds).isEqualTo(expected);
    }

    private Task send(String messageId) {
        return (Task) answer(messageId);
    }

    private SendResult answer(String messageId) {
        return agent.answer(message(messageId, Part.text("go")));
    }

    private static Message message(String id, Part part) {
        return Message.user(part).withId(id);
    }

    private static Part part(Task task) {
        return task.artifacts().getFirst().parts().getFirst();
    }
}
