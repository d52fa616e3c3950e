package dev.parley.gateway.push;

import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.extension.HubTasks;
import dev.parley.gateway.push.RelayTable.Relay;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskEvent.TaskEndedException;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Runs of shadows at this hub: each emits the events of its relay as they arrive. Safe for any thread. */
final class ShadowRuns {
    private static final Logger LOG = System.getLogger("dev.parley.gateway");
    private static final Duration BEGINNING = Duration.ofSeconds(30);

    /** A run that hears nothing for so long looks at its relay all the same. */
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private static final int BATCH = 64;

    private final HubTasks tasks;
    private final RelayTable relays;
    private final Follower follower;
    private final SharedRuns shared;
    private final Consumer<String> drop;
    private final ConcurrentHashMap<String, Running> running = new ConcurrentHashMap<>();
    private volatile boolean isStopping;

    private record Running(Semaphore news, Thread thread) {}

    /** @param drop gives up the relay of an id */
    ShadowRuns(HubTasks tasks, RelayTable relays, Follower follower, SharedRuns shared, Consumer<String> drop) {
        this.tasks = tasks;
        this.relays = relays;
        this.follower = follower;
        this.shared = shared;
        this.drop = drop;
    }

    /** Interrupts all runs. */
    void stop() {
        isStopping = true;
        running.values().forEach(each -> each.thread().interrupt());
    }

    boolean isStopping() {
        return isStopping;
    }

    /** Whether no shadow runs here. */
    boolean isEmpty() {
        return running.isEmpty();
    }

    /** Whether a shadow runs here. */
    boolean has(String shadow) {
        return running.containsKey(shadow);
    }

    /** Has the run of a shadow look at its relay; false if this hub does not run it. */
    boolean wake(String shadow) {
        Running waiting = running.get(shadow);
        if (waiting != null) {
            waiting.news().release();
        }
        return waiting != null;
    }

    /** Emits the events of a relay as they arrive, until its task has ended or its last webhook is deleted. */
    void run(Request request, Reply reply) throws InterruptedException {
        String shadow = request.taskId();
        var signal = new Semaphore(0);
        var run = new Running(signal, Thread.currentThread());
        running.put(shadow, run);
        try {
            if (isStopping) {
                throw new InterruptedException("the hub stops");
            }
            shared.begin(shadow);
            long emitted =
                    request.task().isEmpty() ? 0 : emitted(request.context().scope(), shadow);
            if (request.task().isEmpty()) {
                reply.move(TaskState.WORKING, null, Map.of());
            }
            Relay relay = relays.ofShadow(shadow).orElse(null);
            if (relay == null && signal.tryAcquire(BEGINNING.toMillis(), TimeUnit.MILLISECONDS)) {
                relay = relays.ofShadow(shadow).orElse(null); // its row follows the shadow
            } else if (relay != null && !relay.isBound() && request.attempt() > 1) {
                drop.accept(relay.id()); // the answer that would have named its task is lost
                relay = null;
            }
            while (relay != null) {
                if (relay.isBound() && relay.isFollowed()) {
                    follow(relay, new RelayedTask(request.task(), reply));
                } else if (relay.isBound()) {
                    emitted = emit(relay, emitted, reply);
                }
                var unused = signal.tryAcquire(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
                signal.drainPermits();
                relay = relays.ofShadow(shadow).orElse(null);
            }
            reply.complete();
            shared.end(shadow);
        } catch (TaskEndedException over) {
            relays.ofShadow(shadow).ifPresent(relay -> relays.clear(relay.id()));
            shared.end(shadow);
        } finally {
            running.remove(shadow, run);
        }
    }

    private void follow(Relay relay, RelayedTask shadow) throws InterruptedException {
        try {
            follower.follow(relay, shadow);
        } catch (A2AException gone) {
            LOG.log(Level.WARNING, "route {0}: no task {1} for its webhooks", relay.route(), relay.taskId());
            drop.accept(relay.id());
        }
        boolean unused = wake(relay.shadow()); // the relay is gone
    }

    /** Emits the events that have arrived, and returns their number with that of the earlier ones. */
    private long emit(Relay relay, long emitted, Reply reply) {
        List<TaskEvent> events;
        long number = emitted;
        do {
            events = relays.events(relay.id(), number, BATCH);
            for (TaskEvent event : events) {
                emit(event, number, relay, reply);
                number++;
            }
        } while (events.size() == BATCH);
        return number;
    }

    /** Emits an event; a foreign one counts, but is not shown. */
    private static void emit(TaskEvent event, long number, Relay relay, Reply reply) {
        switch (event) {
            case TaskStatusUpdateEvent update
            when update.taskId().equals(relay.taskId()) -> {
                var metadata = new LinkedHashMap<String, @Nullable Object>(update.metadata());
                metadata.put(Notices.NUMBER, number);
                reply.move(update.status().state(), update.status().message(), metadata);
                if (update.status().state().isTerminal()) {
                    throw new TaskEndedException(
                            update.taskId(), update.status().state());
                }
            }
            case TaskArtifactUpdateEvent update
            when update.taskId().equals(relay.taskId()) ->
                reply.artifact(
                        update.artifact(),
                        Boolean.TRUE.equals(update.append()),
                        Boolean.TRUE.equals(update.lastChunk()));
            default -> {}
        }
    }

    /** The number of events that are in the log of a shadow already, after a restart. */
    long emitted(Scope scope, String shadow) {
        var key = new TaskKey(scope, PushRelay.AGENT, shadow);
        long emitted = 0;
        long after = 0;
        for (List<LoggedEvent> events = tasks.read(key, 0, BATCH);
                !events.isEmpty();
                events = tasks.read(key, after, BATCH)) {
            for (LoggedEvent event : events) {
                emitted = switch (event.event()) {
                    case TaskArtifactUpdateEvent update -> emitted + 1;
                    case TaskStatusUpdateEvent update
                    when update.metadata().get(Notices.NUMBER) instanceof Number number -> number.longValue() + 1;
                    default -> emitted; // of the engine
                };
            }
            after = events.getLast().sequence();
        }
        return emitted;
    }
}
