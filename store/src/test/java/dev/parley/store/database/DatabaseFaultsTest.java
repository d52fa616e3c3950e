package dev.parley.store.database;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.store.Faults;
import dev.parley.store.Faults.Fault;
import dev.parley.store.Faults.Side;
import dev.parley.store.Store;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.Filter;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.store.spi.OutageException;
import dev.parley.store.spi.ReadTimeoutException;
import dev.parley.store.spi.StoreException;
import dev.parley.store.spi.Wrapper;
import dev.parley.testkit.Eventually;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** A database whose disk fails for a while goes on afterwards, without a restart. */
@Timeout(120)
@Tag("heavy")
final class DatabaseFaultsTest {
    private static final List<String> TABLES = List.of("CREATE TABLE note (n BIGINT PRIMARY KEY, t TEXT NOT NULL)");

    @TempDir
    private Path directory;

    private final Faults faults = new Faults();
    /** Connections that were opened. */
    private final AtomicInteger openings = new AtomicInteger();

    @AfterEach
    void pass() {
        faults.pass();
    }

    private Database open(Wrapper wrapper) {
        Database database = Database.open(directory, wrapper);
        database.migrate("notes", TABLES);
        return database;
    }

    private static int insert(DatabaseSession session, long number) throws SQLException {
        return session.update("INSERT INTO note (n, t) VALUES (?, ?)", number, "x".repeat(5_000));
    }

    private static long notes(Database database) {
        return database.read(session -> {
            try (ResultSet row = session.bind("SELECT count(*) FROM note").executeQuery()) {
                return row.getLong(1);
            }
        });
    }

    /** Opens a database whose disk is full as {@code full} says, for connections that are opened from then on. */
    private Database openOnDisk(AtomicBoolean full) {
        // SQLite's own limit of pages: the very error, at the very places, of a disk that is full.
        return open(connection -> {
            openings.incrementAndGet();
            try (Statement statement = connection.createStatement()) {
                statement.execute("PRAGMA max_page_count=" + (full.get() ? 1 : 1_000_000));
            }
            return connection;
        });
    }

    /** Has the disk be full in the middle of a transaction. */
    private static void fill(Database database, AtomicBoolean full) {
        full.set(true);
        assertThatThrownBy(() -> database.write(session -> {
                    session.once("PRAGMA max_page_count=1");
                    insert(session, 2);
                    insert(session, 3);
                    return insert(session, 4);
                }))
                .isInstanceOf(OutageException.class);
    }

    @Test
    void aFullDiskEndsNoWritingForGood() throws Exception {
        var full = new AtomicBoolean();
        try (Database database = openOnDisk(full)) {
            database.write(session -> insert(session, 1));
            fill(database, full);
            full.set(false);

            Eventually.holds("the database takes a write", () -> isWritten(database, 5));

            assertThat(notes(database)).isEqualTo(2);
            assertThat(database.outage()).isEmpty();
        }
    }

    /** The disk has room for a page, for which an attempt to write may take it, and none for works. */
    @Test
    void anOutageForLackOfSpaceLastsAsLongAsWorksAreRefused() throws Exception {
        var full = new AtomicBoolean();
        try (Database database = openOnDisk(full)) {
            database.write(session -> insert(session, 1));
            fill(database, full);
            openings.set(0);
            Eventually.holds(
                    "several attempts of the writer",
                    () -> { // each with a connection of its own
                        assertThatThrownBy(() -> database.write(session -> insert(session, 2)))
                                .isInstanceOf(OutageException.class);
                        assertThat(database.outage())
                                .hasValueSatisfying(reason -> assertThat(reason)
                                        .contains("the disk of " + directory + " is full")
                                        .contains("SQLITE_FULL"));
                        return openings.get() > 4;
                    });
            full.set(false);

            Eventually.holds("the outage ends", () -> database.outage().isEmpty());
            database.write(session -> insert(session, 2));

            assertThat(notes(database)).isEqualTo(2);
            assertThat(database.<Long>read(
                            session -> session.number("SELECT count(*) FROM module_version WHERE module = 'space'")))
                    .isZero();
        }
    }

    /** As the checkpointer does, for longer than an attempt to write waits, on a slow disk. */
    @Test
    void aFullDiskIsTheReasonToOperatorsWhileAnotherConnectionHoldsTheLock() throws Exception {
        var full = new AtomicBoolean();
        var attempts = new Semaphore(0);
        try (Database database = open(connection -> {
            try (Statement statement = connection.createStatement()) {
                statement.execute("PRAGMA max_page_count=" + (full.get() ? 1 : 1_000_000));
            }
            if (Thread.currentThread().getName().equals("store-writer")) {
                attempts.release();
            }
            return connection;
        })) {
            database.write(session -> insert(session, 1));
            fill(database, full);
            try (Connection other = DriverManager.getConnection("jdbc:sqlite:" + directory.resolve(SqliteSystem.NAME));
                    Statement statement = other.createStatement()) {
                statement.execute("PRAGMA busy_timeout=30000");
                statement.execute("BEGIN IMMEDIATE");
                attempts.drainPermits();
                // Of two attempts that begin from now on, the first ends before the second, on the lock.
                assertThat(attempts.tryAcquire(2, 60, TimeUnit.SECONDS)).isTrue();

                assertThat(database.outage())
                        .hasValueSatisfying(reason -> assertThat(reason)
                                .contains("the disk of " + directory + " is full")
                                .contains("SQLITE_FULL"));

                statement.execute("ROLLBACK");
            }
            full.set(false);
            Eventually.holds("the outage ends", () -> database.outage().isEmpty());
            database.write(session -> insert(session, 2));
        }
    }

    @ParameterizedTest
    @EnumSource(
            mode = Mode.EXCLUDE,
            names = {"HANG", "CUT", "NO_SPACE"})
    void whateverCallFailsNothingIsHalfWrittenAndWritingGoesOn(Fault fault) throws Exception {
        try (Database database = open(faults::wrap)) {
            long number = 0;
            long expected = 0;
            for (int call = 1; call <= 12; call++) {
                faults.at(call, fault, Side.WRITES);
                long first = ++number;
                long second = ++number;
                boolean written = isWritten(database, first, second);
                faults.pass();
                expected += written ? 2 : 0;

                assertThat(notes(database)).as("after call " + call).isEqualTo(expected);
                long third = ++number;
                Eventually.holds("the database takes a write", () -> isWritten(database, third));
                expected++;
                assertThat(notes(database)).isEqualTo(expected);
            }
        }
    }

    private static boolean isWritten(Database database, long... numbers) {
        try {
            database.write(session -> {
                for (long number : numbers) {
                    insert(session, number);
                }
                return numbers.length;
            });
            return true;
        } catch (StoreException refused) {
            return false;
        }
    }

    @ParameterizedTest
    @EnumSource(
            mode = Mode.EXCLUDE,
            names = {"HANG", "CUT", "NO_SPACE"})
    void whileTheDiskFailsWritesAreRefusedAtOnceWithTheReason(Fault fault) throws Exception {
        try (Database database = open(faults::wrap)) {
            faults.from(1, fault, Side.WRITES);

            for (int i = 0; i < 100; i++) {
                long number = i;
                assertThatThrownBy(() -> database.write(session -> insert(session, number)))
                        .isInstanceOf(StoreException.class)
                        .hasRootCauseInstanceOf(SQLException.class);
            }
            assertThat(database.outage())
                    .hasValueSatisfying(reason ->
                            assertThat(reason).contains("cannot be written").contains("[SQLITE_" + fault));
            assertThat(notes(database)).as("reading goes on").isZero();
            faults.pass();
            Eventually.holds("the outage ends", () -> database.outage().isEmpty()); // although nobody writes

            database.write(session -> insert(session, 7));
            assertThat(notes(database)).isOne();
        }
    }

    @ParameterizedTest
    @EnumSource(
            mode = Mode.EXCLUDE,
            names = {"HANG", "CUT", "NO_SPACE"})
    void aDiskThatFailsWhileNobodyWritesIsFoundByATest(Fault fault) {
        try (Database database = open(faults::wrap)) {
            faults.from(1, fault, Side.WRITES);

            assertThat(failedTest(database)).contains("cannot be written").contains("[SQLITE_" + fault);
            faults.pass();
            Eventually.holds("the outage ends", () -> database.outage().isEmpty()); // although nobody writes

            assertThat(database.testWriting()).isEmpty();
        }
    }

    /** Tests until the last write is so long ago that a test writes, and fails. */
    private static String failedTest(Database database) {
        return Eventually.value("a test that fails", database::testWriting, Optional::isPresent)
                .orElseThrow();
    }

    /** Counts the works that are on disk. */
    private static AtomicInteger works(Database database) {
        var written = new AtomicInteger();
        database.listen(new GroupListener() {
            @Override
            public void committed(int works) {
                written.addAndGet(works);
            }
        });
        return written;
    }

    @Test
    void allTestsOfAWriterThatHangsShareOneWriteAndEndSoon() throws Exception {
        try (Database database = open(faults::wrap)) {
            AtomicInteger written = works(database);
            int before = written.get();
            faults.from(1, Fault.HANG, Side.WRITES);

            var tests = IntStream.range(0, 50)
                    .mapToObj(i -> {
                        var failed = new CompletableFuture<String>();
                        Thread.startVirtualThread(() -> failed.complete(failedTest(database)));
                        return failed;
                    })
                    .toList();

            for (CompletableFuture<String> test : tests) {
                assertThat(test.get(60, TimeUnit.SECONDS)).isEqualTo("the database did not answer within 2 s");
            }
            faults.pass();
            Eventually.holds("a test that writes", () -> database.testWriting().isEmpty());
            assertThat(written.get() - before).isOne();
        }
    }

    @Test
    void aTestReachesTheDiskAndWritesOnceASecond() throws Exception {
        try (Database database = open(faults::wrap)) {
            AtomicInteger written = works(database);
            int before = written.get();
            Path log = directory.resolve("parley.db-wal");
            byte[] logBefore = Files.readAllBytes(log);
            long begun = System.nanoTime();

            Eventually.holds("two writes of tests", () -> {
                assertThat(database.testWriting()).isEmpty();
                return written.get() >= before + 2;
            });

            assertThat(Files.readAllBytes(log)).isNotEqualTo(logBefore);
            assertThat(System.nanoTime() - begun).as("nanoseconds").isGreaterThan(1_000_000_000L);
        }
    }

    @Test
    void aDiskThatDoesNotAnswerLosesNothing() throws Exception {
        try (Database database = open(faults::wrap)) {
            faults.from(3, Fault.HANG, Side.WRITES);
            var done = new CompletableFuture<Long>();
            Thread.ofVirtual().start(() -> done.complete((long) database.write(session -> insert(session, 1))));
            Eventually.holds("the disk does not answer", () -> faults.hits() > 0);
            assertThat(done).isNotDone();
            assertThat(notes(database)).isZero();

            faults.pass();

            assertThat(done.get(60, TimeUnit.SECONDS)).isOne();
            assertThat(notes(database)).isOne();
        }
    }

    @Test
    void whileTheDiskStandsStillABoundedNumberOfWritesWaits() throws Exception {
        int submitted = 70_000;
        var written = new AtomicInteger();
        var refused = new AtomicInteger();
        try (Database database = open(faults::wrap)) {
            faults.from(1, Fault.HANG, Side.WRITES);
            for (int i = 0; i < submitted; i++) {
                database.submit(new Work() {
                    @Override
                    public void write(DatabaseSession session) {}

                    @Override
                    public void committed() {
                        written.incrementAndGet();
                    }

                    @Override
                    public void failed(Exception cause) {
                        refused.incrementAndGet();
                    }
                });
            }
            faults.pass();
            Eventually.holds("all works are written or refused", () -> written.get() + refused.get() >= submitted);
        }
        assertThat(refused.get()).isBetween(submitted - 65_536 - 2_048, submitted - 65_536);
    }

    @Test
    void oneBadPieceOfWorkDoesNotTakeTheOthersOfItsGroup() throws Exception {
        try (Database database = open(faults::wrap)) {
            database.write(session -> insert(session, 1));
            var begun = new CountDownLatch(1);
            var go = new CountDownLatch(1);
            var first = CompletableFuture.runAsync(() -> database.write(session -> {
                begun.countDown();
                return await(go);
            }));
            await(begun);
            var good = CompletableFuture.supplyAsync(() -> database.write(session -> insert(session, 2)));
            var bad = CompletableFuture.supplyAsync(() -> database.write(session -> insert(session, 1)));
            go.countDown();

            first.get(60, TimeUnit.SECONDS);
            assertThat(good.get(60, TimeUnit.SECONDS)).isOne();
            assertThatThrownBy(() -> bad.get(60, TimeUnit.SECONDS)).hasRootCauseInstanceOf(SQLException.class);
            assertThat(database.outage()).isEmpty();
        }
    }

    private static boolean await(CountDownLatch latch) {
        try {
            return latch.await(60, TimeUnit.SECONDS);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Test
    void theWriterSurvivesWorkThatFailsInEveryWay() throws Exception {
        try (Database database = open(faults::wrap)) {
            for (int i = 0; i < 3; i++) {
                boolean writes = i == 1;
                database.submit(new Work() {
                    @Override
                    public void write(DatabaseSession session) {
                        if (!writes) {
                            throw new IllegalStateException("nothing to write");
                        }
                    }

                    @Override
                    public void committed() {
                        throw new AssertionError("cannot bear the news");
                    }

                    @Override
                    public void failed(Exception cause) {
                        throw new IllegalStateException("nothing to write", cause);
                    }
                });
            }

            int written = database.write(session -> insert(session, 1));
            assertThat(written).isOne();
        }
    }

    @ParameterizedTest
    @CsvSource({"FULL", "IO", "CORRUPT"})
    void aCommitThatFailsAfterItsEffectLeavesTheAuditAndTheTasksInOrder(Fault fault) {
        try (Store store = Store.open(directory, InstantSource.system(), EncryptionAtRest.PLAIN, faults::wrap)) {
            Database database = store.database();
            for (int call = 1; call <= 6; call++) {
                faults.after(call, fault, Side.WRITES);
                store.audit().note(entry("during"));
                settle(database);
                faults.pass();
                store.audit().note(entry("after"));
                settle(database);
                Eventually.holds("the outage ends", () -> database.outage().isEmpty());
            }

            assertThat(store.audit().verify().broken()).isNull();
            assertThat(store.audit().rows(Filter.ALL, 0, 1_000))
                    .extracting(row -> row.entry().action())
                    .filteredOn("after"::equals)
                    .hasSize(6);
        }
    }

    /** Waits until what was submitted before is written or refused. */
    private static void settle(Database database) {
        try {
            database.write(session -> session);
        } catch (StoreException refused) {
            assertThat(refused).hasRootCauseInstanceOf(SQLException.class);
        }
    }

    private static AuditEntry entry(String action) {
        return new AuditEntry("g", "alice", action, "", "", "ok", "", "", Map.of());
    }

    @Test
    void aQueryThatTookTooLongDoesNotDisableItsStatement() {
        String count =
                "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < ?) SELECT max(i) FROM c";
        try (Database database = open(faults::wrap)) {
            Readers readers = database.readers(1);
            assertThatThrownBy(() -> number(readers, Duration.ofMillis(50), count, 1L << 40))
                    .isInstanceOf(ReadTimeoutException.class);

            assertThat(number(readers, Duration.ofSeconds(60), count, 10)).isEqualTo(10);
            long again = readers.read(session -> session.number(count, 10));
            assertThat(again).isEqualTo(10);
        }
    }

    private static long number(Readers readers, Duration patience, String sql, long value) {
        return readers.snapshot(patience, session -> session.number(sql, value));
    }

    @ParameterizedTest
    @EnumSource(
            mode = Mode.EXCLUDE,
            names = {"HANG", "CUT", "NO_SPACE"})
    void aReadThatFailedDisablesNoOtherReads(Fault fault) {
        try (Database database = open(faults::wrap)) {
            database.write(session -> insert(session, 1));
            for (int call = 1; call <= 8; call++) {
                faults.at(call, fault, Side.READS);
                for (int reads = 0; reads < 8; reads++) {
                    try {
                        notes(database);
                    } catch (StoreException failed) {
                        assertThat(failed).hasRootCauseInstanceOf(SQLException.class);
                    }
                }
                faults.pass();
                for (int reads = 0; reads < 8; reads++) {
                    assertThat(notes(database)).isOne();
                }
            }
        }
    }

    @Test
    void aCheckpointThatFailedIsNotTheLast() throws Exception {
        var failing = new AtomicBoolean(true);
        var failed = new CountDownLatch(1);
        try (Database database = open(connection -> withoutCheckpoints(connection, failing, failed))) {
            database.erase(session -> insert(session, 1));
            failed.await();
            assertThat(database.awaitErased(Duration.ofMillis(1))).isFalse();

            failing.set(false);

            assertThat(database.awaitErased(Duration.ofSeconds(60))).isTrue();
            assertThat(notes(database)).isOne();
        }
    }

    /** A connection whose checkpoints fail, and leave their statement closed as the driver does. */
    private static Connection withoutCheckpoints(Connection connection, AtomicBoolean failing, CountDownLatch failed) {
        return proxy(Connection.class, (method, arguments) -> {
            Object result = invoke(connection, method, arguments);
            if (result instanceof PreparedStatement statement
                    && String.valueOf(requireNonNull(arguments)[0]).contains("wal_checkpoint")) {
                return proxy(PreparedStatement.class, (call, values) -> {
                    if (failing.get() && call.getName().equals("executeQuery")) {
                        statement.close();
                        failed.countDown();
                        throw new SQLException("[SQLITE_IOERR] Some kind of disk I/O error occurred", null, 10);
                    }
                    return invoke(statement, call, values);
                });
            }
            return result;
        });
    }

    private interface Handler {
        @Nullable
        Object call(Method method, @Nullable Object @Nullable [] arguments) throws Throwable;
    }

    private static <T> T proxy(Class<T> type, Handler handler) {
        return type.cast(Proxy.newProxyInstance(
                DatabaseFaultsTest.class.getClassLoader(),
                new Class<?>[] {type},
                (self, method, arguments) -> handler.call(method, arguments)));
    }

    private static @Nullable Object invoke(Object target, Method method, @Nullable Object @Nullable [] arguments)
            throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
    }

    @Test
    void aTimeLimitThatEndsLateInterruptsNobodyElse() {
        try (Database database = open(faults::wrap)) {
            List<Long> rows = database.read(session -> {
                var timeout = new DatabaseSession.Timeout(session, System.nanoTime(), false);
                timeout.end();
                return session.list(
                        row -> {
                            timeout.expire();
                            return row.getLong(1);
                        },
                        "SELECT 1 UNION ALL SELECT 2");
            });

            assertThat(rows).containsExactly(1L, 2L);
        }
    }

    @Test
    @Tag("heavy") // waits as long as SQLite does
    void aLockOfAnotherProcessPasses() throws Exception {
        try (Database database = open(faults::wrap)) {
            try (Connection other = DriverManager.getConnection("jdbc:sqlite:" + directory.resolve("parley.db"));
                    Statement statement = other.createStatement()) {
                statement.execute("BEGIN IMMEDIATE");
                assertThatThrownBy(() -> database.write(session -> insert(session, 1)))
                        .isInstanceOf(StoreException.class);
                assertThat(database.outage()).isPresent();
            }

            Eventually.holds("the outage ends", () -> database.outage().isEmpty());
            database.write(session -> insert(session, 2));
            assertThat(notes(database)).isOne();
        }
    }
}
