package dev.parley.store.database;

import dev.parley.protocol.support.LruMap;
import dev.parley.store.database.PostgresqlBatch.Check;
import dev.parley.store.database.PostgresqlBatch.Piece;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * A table of sums in PostgreSQL to which each transaction may add. The server keeps a version of a row for each update as long as any
 * snapshot is open, such as that of a backup, and a statement looks through them all. So a sum is the sum over its slots, which are
 * part of the key: a row that was updated {@value #UPDATES} times moves to a new slot without the versions. Slots belong to a
 * stream; those of streams that have ended are added up when the next one starts. For the writer's thread.
 */
public final class HotSums {
    /** A column, and its type as an element of an array. */
    public record Column(String name, String type) {}

    /** Value to be added to the sum of a key. */
    public record Addition(List<Object> key, long value) {}

    /** Updates of a row before it moves; a statement looks through as many versions at most, which takes some 30 µs. */
    private static final int UPDATES = 1_000;

    /** Rows whose updates are counted; one that is forgotten begins a new slot. */
    private static final int ROWS = 10_000;

    /** A stream has as many slots as this many bits number. */
    private static final int SLOT_BITS = 20;

    private static final class Row {
        private long slot;
        private int updates;
    }

    private record Move(List<Object> key, long from, long to) {}

    private final PostgresqlSystem system;
    private final List<Column> keys;
    private final Column value;
    private final Map<List<Object>, Row> rows = new LruMap<>(ROWS);
    private final String add;
    private final String move;
    private long slots;

    /** @param table has the columns of the key, {@code hub_slot} and the value, the first ones as its primary key */
    public HotSums(PostgresqlSystem system, String table, List<Column> keys, Column value) {
        this.system = system;
        this.keys = keys;
        this.value = value;
        String columns = keys.stream().map(Column::name).collect(Collectors.joining(", "));
        this.add = "INSERT INTO " + table + " (" + columns + ", hub_slot, " + value.name + ") SELECT * FROM unnest("
                + arrays(keys) + ", ?::bigint[], ?::" + value.type + "[]) AS u ON CONFLICT (" + columns
                + ", hub_slot) DO UPDATE SET " + value.name + " = " + table + "." + value.name + " + excluded."
                + value.name;
        this.move = "WITH gone AS (DELETE FROM " + table + " USING unnest(" + arrays(keys)
                + ", ?::bigint[], ?::bigint[]) AS u(" + columns + ", was, next) WHERE "
                + keys.stream()
                        .map(key -> table + "." + key.name + " = u." + key.name)
                        .collect(Collectors.joining(" AND "))
                + " AND " + table + ".hub_slot = u.was RETURNING " + each(name -> "u." + name) + ", u.next, " + table
                + "."
                + value.name + ") INSERT INTO " + table + " (" + columns + ", hub_slot, " + value.name
                + ") SELECT * FROM gone";
    }

    private static String arrays(List<Column> columns) {
        return columns.stream().map(column -> "?::" + column.type + "[]").collect(Collectors.joining(", "));
    }

    private String each(UnaryOperator<String> form) {
        return keys.stream().map(Column::name).map(form).collect(Collectors.joining(", "));
    }

    /** Adds to sums by the transaction in the making, with its batch. {@code additions} are in the order in which rows are locked. */
    public void add(DatabaseSession session, List<Addition> additions) {
        var moves = new ArrayList<Move>();
        var slot = new ArrayList<Long>(additions.size());
        for (Addition addition : additions) {
            Row row = rows.computeIfAbsent(addition.key, any -> new Row());
            if (row.slot >> SLOT_BITS != system.stream()) {
                row.slot = nextSlot();
                row.updates = 0;
            } else if (++row.updates >= UPDATES) {
                moves.add(new Move(addition.key, row.slot, nextSlot()));
                row.slot = moves.getLast().to;
                row.updates = 0;
            }
            slot.add(row.slot);
        }
        if (!moves.isEmpty()) {
            system.batch()
                    .later(
                            session,
                            new Piece(
                                    move,
                                    parameters -> {
                                        addKeys(
                                                parameters,
                                                moves.stream().map(Move::key).toList());
                                        parameters.add("bigint", moves, Move::from);
                                        parameters.add("bigint", moves, Move::to);
                                    },
                                    Check.NONE));
        }
        system.batch()
                .later(
                        session,
                        new Piece(
                                add,
                                parameters -> {
                                    addKeys(
                                            parameters,
                                            additions.stream()
                                                    .map(Addition::key)
                                                    .toList());
                                    parameters.add("bigint", slot, number -> number);
                                    parameters.add(value.type, additions, Addition::value);
                                },
                                Check.NONE));
    }

    private void addKeys(PostgresqlBatch.Parameters parameters, List<List<Object>> rows) throws SQLException {
        for (int i = 0; i < keys.size(); i++) {
            int column = i;
            parameters.add(keys.get(i).type, rows, key -> key.get(column));
        }
    }

    private long nextSlot() {
        return system.stream() << SLOT_BITS | slots++ & (1L << SLOT_BITS) - 1;
    }

    /** Returns a statement that adds the slots of streams that have ended to slot 0. */
    static String folding(String table, String keys, String value) {
        return "WITH gone AS (DELETE FROM " + table + " WHERE hub_slot <> 0 AND hub_slot >> " + SLOT_BITS
                + " NOT IN (SELECT stream_no FROM stream) RETURNING *) INSERT INTO " + table + " (" + keys
                + ", hub_slot, " + value + ") SELECT " + keys + ", 0, sum(" + value + ") FROM gone GROUP BY " + keys
                + " ON CONFLICT (" + keys + ", hub_slot) DO UPDATE SET " + value + " = " + table + "." + value
                + " + excluded." + value;
    }
}
