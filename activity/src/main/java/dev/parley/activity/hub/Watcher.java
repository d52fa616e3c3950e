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
import dev.parley.store.audit.AuditPosition;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Changes for one caller. Those after its place come from the {@link WatchedChanges}, from memory or, if the caller is far behind, from the source, so
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
    private AuditPosition reached;
    /** Place that the caller knows. */
    private AuditPosition shown;

    /** {@link Newest#reads} and {@link Newest#count} of the changes that this has. */
    private long reads = Newest.NO_READ;

    private long count;

    /** Place of the newest note. */
    private long place;

    private boolean hasGap;
    private volatile boolean isClosed;

    /**
     * @param administers whether the caller learns of the audit log and the measures
     * @param begin place of the last change that the caller has
     * @param end called when this is closed, once
     */
    Watcher(
            WatchedChanges tail,
            Sight sight,
            boolean administers,
            WatchChanges watch,
            AuditPosition begin,
            InstantSource clock,
            Runnable end) {
        this.tail = tail;
        this.sight = sight;
        this.administers = administers;
        this.watch = watch;
        this.reached = begin;
        this.shown = begin;
        this.position = begin.toString();
        this.place = tail.newest().place();
        this.clock = clock;
        this.end = end;
    }

    /** Begins with the news that changes are missing. */
    Watcher behindGap() {
        hasGap = true;
        shown = AuditPosition.BEGINNING;
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
            Newest newest = tail.await(() -> isClosed, reads, place, hasGap ? 0 : end - System.nanoTime());
            if (newest == null) {
                return null;
            }
            var changes = new ArrayList<Change>();
            if (isBehind(newest)) {
                addBehind(newest.from(), changes);
            } else {
                hasGap |= newest.dropped() > place;
                add(newest.moves(count), changes);
                reached = reached.with(newest.read());
                count = newest.count();
                reads = newest.reads();
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

    /** Whether changes that this does not have are no longer at hand. */
    private boolean isBehind(Newest newest) {
        return reads == Newest.NO_READ ? !reached.includes(newest.from()) : count < newest.first();
    }

    /** Adds changes from the source, up to the place from which on they are at hand. */
    private void addBehind(AuditPosition from, List<Change> changes) throws InterruptedException {
        Page page = tail.after(reached, watch.taskId());
        add(page.moves(), changes);
        reached = page.isLast() ? page.next().with(from) : page.next();
        reads = Newest.NO_READ; // the changes at hand may be others than those after the page
        count = 0;
        hasGap |= page.hasGap();
    }

    /**
     * Adds the place up to which the caller has all changes, if it was not told for long and after many changes that it does not see: it
     * would else resume after the last one that it saw, and all changes since then would be read for nothing.
     */
    private void addPosition(List<Change> changes, boolean isDue) {
        if (!reached.equals(shown) && (isDue || reached.since(shown) >= MOST_UNSEEN)) {
            shown = reached;
            changes.add(Change.position(reached.toString(), clock.instant()));
        }
    }

    private void add(List<Move> moves, List<Change> changes) {
        for (Move move : moves) {
            if (reached.includes(move.change().number())) {
                continue; // it came from the source
            }
            reached = reached.with(move.place());
            if (fits(move.change()) && sees(move.scope(), move.change().agent())) {
                shown = reached;
                changes.add(shown(move.change()).before(reached.toString()));
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
