package dev.parley.protocol;

import static java.util.Objects.requireNonNull;

import java.time.Instant;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Caller, scope and conditions of an operation.
 *
 * @param caller the principal that made the call
 * @param scope whose tasks the caller sees
 * @param extensions URIs of the extensions that the caller activated for this call
 * @param deadline when the caller stops waiting; null if it did not say
 * @param traceparent the W3C trace context; what is not of its form is dropped
 * @param dialect the wire dialect that the caller speaks, such as {@code 1.0}; its webhooks receive the same
 * @param namesTasks whether the caller names its tasks itself: the task ids of the call are first taken for such names,
 *     and a message to an unknown or ended task begins a task of that name
 * @param knowsOnlyTasks whether the caller knows no other answer than a task: what an agent answers with a message is
 *     then a task that has completed with it
 * @param grants the scopes that the caller was granted, by its credential
 * @param address from where the call came, for the record; empty if it did not come over a network
 * @param chain the agents through which it came, the one that is called included
 */
public record CallContext(
        String caller,
        Scope scope,
        Set<String> extensions,
        @Nullable Instant deadline,
        @Nullable String traceparent,
        String dialect,
        boolean namesTasks,
        boolean knowsOnlyTasks,
        Set<String> grants,
        String address,
        CallChain chain) {
    /** The dialect of who does not say. */
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

    /** Owner of data that belong to a whole group. No caller has this name. */
    private static final String SHARED = "*";

    private static final CallContext ANONYMOUS = of("anonymous", new Scope("default", "anonymous"));

    public CallContext {
        requireNonNull(caller, "caller");
        requireNonNull(scope, "scope");
        requireNonNull(dialect, "dialect");
        requireNonNull(address, "address");
        requireNonNull(chain, "chain");
        traceparent = Traceparent.orNull(traceparent);
        extensions = Set.copyOf(extensions);
        grants = Set.copyOf(grants);
    }

    /** A caller who speaks A2A 1.0 and says nothing of extensions, deadline or trace. */
    public static CallContext of(String caller, Scope scope) {
        return new CallContext(caller, scope, Set.of(), null, null, V1, false, false, Set.of(), "", CallChain.NONE);
    }

    /** Returns the caller of a hub without authentication, the same for all clients. */
    public static CallContext anonymous() {
        return ANONYMOUS;
    }

    /** This context with other extensions. */
    public CallContext withExtensions(Set<String> extensions) {
        return with(copy -> copy.extensions = extensions);
    }

    /** This context with another deadline. */
    public CallContext withDeadline(@Nullable Instant deadline) {
        return with(copy -> copy.deadline = deadline);
    }

    /** This context with another trace. */
    public CallContext withTraceparent(@Nullable String traceparent) {
        return with(copy -> copy.traceparent = traceparent);
    }

    /** This context in another dialect; {@code namesTasks} tells whether its callers name their tasks. */
    public CallContext withDialect(String dialect, boolean namesTasks) {
        return with(copy -> {
            copy.dialect = dialect;
            copy.namesTasks = namesTasks;
            copy.knowsOnlyTasks |= namesTasks;
        });
    }

    /** This context for a caller who knows no other answer than a task. */
    public CallContext withTasksOnly() {
        return with(copy -> copy.knowsOnlyTasks = true);
    }

    /** This context for a caller with these scopes, who calls from {@code address}. */
    public CallContext withGrants(Set<String> grants, String address) {
        return with(copy -> {
            copy.grants = grants;
            copy.address = address;
        });
    }

    /** This context for a call that goes through these agents. */
    public CallContext through(CallChain chain) {
        return with(copy -> copy.chain = chain);
    }

    /** Returns this context with the tasks that all members of the caller's group share. */
    public CallContext sharing() {
        return with(copy -> copy.scope = new Scope(scope.group(), SHARED));
    }

    /** Returns whether the tasks of this context belong to all members of the caller's group. */
    public boolean isSharing() {
        return scope.owner().equals(SHARED);
    }

    /** This context among what belongs to the caller in another group. */
    public CallContext among(String group) {
        return with(copy -> copy.scope = new Scope(group, scope.owner()));
    }

    private CallContext with(Consumer<Copy> change) {
        var copy = new Copy(this);
        change.accept(copy);
        return new CallContext(
                caller,
                copy.scope,
                copy.extensions,
                copy.deadline,
                copy.traceparent,
                copy.dialect,
                copy.namesTasks,
                copy.knowsOnlyTasks,
                copy.grants,
                copy.address,
                copy.chain);
    }

    /** Members that may differ in a derived context. */
    private static final class Copy {
        private Scope scope;
        private Set<String> extensions;
        private @Nullable Instant deadline;
        private @Nullable String traceparent;
        private String dialect;
        private boolean namesTasks;
        private boolean knowsOnlyTasks;
        private Set<String> grants;
        private String address;
        private CallChain chain;

        Copy(CallContext context) {
            scope = context.scope;
            extensions = context.extensions;
            deadline = context.deadline;
            traceparent = context.traceparent;
            dialect = context.dialect;
            namesTasks = context.namesTasks;
            knowsOnlyTasks = context.knowsOnlyTasks;
            grants = context.grants;
            address = context.address;
            chain = context.chain;
        }
    }
}
