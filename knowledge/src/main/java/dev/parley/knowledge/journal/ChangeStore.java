package dev.parley.knowledge.journal;

import dev.parley.knowledge.store.Sql;
import dev.parley.knowledge.store.Terms;
import dev.parley.store.database.Database;
import java.time.Duration;
import java.time.InstantSource;

/**
 * Records written with the statements, in the same transactions: the feed of changes, updates that wait for review, and
 * the answers to updates that may be repeated. Old entries are removed beside them.
 */
public final class ChangeStore {
    /**
     * Retention limits, enforced every few entries.
     *
     * @param changes number of changes kept per group, for subscribers that resume
     * @param changesFor longest time that changes are kept
     * @param queries number of logged queries kept, over all groups
     * @param answersFor time for which the answer to an update with an idempotency key is kept
     */
    public record Keeping(long changes, Duration changesFor, long queries, Duration answersFor, int sweepEvery) {
        public static final Keeping DEFAULTS =
                new Keeping(100_000, Duration.ofDays(7), 1_000_000, Duration.ofDays(1), 50_000);
    }

    private final Sweep sweep;
    private final Changes changes;
    private final Reviews reviews;
    private final UpdateAnswers answers;

    /** @param steadyClock decides which rows are old enough to be removed */
    public ChangeStore(Database database, Terms terms, Sql sql, Keeping keeping, InstantSource steadyClock) {
        this.sweep = new Sweep(database, keeping, steadyClock);
        this.changes = new Changes(terms, sql, sweep);
        this.reviews = new Reviews();
        this.answers = new UpdateAnswers(keeping.answersFor(), steadyClock);
    }

    public Changes changes() {
        return changes;
    }

    public Reviews reviews() {
        return reviews;
    }

    public UpdateAnswers answers() {
        return answers;
    }

    Sweep sweep() {
        return sweep;
    }

    /** Removes the rows of forgotten changes, after the rows that link tasks to them. */
    public void removeForgotten(long space, long last, boolean erased) {
        sweep.removeForgotten(space, last, erased);
    }

    /** Waits until the sweep that has begun, if one has, has ended. */
    public void awaitSweep() {
        sweep.await();
    }

    /** Ends a sweep after the rows that it has found; the next start goes on with it. */
    public void close() {
        sweep.close();
    }
}
