package dev.parley.mesh;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Content of a message, by its type. */
public sealed interface MeshContent {
    /** The type of messages with this content. */
    MessageType type();

    /**
     * Asks an agent for work.
     *
     * @param task id, tag or name of a skill of the receiver
     * @param callback address that takes messages about the task; null if the sender asks for them itself
     * @param deadline when the result is of no use any more; null for never
     */
    record Delegation(
            String task,
            Map<String, @Nullable Object> parameters,
            @Nullable String callback,
            @Nullable Instant deadline)
            implements MeshContent {
        @Override
        public MessageType type() {
            return MessageType.TASK_DELEGATION;
        }
    }

    /**
     * Says that the work has begun.
     *
     * @param estimatedCompletion null if nothing is known about the time that it takes
     * @param workflowId the task, if it is the run of a workflow; else null
     */
    record Acceptance(
            String taskId,
            @Nullable Instant estimatedCompletion,
            List<String> capabilities,
            @Nullable String workflowId)
            implements MeshContent {
        public Acceptance(String taskId, @Nullable Instant estimatedCompletion, List<String> capabilities) {
            this(taskId, estimatedCompletion, capabilities, null);
        }

        @Override
        public MessageType type() {
            return MessageType.TASK_ACCEPTANCE;
        }
    }

    /** Says that the work will not be done. */
    record Rejection(String reason, @Nullable String code, List<String> alternatives) implements MeshContent {
        @Override
        public MessageType type() {
            return MessageType.TASK_REJECTION;
        }
    }

    /** State of a result. */
    enum Outcome {
        COMPLETED,
        FAILED,
        /** A piece of the result; others follow. */
        PARTIAL
    }

    /** A code and a text. */
    record Problem(String code, String message) {}

    /** A result, or a piece of it. */
    record Result(
            String taskId,
            Outcome status,
            @Nullable Object result,
            @Nullable Problem error) implements MeshContent {
        @Override
        public MessageType type() {
            return MessageType.TASK_RESULT;
        }
    }

    /**
     * Progress of a task.
     *
     * @param progress 0 to 100, never less than before
     * @param state the state of the task in A2A if it waits for its sender, such as {@code input-required}; else null
     */
    record Status(
            String taskId,
            int progress,
            @Nullable String message,
            @Nullable Instant estimatedCompletion,
            @Nullable String state)
            implements MeshContent {
        @Override
        public MessageType type() {
            return MessageType.STATUS_UPDATE;
        }
    }

    /** Asks an agent for an answer at once. */
    record Query(
            String query,
            Map<String, @Nullable Object> parameters,
            @Nullable String taskId) implements MeshContent {
        @Override
        public MessageType type() {
            return MessageType.QUERY;
        }
    }

    /**
     * Answer to a query, or to the question of a task.
     *
     * @param taskId the task with the question; null in an answer to a query
     */
    record Response(
            @Nullable Object result,
            @Nullable Problem error,
            @Nullable String taskId) implements MeshContent {
        @Override
        public MessageType type() {
            return MessageType.RESPONSE;
        }
    }

    /** Content that the receiver keeps as an event, as it is. */
    record Notice(MessageType type, Map<String, @Nullable Object> members) implements MeshContent {}

    /** Says that a message was refused or failed. */
    record Failure(String code, String message, Map<String, @Nullable Object> details, boolean retryable)
            implements MeshContent {
        @Override
        public MessageType type() {
            return MessageType.ERROR;
        }
    }
}
