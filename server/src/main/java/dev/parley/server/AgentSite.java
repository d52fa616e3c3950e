package dev.parley.server;

import dev.parley.dialect.served.ServedAgent;
import dev.parley.server.limits.OpenStreams;
import java.time.Duration;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** Agents of a site, and its open streams. */
abstract class AgentSite implements Site {
    final AgentDirectory agents;
    final OpenStreams streams;
    private final Duration gracePeriod;

    AgentSite(@Nullable String defaultAgent, int maxStreams, Duration gracePeriod) {
        this.agents = new AgentDirectory(this::url, defaultAgent);
        this.streams = new OpenStreams(maxStreams);
        this.gracePeriod = gracePeriod;
    }

    /** The number of open event streams. */
    final int openStreams() {
        return streams.count();
    }

    @Override
    public final String agentUrl(String name) {
        return agents.urlOf(name);
    }

    @Override
    public final String authority() {
        return agents.authority();
    }

    @Override
    public final void add(ServedAgent agent) {
        agents.add(agent);
    }

    @Override
    public final boolean remove(String name) {
        return agents.remove(name);
    }

    @Override
    public final Collection<ServedAgent> agents() {
        return agents.all();
    }

    @Override
    public void endStreams() {
        streams.endAll();
    }

    @Override
    public final void close() {
        drain(gracePeriod);
    }
}
