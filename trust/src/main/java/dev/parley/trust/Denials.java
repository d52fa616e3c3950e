package dev.parley.trust;

import dev.parley.protocol.CallContext;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.audit.BoundedNotes;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Audit rows of refused calls, as many as {@link BoundedNotes} admits. Callers without credentials count as a group of their own. Safe for
 * any thread.
 */
final class Denials {
    /** No id of anything is longer, and what callers ask for need not be the id of anything. */
    private static final int LONGEST = 256;

    private static final int MOST_AGENTS = 10;

    private static final String ANONYMOUS = CallContext.anonymous().caller();

    private final @Nullable BoundedNotes notes;

    /** @param audit null for no record at all */
    Denials(@Nullable AuditTrail audit, InstantSource clock) {
        this.notes = audit == null ? null : new BoundedNotes(audit, clock);
    }

    void note(CallContext context, String agent, String operation, String target, String reason) {
        if (notes == null) {
            return;
        }
        String group = context.scope().group();
        String key = group + (context.caller().equals(ANONYMOUS) ? "/" + ANONYMOUS : "");
        notes.note(key, () -> entry(context, agent, operation, target, reason));
    }

    private static AuditEntry entry(CallContext context, String agent, String operation, String target, String reason) {
        var detail = new TreeMap<String, Object>(Map.of("agent", agent, "reason", shortened(reason)));
        if (!operation.isEmpty()) {
            detail.put("operation", shortened(operation));
        }
        if (context.chain().isPassedOn()) {
            List<String> agents = context.chain().agents();
            detail.put("agents", agents.subList(Math.max(0, agents.size() - MOST_AGENTS), agents.size()));
        }
        return new AuditEntry(
                context.scope().group(),
                context.caller(),
                "call.denied",
                target.isEmpty() ? agent : shortened(target),
                "",
                "denied",
                context.address(),
                context.traceparent() == null ? "" : context.traceparent(),
                detail);
    }

    static String shortened(String text) {
        return text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "…";
    }
}
