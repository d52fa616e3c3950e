package dev.parley.mesh.workflow;

import dev.parley.client.AgentClient;
import dev.parley.extension.HubParts;
import dev.parley.mesh.workflow.StepAgents.StepAgent;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.support.LruMap;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Agents of steps that have a URL: a client for each, which sends no credentials, and calls only hosts that webhooks may go to. Safe
 * for any thread.
 */
final class ForeignAgents implements AutoCloseable {
    private static final int MOST = 100;

    private final HubParts hub;
    /** A client that another replaces is not closed, because steps may use it: it ends with them. Guarded by itself. */
    private final Map<Key, AgentClient> clients = new LruMap<>(MOST);

    private record Key(String group, String url) {}

    private boolean closed;

    ForeignAgents(HubParts hub) {
        this.hub = hub;
    }

    /** The agent at a URL. Nothing is looked up or called before it is used. */
    StepAgent at(String url, String group) {
        return new Foreign(this, url, group);
    }

    /** An agent elsewhere: its first use connects to it. */
    static final class Foreign implements StepAgent {
        private final ForeignAgents all;
        private final String url;
        private final String group;
        private volatile @Nullable AgentClient client;

        private Foreign(ForeignAgents all, String url, String group) {
            this.all = all;
            this.url = url;
            this.group = group;
        }

        @Override
        public AgentEndpoint endpoint() {
            return client();
        }

        @Override
        public AgentCard card() {
            return client().card();
        }

        private AgentClient client() {
            AgentClient known = client;
            if (known == null) {
                known = all.client(url, group);
                client = known;
            }
            return known;
        }
    }

    private AgentClient client(String url, String group) {
        var key = new Key(group, url);
        AgentClient known;
        synchronized (clients) {
            known = clients.get(key);
        }
        if (known != null) {
            var unused = known.refreshCard();
            return known;
        }
        return kept(
                key,
                AgentClient.builder()
                        .httpClient(hub.http(group))
                        .sendTimeout(Duration.ofHours(1))
                        .connect(url));
    }

    private AgentClient kept(Key key, AgentClient made) {
        AgentClient before;
        synchronized (clients) {
            before = closed ? made : clients.putIfAbsent(key, made);
        }
        if (before != null) {
            made.close();
            return before;
        }
        return made;
    }

    @Override
    public void close() {
        synchronized (clients) {
            closed = true;
            clients.values().forEach(AgentClient::close);
            clients.clear();
        }
    }
}
