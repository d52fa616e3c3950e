package dev.parley.store.audit;

import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Rows about calls that change nothing. Many of them must not fill the disk, so those of a group beyond some hundred a minute are only
 * counted, and the group's next row has their number. Safe for any thread.
 */
public final class BoundedNotes {
    /** Member of the detail with the number of calls without a row before it. */
    public static final String LEFT = "notRecordedBefore";

    private static final int A_MINUTE = 200;
    /** Groups with a count of their own; further ones share one. */
    private static final int GROUPS = 1_000;

    private static final String FURTHER = "";

    private final AuditTrail audit;
    private final InstantSource clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Count> counts = new HashMap<>();
    private long minute;

    /** Calls of a group. */
    private static final class Count {
        int noted;
        long left;
    }

    public BoundedNotes(AuditTrail audit, InstantSource clock) {
        this.audit = audit;
        this.clock = clock;
    }

    /**
     * Adds a row, or counts it.
     *
     * @param key of what is counted together
     * @param row is called for a row that is added
     */
    public void note(String key, Supplier<AuditEntry> row) {
        long left;
        lock.lock();
        try {
            long now = TimeUnit.MILLISECONDS.toMinutes(clock.millis());
            if (now != minute) {
                minute = now;
                counts.values().removeIf(count -> count.left == 0);
                counts.values().forEach(count -> count.noted = 0);
            }
            Count count = count(key);
            if (count.noted == A_MINUTE) {
                count.left++;
                return;
            }
            count.noted++;
            left = count.left;
            count.left = 0;
        } finally {
            lock.unlock();
        }
        AuditEntry entry = row.get();
        if (left > 0) {
            var detail = new TreeMap<String, Object>(entry.detail());
            detail.put(LEFT, left);
            entry = entry.with(detail);
        }
        audit.note(entry);
    }

    private Count count(String key) {
        Count known = counts.get(key);
        return known != null
                ? known
                : counts.computeIfAbsent(counts.size() < GROUPS ? key : FURTHER, any -> new Count());
    }
}
