package dev.parley.activity.hub;

import dev.parley.activity.ActivityOperation.Reach;
import dev.parley.extension.HubAgents;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Tasks that a caller sees: those that it could list at their agents. With the scope {@value #ADMIN} also those of others.
 *
 * @param group whose tasks they are; null for all groups
 * @param owners of the tasks; empty for all
 * @param isOperator whether tasks of any agent are seen
 */
record Sight(HubAgents agents, CallContext caller, @Nullable String group, Set<String> owners, boolean isOperator) {
    /** Scope of operators. */
    private static final String ADMIN = "admin";

    private static final String LIST = "ListTasks";
    private static final String ALL = "*";

    /** @throws A2AException PERMISSION_DENIED for tasks of others without the scope */
    static Sight of(HubAgents agents, CallContext context, Reach reach) {
        CallContext caller = context.own();
        if (reach.isOwn()) {
            return new Sight(
                    agents,
                    caller,
                    caller.scope().group(),
                    Set.of(caller.scope().owner(), caller.sharing().scope().owner()),
                    false);
        }
        if (!caller.grants().contains(ADMIN)) {
            throw A2AException.of(
                    A2AError.PERMISSION_DENIED,
                    (reach.group() != null ? "group" : "owner") + ": only with the scope " + ADMIN
                            + " (expected: none, for the tasks that the caller can list)");
        }
        String group = reach.group() == null ? caller.scope().group() : reach.group();
        return new Sight(
                agents,
                caller,
                group.equals(ALL) ? null : group,
                reach.owner() == null ? Set.of() : Set.of(reach.owner()),
                true);
    }

    /** Group whose share of long reads they are. */
    String payer() {
        return caller.scope().group();
    }

    /** Whether the caller has the scope {@value #ADMIN}, which admits to the audit log and the measures. */
    boolean administers() {
        return caller.grants().contains(ADMIN);
    }

    /** Whether the caller may know of an agent. */
    boolean knows(String agent) {
        return isOperator || agents.knows(caller, agent);
    }

    /** Whether tasks of a scope are seen, of some agent at least. Much cheaper than {@link #sees}. */
    boolean includes(Scope scope) {
        return (group == null || group.equals(scope.group())) && (owners.isEmpty() || owners.contains(scope.owner()));
    }

    /** Whether tasks of a scope and an agent are seen. */
    boolean sees(Scope scope, String agent) {
        return includes(scope)
                && (isOperator
                        || scope.equals(agents.scope(caller, agent))
                                && agents.admits(caller, agent)
                                && agents.allows(caller, agent, LIST, null));
    }
}
