package dev.parley.hub.extensions;

import dev.parley.dialect.served.ServedAgent;
import dev.parley.extension.HostedEndpoint;
import dev.parley.extension.HubAgents;
import dev.parley.extension.HubExtension;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.trust.Trust;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The agents of a hub as its extensions see them. Safe for any thread. */
public final class HubAgentView implements HubAgents {
    private final Trust trust;
    private final UnaryOperator<String> urls;
    private final Map<String, ServedAgent> agents = new ConcurrentHashMap<>();
    private final Map<String, List<HubExtension>> extensions = new ConcurrentHashMap<>();

    private final List<BiConsumer<String, byte[]>> listeners = new CopyOnWriteArrayList<>();
    private final List<Consumer<String>> removals = new CopyOnWriteArrayList<>();

    private final Hosting hosting;
    /** Agents that extensions host by endpoints. */
    private final Set<String> endpoints = ConcurrentHashMap.newKeySet();

    /** Serves agents that endpoints answer. */
    public interface Hosting {
        void add(HostedEndpoint agent);

        void remove(String agent);
    }

    /** @param urls returns the address of an agent */
    public HubAgentView(Trust trust, UnaryOperator<String> urls, Hosting hosting) {
        this.trust = trust;
        this.urls = urls;
        this.hosting = hosting;
    }

    @Override
    public String url(String agent) {
        return urls.apply(agent);
    }

    @Override
    public synchronized void host(HostedEndpoint agent) {
        if (has(agent.name()) && !endpoints.contains(agent.name())) {
            throw new IllegalArgumentException("agent \"" + agent.name() + "\": duplicate name");
        }
        hosting.add(agent);
        endpoints.add(agent.name());
    }

    @Override
    public synchronized boolean remove(String agent) {
        boolean present = endpoints.remove(agent);
        if (present) {
            hosting.remove(agent);
            agents.remove(agent);
            extensions.remove(agent);
            removals.forEach(listener -> listener.accept(agent));
        }
        return present;
    }

    /** @param used extensions that the agent has */
    public void add(ServedAgent agent, List<HubExtension> used) {
        extensions.put(agent.name(), used);
        agents.put(agent.name(), agent);
    }

    /** Calls the listeners for an agent that is served with its card from now on, so that what they read is not older. */
    public void announce(ServedAgent agent) {
        listeners.forEach(listener -> tell(listener, agent));
    }

    private static void tell(BiConsumer<String, byte[]> listener, ServedAgent agent) {
        if (agent.listed()) {
            listener.accept(agent.name(), agent.served().v1());
        }
    }

    @Override
    public boolean knows(CallContext caller, String agent) {
        return trust.knows(caller, agent);
    }

    @Override
    public boolean allows(CallContext caller, String agent, String operation, @Nullable String skill) {
        ServedAgent served = agents.get(agent);
        return served != null && trust.allows(caller, agent, served.card(), operation, skill);
    }

    @Override
    public Scope scope(CallContext caller, String agent) {
        return trust.toward(agent, caller).scope();
    }

    @Override
    public boolean hasOwnAuthentication(String agent) {
        return trust.hasOwnAuthentication(agent);
    }

    @Override
    public boolean admits(CallContext caller, String agent) {
        return trust.admits(caller, agent);
    }

    @Override
    public boolean speaks(String agent, String dialect) {
        ServedAgent served = agents.get(agent);
        return served != null && served.dialects().contains(dialect);
    }

    @Override
    public void onHosted(BiConsumer<String, byte[]> listener) {
        listeners.add(listener);
        agents.values().forEach(agent -> tell(listener, agent));
    }

    @Override
    public void onRemoved(Consumer<String> listener) {
        removals.add(listener);
    }

    /** Extensions that an agent has. */
    public List<HubExtension> extensions(String agent) {
        return extensions.getOrDefault(agent, List.of());
    }

    /** Number of the agents. */
    public int size() {
        return agents.size();
    }

    public boolean has(String agent) {
        return agents.containsKey(agent);
    }

    @Override
    public Map<String, AgentCard> cards(CallContext caller) {
        var cards = new TreeMap<String, AgentCard>();
        agents.forEach((name, agent) -> {
            if (agent.listed() && trust.knows(caller, name)) {
                cards.put(name, agent.card());
            }
        });
        return cards;
    }

    @Override
    public AgentEndpoint endpoint(String agent) {
        return new Neighbour(agent, false);
    }

    @Override
    public AgentEndpoint within(String agent) {
        return new Neighbour(agent, true);
    }

    private final class Neighbour implements AgentEndpoint {
        private final String name;
        /** Whether calls are parts of a call of the same agent, which is counted already. */
        private final boolean within;

        Neighbour(String name, boolean within) {
            this.name = name;
            this.within = within;
        }

        @Override
        public <R> R call(Operation.Call<R> operation, CallContext context) {
            return known(context).call(operation, toward(context));
        }

        @Override
        public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
            return known(context).watch(operation, toward(context));
        }

        private AgentEndpoint known(CallContext context) {
            ServedAgent served = agents.get(name);
            if (served == null || !trust.knows(context, name)) {
                throw A2AException.of(A2AError.METHOD_NOT_FOUND, "agent \"" + name + "\": unknown");
            }
            return served.door().apply(within ? served.endpoint() : new Counted(trust, served));
        }

        private CallContext toward(CallContext context) {
            CallContext own = trust.toward(name, context);
            List<String> chain = context.chain().agents();
            String url = urls.apply(name);
            return within && !chain.isEmpty() && chain.getLast().equals(url)
                    ? own
                    : own.through(context.chain().then(url));
        }
    }

    /** An agent whose calls count against the limits of requests. */
    private record Counted(Trust trust, ServedAgent agent) implements AgentEndpoint {
        @Override
        public <R> R call(Operation.Call<R> operation, CallContext context) {
            Runnable end = trust.count(context, agent.name());
            try {
                return agent.endpoint().call(operation, context);
            } finally {
                end.run();
            }
        }

        @Override
        public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
            Runnable end = trust.count(context, agent.name());
            try {
                return agent.endpoint().watch(operation, context).onClose(end);
            } catch (RuntimeException | Error refused) {
                end.run();
                throw refused;
            }
        }
    }
}
