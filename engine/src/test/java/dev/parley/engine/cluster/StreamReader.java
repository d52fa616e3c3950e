package dev.parley.engine.cluster;

import static dev.parley.engine.cluster.HubSimulation.require;

import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendStreamingMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the stream of a task by one connection after another, and checks that it has neither gaps nor repetitions. */
final class StreamReader {
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final HubCaller caller;
    private final HubSimulation simulation;
    private final @Nullable Message message;
    private @Nullable String task;
    /** Number of the newest event that was read; -1 if the stream has yet to begin. */
    private long last;

    private boolean isOver;
    /** The connection that is read. */
    private int connection;

    /**
     * @param message with which the stream begins; null for one of a task from its first event on
     * @param task null if the message begins one
     */
    StreamReader(HubCaller caller, HubSimulation simulation, @Nullable Message message, @Nullable String task) {
        this.caller = caller;
        this.simulation = simulation;
        this.message = message;
        this.task = task;
        this.last = message == null ? 0 : -1;
    }

    boolean isOver() {
        return isOver;
    }

    @Nullable
    String task() {
        return task;
    }

    /** Says that what the present connection still brings is not read. */
    void cut() {
        connection++;
    }

    /** Reads at a hub until the stream ends, or for a while; on a thread of the hub. */
    boolean readAt(Hub hub) {
        int mine = connection;
        try (Feed<LoggedEvent> feed = open(hub)) {
            while (mine == connection) {
                List<LoggedEvent> events = feed.next(PATIENCE);
                if (mine != connection) {
                    return true;
                }
                if (events == null) {
                    hub.pass(() -> {
                        String id = task;
                        require(
                                isOver || id == null || caller.isUnknown(id),
                                "the stream of task " + id + " does not end before the task");
                        isOver = true;
                    });
                    return true;
                }
                for (LoggedEvent event : events) {
                    hub.pass(() -> take(event));
                }
                if (simulation.random.nextInt(8) == 0) {
                    return true; // the connection breaks
                }
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        return true;
    }

    private Feed<LoggedEvent> open(Hub hub) {
        String id = task;
        if (id != null && last >= 0) {
            return hub.agent.watch(new SubscribeToTask(null, id, last), caller.context());
        }
        if (message == null) {
            throw new IllegalStateException("nothing to read");
        }
        var configuration = new SendConfiguration(List.of(), null, null, false);
        return hub.agent.watch(new SendStreamingMessage(null, message, configuration, Map.of()), caller.context());
    }

    private void take(LoggedEvent event) {
        switch (event.event()) {
            case Task begun -> {
                if (task == null && message != null) {
                    caller.begun(message, begun);
                }
                task = begun.id();
                isOver |= ends(begun.state());
            }
            case TaskStatusUpdateEvent moved -> isOver |= ends(moved.status().state());
            default -> {}
        }
        String id = task;
        if (id != null && !caller.isUnknown(id)) {
            requireNext(id, event);
        }
        last = event.sequence();
    }

    /** A stream may end when its task waits for the caller, if it has begun with a message. */
    private boolean ends(TaskState state) {
        return message == null ? state.isTerminal() : state.isSettled();
    }

    private void requireNext(String id, LoggedEvent event) {
        List<LoggedEvent> written = simulation.database.events(caller.key(id));
        long number = event.sequence();
        require(number > last, "event " + number + " of task " + id + " does not come after " + last);
        require(number <= written.size(), "event " + number + " of task " + id + " is in the database");
        require(
                event.event() instanceof Task
                        || event.event().equals(written.get((int) number - 1).event()),
                "event " + number + " of task " + id + " is that in the database");
        for (long between = last + 1; last >= 0 && between < number; between++) {
            require(
                    !written.get((int) between - 1).event().isPublic(),
                    "event " + between + " of task " + id + " is in the stream");
        }
    }
}
