package dev.parley.trust;

import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Policy that limits callers with scopes such as {@code agent:echo} to the agents of these names, and asks another policy beyond that. Callers
 * without such a scope are not limited. Safe for any thread if the other policy is.
 *
 * <p>These scopes take rights away, so a credential that follows from another one keeps them: {@link #kept}.
 */
record AgentScopes(Policy policy) implements Policy {
    private static final String PREFIX = "agent:";

    /** Scopes of a credential that was made for some of the scopes of another one: with all limits of that. */
    static Set<String> kept(Set<String> scopes, Set<String> of) {
        var kept = new TreeSet<>(scopes);
        of.stream().filter(AgentScopes::isLimit).forEach(kept::add);
        return kept;
    }

    private static boolean isLimit(String scope) {
        return scope.startsWith(PREFIX);
    }

    private static boolean isLimited(Principal caller) {
        return caller.scopes().stream().anyMatch(AgentScopes::isLimit);
    }

    private static boolean reaches(Principal caller, String agent) {
        return caller.scopes().contains(PREFIX + agent) || !isLimited(caller);
    }

    @Override
    public boolean knows(Principal caller, String agent) {
        return reaches(caller, agent) && policy.knows(caller, agent);
    }

    @Override
    public @Nullable Refusal refusal(Attempt attempt) {
        return reaches(attempt.caller(), attempt.agent()) ? policy.refusal(attempt) : limit(attempt.caller());
    }

    @Override
    public @Nullable Refusal administration(Attempt attempt) {
        return isLimited(attempt.caller()) ? limit(attempt.caller()) : policy.administration(attempt);
    }

    private static Refusal limit(Principal caller) {
        String agents = caller.scopes().stream()
                .filter(AgentScopes::isLimit)
                .map(scope -> scope.substring(PREFIX.length()))
                .sorted()
                .collect(Collectors.joining(", "));
        return new Refusal("The credential is for these agents only: " + agents, Set.of());
    }

    @Override
    public boolean isShared(String agent) {
        return policy.isShared(agent);
    }
}
