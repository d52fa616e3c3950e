package dev.parley.trust;

import dev.parley.protocol.CallContext;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.audit.Entry;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Audit rows of refused calls. Many refused calls must not fill the disk, so those of a group beyond some hundred a minute are
 * only counted, and the group's next row has their number. Callers without credentials count as a group of their own. Safe for
 * any thread.
 */
final class Denials {
    private static final int A_MINUTE = 200;
    /** Groups with a count of their own; further ones share one. */
    private static final int GROUPS = 1_000;

    private static final String FURTHER = "";
    /** No id of anything is longer, and what callers ask for need not be the id of anything. */
    private static final int LONGEST = 256;

    private static final int MOST_AGENTS = 10;

    private static final String ANONYMOUS = CallContext.anonymous().caller();

    private final @Nullable AuditTrail audit;
    private final InstantSource clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Count> counts = new HashMap<>();
    private long minute;

    /** Calls of a group. */
    private static final class Count {
        int noted;
        long left;
    }

    /** @param audit null for no record at all */
    Denials(@Nullable AuditTrail audit, InstantSource clock) {
        this.audit = audit;
        this.clock = clock;
    }

    void note(CallContext context, String agent, String operation, String target, String reason) {
        if (audit == null) {
            return;
        }
        var detail = new TreeMap<String, Object>(Map.of("agent", agent, "reason", shortened(reason)));
        if (!operation.isEmpty()) {
            detail.put("operation", shortened(operation));
        }
        if (context.chain().isPassedOn()) {
            List<String> agents = context.chain().agents();
            detail.put("agents", agents.subList(Math.max(0, agents.size() - MOST_AGENTS), agents.size()));
        }
        lock.lock();
        try {
            long now = TimeUnit.MILLISECONDS.toMinutes(clock.millis());
            if (now != minute) {
                minute = now;
                counts.values().removeIf(count -> count.left == 0);
                counts.values().forEach(count -> count.noted = 0);
            }
            Count count = count(context);
            if (count.noted == A_MINUTE) {
                count.left++;
                return;
            }
            count.noted++;
            if (count.left > 0) {
                detail.put("notRecordedBefore", count.left);
                count.left = 0;
            }
        } finally {
            lock.unlock();
        }
        audit.note(new Entry(
                context.scope().group(),
                context.caller(),
                "call.denied",
                target.isEmpty() ? agent : shortened(target),
                "",
                "denied",
                context.address(),
                context.traceparent() == null ? "" : context.traceparent(),
                detail));
    }

    private Count count(CallContext context) {
        String key = context.scope().group() + (context.caller().equals(ANONYMOUS) ? "/" + ANONYMOUS : "");
        Count known = counts.get(key);
        return known != null
                ? known
                : counts.computeIfAbsent(counts.size() < GROUPS ? key : FURTHER, any -> new Count());
    }

    static String shortened(String text) {
        return text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "…";
    }
}
