package dev.parley.extension;

import dev.parley.engine.Request;
import dev.parley.engine.spi.TaskLog.Segment;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.Operation;
import org.jspecify.annotations.Nullable;

/**
 * Follows all calls, runs and webhooks of the agents of a hub, for instance to count them. Called on the threads of the calls, which it
 * must not block.
 */
public interface HubObserver {
    /**
     * A call has been answered, or its stream has begun.
     *
     * @param error of the answer; null for none
     */
    void called(String agent, Operation operation, CallContext caller, long nanos, @Nullable ErrorKind error);

    /** Bytes of a call over the network: of the bodies of its request and its answer, and of each element of its stream. */
    void carried(String agent, Operation operation, CallContext caller, long received, long sent);

    /** An agent has worked at a message; the task is in its state after the run. */
    void ran(String agent, Request request, long nanos);

    /** Events of a task are on disk, in order. Called on the thread of the log. */
    default void written(Segment segment) {}

    /** The hub was drained or resumed, or its database began to refuse changes or to accept them. */
    default void stateChanged() {}

    /** An event was offered to a webhook of a task that {@code caller} began. */
    void offered(TaskKey task, String caller, boolean accepted);
}
