package dev.parley.activity.hub;

import dev.parley.activity.ActivityOperation.Change;
import dev.parley.activity.ActivityOperation.WatchChanges;
import dev.parley.activity.hub.Moves.Move;
import dev.parley.activity.hub.Moves.Page;
import dev.parley.activity.hub.Tail.News;
import dev.parley.activity.hub.Tail.Note;
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
 * Changes for one caller. Those behind its number come from the {@link Tail}, or from the source itself if it is far behind, so that a slow
 * reader misses none.
 */
final class Watcher implements Feed<Change> {
    private static final int ROWS_AT_ONCE = 500;

    /** Time for which a decision about a caller and an agent stays. */
    private static final long DECISIONS = Duration.ofSeconds(1).toNanos();

    private static final int MOST_DECISIONS = 1_000;

    private record Seen(Scope scope, String agent) {}

    private final Moves source;
    private final Tail tail;
    private final Sight sight;
    private final WatchChanges watch;
    private final InstantSource clock;
    private final Runnable end;
    private final Map<Seen, Boolean> seen = new LruMap<>(MOST_DECISIONS);
    private final String position;
    private long decidedAt = System.nanoTime();
    private long number;
    private long place;
    private boolean hasGap;
    private volatile boolean isClosed;

    /**
     * @param number of the last change that the caller has
     * @param end called when this is closed, once
     */
    Watcher(Moves source, Tail tail, Sight sight, WatchChanges watch, long number, InstantSource clock, Runnable end) {
        this.source = source;
        this.tail = tail;
        this.sight = sight;
        this.watch = watch;
        this.number = number;
        this.position = Long.toString(number);
        this.place = tail.place();
        this.clock = clock;
        this.end = end;
    }

    /** Begins with the news that changes are missing. */
    Watcher behindGap() {
        hasGap = true;
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
            News news = tail.await(() -> isClosed, number, place, hasGap ? 0 : end - System.nanoTime());
            if (news == null) {
                return null;
            }
            var changes = new ArrayList<Change>();
            List<Move> moves = news.moves();
            if (moves == null) {
                moves = behind();
            } else {
                number = news.number();
                hasGap |= news.hasGap();
                place = news.place();
            }
            if (hasGap) {
                hasGap = false;
                changes.add(Change.gap(clock.instant()));
            }
            add(moves, changes);
            news.notes().forEach(note -> add(note, changes));
            if (!changes.isEmpty() || end - System.nanoTime() <= 0) {
                return changes;
            }
        }
    }

    /** Changes from the source, up to the place where the tail begins. */
    private List<Move> behind() {
        long known = tail.from();
        Page page = source.behind(sight.group(), number, ROWS_AT_ONCE);
        number = page.isLast() ? Math.max(known, page.next()) : page.next();
        hasGap |= page.hasGap();
        return page.moves();
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
        boolean isVisible = change.kind().equals(Change.AGENT)
                ? sight.knows(String.valueOf(change.agent()))
                : sees(note.move().scope(), change.agent());
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
            seen.clear();
            decidedAt = System.nanoTime();
        }
        return seen.computeIfAbsent(new Seen(scope, agent), any -> sight.sees(scope, agent));
    }

    @Override
    public void close() {
        isClosed = true;
        tail.wake();
        end.run();
    }
}
