package dev.parley.spring.test;

import dev.parley.client.AgentClient;
import dev.parley.spring.HostedHub;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Clients of the agents of an application under test, without credentials. They are closed with the application. Safe for any thread.
 *
 * <p>A client with credentials connects to {@link HostedHub#agentUrl}.
 */
public final class AgentClients implements AutoCloseable {
    private final HostedHub hub;
    private final Map<String, AgentClient> clients = new ConcurrentHashMap<>();

    AgentClients(HostedHub hub) {
        this.hub = hub;
    }

    /** Returns the client of the default agent; the same at each call. */
    public AgentClient client() {
        return at(hub.url());
    }

    /**
     * Returns the client of an agent; the same at each call.
     *
     * @throws dev.parley.client.spi.ClientException if the hub has no such agent
     */
    public AgentClient client(String agent) {
        // The address of the card: at that of an agent, a client would go on to the default agent if there is none.
        return at(hub.agentUrl(agent) + "/.well-known/agent-card.json");
    }

    private AgentClient at(String url) {
        AgentClient present = clients.get(url);
        if (present != null) {
            return present;
        }
        AgentClient connected = AgentClient.connect(url);
        AgentClient earlier = clients.putIfAbsent(url, connected);
        if (earlier == null) {
            return connected;
        }
        connected.close();
        return earlier;
    }

    @Override
    public void close() {
        clients.values().forEach(AgentClient::close);
    }
}
