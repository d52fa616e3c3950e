package dev.parley.mcp.server;

import dev.parley.protocol.support.AesGcm;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Sessions of one server by id, in the order of their use. The longest unused one of a caller, or of all, ends for a new one. A client
 * whose session has ended begins another. Safe for any thread.
 */
final class McpSessions {
    static final int MAX_OF_OWNER = 64;
    static final int MAX = 2000;
    static final Duration IDLE = Duration.ofHours(1);

    private record Entry(McpSession session, Instant used) {}

    private final InstantSource clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Entry> entries = new LinkedHashMap<>();

    McpSessions(InstantSource clock) {
        this.clock = clock;
    }

    /** Keeps a session, and returns its id. */
    String add(McpSession session) {
        String id = HexFormat.of().formatHex(AesGcm.random(24));
        var ended = new ArrayList<McpSession>();
        lock.lock();
        try {
            Instant now = clock.instant();
            var own = new ArrayList<String>();
            for (Map.Entry<String, Entry> each : List.copyOf(entries.entrySet())) {
                if (each.getValue().used().plus(IDLE).isBefore(now)) {
                    entries.remove(each.getKey());
                    ended.add(each.getValue().session());
                } else if (each.getValue().session().owner().equals(session.owner())) {
                    own.add(each.getKey());
                }
            }
            String surplus = own.size() >= MAX_OF_OWNER
                    ? own.getFirst()
                    : entries.size() >= MAX ? entries.keySet().iterator().next() : null;
            Entry last = surplus == null ? null : entries.remove(surplus);
            if (last != null) {
                ended.add(last.session());
            }
            entries.put(id, new Entry(session, now));
        } finally {
            lock.unlock();
        }
        ended.forEach(McpSession::end);
        return id;
    }

    /** The session of a caller; null if the caller has none of that id. */
    @Nullable
    McpSession of(String id, String owner) {
        lock.lock();
        try {
            Entry entry = entries.get(id);
            if (entry == null || !entry.session().owner().equals(owner)) {
                return null;
            }
            entries.remove(id);
            entries.put(id, new Entry(entry.session(), clock.instant()));
            return entry.session();
        } finally {
            lock.unlock();
        }
    }

    void remove(String id) {
        Entry entry;
        lock.lock();
        try {
            entry = entries.remove(id);
        } finally {
            lock.unlock();
        }
        if (entry != null) {
            entry.session().end();
        }
    }

    void endAll() {
        List<Entry> all;
        lock.lock();
        try {
            all = List.copyOf(entries.values());
            entries.clear();
        } finally {
            lock.unlock();
        }
        all.forEach(each -> each.session().end());
    }
}
