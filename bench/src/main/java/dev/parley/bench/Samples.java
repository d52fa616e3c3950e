package dev.parley.bench;

import dev.parley.protocol.Artifact;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Values of usual size, as they travel when a short text is sent and answered. */
final class Samples {
    static final String TASK_ID = "01997e4a-8f3c-7d20-9a51-3f6c2b8e4d10";
    static final String CONTEXT_ID = "01997e4a-8f3c-7d20-9a51-3f6c2b8e4d11";
    static final Instant TIME = Instant.parse("2026-11-20T09:00:00.123Z");

    private static final String TEXT = "Summarise the attached figures and name the three largest changes.";

    private Samples() {}

    static Message message() {
        return Message.of(Role.USER, List.of(Part.text(TEXT))).withId("6f1f7a52-91c5-4df4-9f11-6b1b8ad0a1c7");
    }

    /** A task that has ended, with its messages and artifacts. */
    static Task task() {
        return new Task(
                TASK_ID,
                CONTEXT_ID,
                TaskStatus.of(TaskState.COMPLETED, TIME),
                List.of(Artifact.named("a-1", "answer", Part.text(TEXT))),
                List.of(message().in(CONTEXT_ID, TASK_ID)),
                Map.of());
    }

    static TaskStatusUpdateEvent statusUpdate() {
        return new TaskStatusUpdateEvent(
                TASK_ID,
                CONTEXT_ID,
                new TaskStatus(TaskState.WORKING, Message.agent(Part.text("step 7 of 10")), TIME),
                Map.of("progress", 70));
    }

    static TaskArtifactUpdateEvent artifactUpdate() {
        return new TaskArtifactUpdateEvent(
                TASK_ID, CONTEXT_ID, Artifact.named("a-1", "answer", Part.text(TEXT)), true, false, Map.of());
    }

    /** A JSON-RPC request, as the official SDKs send it. */
    static byte[] rpc(String method, String params) {
        return ("{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"" + method + "\",\"params\":" + params + "}")
                .getBytes(StandardCharsets.UTF_8);
    }
}
