package dev.parley.registry.hub;

import dev.parley.extension.HubParts;
import dev.parley.extension.HubParts.AgentFace;
import dev.parley.protocol.CallContext;
import dev.parley.registry.Entry.Endpoint;
import dev.parley.registry.Entry.Visibility;
import dev.parley.registry.FaceProtocol;
import dev.parley.registry.store.EntryPublisher;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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

    private final HubParts hub;
    private final EntryPublisher publisher;
    private final Set<String> hosted = ConcurrentHashMap.newKeySet();
    private final Map<String, byte[]> waiting = new LinkedHashMap<>();
    private boolean running;
    /** At zero if the agents that are hosted are registered. */
    private volatile CountDownLatch busy = new CountDownLatch(0);

    private volatile boolean closed;

    OwnAgents(HubParts hub, EntryPublisher publisher) {
        this.hub = hub;
        this.publisher = publisher;
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
            if (!closed) {
                publisher.removeAgents(agent -> !hosted.contains(agent));
            }
        } catch (RuntimeException failure) {
            warn("agents that are not hosted any more: still registered", failure);
        }
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
                    publisher.removeAgents(next.getKey()::equals);
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
