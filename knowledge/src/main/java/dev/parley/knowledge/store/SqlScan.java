package dev.parley.knowledge.store;

import dev.parley.knowledge.model.View;
import dev.parley.knowledge.store.SqlConditions.Where;
import dev.parley.store.database.DatabaseSession;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads rows of statements in the order of an index: those that are seen. The others are counted. */
final class SqlScan {
    /** Rows that are read before the next look at the limits. */
    static final int CHUNK = 1_000;

    private static final String COLUMNS =
            "x.s, x.p, x.o, x.g, x.certainty, x.confirmed_ms, x.provenance, x.change_no, x.source";

    /** In which order an index has the rows. */
    enum Order {
        BY_SUBJECT("x.s, x.p, x.o, x.g"),
        BY_OBJECT("x.o, x.p, x.s, x.g"),
        BY_PREDICATE("x.p, x.o, x.s, x.g");

        private final String columns;

        Order(String columns) {
            this.columns = columns;
        }

        long[] key(Row row) {
            return switch (this) {
                case BY_SUBJECT -> new long[] {row.s, row.p, row.o, row.g};
                case BY_OBJECT -> new long[] {row.o, row.p, row.s, row.g};
                case BY_PREDICATE -> new long[] {row.p, row.o, row.s, row.g};
            };
        }

        /** The columns after the first. */
        String rest() {
            return columns.substring(columns.indexOf(',') + 2);
        }
    }

    /** A statement in the numbers of its terms. */
    record Row(
            long s,
            long p,
            long o,
            long g,
            @Nullable Double certainty,
            long confirmedMs,
            long provenance,
            long change,
            long source) {}

    private final DatabaseSession session;
    private final GroupCache space;
    private final SqlConditions conditions;
    private long hiddenByCertainty;
    private long hiddenByAge;

    SqlScan(DatabaseSession session, GroupCache space, SqlConditions conditions) {
        this.session = session;
        this.space = space;
        this.conditions = conditions;
    }

    /**
     * Reads rows that are seen, from after {@code after} on, and counts the others.
     *
     * @return {@code limit} or more if there are so many
     */
    List<Row> read(Where where, Order order, long @Nullable [] after, int limit) throws SQLException {
        var seen = new ArrayList<Row>();
        long[] from = after;
        boolean more = true;
        int size = Math.min(CHUNK, limit);
        while (more && seen.size() < limit) {
            Row last = chunk(where, order, from, size, seen);
            size = CHUNK; // much is hidden: in steps as small as the page it would take for ever
            more = last != null;
            from = last == null ? from : order.key(last);
        }
        return seen;
    }

    /** Reads {@code size} rows, and returns the last one that was read, seen or not; null if there are no more after. */
    @Nullable
    Row chunk(Where where, Order order, long @Nullable [] after, int size, List<Row> seen) throws SQLException {
        var values = new ArrayList<@Nullable Object>();
        String reason = conditions.reason("x", values);
        values.add(space.number());
        values.addAll(where.values);
        String rest = "";
        if (after != null) {
            rest = " AND (" + order.columns + ") > (?, ?, ?, ?)";
            for (long part : after) {
                values.add(part);
            }
        }
        values.add(size);
        PreparedStatement select = session.bind(
                "SELECT " + COLUMNS + ", " + reason + " FROM kg_statement x WHERE " + where.text + rest + " ORDER BY "
                        + order.columns + " LIMIT ?",
                values.toArray());
        Row last = null;
        int read = 0;
        try (ResultSet rows = select.executeQuery()) {
            while (rows.next()) {
                read++;
                last = row(rows);
                if (count(rows.getInt(10))) {
                    seen.add(last);
                }
            }
        }
        return read < size ? null : last;
    }

    /** Reads a row whose columns are those of a scan, in their order. */
    static Row row(ResultSet rows) throws SQLException {
        double number = rows.getDouble(5);
        Double certainty = rows.wasNull() ? null : (Double) number;
        return new Row(
                rows.getLong(1),
                rows.getLong(2),
                rows.getLong(3),
                rows.getLong(4),
                certainty,
                rows.getLong(6),
                rows.getLong(7),
                rows.getLong(8),
                rows.getLong(9));
    }

    /** Counts a hidden statement; true if it is visible. Those that the policy hides are not counted, so that the count reveals nothing. */
    private boolean count(int reason) {
        hiddenByCertainty += reason == SqlConditions.TOO_UNCERTAIN ? 1 : 0;
        hiddenByAge += reason == SqlConditions.TOO_OLD ? 1 : 0;
        return reason == SqlConditions.SEEN;
    }

    /** Number of rows that were left out so far. */
    View.Hidden hidden() {
        return new View.Hidden(hiddenByCertainty, hiddenByAge, 0);
    }
}
