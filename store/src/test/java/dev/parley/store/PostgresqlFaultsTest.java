package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.TaskState;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.store.database.Work;
import dev.parley.store.encryption.AtRest;
import dev.parley.store.spi.OutageException;
import dev.parley.store.spi.StoreException;
import dev.parley.testkit.Eventually;
import dev.parley.testkit.Faults;
import dev.parley.testkit.Faults.Fault;
import dev.parley.testkit.Faults.Side;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections that break, servers that restart and hubs that are replaced: nothing is lost, or written twice. */
@Timeout(120)
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

    @Test
    void aWriterThatWasReplacedWritesNothingAndSaysSo() throws SQLException {
        try (Database database = open(Duration.ofMillis(100))) {
            execute("DELETE FROM stream");

            assertThatThrownBy(() -> insert(database, 1)).rootCause().hasMessageContaining("another hub has taken");

            assertThat(notes(database)).isZero();
            assertThat(database.outage())
                    .hasValueSatisfying(why -> assertThat(why).contains("another hub has taken"));
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
        try (Store store = Store.open(schema, InstantSource.system(), AtRest.PLAIN)) {
            Segments.write(store.log(), key, 1, TaskState.WORKING, Instant.EPOCH);
        }

        try (Store store = Store.open(schema, InstantSource.system(), AtRest.PLAIN)) {
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
            try (Store store = Store.open(schema, clock, AtRest.PLAIN)) {
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
        return database.read(session -> session.number("SELECT group_no FROM stream"));
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
        try (Store store = Store.open(schema, clock, AtRest.PLAIN)) {
            Segments.write(store.log(), task, 1, TaskState.COMPLETED, clock.instant(), message);
            Segments.write(store.log(), another, 1, TaskState.COMPLETED, clock.instant());

            assertThat(store.log().find(new TaskKey(task.scope(), "agent", "\0")))
                    .isEmpty();
            assertThat(store.log().taskOf(message)).contains(task.taskId());
            assertThat(store.log().taskOf(new MessageKey(task.scope(), "agent", "ab")))
                    .isEmpty();
            assertThat(store.audit().verify().broken()).isNull();
        }
        try (Store store = Store.open(schema, clock, AtRest.PLAIN)) {
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
