package dev.parley.spring;

import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.hub.Platform;
import dev.parley.store.spi.Ending;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.LivenessState;
import org.springframework.context.ApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.env.Environment;

/**
 * Hub of an application, which hosts the agents that are beans. A servlet application serves them at its own port; any other one
 * at a port of the hub, {@code parley.port}.
 *
 * <p>It starts after the web server, whose port the cards of the agents show, and stops before it: streams end and runs of agents
 * get the drain time while the server still answers. Safe for any thread.
 */
public final class HostedHub implements SmartLifecycle {
    /** After the start of a web server, and before its graceful stop. */
    private static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 512;

    private static final int DEFAULT_PORT = 8080;

    private static final System.Logger LOG = System.getLogger("dev.parley.spring");

    private final Environment environment;
    private final ParleyProperties properties;
    private final Supplier<List<Agent>> agents;
    private final List<HubCustomizer> customizers;
    private final ApplicationContext application;
    private final boolean inServlet;

    /** The platform, also after its end, when it refuses all requests; null before the first start and if there is a hub. */
    private volatile @Nullable Platform platform;

    private volatile @Nullable Hub hub;
    private volatile boolean running;

    /** @param agents called at each start */
    HostedHub(
            Environment environment,
            ParleyProperties properties,
            Supplier<List<Agent>> agents,
            List<HubCustomizer> customizers,
            ApplicationContext application,
            boolean inServlet) {
        this.application = application;
        this.environment = environment;
        this.properties = properties;
        this.agents = agents;
        this.customizers = List.copyOf(customizers);
        this.inServlet = inServlet;
    }

    @Override
    public void start() {
        HubBuilder builder = Hub.builder()
                .settings(new PropertySettings(environment))
                .agents(agents.get().toArray(Agent[]::new));
        if (properties.defaultAgent() != null) {
            builder.defaultAgent(properties.defaultAgent());
        }
        if (inServlet && environment.getProperty("parley.public-url") == null) {
            builder.publicUrl(localUrl());
        }
        builder.onWaiting(reason -> LOG.log(Level.INFO, reason));
        customizers.forEach(customizer -> customizer.customize(builder));
        Optional<String> key;
        if (inServlet) {
            Platform inContainer = builder.platform();
            inContainer.onEnding(this::ended);
            platform = inContainer;
            key = inContainer.bootstrapKey();
        } else {
            Hub own = builder.start();
            own.onEnding(this::ended);
            hub = own;
            key = own.bootstrapKey();
        }
        running = true;
        key.ifPresent(text -> LOG.log(Level.WARNING, "first key of the hub: {0} (scope admin; shown this once)", text));
    }

    /** Reports that this application has lost its database to another hub: what supervises it should start it again. */
    private void ended(Ending ending) {
        LOG.log(Level.ERROR, "the hub has ended, and answers 503 until the application starts again: {0}", ending);
        AvailabilityChangeEvent.publish(application, LivenessState.BROKEN);
    }

    /** The address of the application for callers on the same machine. */
    private String localUrl() {
        boolean isSecure = environment.getProperty("server.ssl.enabled", Boolean.class, true)
                && Stream.of("bundle", "key-store", "certificate")
                        .anyMatch(name -> environment.getProperty("server.ssl." + name) != null);
        int port = environment.getProperty(
                "local.server.port",
                Integer.class,
                environment.getProperty("server.port", Integer.class, DEFAULT_PORT));
        // In tests without a web server the port is 0, which no address has.
        String context =
                environment.getProperty("server.servlet.context-path", "").replaceFirst("/+$", "");
        return (isSecure ? "https" : "http") + "://localhost:" + Math.max(1, port) + context + properties.path();
    }

    @Override
    public void stop() {
        running = false;
        Platform inContainer = platform;
        if (inContainer != null) {
            inContainer.close();
        }
        Hub own = hub;
        if (own != null) {
            own.close();
        }
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    /** The platform that answers requests of the servlet; null before its first start, and in applications without servlets. */
    @Nullable
    Platform platform() {
        return platform;
    }

    /**
     * Returns the address of the hub for clients.
     *
     * @throws IllegalStateException before its start
     */
    public String url() {
        Platform inContainer = platform;
        return inContainer == null ? started().url() : inContainer.url();
    }

    /**
     * Returns the address of an agent.
     *
     * @throws IllegalStateException before the start of the hub
     */
    public String agentUrl(String name) {
        return url() + "/agents/" + name;
    }

    /**
     * Hosts one more agent, until the hub stops.
     *
     * @throws IllegalStateException before the start of the hub
     */
    public void host(Agent agent) {
        Platform inContainer = platform;
        if (inContainer == null) {
            started().host(agent);
        } else {
            inContainer.host(agent);
        }
    }

    private Hub started() {
        Hub own = hub;
        if (own == null) {
            throw new IllegalStateException("hub of the application: not started");
        }
        return own;
    }

    /** Why the hub should get no new calls; empty if it is ready. May wait for the database for some seconds. */
    Optional<String> unready() {
        if (!running) {
            return Optional.of("the hub has not started, or has stopped");
        }
        Platform inContainer = platform;
        return inContainer == null ? started().unready() : inContainer.unready();
    }

    /** The metrics of the hub; none before its first start. */
    MetricSnapshots metrics() {
        Platform inContainer = platform;
        if (inContainer != null) {
            return inContainer.metrics();
        }
        Hub own = hub;
        return own == null ? new MetricSnapshots() : own.metrics();
    }

    /** Parts that do not work, with their reasons, while the rest of the hub does. */
    Map<String, String> problems() {
        Platform inContainer = platform;
        return inContainer == null ? started().problems() : inContainer.problems();
    }
}
