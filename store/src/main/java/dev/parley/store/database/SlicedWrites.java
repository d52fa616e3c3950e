package dev.parley.store.database;

import dev.parley.protocol.A2AException;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.OutageException;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Changes that may be refused, and changes of many rows in transactions of a few milliseconds each, between which others write. */
public abstract class SlicedWrites {
    /** Time that the writer works on a part of a removal before it serves others. */
    public static final long SLICE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** Rows of {@link #writeInSlices} in one transaction, at most. */
    static final int ROWS_OF_SLICE = 200;

    SlicedWrites() {}

    abstract <T> T write(int rows, DatabaseRead<T> change);

    abstract <T> T write(String group, DatabaseRead<T> change);

    abstract DatabaseKind kind();

    abstract Optional<String> outage();

    abstract <T> T erase(DatabaseRead<T> change);

    abstract <T> T read(DatabaseRead<T> question);

    /**
     * Waits until all that was read before is as durable as an acknowledged write. A row that a reader sees may be on one disk only: of a
     * transaction whose writer was cut off while it waited for a synchronous standby. A later commit of this program settles that, since
     * a standby gets transactions in their order. Returns at once where a commit is on disk before others see it.
     *
     * @throws dev.parley.store.spi.StoreException if the database cannot be written
     */
    public void confirm() {
        if (kind() == DatabaseKind.POSTGRESQL) {
            write(1, session -> session); // each transaction adds a row
        }
    }

    /**
     * Refuses to answer that a row is missing while the server may still commit a transaction whose connection was lost.
     *
     * @throws OutageException if the database cannot be written, and its server would go on without the writer
     */
    public void requireNoneInDoubt() {
        if (kind() == DatabaseKind.POSTGRESQL) {
            outage().ifPresent(problem -> {
                throw new OutageException(problem);
            });
        }
    }

    private record Admission<T>(
            @Nullable T result, @Nullable A2AException refusal) {}

    /**
     * {@link #write(String, Question)} of a change that may be refused. It is to be refused before its first write: other changes are in the
     * same transaction.
     *
     * @throws A2AException thrown by the change; nothing is written
     * @throws dev.parley.store.spi.StoreException if it could not be written
     */
    @SuppressWarnings("NullAway") // no refusal: the result is what the change returned
    public <T> T admit(String group, DatabaseRead<T> change) {
        Admission<T> admission = write(group, session -> {
            try {
                return new Admission<>(change.ask(session), null);
            } catch (A2AException refused) {
                return new Admission<>(null, refused);
            }
        });
        if (admission.refusal != null) {
            throw admission.refusal;
        }
        return admission.result;
    }

    /** A change of one row, or of a few. */
    @FunctionalInterface
    public interface RowChange<T> {
        /** Makes it, and returns how many rows have changed. On the writer thread. */
        int make(DatabaseSession session, T row) throws SQLException;
    }

    private record Part(int rows, int changed) {}

    /**
     * Changes or removes many rows in transactions of 5 ms of the writer each, so that other writes come between. A failure leaves the
     * rows of the transactions before it changed.
     *
     * @param rows found before, beside the writer: they may have changed since
     * @param erased whether the change is an {@linkplain #erase erasure}
     * @return how many rows have changed
     * @throws dev.parley.store.spi.StoreException if a transaction could not be written
     */
    public <T> int writeInSlices(List<T> rows, boolean erased, RowChange<T> change) {
        int changed = 0;
        for (int from = 0; from < rows.size(); ) {
            List<T> left = rows.subList(from, Math.min(rows.size(), from + ROWS_OF_SLICE));
            Part part = erased
                    ? erase(session -> writePart(session, left, change))
                    : write(left.size(), session -> writePart(session, left, change));
            from += part.rows;
            changed += part.changed;
        }
        return changed;
    }

    /** Reads the rows after one, in an order that stays the same. */
    @FunctionalInterface
    public interface RowsBehind<T> {
        List<T> read(DatabaseSession session, T last) throws SQLException;
    }

    /**
     * Changes or removes the rows that are read page by page beside the writer, until a page is empty.
     *
     * @param first a value before all rows
     * @param goesOn asked before each page; false ends it
     * @return how many rows have changed
     */
    public <T> int writeInSlices(
            T first, RowsBehind<T> pages, boolean erased, BooleanSupplier goesOn, RowChange<T> change) {
        int changed = 0;
        T last = first;
        while (goesOn.getAsBoolean()) {
            T behind = last;
            List<T> rows = read(session -> pages.read(session, behind));
            if (rows.isEmpty()) {
                break;
            }
            changed += writeInSlices(rows, erased, change);
            last = rows.getLast();
        }
        return changed;
    }

    /** Changes the first of these rows, as many as the time of a slice allows, and at least one. */
    private static <T> Part writePart(DatabaseSession session, List<T> left, RowChange<T> change) throws SQLException {
        long end = System.nanoTime() + SLICE_NANOS;
        int rows = 0;
        int changed = 0;
        do {
            changed += change.make(session, left.get(rows++));
        } while (rows < left.size() && System.nanoTime() - end < 0);
        return new Part(rows, changed);
    }
}
