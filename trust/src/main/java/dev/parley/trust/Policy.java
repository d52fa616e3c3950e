package dev.parley.trust;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Authorization of callers. {@link PolicyFile} is the implementation that Parley has. Called for every call, so it must not
 * block for long. Safe for any thread.
 */
public interface Policy {
    /** Policy without rules: all callers may use all agents. */
    Policy OPEN = new Policy() {
        @Override
        public boolean knows(Principal caller, String agent) {
            return true;
        }

        @Override
        public @Nullable Refusal refusal(Attempt attempt) {
            return null;
        }
    };

    /**
     * An operation that a caller requests.
     *
     * @param operation by its name in A2A 1.0, such as {@code SendMessage}; the name that an extension gives it; or the
     *     name of an agent's own method
     * @param skill for which a message is, or may be taken, as one that does not say is for each on the card; null if there
     *     is none
     */
    record Attempt(
            Principal caller,
            String agent,
            String operation,
            @Nullable String skill) {}

    /**
     * Reason of a refusal.
     *
     * @param missing scopes with which it might; empty if none would help
     */
    record Refusal(String reason, Set<String> missing) {
        public Refusal {
            missing = Set.copyOf(missing);
        }
    }

    /** True if a caller may see an agent. For others it does not exist. */
    boolean knows(Principal caller, String agent);

    /** Returns what keeps a caller from doing something; null if nothing does. */
    @Nullable
    Refusal refusal(Attempt attempt);

    /**
     * Returns what keeps an operator from an operation of the administration; null if nothing does. Operators have the scope {@value
     * Principal#ADMIN}. Default: nothing.
     *
     * @param attempt with an operation such as {@code admin/keys/create}, and no agent
     */
    default @Nullable Refusal administration(Attempt attempt) {
        return null;
    }

    /** Whether the tasks of an agent belong to the whole group of their callers, and not only to the caller. */
    default boolean isShared(String agent) {
        return false;
    }
}
