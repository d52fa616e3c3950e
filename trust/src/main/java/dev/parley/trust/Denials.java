package dev.parley.trust;

import dev.parley.protocol.CallContext;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.audit.Entry;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Audit rows of refused calls. Many refused calls must not fill the disk, so those beyond some hundred a minute are only
 * counted, and the next row has their number. Safe for any thread.
 */
final class Denials {
    private static final int A_MINUTE = 200;
    /** No id of anything is longer, and what callers ask for need not be the id of anything. */
    private static final int LONGEST = 256;

    private static final int MOST_AGENTS = 10;

    private final @Nullable AuditTrail audit;
    private final InstantSource clock;
    private final ReentrantLock lock = new ReentrantLock();
    private long minute;
    private int noted;
    private long left;

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
                noted = 0;
            }
            if (noted == A_MINUTE) {
                left++;
                return;
            }
            noted++;
            if (left > 0) {
                detail.put("notRecordedBefore", left);
                left = 0;
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

    static String shortened(String text) {
        return text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "…";
    }
}
