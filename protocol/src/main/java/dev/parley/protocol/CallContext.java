package dev.parley.protocol;

import static java.util.Objects.requireNonNull;

import java.time.Instant;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Who calls, for whom, and under which conditions: what every operation has besides its own fields.
 *
 * @param caller the principal that made the call
 * @param scope whose tasks the caller sees
 * @param extensions URIs of the extensions that the caller activated for this call
 * @param deadline when the caller stops waiting; null if it did not say
 * @param traceparent the W3C trace context, passed on unread
 */
public record CallContext(
        String caller,
        Scope scope,
        Set<String> extensions,
        @Nullable Instant deadline,
        @Nullable String traceparent) {
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

    private static final CallContext ANONYMOUS =
            new CallContext("anonymous", new Scope("default", "anonymous"), Set.of(), null, null);

    public CallContext {
        requireNonNull(caller, "caller");
        requireNonNull(scope, "scope");
        extensions = Set.copyOf(extensions);
    }

    /** The caller of a hub without authentication: everybody is the same one. */
    public static CallContext anonymous() {
        return ANONYMOUS;
    }

    /** This context with other extensions. */
    public CallContext withExtensions(Set<String> extensions) {
        return new CallContext(caller, scope, extensions, deadline, traceparent);
    }

    /** This context with another deadline. */
    public CallContext withDeadline(@Nullable Instant deadline) {
        return new CallContext(caller, scope, extensions, deadline, traceparent);
    }

    /** This context with another trace. */
    public CallContext withTraceparent(@Nullable String traceparent) {
        return new CallContext(caller, scope, extensions, deadline, traceparent);
    }
}
