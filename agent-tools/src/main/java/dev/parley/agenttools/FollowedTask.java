package dev.parley.agenttools;

import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Message to an agent with streams, whose task is followed until it has ended or needs its caller. At the time limit, and after
 * {@link #stop}, the task is canceled.
 *
 * <p>{@link #call} is for a thread that is never interrupted. The id of a new task comes with the first event of its stream, and without
 * the id the task cannot be canceled: the first event is awaited in any case, and a stop closes the stream only after it.
 */
final class FollowedTask implements Callable<SendResult> {
    private final LimitedAgent agent;
    private final Message message;
    private final @Nullable TaskStatus before;

    private @Nullable String taskId;
    private volatile boolean isStopped;
    /** The stream, once the id of the task is known. */
    private volatile @Nullable Feed<LoggedEvent> begun;

    /** @param before status of the task to which the message is an answer, with which a stream may begin; null for a new task */
    FollowedTask(LimitedAgent agent, Message message, @Nullable TaskStatus before) {
        this.agent = agent;
        this.message = message;
        this.before = before;
        this.taskId = message.taskId();
    }

    /**
     * Sends the message, and waits for the task.
     *
     * @throws ClientException TIMED_OUT at the time limit or after a stop, and the other problems of a client
     * @throws A2AException the error of the agent
     */
    @Override
    public SendResult call() throws InterruptedException {
        ClientException problem = null;
        try {
            SendResult result = settled();
            if (result != null && !isStopped) {
                return result;
            }
        } catch (ClientException failed) {
            if (failed.problem() != Problem.TIMED_OUT && !isStopped) {
                throw failed;
            }
            problem = failed;
        }
        throw agent.late(agent.cancel(taskId), problem);
    }

    /** Ends the wait of the other thread, which cancels the task as soon as it knows the id. Returns at once. */
    void stop() {
        isStopped = true; // first: the other thread reads it after it has set the stream
        Feed<LoggedEvent> stream = begun;
        if (stream != null) {
            stream.close();
        }
    }

    /** Returns the settled task, or the message that is the whole answer; null at the time limit, and after a stop. */
    private @Nullable SendResult settled() throws InterruptedException {
        try (Feed<LoggedEvent> stream = agent.stream(message)) {
            for (List<LoggedEvent> events = next(stream); events != null; events = next(stream)) {
                for (LoggedEvent event : events) {
                    if (event.event() instanceof Message answer) {
                        return answer;
                    }
                    String id = taskId(event);
                    taskId = id;
                    if (isSettled(event)) {
                        return agent.task(id, agent.last());
                    }
                }
            }
        }
        if (isStopped || !Instant.now().isBefore(agent.end())) {
            return null;
        }
        String id = taskId;
        if (id == null) {
            throw new ClientException(Problem.STREAM_CUT, "the stream ended without an event");
        }
        return agent.task(id, agent.last()); // the stream has ended before the task
    }

    /** Returns the next events, at least one; null after the last one, at the time limit, and after a stop. */
    private @Nullable List<LoggedEvent> next(Feed<LoggedEvent> stream) throws InterruptedException {
        Instant end = agent.last();
        if (taskId != null) {
            begun = stream;
            if (isStopped) {
                return null;
            }
            end = agent.end();
        }
        Duration left = Duration.between(Instant.now(), end);
        List<LoggedEvent> events = left.isPositive() ? stream.next(left) : null;
        return events == null || events.isEmpty() ? null : events;
    }

    private static String taskId(LoggedEvent event) {
        return switch (event.event()) {
            case Task task -> task.id();
            case TaskStatusUpdateEvent update -> update.taskId();
            case TaskArtifactUpdateEvent update -> update.taskId();
            case Message message -> throw new IllegalStateException("message: " + message.messageId());
        };
    }

    private boolean isSettled(LoggedEvent event) {
        return switch (event.event()) {
            case Task task -> task.state().isSettled() && !task.status().equals(before);
            case TaskStatusUpdateEvent update -> update.status().state().isSettled();
            case TaskArtifactUpdateEvent update -> false;
            case Message message -> true;
        };
    }
}
