package dev.parley.knowledge;

import dev.parley.protocol.KnowledgeOperation.Change;
import dev.parley.protocol.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The newest changes of a group, for those who watch. A reader that is further behind reads the table instead, so that
 * nobody's slowness costs memory. Safe for any thread.
 */
final class Feed {
    private static final int KEPT = 4_096;

    /**
     * A change and its place in the order of all.
     *
     * @param replaced what it has taken back besides
     */
    record Numbered(long number, Change change, List<Statement> replaced) {
        Numbered {
            replaced = List.copyOf(replaced);
        }
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition news = lock.newCondition();

    /** A ring; {@code written} of all that ever came, of which the last {@link #KEPT} are there. */
    private final @Nullable Numbered[] ring = new @Nullable Numbered[KEPT];

    private long written;
    private long generation;

    /** Everything up to this change is either in the ring or older than what is in it. */
    private long begin;

    /** @param last the newest change there is */
    Feed(long last) {
        this.begin = last;
    }

    /** Shows changes that are on disk, in their order. */
    void publish(List<Numbered> changes) {
        if (changes.isEmpty()) {
            return;
        }
        lock.lock();
        try {
            for (Numbered change : changes) {
                if (change.number() <= begin) {
                    continue;
                }
                int place = (int) (written % KEPT);
                Numbered oldest = ring[place];
                if (oldest != null) {
                    begin = oldest.number();
                }
                ring[place] = change;
                written++;
            }
            news.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Lets everybody who waits look again whether it may still read. */
    void wake() {
        lock.lock();
        try {
            generation++;
            news.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns changes behind {@code after}, waiting for the first of them.
     *
     * @return an empty list if nothing came within {@code patience}, or {@link #wake} was called; null if the oldest of
     *     them are not here any more
     */
    @Nullable
    List<Numbered> after(long after, Duration patience) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = patience.toNanos();
            long asked = generation;
            while (after >= begin && (written == 0 || newest() <= after)) {
                if (left <= 0 || asked != generation) {
                    return List.of();
                }
                left = news.awaitNanos(left);
            }
            return after < begin ? null : since(after);
        } finally {
            lock.unlock();
        }
    }

    private long newest() {
        Numbered last = ring[(int) ((written - 1) % KEPT)];
        return last == null ? 0 : last.number();
    }

    private List<Numbered> since(long after) {
        var found = new ArrayList<Numbered>();
        for (long at = written - 1; at >= Math.max(0, written - KEPT); at--) {
            Numbered one = ring[(int) (at % KEPT)];
            if (one == null || one.number() <= after) {
                break;
            }
            found.add(one);
        }
        return found.reversed();
    }

    /** How long a wait may be at most, so that its arithmetic cannot overflow. */
    static Duration bounded(Duration patience) {
        Duration most = Duration.ofNanos(TimeUnit.DAYS.toNanos(365));
        return patience.compareTo(most) > 0 ? most : patience;
    }
}
