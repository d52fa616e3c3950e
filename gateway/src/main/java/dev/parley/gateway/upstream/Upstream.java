package dev.parley.gateway.upstream;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The replicas of a route as one remote agent. Safe for any thread; calls block, and are given up when their thread is interrupted.
 *
 * <p>Each task and context belongs to the replica that made it. The caller of this keeps the {@link Answer#replica} beside the owner of
 * the task and gives it with later calls, which then go to that replica and to no other, also while it fails or drains.
 */
public interface Upstream extends AutoCloseable {
    /**
     * An answer, and the replica that gave it.
     *
     * @param replica to be kept with the tasks and contexts in the answer
     */
    record Answer<T>(T value, String replica) {}

    /**
     * State of a replica.
     *
     * @param id value of affinity
     * @param breaker closed, half-open or open
     * @param outstanding open calls and streams
     */
    record Status(String id, String url, int weight, boolean draining, Breaker.State breaker, int outstanding) {}

    /**
     * Calls the agent.
     *
     * @param replica of the task or context that the operation names; null if it names none
     * @throws A2AException of the agent, or UNAVAILABLE if no replica can be called; without addresses of replicas
     */
    <R> Answer<R> call(Operation.Call<R> operation, CallContext context, @Nullable String replica);

    /**
     * Opens a stream, which is resumed at its replica after a cut. Closing the feed frees the upstream stream at once.
     *
     * @param replica of the task or context that the operation names; null if it names none
     * @throws A2AException as {@link #call}
     */
    <E> Answer<Feed<E>> watch(Operation.Watch<E> operation, CallContext context, @Nullable String replica);

    /** Goes by other settings from now on. Replicas that stay keep their state; calls of others go on to their end. */
    void use(UpstreamSettings settings);

    /** Time after which a stream ends, whatever its task does. */
    Duration streamLimit();

    /** The error at the end of a stream that has lasted for its whole time. */
    static A2AException passed(Duration limit) {
        return Failure.passed("total", limit).answer();
    }

    /** The replicas with their states. */
    List<Status> status();

    /** Gives up calls and streams. Idempotent. */
    @Override
    void close();

    /**
     * Returns the upstream of a route, whose replicas are connected when they are first needed.
     *
     * @param route name in metrics and logs
     */
    static Upstream of(String route, UpstreamSettings settings, GatewayParts surroundings) {
        return new Replicas(route, settings, surroundings);
    }
}
