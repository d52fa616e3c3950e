package dev.parley.activity.hub;

import dev.parley.activity.ActivityOperation.Change;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.Segment;
import dev.parley.store.audit.AuditPosition;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The newest changes of a hub that keeps nothing. */
final class RememberedMoves implements Moves {
    private static final int MOST = 10_000;

    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<Move> newest = new ArrayDeque<>();
    private long number;

    void add(Segment segment) {
        Head head = segment.head();
        Cause cause = segment.cause();
        lock.lock();
        try {
            if (newest.size() == MOST) {
                newest.removeFirst();
            }
            newest.addLast(new Move(
                    head.key().scope(),
                    new Change(
                            ++number,
                            null,
                            head.statusTime(),
                            Change.Kind.TASK,
                            head.key().taskId(),
                            head.key().agent(),
                            head.contextId(),
                            head.state(),
                            segment.before(),
                            cause.caller(),
                            cause.traceparent(),
                            head.key().scope().group(),
                            null,
                            null),
                    AuditPosition.of(number)));
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Page after(@Nullable String group, @Nullable String taskId, AuditPosition place, int limit) {
        long after = place.numbers().getLast();
        lock.lock();
        try {
            var moves = new ArrayList<Move>();
            for (Iterator<Move> each = newest.descendingIterator(); each.hasNext(); ) {
                Move move = each.next();
                if (move.change().number() <= after) {
                    break;
                }
                if ((group == null || group.equals(move.scope().group()))
                        && (taskId == null || taskId.equals(move.change().taskId()))) {
                    moves.add(move);
                }
            }
            boolean hasGap = after < number - newest.size();
            boolean isLast = moves.size() <= limit;
            var page = isLast ? moves.reversed() : moves.reversed().subList(0, limit);
            return new Page(
                    new ArrayList<>(page),
                    isLast ? AuditPosition.of(number) : page.getLast().place(),
                    isLast,
                    hasGap);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public AuditPosition newest() {
        lock.lock();
        try {
            return AuditPosition.of(number);
        } finally {
            lock.unlock();
        }
    }
}
