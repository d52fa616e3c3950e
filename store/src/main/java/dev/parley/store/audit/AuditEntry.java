package dev.parley.store.audit;

import java.util.Map;

/**
 * An action of a principal, done or refused. Contains neither secrets nor contents of messages.
 *
 * @param actor the principal; the agent, where it acted by itself
 * @param action such as {@code task.created}; {@code docs/authorization.md} lists them
 * @param target id of the object of the action
 * @param subject the member concerned, or the one for which the actor works, as {@code group/name}; empty for none
 * @param outcome {@code ok}, {@code denied}, or the name of an error or state
 * @param address of the client; empty for actions without a call
 * @param trace W3C trace context; empty if there is none
 * @param detail further members
 */
public record AuditEntry(
        String group,
        String actor,
        String action,
        String target,
        String subject,
        String outcome,
        String address,
        String trace,
        Map<String, ?> detail) {
    AuditEntry with(Map<String, ?> otherDetail) {
        return new AuditEntry(group, actor, action, target, subject, outcome, address, trace, otherDetail);
    }
}
