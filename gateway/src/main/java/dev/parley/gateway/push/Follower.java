package dev.parley.gateway.push;

import static java.util.Objects.requireNonNull;

import dev.parley.gateway.push.RelayTable.Relay;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.TaskEvent.TaskEndedException;
import dev.parley.protocol.retry.Backoff;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Follows tasks of remote agents that have no webhooks: by their streams, or else by reading them. Safe for any thread. */
final class Follower {
    private static final Logger LOG = System.getLogger("dev.parley.gateway");
    private static final Backoff PAUSES = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(30));

    /** Streams at the same time, at most; further tasks are read. Callers need connections, too. */
    private static final int MOST_STREAMS = 256;

    /** Interval in which a silent stream is looked at: it ends once the webhooks are deleted. */
    private static final Duration SILENCE = Duration.ofSeconds(30);

    private final RelayTable relays;
    private final Function<String, Optional<AgentEndpoint>> agents;
    private final Semaphore streams = new Semaphore(MOST_STREAMS);
    /** Signals of messages of callers, by route and task. */
    private final ConcurrentHashMap<List<String>, Semaphore> messages = new ConcurrentHashMap<>();
    /** The same by shadow. */
    private final ConcurrentHashMap<String, Semaphore> shadows = new ConcurrentHashMap<>();

    /** @param agents remote agents by the names of their routes; empty while one is not hosted */
    Follower(RelayTable relays, Function<String, Optional<AgentEndpoint>> agents) {
        this.relays = relays;
        this.agents = agents;
    }

    /** Called when a caller sends a message to a task: its stream may begin again. Returns false if this hub does not follow it. */
    boolean sent(String route, String taskId) {
        return release(messages.get(List.of(route, taskId)));
    }

    /** Has the task of a shadow, or its relay, looked at, which another hub knows of. */
    void wake(String shadow) {
        boolean unused = release(shadows.get(shadow));
    }

    private static boolean release(@Nullable Semaphore waiting) {
        if (waiting != null) {
            waiting.release();
        }
        return waiting != null;
    }

    /**
     * Emits the events of a task until it has no webhook any more.
     *
     * @throws TaskEndedException at its end
     * @throws A2AException TASK_NOT_FOUND if the agent does not have it
     */
    void follow(Relay relay, RelayedTask shadow) throws InterruptedException {
        List<String> key = List.of(relay.route(), requireNonNull(relay.taskId()));
        Semaphore message = messages.computeIfAbsent(key, task -> new Semaphore(0));
        shadows.put(relay.shadow(), message);
        try {
            int failures = 0;
            while (relays.find(relay.id()).isPresent()) {
                AgentEndpoint agent = agents.apply(relay.route()).orElse(null);
                if (agent != null) {
                    attempt(agent, relay, shadow);
                }
                failures = shadow.hadNews() ? 1 : failures + 1;
                if (message.tryAcquire(PAUSES.bound(failures).toMillis(), TimeUnit.MILLISECONDS)) {
                    message.drainPermits();
                    failures = 0;
                }
            }
        } finally {
            messages.remove(key, message);
            shadows.remove(relay.shadow(), message);
        }
    }

    /** Emits the events of one stream, and the state of the task at its end. */
    private void attempt(AgentEndpoint agent, Relay relay, RelayedTask shadow) throws InterruptedException {
        CallContext owner = CallContext.of(relay.scope().owner(), relay.scope());
        GetTask read = GetTask.of(requireNonNull(relay.taskId()));
        boolean mayStream = streams.tryAcquire();
        try {
            if (mayStream) {
                stream(agent, relay, read, shadow, owner);
            }
        } catch (A2AException failure) {
            LOG.log(Level.DEBUG, "route {0}: the stream of a task ended: {1}", relay.route(), failure.getMessage());
        } finally {
            streams.release(mayStream ? 1 : 0);
        }
        try {
            shadow.emit(agent.call(read, owner));
        } catch (A2AException failure) {
            if (failure.error() == A2AError.TASK_NOT_FOUND) {
                throw failure;
            }
            LOG.log(Level.DEBUG, "route {0}: a task cannot be read: {1}", relay.route(), failure.getMessage());
        }
    }

    /** Events tell when to read the task: those of older versions may be in a state that was read before, and are not numbered. */
    private void stream(AgentEndpoint agent, Relay relay, GetTask read, RelayedTask shadow, CallContext owner)
            throws InterruptedException {
        try (Feed<LoggedEvent> feed = agent.watch(SubscribeToTask.of(read.id()), owner)) {
            shadow.emit(agent.call(read, owner));
            for (List<LoggedEvent> next = feed.next(SILENCE); next != null; next = feed.next(SILENCE)) {
                if (!next.isEmpty()) {
                    shadow.emit(agent.call(read, owner));
                } else if (relays.find(relay.id()).isEmpty()) {
                    return;
                }
            }
        }
    }
}
