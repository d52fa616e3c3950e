package dev.parley.protocol;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.support.Traceparent;
import java.time.Instant;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Caller, scope and conditions of an operation.
 *
 * @param principal the caller
 * @param scope of the tasks that the caller sees
 * @param wire how the caller speaks
 * @param trace the way on which the call came
 * @param deadline when the caller stops waiting; null if it did not say
 */
public record CallContext(
        Caller principal,
        Scope scope,
        Wire wire,
        Trace trace,
        @Nullable Instant deadline) {
    /** The dialect of callers that name none. */
    public static final String V1 = "1.0";

    /**
     * A boundary that no read crosses: what lies outside does not exist for the caller.
     *
     * @param group the tenant
     * @param owner within the group, the principal that owns the tasks
     */
    public record Scope(String group, String owner) {
        public Scope {
            requireNonNull(group, "group");
            requireNonNull(owner, "owner");
        }
    }

    /**
     * The principal that made a call.
     *
     * @param grants the scopes that the caller was granted, by its credential
     * @param address from where the call came, for the record; empty if it did not come over a network
     * @param token access token of another issuer by which the caller was authenticated, for a token exchange; null for other credentials.
     *     Handlers of agents do not get it
     */
    public record Caller(
            String name,
            Set<String> grants,
            String address,
            @Nullable String token) {
        public Caller {
            requireNonNull(name, "caller");
            requireNonNull(address, "address");
            grants = Set.copyOf(grants);
        }

        public Caller(String name, Set<String> grants, String address) {
            this(name, grants, address, null);
        }

        /** Has no token. */
        @Override
        public String toString() {
            return "Caller[name=" + name + ", grants=" + grants + ", address=" + address + "]";
        }
    }

    /**
     * Dialect of a caller.
     *
     * @param dialect the wire dialect, such as {@code 1.0}; the caller's webhooks receive the same
     * @param extensions URIs of the extensions that the caller activated for this call
     * @param namesTasks whether the caller names its tasks itself: a message to an unknown or ended task begins a task of that
     *     name
     * @param knowsOnlyTasks whether the caller knows no other answer than a task: what an agent answers with a message is
     *     then a task that has completed with it
     * @param literalIds whether the task ids of the call are those that tasks were created with; otherwise an id under which
     *     another task has begun since leads to that task
     * @param idempotencyKey what tells a repetition of the message of this call from another message, instead of the message's id; null for
     *     the id. A preview of A2A 1.1
     */
    public record Wire(
            String dialect,
            Set<String> extensions,
            boolean namesTasks,
            boolean knowsOnlyTasks,
            boolean literalIds,
            @Nullable String idempotencyKey) {
        private static final Wire PLAIN = new Wire(V1, Set.of(), false, false, false, null);

        public Wire {
            requireNonNull(dialect, "dialect");
            extensions = Set.copyOf(extensions);
        }
    }

    /**
     * The way on which a call came.
     *
     * @param traceparent the W3C trace context; an invalid one is dropped
     * @param chain the agents through which it came, the one that is called included
     */
    public record Trace(@Nullable String traceparent, CallChain chain) {
        private static final Trace NONE = new Trace(null, CallChain.NONE);

        public Trace {
            traceparent = Traceparent.orNull(traceparent);
            requireNonNull(chain, "chain");
        }
    }

    /** Owner of data that belong to a whole group. No caller has this name. */
    private static final String SHARED = "*";

    /** Begin of the groups of callers without credentials. No group of a hub begins with it. */
    private static final String NO_GROUP = "*";

    private static final CallContext ANONYMOUS = of("anonymous", new Scope("default", "anonymous"));

    public CallContext {
        requireNonNull(principal, "principal");
        requireNonNull(scope, "scope");
        requireNonNull(wire, "wire");
        requireNonNull(trace, "trace");
    }

    /** A caller with A2A 1.0, without extensions, deadline or trace. */
    public static CallContext of(String caller, Scope scope) {
        return new CallContext(new Caller(caller, Set.of(), ""), scope, Wire.PLAIN, Trace.NONE, null);
    }

    /** Returns the caller of a hub without authentication, the same for all clients. */
    public static CallContext anonymous() {
        return ANONYMOUS;
    }

    /**
     * Returns a caller without credentials of an agent that is open to such callers, on a hub that authenticates others. It belongs to no
     * group of the hub: it shares limits with callers of its address only.
     */
    public static CallContext unauthenticated(String address) {
        return of(ANONYMOUS.caller(), new Scope(NO_GROUP + address, ANONYMOUS.caller()))
                .withGrants(Set.of(), address);
    }

    /** Whether this is a caller {@linkplain #unauthenticated without credentials}, unlike the caller of a hub without authentication. */
    public boolean isUnauthenticated() {
        return scope.group().startsWith(NO_GROUP);
    }

    /** Name of the principal that made the call. */
    public String caller() {
        return principal.name();
    }

    /** The scopes that the caller was granted. */
    public Set<String> grants() {
        return principal.grants();
    }

    /** Address of the client; empty for calls in the process. */
    public String address() {
        return principal.address();
    }

    /** The wire dialect that the caller speaks. */
    public String dialect() {
        return wire.dialect();
    }

    /** URIs of the extensions that the caller activated for this call. */
    public Set<String> extensions() {
        return wire.extensions();
    }

    /** Whether the caller names its tasks itself. */
    public boolean namesTasks() {
        return wire.namesTasks();
    }

    /** Whether the task ids of this call are those that tasks were created with, never names. */
    public boolean literalIds() {
        return wire.literalIds();
    }

    /** Whether the caller knows no other answer than a task. */
    public boolean knowsOnlyTasks() {
        return wire.knowsOnlyTasks();
    }

    /** The W3C trace context. */
    public @Nullable String traceparent() {
        return trace.traceparent();
    }

    /** The agents through which the call came, the one that is called included. */
    public CallChain chain() {
        return trace.chain();
    }

    /** Returns this context with other extensions. */
    public CallContext withExtensions(Set<String> extensions) {
        return speaking(new Wire(
                wire.dialect, extensions, wire.namesTasks, wire.knowsOnlyTasks, wire.literalIds, wire.idempotencyKey));
    }

    /** Returns this context with another deadline. */
    public CallContext withDeadline(@Nullable Instant deadline) {
        return new CallContext(principal, scope, wire, trace, deadline);
    }

    /** Returns this context with another trace. */
    public CallContext withTraceparent(@Nullable String traceparent) {
        return new CallContext(principal, scope, wire, new Trace(traceparent, trace.chain), deadline);
    }

    /** Returns this context in another dialect; {@code namesTasks} tells whether its callers name their tasks. */
    public CallContext withDialect(String dialect, boolean namesTasks) {
        return speaking(new Wire(
                dialect,
                wire.extensions,
                namesTasks,
                wire.knowsOnlyTasks || namesTasks,
                wire.literalIds,
                wire.idempotencyKey));
    }

    /** Returns this context for a caller that supports tasks as answers only. */
    public CallContext withTasksOnly() {
        return speaking(
                new Wire(wire.dialect, wire.extensions, wire.namesTasks, true, wire.literalIds, wire.idempotencyKey));
    }

    /**
     * Returns this context for a call whose task ids are those that tasks were created with, as {@link Message#referenceTaskIds}
     * has them.
     */
    public CallContext withLiteralIds() {
        return speaking(new Wire(
                wire.dialect, wire.extensions, wire.namesTasks, wire.knowsOnlyTasks, true, wire.idempotencyKey));
    }

    /** What tells a repetition of the message of this call from another message; null for the message's id. */
    public @Nullable String idempotencyKey() {
        return wire.idempotencyKey();
    }

    /** Returns this context for a call whose message is told from others by a key rather than by its id; null for the id. */
    public CallContext withIdempotencyKey(@Nullable String key) {
        return speaking(
                new Wire(wire.dialect, wire.extensions, wire.namesTasks, wire.knowsOnlyTasks, wire.literalIds, key));
    }

    /** Returns this context for a caller with these scopes and this address. */
    public CallContext withGrants(Set<String> grants, String address) {
        var caller = new Caller(principal.name, grants, address, principal.token);
        return new CallContext(caller, scope, wire, trace, deadline);
    }

    /** Returns this context for a caller with an access token of another issuer, or without one. */
    public CallContext withToken(@Nullable String token) {
        var caller = new Caller(principal.name, principal.grants, principal.address, token);
        return new CallContext(caller, scope, wire, trace, deadline);
    }

    /** Access token of another issuer by which the caller was authenticated; null for other credentials. */
    public @Nullable String token() {
        return principal.token();
    }

    /** Returns this context for a call that goes through these agents. */
    public CallContext through(CallChain chain) {
        return new CallContext(principal, scope, wire, new Trace(trace.traceparent, chain), deadline);
    }

    /** Returns this context with the tasks that all members of the caller's group share. */
    public CallContext sharing() {
        return within(new Scope(scope.group(), SHARED));
    }

    /** Returns this context with the caller's own tasks only. */
    public CallContext own() {
        return within(new Scope(scope.group(), principal.name()));
    }

    /** Returns whether the tasks of this context belong to all members of the caller's group. */
    public boolean isSharing() {
        return scope.owner().equals(SHARED);
    }

    /** Returns this context in another group of the caller. */
    public CallContext among(String group) {
        return within(new Scope(group, scope.owner()));
    }

    private CallContext speaking(Wire other) {
        return new CallContext(principal, scope, other, trace, deadline);
    }

    private CallContext within(Scope other) {
        return new CallContext(principal, other, wire, trace, deadline);
    }
}
