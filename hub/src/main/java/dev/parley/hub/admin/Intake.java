package dev.parley.hub.admin;

import dev.parley.dialect.served.ServedAgent;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Refuses calls of clients that would begin a task while the hub is drained. Calls of agents of the hub are taken: a running task may
 * need them. State of the process, which a restart ends. Safe for any thread.
 */
public final class Intake {
    private static final Duration RETRY = Duration.ofSeconds(30);

    /** Set on the thread of a request while it is answered; agents work on threads of their own. */
    private final ThreadLocal<@Nullable Boolean> ofClient = new ThreadLocal<>();

    private final Runnable changed;

    private volatile @Nullable Instant drained;

    /** @param changed is run after a drain has begun or ended */
    public Intake(Runnable changed) {
        this.changed = changed;
    }

    /** Time since which the hub is drained; null if it is not. */
    public @Nullable Instant drained() {
        return drained;
    }

    /** Begins a drain, or ends it; false if nothing changed. */
    synchronized boolean drain(boolean begins, Instant now) {
        boolean changes = begins == (drained == null);
        if (changes) {
            drained = begins ? now : null;
            changed.run();
        }
        return changes;
    }

    /** @throws A2AException UNAVAILABLE if a client calls and the hub is drained */
    public void check() {
        if (drained != null && ofClient.get() != null) {
            throw A2AException.unavailable("The hub is drained: it takes no new tasks at the moment", RETRY);
        }
    }

    /** The agent as clients call it. */
    public ServedAgent forClients(ServedAgent agent) {
        return agent.with(new Before(agent.endpoint(), false));
    }

    /** An endpoint elsewhere, whose tasks the engine does not know. */
    public AgentEndpoint beforeRemote(AgentEndpoint endpoint) {
        return new Before(endpoint, true);
    }

    private final class Before implements AgentEndpoint {
        private final AgentEndpoint endpoint;
        private final boolean isRemote;

        Before(AgentEndpoint endpoint, boolean isRemote) {
            this.endpoint = endpoint;
            this.isRemote = isRemote;
        }

        @Override
        public <R> R call(Operation.Call<R> operation, CallContext context) {
            return answered(operation, () -> endpoint.call(operation, context));
        }

        @Override
        public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
            return answered(operation, () -> endpoint.watch(operation, context));
        }

        private <T> T answered(Operation operation, Supplier<T> work) {
            if (isRemote) {
                if (operation instanceof Operation.Send send && send.message().taskId() == null) {
                    check();
                }
                return work.get();
            }
            ofClient.set(true);
            try {
                return work.get();
            } finally {
                ofClient.remove();
            }
        }
    }
}
