package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.TaskState;
import dev.parley.store.Faults.Fault;
import dev.parley.store.Faults.Side;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.store.database.Work;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.store.spi.Ending;
import dev.parley.store.spi.Ending.Cause;
import dev.parley.store.spi.OutageException;
import dev.parley.store.spi.Registration;
import dev.parley.store.spi.Registration.Sharing;
import dev.parley.store.spi.StoreException;
import dev.parley.testkit.Eventually;
import dev.parley.testkit.SettableClock;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections that break, servers that restart and hubs that are replaced: nothing is lost, or written twice. */
@Timeout(120)
@Tag("heavy")
final class PostgresqlFaultsTest {
    private static final List<String> TABLES = List.of("CREATE TABLE note (n BIGINT PRIMARY KEY)");

    private final Faults faults = new Faults();
    private DataSource schema;

    @BeforeEach
    void make() throws IOException, SQLException {
        schema = PostgresqlServer.schema();
    }

    private Database open() {
        return open(Duration.ofSeconds(30));
    }

    private Database open(Duration patience) {
        Database database = Database.open(schema, faults::wrap, patience);
        database.migrate("notes", TABLES);
        return database;
    }

    private static int insert(Database database, long number) {
        return database.write(session -> session.update("INSERT INTO note (n) VALUES (?)", number));
    }

    private static long notes(Database database) {
        return database.read(session -> session.number("SELECT count(*) FROM note"));
    }

    private void execute(String sql) throws SQLException {
        execute(schema, sql);
    }

    private static void execute(DataSource source, String sql) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aWriteWhoseConnectionBreaksInTheCommitIsWrittenOnceAndNotRefused(boolean durable) {
        try (Database database = open()) {
            CompletableFuture<Integer> written;
            faults.commits(Fault.CUT, durable);
            written = CompletableFuture.supplyAsync(() -> insert(database, 1));
            Eventually.holds("the connection breaks", () -> faults.hits() > 0);
            faults.pass();

            assertThat(written.join()).isEqualTo(1);
            assertThat(notes(database)).isEqualTo(1);
            assertThat(database.outage()).isEmpty();
        }
    }

    @Test
    void aWriteWaitsForAServerThatRestarts(@TempDir Path data) throws IOException {
        EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder()
                .setDataDirectory(data)
                .setCleanDataDirectory(false)
                .setPGStartupWait(PostgresqlServer.STARTUP);
        EmbeddedPostgres server = builder.start();
        builder.setPort(server.getPort());
        try (Database database = Database.open(server.getPostgresDatabase())) {
            database.migrate("notes", TABLES);
            insert(database, 1);

            server.close();
            var written = CompletableFuture.supplyAsync(() -> insert(database, 2));
            Eventually.holds("the outage begins", () -> database.outage().isPresent());
            server = builder.start();

            assertThat(written.join()).isEqualTo(1);
            assertThat(notes(database)).isEqualTo(2);
            assertThat(database.outage()).isEmpty();
        } finally {
            server.close();
        }
    }

    @Test
    void aWriteIsRefusedAfterItsPatienceAndTheNextOneSucceedsWithoutARestart() {
        try (Database database = open(Duration.ofMillis(100))) {
            faults.from(1, Fault.CUT, Side.ALL);

            assertThatThrownBy(() -> insert(database, 1)).isInstanceOf(OutageException.class);
            assertThat(database.outage())
                    .hasValueSatisfying(why -> assertThat(why).contains("cannot be written"));

            faults.pass();
            Eventually.holds("the outage ends", () -> database.outage().isEmpty());
            assertThat(insert(database, 2)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"an idle writer", "a writer whose connection was cut"})
    void aWriterThatWasReplacedNeitherWritesNorReadsAndSaysSo(String writer) throws SQLException {
        var told = new CompletableFuture<Ending>();
        try (Database database = open(Duration.ofSeconds(1))) {
            database.access().onEnding(told::complete);
            execute("DELETE FROM stream");
            if (writer.contains("cut")) {
                cutConnections();
            }

            assertThatThrownBy(() -> insert(database, 1)).rootCause().hasMessageContaining("another hub has taken");

            assertThat(told.join().cause()).isEqualTo(Cause.TAKEN_OVER);
            assertThat(database.access().ending()).contains(told.join());
            assertThatThrownBy(() -> notes(database)).isInstanceOf(OutageException.class);
            assertThat(database.outage())
                    .hasValueSatisfying(why -> assertThat(why).contains("another hub has taken"));
            assertThat(count("note")).isZero();
        }
    }

    /** Ends the connections of the hub, and not those of the other tests. */
    private void cutConnections() throws SQLException {
        execute("SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory' AND objid ="
                + " CAST(CAST(hashtext(current_schema()) AS BIGINT) & 4294967295 AS OID)");
    }

    private long count(String table) throws SQLException {
        return number("SELECT count(*) FROM " + table);
    }

    private long number(String sql) throws SQLException {
        try (Connection connection = schema.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    @Test
    void aDatabaseThatWentBackInTimeIsNotUsedAndItsLostTransactionsAreCounted() throws SQLException {
        try (Database database = open(Duration.ofSeconds(1))) {
            for (int i = 0; i < 5; i++) {
                insert(database, i);
            }
            // as a standby that had not received the last three
            execute("DELETE FROM stream_group WHERE group_no > (SELECT max(group_no) - 3 FROM stream_group)");
            execute("DELETE FROM note WHERE n >= 2");
            cutConnections();

            assertThatThrownBy(() -> insert(database, 9)).isInstanceOf(StoreException.class);

            assertThat(database.access().ending()).hasValueSatisfying(ending -> {
                assertThat(ending.cause()).isEqualTo(Cause.WENT_BACK);
                assertThat(ending.lostGroups()).isEqualTo(3);
            });
            assertThat(count("note")).isEqualTo(2);
        }
        try (Database next = open()) {
            assertThat(next.access().ending()).isEmpty();
            assertThat(insert(next, 9)).isEqualTo(1);
        }
    }

    @Test
    void aDatabaseOfBeforeTheStartOfTheHubLacksAllThatItWrote() throws SQLException {
        try (Database database = open(Duration.ofSeconds(1))) {
            insert(database, 1);
            long written = groups(database);
            // No connection of the hub sees the earlier state and lives, as none does when a standby takes over.
            try (Connection other = schema.getConnection();
                    Statement statement = other.createStatement()) {
                other.setAutoCommit(false);
                statement.execute("LOCK TABLE hub, stream IN ACCESS EXCLUSIVE MODE");
                statement.execute("DELETE FROM stream");
                statement.execute("DELETE FROM hub");
                cutConnections();
                other.commit();
            }

            assertThatThrownBy(() -> insert(database, 2)).isInstanceOf(StoreException.class);

            assertThat(database.access().ending())
                    .hasValueSatisfying(
                            ending -> assertThat(ending.lostGroups()).isEqualTo(written));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT 1 FROM stream FOR UPDATE",
                "LOCK TABLE note IN ACCESS EXCLUSIVE MODE",
                "LOCK TABLE stream_group IN ACCESS EXCLUSIVE MODE"
            })
    void aWriteThatWaitsForALockOfOthersIsRefusedAfterItsPatience(String lock) throws SQLException {
        try (Database database = open(Duration.ofSeconds(1))) {
            insert(database, 1);
            try (Connection other = schema.getConnection();
                    Statement statement = other.createStatement()) {
                other.setAutoCommit(false);
                statement.execute(lock);
                var first = CompletableFuture.runAsync(() -> insert(database, 2));
                Eventually.holds("the writer waits", () -> waiting() > 0);
                var second = CompletableFuture.runAsync(() -> insert(database, 3));

                assertThatThrownBy(first::join).hasCauseInstanceOf(OutageException.class);
                assertThatThrownBy(second::join).hasCauseInstanceOf(OutageException.class);
                assertThat(database.testWriting()).isPresent();
                assertThatThrownBy(() -> insert(database, 4)).isInstanceOf(OutageException.class);
            }
            Eventually.holds("the outage ends", () -> database.testWriting().isEmpty());
            assertThat(insert(database, 5)).isEqualTo(1);
            assertThat(notes(database)).isEqualTo(2);
        }
    }

    @Test
    void aRepeatedMessageIsAcknowledgedOnlyAfterALaterCommit() throws SQLException {
        var scope = new Scope("t1", "alice");
        var message = new MessageKey(scope, "agent", "m-1");
        try (Store store = Store.open(schema, InstantSource.system(), EncryptionAtRest.PLAIN)) {
            Segments.write(
                    store.log(), new TaskKey(scope, "agent", "task"), 1, TaskState.COMPLETED, Instant.EPOCH, message);
            long before = groups(store.database());

            assertThat(store.log().taskOf(new MessageKey(scope, "agent", "m-2")))
                    .isEmpty();
            assertThat(groups(store.database())).isEqualTo(before);
            assertThat(store.log().taskOf(message)).contains("task");
            assertThat(groups(store.database())).isEqualTo(before + 1);

            execute("DELETE FROM stream");
            assertThatThrownBy(() -> store.log().taskOf(message)).isInstanceOf(OutageException.class);
        }
    }

    @Test
    void aHubThatWasEndedLearnsItWithinSecondsWithoutAWrite() throws SQLException {
        try (Database database = open()) {
            var told = new CompletableFuture<Ending>();
            database.access().onEnding(told::complete);
            assertThat(database.access().obstacle()).isEmpty();

            execute("UPDATE hub SET ended_at = clock_timestamp()");

            assertThat(told.orTimeout(5, TimeUnit.SECONDS).join().cause()).isEqualTo(Cause.TAKEN_OVER);
            assertThat(database.access().obstacle())
                    .hasValueSatisfying(why -> assertThat(why).contains("another hub"));
            assertThatThrownBy(() -> notes(database)).isInstanceOf(OutageException.class);
            assertThatThrownBy(() -> insert(database, 1)).isInstanceOf(OutageException.class);
        }
    }

    @Test
    void aHubRenewsItsLeaseAndTellsItsVersionAndAgents() throws SQLException {
        var described = new Registration("7.8.9", () -> List.of("counter", "echo"), Sharing.NONE, 0, name -> {});
        try (Database database = Database.open(schema, connection -> connection, described)) {
            Eventually.holds(
                    "the hub is described",
                    () -> number("SELECT count(*) FROM hub WHERE version = '7.8.9' AND agents = '{counter,echo}'"
                                    + " AND lease_until > clock_timestamp() + interval '8 s' AND ended_at IS NULL")
                            == 1);
            assertThatThrownBy(this::open)
                    .hasMessageContaining("in use by another hub, ")
                    .hasMessageContaining("number ");
        }
        assertThat(number("SELECT count(*) FROM hub WHERE ended_at IS NULL")).isZero();
    }

    private long waiting() {
        try {
            return number("SELECT count(*) FROM pg_locks WHERE NOT granted");
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    @Test
    void aReadThatWaitsForALockOfOthersIsGivenUp() throws SQLException {
        try (Database database = open(Duration.ofSeconds(1))) {
            try (Connection other = schema.getConnection();
                    Statement statement = other.createStatement()) {
                other.setAutoCommit(false);
                statement.execute("LOCK TABLE note IN ACCESS EXCLUSIVE MODE");

                for (int i = 0; i < 6; i++) { // more than there are connections for reading
                    assertThatThrownBy(() -> notes(database))
                            .isInstanceOf(OutageException.class)
                            .hasMessageContaining("did not answer");
                }
            }
            assertThat(notes(database)).isZero();
        }
    }

    @Test
    void connectionsForReadingAreReplacedWhenTheWriterHasANewOne() throws SQLException {
        try (Database database = open()) {
            Set<Long> before = readers(database);
            cutConnections();
            insert(database, 1);

            assertThat(readers(database)).doesNotContainAnyElementsOf(before);
        }
    }

    private static Set<Long> readers(Database database) {
        return LongStream.range(0, 20)
                .mapToObj(i -> database.<Long>read(session -> session.number("SELECT pg_backend_pid()")))
                .collect(Collectors.toSet());
    }

    @Test
    void rowsThatEachTransactionTouchesStayFewBesideAnOpenSnapshot() throws SQLException {
        var key = new TaskKey(new Scope("t1", "alice"), "agent", "0190-task-");
        try (Store store = Store.open(schema, InstantSource.system(), EncryptionAtRest.PLAIN)) {
            for (int i = 0; i < 2_500; i++) {
                Segments.write(
                        store.log(),
                        new TaskKey(key.scope(), key.agent(), key.taskId() + i),
                        1,
                        TaskState.COMPLETED,
                        Instant.EPOCH);
            }
            assertThat(count("stream_group")).isBetween(1L, 1_001L);
            assertThat(count("tally")).isEqualTo(1);
            assertThat(number("SELECT sum(tasks) FROM tally")).isEqualTo(2_500);
            assertThat(number("SELECT min(hub_slot) & 1048575 FROM tally")).isEqualTo(2); // the third one
        }
        try (Store store = Store.open(schema, InstantSource.system(), EncryptionAtRest.PLAIN)) {
            assertThat(number("SELECT sum(tasks) FROM tally WHERE hub_slot = 0"))
                    .isEqualTo(2_500);
            assertThat(store.audit().verify().broken()).isNull();
        }
    }

    @Test
    void aSecondHubIsRefusedUntilTheFirstHasClosed() {
        Database first = open();
        try {
            assertThatThrownBy(this::open)
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("in use by another hub");
        } finally {
            first.close();
        }

        open().close();
    }

    @Test
    void tasksOfAStreamThatEndedAreRunByTheNextOne() {
        var key = new TaskKey(new Scope("t1", "alice"), "agent", "0190-task");
        try (Store store = Store.open(schema, InstantSource.system(), EncryptionAtRest.PLAIN)) {
            Segments.write(store.log(), key, 1, TaskState.WORKING, Instant.EPOCH);
        }

        try (Store store = Store.open(schema, InstantSource.system(), EncryptionAtRest.PLAIN)) {
            assertThat(store.log().unfinished()).hasSize(1);
            Segments.write(store.log(), key, 2, TaskState.COMPLETED, Instant.EPOCH);

            assertThat(store.log().unfinished()).isEmpty();
            assertThat(store.audit().verify()).satisfies(chain -> {
                assertThat(chain.broken()).isNull();
                assertThat(chain.rows()).isEqualTo(2);
            });
        }
    }

    private static String partitions(Store store) {
        return store.database().read(session -> {
            try (ResultSet row = session.bind("SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_inherits"
                            + " JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = CAST('message' AS regclass)")
                    .executeQuery()) {
                row.next();
                return row.getString(1);
            }
        });
    }

    @Test
    void keysOfMessagesAreInPartitionsByDayWhichAreDropped() {
        var clock = new SettableClock(Instant.EPOCH.plus(Duration.ofDays(100)));
        var scope = new Scope("t1", "alice");
        for (int day = 100; day < 104; day++) {
            try (Store store = Store.open(schema, clock, EncryptionAtRest.PLAIN)) {
                var message = new MessageKey(scope, "agent", "m-" + day);
                Segments.write(
                        store.log(),
                        new TaskKey(scope, "agent", "task-" + day),
                        1,
                        TaskState.COMPLETED,
                        clock.instant(),
                        message);
                Segments.write(
                        store.log(),
                        new TaskKey(scope, "agent", "more-" + day),
                        1,
                        TaskState.COMPLETED,
                        clock.instant());
                assertThat(store.log().taskOf(message)).contains("task-" + day);
                if (day == 103) {
                    assertThat(partitions(store)).isEqualTo("message_102 message_103 message_104 message_rest");
                    assertThat(store.database()
                                    .<Long>read(
                                            session -> session.number("SELECT count(*) FROM message WHERE day = 103")))
                            .isEqualTo(1);
                    assertThat(store.database()
                                    .<Long>read(session -> session.number("SELECT count(*) FROM message_rest")))
                            .isZero();
                }
            }
            clock.advance(Duration.ofDays(1));
        }
    }

    /** Inserts a text, and completes its news when it is written or refused. */
    private record Insertion(String text, CompletableFuture<Boolean> written) implements Work {
        @Override
        public void write(DatabaseSession session) throws SQLException {
            session.update("INSERT INTO word (text) VALUES (?)", text);
        }

        @Override
        public void committed() {
            written.complete(true);
        }

        @Override
        public void failed(Exception cause) {
            written.complete(false);
        }
    }

    private static long groups(Database database) {
        return database.read(session -> session.number("SELECT group_no FROM stream_newest"));
    }

    @Test
    void aFaultyWorkOfAGroupIsFoundByFewTransactions() {
        try (Database database = open()) {
            database.migrate("words", List.of("CREATE TABLE word (text TEXT CHECK (text <> 'faulty'))"));
            long before = groups(database);
            var queued = new CountDownLatch(1);
            var blocked = CompletableFuture.runAsync(() -> database.write(session -> {
                try {
                    return queued.await(60, TimeUnit.SECONDS);
                } catch (InterruptedException stopped) {
                    throw new SQLException(stopped);
                }
            }));
            List<Insertion> all = IntStream.range(0, 256)
                    .mapToObj(i -> new Insertion(i == 100 ? "faulty" : "word " + i, new CompletableFuture<>()))
                    .toList();
            all.forEach(database::submit);
            queued.countDown();
            blocked.join();

            assertThat(all.stream().filter(each -> !each.written().join()).map(Insertion::text))
                    .containsExactly("faulty");
            assertThat(database.<Long>read(session -> session.number("SELECT count(*) FROM word")))
                    .isEqualTo(255);
            assertThat(groups(database) - before).isLessThan(40);
        }
    }

    @Test
    void idsAndNamesWithTheCharacterNulAreHeld() {
        var task = new TaskKey(new Scope("t\0", "ali\0ce"), "agent", "0190-task");
        var another = new TaskKey(new Scope("t1", "alice"), "agent", "0191-task");
        var message = new MessageKey(task.scope(), "agent", "a\0b");
        var clock = InstantSource.system();
        try (Store store = Store.open(schema, clock, EncryptionAtRest.PLAIN)) {
            Segments.write(store.log(), task, 1, TaskState.COMPLETED, clock.instant(), message);
            Segments.write(store.log(), another, 1, TaskState.COMPLETED, clock.instant());

            assertThat(store.log().find(new TaskKey(task.scope(), "agent", "\0")))
                    .isEmpty();
            assertThat(store.log().taskOf(message)).contains(task.taskId());
            assertThat(store.log().taskOf(new MessageKey(task.scope(), "agent", "ab")))
                    .isEmpty();
            assertThat(store.audit().verify().broken()).isNull();
        }
        try (Store store = Store.open(schema, clock, EncryptionAtRest.PLAIN)) {
            assertThat(store.log().find(task))
                    .hasValueSatisfying(head -> assertThat(head.key()).isEqualTo(task));
            assertThat(store.audit().verify().broken()).isNull();
        }
    }

    @Test
    void aDatabaseOfAnotherEncodingIsRefusedWithWhatToDo() throws IOException, SQLException {
        execute("CREATE DATABASE ascii ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");

        assertThatThrownBy(() -> Database.open(PostgresqlServer.database("ascii")))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("SQL_ASCII")
                .hasMessageContaining("CREATE DATABASE");
    }
}
