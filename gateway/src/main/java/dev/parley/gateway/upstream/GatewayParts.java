package dev.parley.gateway.upstream;

import dev.parley.client.AgentClientBuilder;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a gateway that its routes use.
 *
 * @param connector to replicas
 * @param client a new builder with the credentials of the route; timeouts and retries are set by the route
 * @param metrics null for none
 * @param timer runs the probes; its tasks must not wait for each other
 * @param clock nanoseconds, as {@link System#nanoTime}
 */
public record GatewayParts(
        ReplicaConnector connector,
        Supplier<AgentClientBuilder> client,
        @Nullable GatewayMetrics metrics,
        ScheduledExecutorService timer,
        LongSupplier clock) {}
