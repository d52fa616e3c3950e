package dev.parley.mesh.client;

import static java.util.Objects.requireNonNull;

import dev.parley.mesh.Envelope.Handling;
import dev.parley.mesh.Envelope.Priority;
import dev.parley.mesh.Envelope.Reply;
import dev.parley.mesh.MeshContent.Delegation;
import dev.parley.mesh.RetryPolicy;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A delegation to be sent. For one thread. */
public final class TaskDelegation {
    private final String task;
    private final Map<String, @Nullable Object> parameters = new LinkedHashMap<>();
    private Priority priority = Priority.MEDIUM;
    private RetryPolicy retryPolicy = RetryPolicy.DEFAULT;
    private @Nullable Duration timeout;
    private @Nullable Instant deadline;
    private @Nullable String callback;
    private @Nullable String correlationId;

    private TaskDelegation(String task) {
        this.task = requireNonNull(task, "task");
    }

    /** @param task id, tag or name of a skill of the receiver */
    public static TaskDelegation of(String task) {
        return new TaskDelegation(task);
    }

    /** Sets a parameter: JSON, as maps, lists, strings, numbers and booleans. Default: none. */
    public TaskDelegation parameter(String name, @Nullable Object value) {
        parameters.put(name, value);
        return this;
    }

    /** Sets parameters. Default: none. */
    public TaskDelegation parameters(Map<String, ? extends @Nullable Object> values) {
        parameters.putAll(values);
        return this;
    }

    /** Default: medium. */
    public TaskDelegation priority(Priority priority) {
        this.priority = requireNonNull(priority, "priority");
        return this;
    }

    /** Repetition of requests that failed, and of callbacks. Default: three retries with exponential waits. */
    public TaskDelegation retryPolicy(RetryPolicy policy) {
        this.retryPolicy = requireNonNull(policy, "policy");
        return this;
    }

    /** Longest time of the work from its acceptance. Default: none. */
    public TaskDelegation timeout(Duration timeout) {
        this.timeout = requireNonNull(timeout, "timeout");
        return this;
    }

    /** Time after which the result is of no use. Default: none. */
    public TaskDelegation deadline(Instant deadline) {
        this.deadline = requireNonNull(deadline, "deadline");
        return this;
    }

    /** Address that takes messages about the task. Default: that of the client's listener; without one, the client asks for results. */
    public TaskDelegation callback(String callback) {
        this.callback = requireNonNull(callback, "callback");
        return this;
    }

    /** Id that is common to all messages about the delegation. Default: a random one. */
    public TaskDelegation correlationId(String correlationId) {
        this.correlationId = requireNonNull(correlationId, "correlationId");
        return this;
    }

    String task() {
        return task;
    }

    RetryPolicy retryPolicy() {
        return retryPolicy;
    }

    @Nullable
    String callback() {
        return callback;
    }

    @Nullable
    String correlationId() {
        return correlationId;
    }

    /** @param reply address and key for messages about encrypted content; null for none */
    Handling handling(@Nullable Reply reply) {
        return new Handling(priority, timeout, retryPolicy, false, reply, null);
    }

    Delegation content(@Nullable String defaultCallback) {
        return new Delegation(
                task,
                Collections.unmodifiableMap(new LinkedHashMap<>(parameters)),
                callback == null ? defaultCallback : callback,
                deadline);
    }
}
