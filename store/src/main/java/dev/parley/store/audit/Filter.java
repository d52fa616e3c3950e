package dev.parley.store.audit;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Filter of rows; null matches any. Rows with an erased actor, target or subject are found by the original name. */
public record Filter(
        @Nullable String group,
        @Nullable String actor,
        @Nullable String action,
        @Nullable String target,
        @Nullable String subject,
        @Nullable Instant since) {
    public static final Filter ALL = new Filter(null, null, null, null, null, null);

    boolean fits(AuditRow row) {
        AuditEntry entry = row.entry();
        return (group == null || group.equals(entry.group()))
                && (action == null || action.equals(entry.action()))
                && isName(actor, entry.actor())
                && isName(target, entry.target())
                && isName(subject, entry.subject())
                && (since == null || !row.at().isBefore(since));
    }

    private static boolean isName(@Nullable String name, String found) {
        return name == null || name.equals(found) || AuditChain.hashed(name).equals(found);
    }
}
