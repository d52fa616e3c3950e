package dev.parley.bench;

import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.Segment;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.TaskState;
import dev.parley.store.Store;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.store.spi.Registration;
import dev.parley.store.spi.Registration.Sharing;
import dev.parley.testkit.SegmentWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Measures what tasks take in PostgreSQL, by the store of a hub that shares the database, and extrapolates that.
 *
 * <p>Arguments: the URL of an empty database with the extension {@code pageinspect}, an empty data directory, and numbers of tasks, in
 * ascending order. A further measurement has three times the last one, and is compared with its prediction from the others.
 */
public final class StoreSize implements AutoCloseable {
    private static final Scope SCOPE = CallContext.anonymous().scope();
    private static final int SAMPLES = 500;
    private static final int TAKEN_OVER = 10_000;
    private static final int TAKEN_OVER_AT_ONCE = 100;
    private static final int REMOVED = 5_000;
    private static final int REMOVED_AT_ONCE = 500;
    private static final Duration LONGEST_END = Duration.ofSeconds(30);
    private static final double MEGA = 1e6;

    private final String url;
    private final Path directory;
    private final Store store;
    private final Connection connection;
    private final Random random = new Random(7);
    private final List<TaskKey> keys = new ArrayList<>();
    private final SizeTable table = new SizeTable();

    private StoreSize(String url, Path directory) throws SQLException {
        this.url = url;
        this.directory = directory;
        this.store = open("filled");
        URI address = URI.create(url);
        this.connection = DriverManager.getConnection(
                "jdbc:postgresql://" + address.getAuthority().replaceFirst(".*@", "") + address.getPath() + "?user="
                        + address.getUserInfo());
    }

    public static void main(String[] arguments) throws Exception {
        int[] sizes =
                Arrays.stream(arguments).skip(2).mapToInt(Integer::parseInt).toArray();
        try (var measured = new StoreSize(arguments[0], Files.createDirectories(Path.of(arguments[1])))) {
            measured.warmUp();
            for (int size : sizes) {
                measured.measure(size);
            }
            measured.measure(3 * sizes[sizes.length - 1]);
            System.out.print(measured.table.markdown());
        }
    }

    /** Opens the database for a hub that shares it. */
    private Store open(String name) {
        var registration = new Registration("1", () -> List.of("echo"), Sharing.AT_ONCE, 0, hub -> {});
        return Store.in(
                Store.database(directory.resolve(name), url, any -> any, registration),
                InstantSource.system(),
                EncryptionAtRest.PLAIN);
    }

    /** Has the compilers see the statements first. */
    private void warmUp() throws Exception {
        fill(10_000);
        send();
        read();
    }

    private void measure(int tasks) throws Exception {
        long present = number("SELECT count(*) FROM task");
        int added = Math.toIntExact(tasks - present);
        System.err.printf("%s: %,d tasks%n", Instant.now(), tasks);
        once("CHECKPOINT");
        String before = text("SELECT pg_current_wal_lsn()");
        long begun = System.nanoTime();
        fill(added);
        double seconds = (System.nanoTime() - begun) / 1e9;
        System.err.printf("%,d tasks: %,d added, %,.0f a second%n", tasks, added, added / seconds);
        table.begin(tasks);
        table.constant(
                "WAL of a new task, bytes",
                number("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '" + before + "')") / (double) added);
        table.linear("vacuum after that, s", seconds(() -> once("VACUUM (ANALYZE) task, message")));
        sizes();
        heights();
        table.logarithmic("write of a task, median, ms", send());
        table.logarithmic("read of a task, median, ms", read());
        table.logarithmic("takeover of 10,000 tasks, s", takeOver());
        table.logarithmic("removal of 1,000 ended tasks, s", removal());
    }

    private void fill(int tasks) throws InterruptedException {
        int distance = Math.max(1, tasks / SAMPLES);
        FillStore.fill(store, SCOPE, tasks, segment -> {
            if (random.nextInt(distance) == 0) {
                keys.add(segment.head().key());
            }
        });
    }

    /** Tables with partitions are one. */
    private void sizes() throws SQLException {
        double all = 0;
        try (Statement statement = connection.createStatement();
                ResultSet row =
                        statement.executeQuery("SELECT regexp_replace(relname, '_([0-9]+|default|other)$', '') AS name,"
                                + " sum(pg_table_size(oid)), sum(pg_indexes_size(oid)) FROM pg_class WHERE relkind = 'r'"
                                + " AND relnamespace = current_schema()::regnamespace GROUP BY name"
                                + " HAVING sum(pg_total_relation_size(oid)) > 4000000 ORDER BY name")) {
            while (row.next()) {
                table.linear("`" + DatabaseSession.text(row, 1) + "`, MB", row.getLong(2) / MEGA);
                table.linear("`" + DatabaseSession.text(row, 1) + "`, its indexes, MB", row.getLong(3) / MEGA);
                all += (row.getLong(2) + row.getLong(3)) / MEGA;
            }
        }
        table.linear("these together, MB", all);
    }

    /** Levels above the leaves. */
    private void heights() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT index.relname, (bt_metap(index.relname)).level,"
                        + " pg_relation_size(index.oid) / 8192 FROM pg_class AS index JOIN pg_index ON indexrelid = index.oid"
                        + " WHERE indrelid = 'task'::regclass ORDER BY pg_relation_size(index.oid) DESC LIMIT 1")) {
            if (row.next()) {
                table.height(
                        "height of `" + DatabaseSession.text(row, 1) + "`, the largest index of `task`",
                        row.getInt(2),
                        row.getLong(3));
            }
        }
    }

    private double send() throws Exception {
        var times = new long[SAMPLES];
        for (int i = 0; i < SAMPLES; i++) {
            Segment segment = FillStore.segment(SCOPE, "context", Instant.now(), random);
            long begun = System.nanoTime();
            SegmentWriter.submit(store.log(), segment).join();
            times[i] = System.nanoTime() - begun;
        }
        return median(times);
    }

    private double read() {
        var times = new long[SAMPLES];
        for (int i = 0; i < SAMPLES; i++) {
            TaskKey key = keys.get(random.nextInt(keys.size()));
            long begun = System.nanoTime();
            store.log().find(key).ifPresent(head -> store.log().read(key, 0, 100));
            times[i] = System.nanoTime() - begun;
        }
        return median(times);
    }

    private static double median(long[] nanos) {
        Arrays.sort(nanos);
        return nanos[nanos.length / 2] / 1e6;
    }

    /** Takes over unfinished tasks of a hub that has ended, and removes them. */
    private double takeOver() throws Exception {
        try (Store ended = open("ended")) {
            var written = new ArrayList<CompletableFuture<Segment>>();
            for (int i = 0; i < TAKEN_OVER; i++) {
                Segment made = FillStore.segment(SCOPE, "context", Instant.now(), random);
                Head head = made.head();
                var unfinished = new Head(head.key(), head.contextId(), TaskState.WORKING, head.statusTime(), 1);
                written.add(SegmentWriter.submit(
                        ended.log(), new Segment(unfinished, made.events(), made.messages(), null, made.cause())));
            }
            CompletableFuture.allOf(written.toArray(CompletableFuture[]::new)).join();
        }
        awaitEnd();
        var taken = new ArrayList<TaskKey>();
        double seconds = seconds(() -> {
            while (taken.size() < TAKEN_OVER) {
                List<Head> some = store.log().takeOver(Set.of("echo"), TAKEN_OVER_AT_ONCE);
                if (some.isEmpty()) {
                    throw new IllegalStateException(
                            taken.size() + " tasks were taken over (expected: " + TAKEN_OVER + ")");
                }
                some.forEach(head -> taken.add(head.key()));
            }
        });
        store.log().erase(taken);
        return seconds;
    }

    /** Waits until the stream of a hub that was closed has ended, and answers of before are old. */
    private void awaitEnd() throws Exception {
        long begun = System.nanoTime();
        while (number("SELECT count(*) FROM stream") > 1) {
            if (System.nanoTime() - begun > LONGEST_END.toNanos()) {
                throw new IllegalStateException("the stream of a hub that was closed has not ended");
            }
            Thread.sleep(20);
        }
        store.database().access().poll().renew();
    }

    private double removal() throws Exception {
        Instant end = Instant.now();
        double seconds = seconds(() -> {
            int removed = 0;
            while (removed < REMOVED) {
                removed += store.log().removeEnded(end, REMOVED_AT_ONCE);
            }
        });
        return seconds * 1_000 / REMOVED;
    }

    /** Something to take the time of. */
    @FunctionalInterface
    private interface Step {
        void run() throws Exception;
    }

    private static double seconds(Step step) throws Exception {
        long begun = System.nanoTime();
        step.run();
        return (System.nanoTime() - begun) / 1e9;
    }

    private void once(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private String text(String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return DatabaseSession.text(row, 1);
        }
    }

    private long number(String sql) throws SQLException {
        return Long.parseLong(text(sql));
    }

    @Override
    public void close() throws SQLException {
        connection.close();
        store.close();
    }
}
