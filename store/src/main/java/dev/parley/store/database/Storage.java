package dev.parley.store.database;

import dev.parley.engine.spi.Space;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.LruMap;
import dev.parley.store.database.PostgresqlBatch.Check;
import dev.parley.store.database.PostgresqlBatch.Piece;
import dev.parley.store.database.Storage.HotSums.Addition;
import dev.parley.store.database.Storage.HotSums.Column;
import dev.parley.store.shared.Feeds;
import dev.parley.store.spi.Quotas;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Bytes that each group keeps in a database, by kind of data, and the space that its quota leaves.
 *
 * <p>The table {@code stored} has the sums. A transaction that writes or removes data of a group changes its sum, too, so that both are
 * on disk or neither. The sums in memory are those of the table as of the last commit.
 *
 * <p>Counted are the contents as they are stored, and a constant for each row with its keys and its entries of indexes: an approximation
 * of the space on disk that is the same on both systems, and exact in that everything removed is subtracted. Safe for any thread.
 */
public final class Storage implements GroupListener {
    /** Kinds of data. */
    public enum Kind {
        TASKS,
        WEBHOOKS,
        /** Statements of graphs, with reviews, settings and answers to updates. */
        KNOWLEDGE,
        /** Changes of graphs. */
        CHANGES(true),
        /** Entries of the registry with their versions, changes and reviews. */
        REGISTRY,
        /** Deleted entries of the registry that can be restored. */
        DELETED(true),
        /** Definitions of workflows. */
        DEFINITIONS,
        /** Memories of conversations with agents. */
        MEMORIES;

        /** True for records that are removed early in place of a refusal. They take a share of the limit besides it. */
        private final boolean isAside;

        Kind() {
            this(false);
        }

        Kind(boolean isAside) {
            this.isAside = isAside;
        }

        /** Its name in the table, and for operators. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        static @Nullable Kind of(String word) {
            return Arrays.stream(values())
                    .filter(kind -> kind.word().equals(word))
                    .findFirst()
                    .orElse(null);
        }
    }

    /** Bytes for a row with its keys, beside its content. */
    public static final int ROW = 200;

    private record Key(String group, Kind kind) {
        static final Comparator<Key> ORDER = Comparator.comparing(Key::group).thenComparing(Key::kind);
    }

    /** Without limits the sums are read again after so many seconds. */
    private static final int UNLIMITED_LOOKS = 10;

    /** The records of a kind that are removed early take at most one of so many parts of the limit. */
    private static final int ASIDE = 4;

    /** Bytes of a group by kind of data, and its limit; null for none. */
    public record Usage(Map<Kind, Long> bytes, @Nullable Long limit) {
        /** Bytes that the limit is for: of all kinds but those that are removed early. */
        public long sum() {
            return bytes.entrySet().stream()
                    .filter(kind -> !kind.getKey().isAside)
                    .mapToLong(Map.Entry::getValue)
                    .sum();
        }
    }

    private final DatabaseSystem system;
    private final Map<Key, AtomicLong> stored = new ConcurrentHashMap<>();
    private final Map<String, GroupSpace> spaces = new ConcurrentHashMap<>();
    /** Changes by the current transaction, in the order in which rows are locked; for the writer thread only. */
    private final Map<Key, Long> changes = new TreeMap<>(Key.ORDER);

    /** The table, where it is one of PostgreSQL; for the writer thread only. */
    private @Nullable HotSums sums;

    private volatile Quotas quotas = Quotas.NONE;

    Storage(DatabaseSystem system) {
        this.system = system;
    }

    /** Sets the limits. To be called before spaces are used. */
    public void limit(Quotas quotas) {
        this.quotas = quotas;
    }

    /** The space of a group. */
    public Space space(String group) {
        Long limit = quotas.of(group);
        return limit == null ? Space.UNLIMITED : spaces.computeIfAbsent(group, name -> new GroupSpace(name, limit));
    }

    /** Counts bytes of a group that the current transaction adds, or removes if they are negative. On the writer thread. */
    public void add(String group, Kind kind, long bytes) {
        if (bytes != 0) {
            changes.merge(new Key(group, kind), bytes, Long::sum);
        }
    }

    /**
     * Refuses bytes that a transaction is going to add. On the writer thread, before the first write of a work, so that other works of the
     * transaction are not undone.
     *
     * @throws A2AException QUOTA_EXCEEDED if they do not fit
     */
    public void require(String group, long bytes) {
        Long limit = quotas.of(group);
        if (limit == null || bytes <= 0) {
            return;
        }
        GroupSpace space = spaces.get(group);
        long used = used(group) + (space == null ? 0 : space.reserved.get());
        for (var change : changes.entrySet()) {
            boolean counts = change.getKey().group.equals(group) && !change.getKey().kind.isAside;
            used += counts ? change.getValue() : 0;
        }
        if (used + bytes > limit) {
            throw full(group, used, limit, bytes);
        }
    }

    private static A2AException full(String group, long used, long limit, long bytes) {
        return A2AException.of(
                A2AError.QUOTA_EXCEEDED,
                "The data of group \"" + group + "\" take " + used + " of " + limit + " bytes, and " + bytes
                        + " more do not fit (expected: data of the group erased or ended tasks removed by --retention, or a"
                        + " larger --group-quota)",
                Map.of(
                        "group", group,
                        "usedBytes", Long.toString(used),
                        "limitBytes", Long.toString(limit)));
    }

    /** Bytes of all groups that keep some or have a limit of their own, by their names. */
    public Map<String, Usage> usage() {
        var groups = new TreeMap<String, Map<Kind, Long>>();
        quotas.groups().keySet().forEach(group -> groups.put(group, new EnumMap<>(Kind.class)));
        stored.forEach((key, bytes) -> {
            if (bytes.get() != 0) {
                groups.computeIfAbsent(key.group, any -> new EnumMap<>(Kind.class))
                        .put(key.kind, bytes.get());
            }
        });
        var usage = new TreeMap<String, Usage>();
        groups.forEach((group, bytes) -> usage.put(group, new Usage(bytes, quotas.of(group))));
        return usage;
    }

    private long used(String group) {
        long sum = 0;
        for (Kind kind : Kind.values()) {
            sum += kind.isAside ? 0 : used(group, kind);
        }
        return sum;
    }

    private long used(String group, Kind kind) {
        AtomicLong bytes = stored.get(new Key(group, kind));
        return bytes == null ? 0 : bytes.get();
    }

    /** Whether records of a kind that are removed early take more than their share of the limit of their group. */
    public boolean isOver(String group, Kind kind) {
        Long limit = quotas.of(group);
        return limit != null && used(group, kind) > limit / ASIDE;
    }

    /** Has the sums read again now and then, as other hubs add to them: up to that their bytes exceed a limit. */
    public void follow(Feeds feeds, SlicedWrites database) {
        var looks = new AtomicInteger();
        feeds.follow("stored bytes", () -> {
            boolean isDue = !quotas.equals(Quotas.NONE) || looks.getAndIncrement() % UNLIMITED_LOOKS == 0;
            if (isDue && database.read(session -> !sums(session).equals(known()))) {
                database.write(1, session -> {
                    read(session);
                    return this;
                });
            }
        });
    }

    // ---- On the writer thread

    private HotSums sums(PostgresqlSystem postgresql) {
        HotSums known = sums;
        if (known == null) {
            known = new HotSums(
                    postgresql,
                    "stored",
                    List.of(new Column("group_id", "text"), new Column("kind", "text")),
                    new Column("bytes", "bigint"));
            sums = known;
        }
        return known;
    }

    @Override
    public void beforeCommit(DatabaseSession session) throws SQLException {
        if (changes.isEmpty()) {
            return;
        }
        if (system instanceof PostgresqlSystem postgresql) {
            sums(postgresql)
                    .add(
                            session,
                            changes.entrySet().stream()
                                    .map(change -> new Addition(
                                            List.of(
                                                    change.getKey().group,
                                                    change.getKey().kind.word()),
                                            change.getValue()))
                                    .toList());
            return;
        }
        for (var change : changes.entrySet()) {
            session.update(
                    "INSERT INTO stored (group_id, kind, bytes) VALUES (?, ?, ?)"
                            + " ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes",
                    change.getKey().group,
                    change.getKey().kind.word(),
                    change.getValue());
        }
    }

    @Override
    public void committed(int works) {
        if (!changes.isEmpty()) {
            changes.forEach((key, bytes) ->
                    stored.computeIfAbsent(key, any -> new AtomicLong()).addAndGet(bytes));
            changes.clear();
        }
    }

    @Override
    public void rolledBack() {
        changes.clear();
    }

    @Override
    public void reopened(DatabaseSession session) throws SQLException {
        changes.clear();
        read(session);
    }

    /** Reads the sums as of the last commit. On the writer thread. */
    void read(DatabaseSession session) throws SQLException {
        Map<Key, Long> read = sums(session);
        stored.keySet().retainAll(read.keySet());
        read.forEach((key, bytes) ->
                stored.computeIfAbsent(key, any -> new AtomicLong()).set(bytes));
    }

    private static Map<Key, Long> sums(DatabaseSession session) throws SQLException {
        var read = new HashMap<Key, Long>();
        session.list(
                        row -> new Object[] {DatabaseSession.text(row, 1), DatabaseSession.text(row, 2), row.getLong(3)
                        },
                        "SELECT group_id, kind, sum(bytes) FROM stored GROUP BY group_id, kind")
                .forEach(row -> {
                    Kind kind = Kind.of((String) row[1]);
                    if (kind != null) { // else one of a newer version
                        read.put(new Key((String) row[0], kind), (Long) row[2]);
                    }
                });
        return read;
    }

    private Map<Key, Long> known() {
        return stored.entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, entry -> entry.getValue().get()));
    }

    /** Space of a group with a limit. */
    private final class GroupSpace implements Space {
        private final String group;
        private final long limit;
        private final AtomicLong reserved = new AtomicLong();

        GroupSpace(String group, long limit) {
            this.group = group;
            this.limit = limit;
        }

        @Override
        public boolean isLimited() {
            return true;
        }

        @Override
        public void take(long bytes) {
            // Bytes that are committed meanwhile count twice for a moment: a write that would just fit may be refused,
            // but a write that exceeds the limit is never accepted.
            long others = reserved.getAndAdd(bytes);
            long used = used(group) + others;
            if (used + bytes > limit) {
                reserved.addAndGet(-bytes);
                throw full(group, used, limit, bytes);
            }
        }

        @Override
        public void force(long bytes) {
            reserved.addAndGet(bytes);
        }

        @Override
        public void giveBack(long bytes) {
            reserved.addAndGet(-bytes);
        }
    }

    /**
     * A table of sums in PostgreSQL to which each transaction may add. The server keeps a version of a row for each update as long as any
     * snapshot is open, such as that of a backup, and a statement looks through them all. So a sum is the sum over its slots, which are
     * part of the key: a row that was updated {@value #UPDATES} times moves to a new slot without the versions. Slots belong to a
     * stream; those of streams that have ended are added up when the next one starts. For the writer's thread.
     */
    public static final class HotSums {
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
                    + " AND " + table + ".hub_slot = u.was RETURNING " + each(name -> "u." + name) + ", u.next, "
                    + table
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
                                                    moves.stream()
                                                            .map(Move::key)
                                                            .toList());
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
}
