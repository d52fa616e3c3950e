package dev.parley.registry;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A change in the log of a registry.
 *
 * @param number position in the log
 * @param details such as the difference of two versions
 * @param now the entry after the change
 */
public record EntryChange(long number, Instant time, Kind kind, Map<String, @Nullable Object> details, Entry now) {
    /** Kind of a change. */
    public enum Kind {
        REGISTERED,
        /** A new version, or other members. */
        CHANGED,
        DEPRECATED,
        EXPIRED,
        RENEWED,
        HEALTH,
        TRUST,
        TRANSFERRED,
        DELETED,
        REVOKED
    }
}
