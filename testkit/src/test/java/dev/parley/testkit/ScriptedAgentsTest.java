package dev.parley.testkit;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class ScriptedAgentsTest {
    @Test
    void theSlowAgentCompletesWhenItsGateOpens() throws InterruptedException {
        var gate = new CountDownLatch(1);
        try (var slow = LocalAgent.of(ScriptedAgents.slow(gate))) {
            Task task = slow.begin("go");
            assertThat(task.state()).isEqualTo(TaskState.WORKING);
            var stream = slow.watch(task);

            gate.countDown();

            assertThat(state(LocalAgent.drain(stream).getLast())).isEqualTo(TaskState.COMPLETED);
            assertThat(slow.get(task).text()).isEqualTo("done");
        }
    }

    @Test
    void theSlowAgentCompletesAfterItsTime() {
        try (var slow = LocalAgent.of(ScriptedAgents.slow(Duration.ofMillis(1)))) {
            assertThat(slow.send("go").text()).isEqualTo("done");
        }
    }

    @Test
    void theSlowAgentCanBeCanceled() {
        try (var slow = LocalAgent.of(ScriptedAgents.slow(new CountDownLatch(1)))) {
            Task task = slow.begin("go");

            assertThat(slow.cancel(task).state()).isEqualTo(TaskState.CANCELED);
        }
    }

    @Test
    void theFailingAgentFailsItsTask() {
        try (var failing = LocalAgent.of(ScriptedAgents.failing())) {
            assertThat(failing.send("go").state()).isEqualTo(TaskState.FAILED);
        }
    }

    @Test
    void theChattyAgentSaysAsManyThingsAsItIsTold() throws InterruptedException {
        try (var chatty = LocalAgent.of(ScriptedAgents.chatty())) {
            assertThat(notes(chatty.events(Part.text("3")))).containsExactly("1 of 3", "2 of 3", "3 of 3");
            assertThat(notes(chatty.events(Part.text("")))).hasSize(10_000);
        }
    }

    @Test
    void theChunkedAgentProducesAsManyPiecesAsItIsTold() throws InterruptedException {
        try (var chunked = LocalAgent.of(ScriptedAgents.chunked())) {
            assertThat(chunked.send("3").text()).isEqualTo("1\n\n2\n\n3\n");
            assertThat(chunked.events(Part.text("")))
                    .filteredOn(TaskArtifactUpdateEvent.class::isInstance)
                    .hasSize(10_000);
        }
    }

    @Test
    void theInputRequiredAgentCompletesWithTheAnswer() {
        try (var asking = LocalAgent.of(ScriptedAgents.inputRequired())) {
            Task asked = asking.send("go");

            assertThat(asked.state()).isEqualTo(TaskState.INPUT_REQUIRED);
            assertThat(asking.proceed(asked, "this").text()).isEqualTo("this");
        }
    }

    @Test
    void theAuthRequiredAgentCompletesWithTheNextMessage() {
        try (var asking = LocalAgent.of(ScriptedAgents.authRequired())) {
            Task asked = asking.send("go");

            assertThat(asked.state()).isEqualTo(TaskState.AUTH_REQUIRED);
            assertThat(asking.proceed(asked, "signed in").state()).isEqualTo(TaskState.COMPLETED);
        }
    }

    @Test
    void theTaskOfAnAgentThatReturnsWithoutEndingItFails() {
        try (var leaving = LocalAgent.of(ScriptedAgents.returnsWithoutEnding())) {
            assertThat(leaving.send("go").state()).isEqualTo(TaskState.FAILED);
        }
    }

    @Test
    void whatAnAgentEmitsAfterTheEndChangesNothing() throws InterruptedException {
        try (var late = LocalAgent.of(ScriptedAgents.emitsAfterEnd())) {
            List<TaskEvent> events = late.events(Part.text("go"));

            assertThat(state(events.getLast())).isEqualTo(TaskState.COMPLETED);
            assertThat(late.send("go").text()).isEqualTo("done");
        }
    }

    @Test
    void anAgentThatIgnoresInterruptionCannotUndoACancellation() {
        var gate = new CountDownLatch(1);
        try (var stubborn = LocalAgent.of(ScriptedAgents.ignoresInterruption(gate))) {
            Task task = stubborn.begin("go");

            Task canceled = stubborn.cancel(task);
            gate.countDown();

            assertThat(canceled.state()).isEqualTo(TaskState.CANCELED);
            assertThat(stubborn.get(task)).isEqualTo(canceled);
        }
    }

    @Test
    void theMessageOnlyAgentHasNoTasks() {
        try (var brief = LocalAgent.of(ScriptedAgents.messageOnly())) {
            assertThat(brief.answer(Message.user(Part.text("hello"))))
                    .asInstanceOf(type(Message.class))
                    .extracting(Message::text)
                    .isEqualTo("hello");
        }
    }

    @Test
    void theRejectingAgentSaysWhy() {
        try (var rejecting = LocalAgent.of(ScriptedAgents.rejecting())) {
            Task task = rejecting.send("go");

            assertThat(task.state()).isEqualTo(TaskState.REJECTED);
            assertThat(requireNonNull(task.status().message()).text()).isEqualTo("not this one");
        }
    }

    private static List<String> notes(List<TaskEvent> events) {
        return events.stream()
                .filter(TaskStatusUpdateEvent.class::isInstance)
                .map(event -> ((TaskStatusUpdateEvent) event).status().message())
                .filter(message -> message != null)
                .map(message -> requireNonNull(message).text())
                .toList();
    }

    private static TaskState state(TaskEvent event) {
        return ((TaskStatusUpdateEvent) event).status().state();
    }
}
