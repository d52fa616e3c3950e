package dev.parley.engine.spi;

import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Calls that engines hand to the owners of tasks, and their answers, by a log of {@link Once#CLAIM}. A call is executed at most once. Hints
 * shorten the time between two calls of {@link #look}, and may get lost. Safe for any thread.
 */
public interface TaskMail {
    /** Mail of a log with one engine, which owns every task. */
    TaskMail NONE = new TaskMail() {
        @Override
        public Optional<Outgoing> send(Request request) {
            return Optional.empty();
        }

        @Override
        public void onHint(Runnable listener) {}

        @Override
        public boolean look() {
            return false;
        }

        @Override
        public List<Incoming> receive(int limit) {
            return List.of();
        }
    };

    /**
     * A call about a task.
     *
     * @param operation a cancellation, or a message whose sender does not wait for an outcome
     * @param caller the caller without its token, of the scope of the task. Its deadline is not kept
     * @param patience time that the caller waits for the answer from now on
     */
    record Request(TaskKey task, Operation.Call<?> operation, CallContext caller, Duration patience) {}

    /** Fate of a call that was sent. */
    sealed interface Answer {
        /**
         * The owner has executed the call, and its events are in the log.
         *
         * @param taskId task that it was about
         */
        record Done(String taskId) implements Answer {}

        /** The owner has refused the call, as it refuses one of its own callers. */
        record Failed(A2AException refusal) implements Answer {}

        /** The engine that owned the task has ended, and has not begun to execute the call. */
        record Moved() implements Answer {}

        /** The engine that owned the task has ended after it began to execute the call. All that it has written is in the log. */
        record Lost() implements Answer {}
    }

    /** A call that was sent. */
    interface Outgoing extends AutoCloseable {
        /** Done when the call has an answer; fails if it could not be sent. */
        CompletableFuture<Answer> answer();

        /** Ends the wait for the answer. A call that the owner has not begun to execute may still be executed. Idempotent. */
        @Override
        void close();
    }

    /** A call that another engine has sent. No engine receives it again. */
    interface Incoming {
        /** @throws RuntimeException if it cannot be read */
        Request request();

        /** Queues the answer. */
        void answer(Answer answer);
    }

    /**
     * Sends a call to the engine that owns a task.
     *
     * @return empty if no other engine owns the task; then nothing is sent
     * @throws A2AException UNAVAILABLE if too many calls of this engine wait
     */
    Optional<Outgoing> send(Request request);

    /** @param listener called when {@link #look} may find something, on a thread that it must not block */
    void onHint(Runnable listener);

    /** Completes the calls of this engine that have an answer, and returns whether there are calls to {@link #receive}. */
    boolean look();

    /** Returns the oldest calls for this engine, at most {@code limit}, in no order. Waits for the disk. */
    List<Incoming> receive(int limit);
}
