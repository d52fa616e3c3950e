package dev.parley.registry.hub;

import static java.util.Objects.requireNonNull;

import dev.parley.extension.HubParts;
import dev.parley.extension.HubParts.AgentFace;
import dev.parley.extension.HubTimers.Timers;
import dev.parley.protocol.CallContext;
import dev.parley.registry.Entry.Endpoint;
import dev.parley.registry.Entry.Visibility;
import dev.parley.registry.FaceProtocol;
import dev.parley.registry.store.Entries;
import dev.parley.registry.store.EntryPublisher;
import dev.parley.store.database.Database;
import dev.parley.store.hubs.HubTable;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Registers the agents of the hub itself, as soon as they are hosted, beside the start of the hub. Readers wait until that is done, for a
 * bounded time. Safe for any thread.
 */
final class OwnAgents {
    private static final System.Logger LOG = System.getLogger("dev.parley.registry");
    private static final long PATIENCE_MILLIS = 5_000;

    /** Stands for the card of an agent that the hub hosts no longer. */
    private static final byte[] NONE = {};

    /** Hubs that host an agent no longer say so within a second, each by itself. */
    private static final Duration SAID = Duration.ofSeconds(3);

    /** For so long no hub has begun or ended when agents that none hosts are deleted: a hub that is replaced hosts them again. */
    static final Duration SETTLED = Duration.ofMinutes(5);

    /** Id of the timer that looks for agents which no hub hosts; no agent has such a name. */
    private static final String ALL = "*";

    private final HubParts hub;
    private final EntryPublisher publisher;
    private final InstantSource clock;

    /** Timers of the agents that this hub hosts no longer, and others may; null if the hub has its database alone. */
    private final @Nullable Timers later;

    private final Set<String> hosted = ConcurrentHashMap.newKeySet();
    private final Map<String, byte[]> waiting = new LinkedHashMap<>();
    private boolean running;
    /** At zero if the agents that are hosted are registered. */
    private volatile CountDownLatch busy = new CountDownLatch(0);

    private volatile boolean closed;

    OwnAgents(HubParts hub, Entries entries) {
        this.hub = hub;
        this.publisher = entries.publisher();
        this.clock = entries.clock();
        this.later = hub.database().access().feeds().isShared()
                ? hub.timers().named("registry/own-agents", (name, content) -> lookAgain(name))
                : null;
        hub.agents().onHosted(this::hosted);
        hub.agents().onRemoved(this::removed);
    }

    /** Addresses of an agent in protocols of other extensions; of the agent of a protocol itself the address for all agents. */
    private List<Endpoint> faces(String agent) {
        String url = hub.agents().url(agent);
        return hub.faces().entrySet().stream()
                .map(face -> new Endpoint(
                        (face.getValue().agent().equals(agent) ? url.replaceFirst("/agents/[^/]+$", "") : url)
                                + face.getValue().path(),
                        face.getKey(),
                        ""))
                .toList();
    }

    /** Whether a caller may call agents of the hub over MCP, at the address that their entries have. */
    boolean isCalledOverMcp(CallContext caller) {
        AgentFace face = hub.faces().get(FaceProtocol.MCP_BINDING);
        return face != null && hub.agents().allows(caller, face.agent(), "SendMessage", null);
    }

    private synchronized void hosted(String name, byte[] card) {
        hosted.add(name);
        write(name, card);
    }

    private synchronized void removed(String name) {
        hosted.remove(name);
        write(name, NONE);
    }

    private void write(String name, byte[] card) {
        waiting.put(name, card);
        if (!running) {
            running = true;
            busy = new CountDownLatch(1);
            Thread.ofVirtual().name("registry-agents").start(this::work);
        }
    }

    /** Deletes the entries of agents that the hub does not have any more. Called when all are hosted. */
    void clean() {
        await();
        try {
            if (closed) {
                return;
            }
            if (later != null) {
                later.set(ALL, clock.instant().plus(SETTLED), "");
            } else {
                publisher.removeAgents(agent -> !hosted.contains(agent));
            }
        } catch (RuntimeException failure) {
            warn("agents that are not hosted any more: still registered", failure);
        }
    }

    /** Deletes the entry of an agent that this hub hosts no longer, as soon as no other hub hosts it. */
    private void remove(String name) {
        if (later == null
                || !HubTable.agentsOfOthers(database(), database().access().hub())
                        .contains(name)) {
            publisher.removeAgents(name::equals);
        } else {
            later.set(name, clock.instant().plus(SAID), "");
        }
    }

    /** Deletes an agent, or all agents, that no hub hosts. By one of the hubs. */
    private void lookAgain(String name) {
        Set<String> others =
                HubTable.agentsOfOthers(database(), database().access().hub());
        Predicate<String> isGone = agent -> !hosted.contains(agent) && !others.contains(agent);
        if (!name.equals(ALL)) {
            publisher.removeAgents(agent -> agent.equals(name) && isGone.test(agent));
            return;
        }
        if (HubTable.areSettled(database(), SETTLED)) {
            publisher.removeAgents(isGone);
        }
        requireNonNull(later).set(ALL, clock.instant().plus(SETTLED), "");
    }

    private Database database() {
        return hub.database();
    }

    private void warn(String message, RuntimeException failure) {
        if (!closed) {
            LOG.log(System.Logger.Level.WARNING, message, failure);
        }
    }

    /** Registers no more agents. Idempotent. */
    synchronized void close() {
        closed = true;
        waiting.clear();
    }

    private void work() {
        for (Map.Entry<String, byte[]> next = next(); next != null; next = next()) {
            try {
                if (next.getValue().length == 0) {
                    remove(next.getKey());
                } else {
                    publisher.publishOwn(next.getKey(), next.getValue(), faces(next.getKey()), Visibility.PUBLIC);
                }
            } catch (RuntimeException failure) {
                warn("agent \"" + next.getKey() + "\": entry not written", failure);
            }
        }
    }

    private synchronized Map.@Nullable Entry<String, byte[]> next() {
        for (String name : List.copyOf(waiting.keySet())) {
            byte[] card = waiting.remove(name);
            if (card != null) {
                return Map.entry(name, card);
            }
        }
        running = false;
        busy.countDown();
        return null;
    }

    /** Waits until all agents that are hosted are registered. */
    void await() {
        try {
            var unused = busy.await(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
