package dev.parley.hub;

import dev.parley.engine.Agent;
import dev.parley.engine.TaskManager;
import dev.parley.server.ServerBuilder;
import dev.parley.store.spi.Ending;
import dev.parley.trust.Principal;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A running hub: agents, their tasks on disk, and one port on which they are called. It is a {@link Platform} behind a listener.
 *
 * <p>Safe for any thread.
 */
public final class Hub implements AutoCloseable {
    final Platform platform;

    Hub(Setup setup) {
        prepare();
        setup.refuseContainer();
        setup.refuseOpenBinding();
        setup.waitForTurn();
        try {
            this.platform = new Platform(setup, ServerBuilder::start, setup.isLocal());
        } catch (RuntimeException | Error failure) {
            setup.waitNoLonger();
            throw failure;
        }
    }

    /**
     * Begins to load classes of a hub on another thread. {@link HubBuilder#start()} does so, too; a program that has other work to
     * do before it starts a hub gains time if it calls this first. Returns at once, does nothing the second time.
     */
    public static void prepare() {
        Preparation.begin();
    }

    /** Begins a hub. */
    public static HubBuilder builder() {
        return new HubBuilder();
    }

    /** Returns the address of the hub for clients: the public URL, or scheme, host and port. */
    public String url() {
        return platform.url();
    }

    /** Returns the port at which the hub listens. */
    public int port() {
        return platform.port();
    }

    /** Address of the hub for operators and metrics: {@link #url} unless they have a port of their own. */
    public String adminUrl() {
        return platform.adminUrl();
    }

    /** Returns the address of an agent. */
    public String agentUrl(String name) {
        return platform.agentUrl(name);
    }

    /**
     * Returns the first API key, which can create others: on the first start with authentication, as long as no caller has the scope
     * {@value Principal#ADMIN}. It is returned once, for the operator that started the hub.
     */
    public Optional<String> bootstrapKey() {
        return platform.bootstrapKey();
    }

    /** Why this hub should get no new calls; see {@link Platform#unready}. */
    public Optional<String> unready() {
        return platform.unready();
    }

    /** The metrics of this hub; see {@link Platform#metrics}. */
    public MetricSnapshots metrics() {
        return platform.metrics();
    }

    /** All metrics of this hub; see {@link Platform#allMetrics}. */
    public MetricSnapshots allMetrics() {
        return platform.allMetrics();
    }

    /** Parts that do not work, with their reasons, while the rest of the hub does. */
    public Map<String, String> problems() {
        return platform.problems();
    }

    /** Hosts one more agent, from now on. */
    public void host(Agent agent) {
        platform.host(agent);
    }

    /** The tasks of an agent as the Agentic Kernel's task manager offers them; empty if there is no such agent. */
    public Optional<TaskManager> tasks(String agent) {
        return platform.tasks(agent);
    }

    /** Why this hub may not use its database any more; empty as long as it may. */
    public Optional<Ending> ending() {
        return platform.ending();
    }

    /**
     * Tells when this hub may not use its database any more, because another hub has taken it over or it is an earlier state of itself.
     * The hub has ended then: runs of agents are interrupted, and its port stays open to refuse all requests but {@code /health} with
     * 503, until the hub is closed. Nothing else happens by itself. The program decides whether it stops, or starts another hub that
     * {@linkplain HubBuilder#replaces replaces} this one, with agents that it builds again; {@code parley up} does the latter.
     *
     * @param listener is called once, also if the hub has ended already, on a thread of its own
     */
    public void onEnding(Consumer<Ending> listener) {
        platform.onEnding(listener);
    }

    /** Closes this hub when the process is stopped. */
    public void closeOnShutdown() {
        Runtime.getRuntime().addShutdownHook(new Thread(this::close, "hub-shutdown"));
    }

    /**
     * Refuses new requests, lets running ones finish within the drain time, then stops. Tasks that are unfinished then are
     * dealt with at the next start. Idempotent.
     */
    @Override
    public void close() {
        platform.close();
    }
}
