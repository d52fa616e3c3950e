package dev.parley.store.database;

import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Changes of many rows in transactions of a few milliseconds each, so that other writes of the database come between. */
public abstract class SlicedWrites {
    /** Time that the writer works on a part of a removal before it serves others. */
    public static final long SLICE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** Rows of {@link #writeInSlices} in one transaction, at most. */
    static final int ROWS_OF_SLICE = 200;

    SlicedWrites() {}

    abstract <T> T write(int rows, DatabaseRead<T> change);

    abstract <T> T erase(DatabaseRead<T> change);

    abstract <T> T read(DatabaseRead<T> question);

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
     * @throws StoreException if a transaction could not be written
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
