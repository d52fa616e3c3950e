package dev.parley.knowledge.changes;

import dev.parley.knowledge.api.Statement;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Statements that were written or removed while {@linkplain Mark marks} of their group were open. A computation outside of the
 * writer thread sets a mark, reads, and then looks whether something has changed that it has read. Safe for any thread.
 */
public final class RecentWrites {
    /** Statements that are kept of a group; a mark that is older than the oldest of them counts as touched. */
    private static final int MAX_KEPT = 2_000;

    /** Of one group. Positions count all statements since its first mark. */
    private static final class Log {
        private final Deque<Statement> kept = new ArrayDeque<>();
        private long dropped;
        private int marks;

        long end() {
            return dropped + kept.size();
        }

        void dropAll() {
            dropped = end() + 1; // also past marks at the end
            kept.clear();
        }
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Log> logs = new HashMap<>();

    /** Notes what a change has written or removed. On the writer thread. */
    public void add(String group, Collection<Statement> written) {
        lock.lock();
        try {
            Log log = logs.get(group);
            if (log != null) {
                log.kept.addAll(written);
                while (log.kept.size() > MAX_KEPT) {
                    log.kept.remove();
                    log.dropped++;
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Notes a change whose statements are not listed. */
    public void addUnlisted(String group) {
        lock.lock();
        try {
            Log log = logs.get(group);
            if (log != null) {
                log.dropAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Returns a mark, which is not set yet. To be closed. */
    public Mark mark(String group) {
        return new Mark(group);
    }

    /** A moment between two changes. */
    public final class Mark implements AutoCloseable {
        private final String group;
        private @Nullable Log log;
        private long position;

        private Mark(String group) {
            this.group = group;
        }

        /** Sets the mark to the present. On the writer thread, which makes no change meanwhile. */
        public void set() {
            lock.lock();
            try {
                Log opened = log;
                if (opened == null) {
                    opened = logs.computeIfAbsent(group, any -> new Log());
                    opened.marks++;
                    log = opened;
                }
                position = opened.end();
            } finally {
                lock.unlock();
            }
        }

        /** True if something of {@code read} may have changed since the mark was set. */
        public boolean isTouched(ReadSet read) {
            lock.lock();
            try {
                Log opened = log;
                if (opened == null || position < opened.dropped) {
                    return true;
                }
                return opened.kept.stream().skip(position - opened.dropped).anyMatch(read::mayContain);
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void close() {
            lock.lock();
            try {
                Log opened = log;
                log = null;
                if (opened != null && --opened.marks == 0) {
                    logs.remove(group);
                }
            } finally {
                lock.unlock();
            }
        }
    }
}
