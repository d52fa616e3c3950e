package dev.parley.knowledge.sparql;

import dev.parley.knowledge.store.SqlStatementStore;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.support.FairPool;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Remaining time and memory of one SPARQL request; rows stand for memory. For one thread.
 *
 * <p>Jena's own time limit would need a timer, and looks at it between rows only: one regular expression can take years.
 */
final class SparqlBudget {
    /** Half of the heap, divided by how many queries there are at a time, so that none takes from another. */
    private static final long MEMORY = Runtime.getRuntime().maxMemory() / 2 / SqlStatementStore.AT_ONCE;

    /** Limit of rows, which sorting and joining may have to hold at once; a row takes about 100 bytes. */
    private static final long MAX_ROWS = Math.min(3_000_000, MEMORY / 100);

    /** Largest number of characters that are read, or made by functions, in all texts; each takes up to 2 bytes. */
    private static final long MAX_TEXT = Math.min(128 << 20, MEMORY / 2);

    /** Number of steps between two looks at the clock. */
    private static final int STRIDE = 1_024;

    private final ErrorKind error;
    private final long deadline;
    private int rows;
    private int steps;
    private long characters;
    private @Nullable A2AException refusal;

    SparqlBudget(ErrorKind error, Duration patience) {
        this.error = error;
        this.deadline = System.nanoTime() + patience.toNanos();
    }

    /** Uses up one row. */
    void row() {
        requireKept();
        if (++rows > MAX_ROWS) {
            throw refusal("too-much", "it goes through more than " + MAX_ROWS + " rows");
        }
        step();
    }

    /** Takes a step that costs time only. */
    void step() {
        if (++steps % STRIDE == 0) {
            checkTime();
        }
    }

    void checkTime() {
        boolean wanted = FairPool.checkpoint() && !Thread.currentThread().isInterrupted();
        if (!wanted || System.nanoTime() - deadline > 0) {
            throw refusal("timeout", "it takes too long");
        }
    }

    /** Uses up a text of some length. */
    void text(long length) {
        characters += length;
        if (characters > MAX_TEXT) {
            throw refusal("too-much", "it reads or makes more than " + MAX_TEXT + " characters of text");
        }
    }

    A2AException refusal(String reason, String detail) {
        A2AException said = A2AException.of(error, error.defaultMessage(), Map.of("reason", reason, "detail", detail));
        refusal = said;
        return said;
    }

    /**
     * Jena takes whatever a filter throws for "no".
     *
     * @throws A2AException if it was thrown before
     */
    void requireKept() {
        if (refusal != null) {
            throw refusal;
        }
    }
}
