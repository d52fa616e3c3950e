package dev.parley.activity.hub;

import dev.parley.activity.ActivityOperation.Change;
import dev.parley.activity.ActivityOperation.WatchChanges;
import dev.parley.activity.hub.Moves.Move;
import dev.parley.activity.hub.Moves.Page;
import dev.parley.activity.hub.WatchedChanges.Newest;
import dev.parley.activity.hub.WatchedChanges.Note;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.Feed;
import dev.parley.protocol.support.LruMap;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Changes for one caller. Those after its number come from the {@link WatchedChanges}, from memory or, if the caller is far behind, from the source, so
 * that a slow reader misses none.
 */
final class Watcher implements Feed<Change> {
    /** Number of hidden changes after which the watcher sends the caller its position. */
    private static final int MOST_UNSEEN = 1_000;

    /** Time for which a decision about a caller and an agent stays. */
    private static final long DECISIONS = Duration.ofSeconds(1).toNanos();

    private static final int MOST_DECISIONS = 1_000;

    private record AgentScope(Scope scope, String agent) {}

    private final WatchedChanges tail;
    private final Sight sight;
    private final boolean administers;
    private final WatchChanges watch;
    private final InstantSource clock;
    private final Runnable end;
    private final Map<AgentScope, Boolean> decisions = new LruMap<>(MOST_DECISIONS);
    private final String position;
    private long decidedAt = System.nanoTime();
    private long number;
    /** Greatest number that was sent to the caller. */
    private long shown;

    private long place;
    private boolean hasGap;
    private volatile boolean isClosed;

    /**
     * @param administers whether the caller learns of the audit log and the measures
     * @param number of the last change that the caller has
     * @param end called when this is closed, once
     */
    Watcher(
            WatchedChanges tail,
            Sight sight,
            boolean administers,
            WatchChanges watch,
            long number,
            InstantSource clock,
            Runnable end) {
        this.tail = tail;
        this.sight = sight;
        this.administers = administers;
        this.watch = watch;
        this.number = number;
        this.shown = number;
        this.position = Long.toString(number);
        this.place = tail.newest().place();
        this.clock = clock;
        this.end = end;
    }

    /** Begins with the news that changes are missing. */
    Watcher behindGap() {
        hasGap = true;
        shown = 0;
        return this;
    }

    @Override
    public String position() {
        return position;
    }

    @Override
    public @Nullable List<Change> next(Duration patience) throws InterruptedException {
        long end = System.nanoTime() + patience.toNanos();
        while (true) {
            Newest newest = tail.await(() -> isClosed, number, place, hasGap ? 0 : end - System.nanoTime());
            if (newest == null) {
                return null;
            }
            var changes = new ArrayList<Change>();
            if (number < newest.from()) {
                addBehind(newest.from(), changes);
            } else {
                List<Move> moves = newest.moves(number);
                number = Math.max(number, newest.read());
                hasGap |= newest.dropped() > place;
                add(moves, changes);
                newest.notes(place).forEach(note -> add(note, changes));
                place = newest.place();
            }
            boolean isOver = end - System.nanoTime() <= 0;
            addPosition(changes, isOver || hasGap);
            if (hasGap) {
                hasGap = false;
                changes.addFirst(Change.gap(clock.instant()));
            }
            if (!changes.isEmpty() || isOver) {
                return changes;
            }
        }
    }

    /** Adds changes from the source, up to the number from which on they are at hand. */
    private void addBehind(long from, List<Change> changes) throws InterruptedException {
        Page page = tail.after(number, watch.taskId());
        number = page.isLast() ? Math.max(from, page.next()) : page.next();
        hasGap |= page.hasGap();
        add(page.moves(), changes);
    }

    /**
     * Adds the number up to which the caller has all changes, if it was not told for long and after many changes that it does not see: it
     * would else resume after the last one that it saw, and all changes since then would be read for nothing.
     */
    private void addPosition(List<Change> changes, boolean isDue) {
        for (Change change : changes) {
            shown = Math.max(shown, change.number());
        }
        if (number > shown && (isDue || number - shown >= MOST_UNSEEN)) {
            shown = number;
            changes.add(Change.position(number, clock.instant()));
        }
    }

    private void add(List<Move> moves, List<Change> changes) {
        for (Move move : moves) {
            if (fits(move.change()) && sees(move.scope(), move.change().agent())) {
                changes.add(shown(move.change()));
            }
        }
    }

    private void add(Note note, List<Change> changes) {
        Change change = note.move().change();
        boolean isVisible = switch (change.kind()) {
            case AGENT -> sight.knows(String.valueOf(change.agent()));
            case AUDIT, CALLS -> administers;
            case HUB -> true;
            case TASK, PROGRESS, GAP, POSITION -> sees(note.move().scope(), change.agent());
        };
        if (fits(change) && isVisible) {
            changes.add(shown(change));
        }
    }

    private Change shown(Change change) {
        return sight.group() == null ? change : change.withoutGroup();
    }

    private boolean fits(Change change) {
        return (watch.agent() == null || watch.agent().equals(change.agent()))
                && (watch.taskId() == null || watch.taskId().equals(change.taskId()));
    }

    private boolean sees(Scope scope, @Nullable String agent) {
        if (agent == null || !sight.includes(scope)) {
            return false; // without a decision to be kept: most changes are of others
        }
        if (System.nanoTime() - decidedAt > DECISIONS) {
            decisions.clear();
            decidedAt = System.nanoTime();
        }
        return decisions.computeIfAbsent(new AgentScope(scope, agent), any -> sight.sees(scope, agent));
    }

    @Override
    public void close() {
        isClosed = true;
        tail.wake();
        end.run();
    }
}
