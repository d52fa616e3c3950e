package dev.parley.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class TaskHistoryTest {
    private static Task shown(Task task, Message message) {
        return new TaskStatusUpdateEvent(
                        task.id(),
                        task.contextId(),
                        new TaskStatus(TaskState.WORKING, message, Instant.EPOCH),
                        Map.of())
                .applyTo(task);
    }

    @Test
    void theHistoryKeepsTheLastNotesOfTheAgentAndAllMessagesOfTheCaller() {
        var task = new Task(
                "task",
                "context",
                new TaskStatus(TaskState.WORKING, null, Instant.EPOCH),
                List.of(),
                List.of(Message.user(Part.text("question"))),
                Map.of());

        for (int i = 0; i < 150; i++) {
            task = shown(task, Message.agent(Part.text("note " + i)));
        }
        task = shown(task, Message.user(Part.text("shown as the caller's")));
        for (int i = 0; i < 250; i++) {
            task = shown(task, Message.agent(Part.text("later " + i)));
        }

        List<String> texts = task.history().stream().map(Message::text).toList();
        assertThat(texts).startsWith("question", "note 50").endsWith("later 247", "later 248");
        assertThat(texts).contains("note 149", "shown as the caller's", "later 149");
        assertThat(texts).hasSize(1 + 100 + 1 + Task.MOST_NOTES);
    }
}
