package dev.parley.knowledge;

import static java.util.Objects.requireNonNullElse;

import dev.parley.protocol.CallContext;
import dev.parley.store.audit.AuditEntry;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Entries of the hub's audit trail. */
final class AuditEntries {
    private AuditEntries() {}

    /** Returns the entry of a call. */
    static AuditEntry entry(
            CallContext context,
            String action,
            String target,
            String subject,
            String outcome,
            Map<String, @Nullable Object> detail) {
        return new AuditEntry(
                context.scope().group(),
                context.caller(),
                action,
                target,
                subject,
                outcome,
                context.address(),
                requireNonNullElse(context.traceparent(), ""),
                detail);
    }
}
