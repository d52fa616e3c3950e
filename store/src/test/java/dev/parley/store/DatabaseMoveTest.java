package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.Query;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.support.Sha256;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.store.encryption.ValueCipher;
import dev.parley.store.move.DatabaseMove;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.InUseException;
import dev.parley.store.spi.ModuleTables;
import dev.parley.store.spi.NotOpenedException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Moves of a database of SQLite to PostgreSQL. */
@Tag("heavy")
final class DatabaseMoveTest {
    private static final Scope ALICE = new Scope("default", "alice");
    private final Instant now = Instant.now();
    private static final ModuleTables NOTES = new ModuleTables("notes", List.of("""
            CREATE TABLE note (n KEY PRIMARY KEY, t TEXT NOT NULL, b BLOB, d DOUBLE PRECISION, i INTEGER);
            INSERT INTO note (n, t) VALUES (7, 'of the script');
            """));
    private static final EncryptionAtRest SEALED =
            new EncryptionAtRest(ValueCipher.of(List.of(ValueCipher.newKey())), true);

    @TempDir
    private Path data;

    private DataSource target;

    @BeforeEach
    void makeSchema() throws IOException {
        target = PostgresqlServer.schema();
    }

    private static List<ModuleTables> known(ModuleTables... more) {
        var all = new ArrayList<>(List.of(AuditTrail.tables(DatabaseKind.POSTGRESQL), EncryptionAtRest.TABLES));
        all.addAll(List.of(more));
        return all;
    }

    private Map<String, Long> move(ModuleTables... more) {
        try (DatabaseMove move = DatabaseMove.begin(data, target, known(more))) {
            Map<String, Long> rows = move.copy((table, copied, all) -> {});
            move.finish();
            return rows;
        }
    }

    private static TaskKey key(TaskState state) {
        return new TaskKey(ALICE, "agent", "0190-" + state);
    }

    private static List<TaskLog.Head> heads(Store store, @Nullable TaskState state) {
        return store.log()
                .list(new Query(ALICE.group(), ALICE.owner(), "agent", null, state, null, null, 100))
                .heads();
    }

    private void fill(EncryptionAtRest atRest) {
        try (Store store = Store.open(data, InstantSource.system(), atRest)) {
            for (TaskState state : TaskState.values()) {
                if (state == TaskState.UNSPECIFIED) {
                    continue;
                }
                TaskKey key = key(state);
                Segments.write(
                        store.log(), key, 1, TaskState.WORKING, now, new MessageKey(ALICE, "agent", "m-" + state));
                if (state != TaskState.WORKING) {
                    Segments.write(store.log(), key, 2, state, now.plusMillis(1));
                }
            }
            Segments.write(store.log(), new TaskKey(ALICE, "agent", "0190-at once"), 1, TaskState.COMPLETED, now);
            store.webhooks()
                    .save(
                            Subscription.of(
                                    key(TaskState.WORKING),
                                    new PushConfig(null, "hook", null, "https://example.com/hook", "s3cret", null),
                                    "1.0",
                                    null,
                                    1),
                            new Cause("alice", "192.0.2.1", null, CallChain.NONE));
        }
    }

    private Map<String, String> files() throws IOException {
        var hashes = new HashMap<String, String>();
        try (Stream<Path> all = Files.list(data)) {
            for (Path file : all.toList()) {
                hashes.put(
                        file.getFileName().toString(),
                        Sha256.hex(Base64.getEncoder().encodeToString(Files.readAllBytes(file))));
            }
        }
        return hashes;
    }

    @Test
    void tasksWebhooksAndTheAuditAreTheSameAndGoOn() throws IOException {
        fill(SEALED);
        List<TaskLog.Head> heads;
        String end;
        try (Store store = Store.openForReading(data, SEALED)) {
            heads = heads(store, null);
            end = store.audit().verify().end();
        }
        Map<String, String> before = files();

        Map<String, Long> rows = move();

        assertThat(files()).isEqualTo(before);
        assertThat(rows).containsEntry("task", 9L).containsEntry("webhook", 1L).containsEntry("message", 8L);
        try (Store store = Store.open(target, InstantSource.system(), SEALED)) {
            assertThat(store.audit().verify().broken()).isNull();
            assertThat(store.audit().verify().end()).isEqualTo(end);
            assertThat(heads(store, null)).isEqualTo(heads);
            assertThat(heads(store, TaskState.WORKING)).hasSize(1);
            assertThat(store.log().read(key(TaskState.COMPLETED), 1, 10)).hasSize(1);
            assertThat(store.log().read(key(TaskState.COMPLETED), 0, 10)).hasSize(2);
            assertThat(store.log().unfinished()).extracting(TaskLog.Head::key).contains(key(TaskState.WORKING));
            assertThat(store.webhooks().find(key(TaskState.WORKING), "hook")).isPresent();

            Segments.write(store.log(), key(TaskState.WORKING), 2, TaskState.COMPLETED, now.plusSeconds(1));
            Segments.write(store.log(), key(TaskState.INPUT_REQUIRED), 3, TaskState.COMPLETED, now.plusSeconds(1));
            Segments.write(
                    store.log(),
                    new TaskKey(new Scope("new", "bob"), "agent", "0191-new"),
                    1,
                    TaskState.COMPLETED,
                    now);

            assertThat(store.audit().verify().broken()).isNull();
            assertThat(heads(store, TaskState.WORKING)).isEmpty();
            assertThat(store.log()
                            .list(new Query("new", "bob", "agent", null, null, null, null, 1))
                            .heads())
                    .hasSize(1);
        }
    }

    @Test
    void theChainOfTheAuditIsWholeBeforeTheFirstStart() throws SQLException {
        fill(EncryptionAtRest.PLAIN);

        move();

        try (Connection connection = target.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT row_no - (SELECT max(last) FROM"
                        + " (SELECT max(row_no) AS last FROM audit UNION SELECT max(row_no) FROM audit_log) AS entries)"
                        + " FROM audit_end")) {
            row.next();
            assertThat(row.getLong(1)).isZero();
        }
    }

    @Test
    void rowsOfOtherModulesAreCopiedInBatches() {
        int rows = 2_500;
        try (Database database = Database.open(data)) {
            database.migrate(NOTES);
            database.write(session -> {
                for (int i = 10; i < rows; i++) {
                    session.update(
                            "INSERT INTO note (n, t, b, d, i) VALUES (?, ?, ?, ?, ?)",
                            (long) i,
                            i == 11 ? "with \0 and \uFDD0" : "t" + i,
                            i % 2 == 0 ? null : new byte[] {0, (byte) i, -1},
                            i == 12 ? null : i / 4.0,
                            i);
                }
                return session.update("INSERT INTO note (n, t) VALUES (?, ?)", Long.MAX_VALUE, "last");
            });
        }
        var batches = new ArrayList<Long>();

        try (DatabaseMove move = DatabaseMove.begin(data, target, List.of(NOTES))) {
            Map<String, Long> copied = move.copy((table, done, all) -> batches.add(done));
            move.finish();
            assertThat(copied).containsEntry("note", 2_492L);
        }

        assertThat(batches).contains(1_000L, 2_000L, 2_492L);
        String all = "SELECT n, t, b, d, i FROM note ORDER BY n";
        try (Database source = Database.openForReading(data);
                Database moved = Database.open(target)) {
            assertThat(notes(moved, all)).isEqualTo(notes(source, all));
        }
    }

    private static List<List<Object>> notes(Database database, String query) {
        return database.read(session -> session.list(
                row -> {
                    byte[] bytes = row.getBytes(3);
                    return List.<Object>of(
                            row.getLong(1),
                            DatabaseSession.text(row, 2),
                            bytes == null ? "null" : Base64.getEncoder().encodeToString(bytes),
                            String.valueOf(row.getDouble(4)) + row.wasNull(),
                            row.getInt(5));
                },
                query));
    }

    @Test
    void aTableOfAnUnknownModuleIsRefused() {
        try (Database database = Database.open(data)) {
            database.migrate(NOTES);
        }

        assertThatThrownBy(() -> move()).isInstanceOf(NotOpenedException.class).hasMessageContaining("notes");
        assertThat(move(NOTES)).containsEntry("note", 1L);
    }

    @Test
    void aTableWithoutAModuleIsRefused() {
        try (Database database = Database.open(data)) {
            database.write(session -> {
                session.once("CREATE TABLE stray (n INTEGER)");
                return 0;
            });
        }

        assertThatThrownBy(() -> move()).isInstanceOf(NotOpenedException.class).hasMessageContaining("table stray");
    }

    @Test
    void aValueOfAnotherTypeIsRefused() {
        try (Database database = Database.open(data)) {
            database.migrate(NOTES);
            database.write(session -> session.update("UPDATE note SET i = 'many'"));
        }

        assertThatThrownBy(() -> move(NOTES))
                .hasMessage("table note: the row with n 7 has a text in the column i (expected: a whole number)");
    }

    @Test
    void aHubRefusesTheTargetUntilARepeatedMoveIsComplete(@TempDir Path other) {
        fill(EncryptionAtRest.PLAIN);
        try (DatabaseMove move = DatabaseMove.begin(data, target, known())) {
            move.copy((table, copied, all) -> {});
            assertThatThrownBy(() -> move()).isInstanceOf(InUseException.class);
        }

        assertThatThrownBy(() -> Store.open(target, InstantSource.system(), EncryptionAtRest.PLAIN))
                .isInstanceOf(NotOpenedException.class)
                .hasMessageContaining("their move has not ended");
        Store.open(other).close();
        assertThatThrownBy(() -> DatabaseMove.begin(other, target, known()))
                .isInstanceOf(NotOpenedException.class)
                .hasMessageContaining("the move of " + data);
        try (Store store = Store.open(data)) { // the directory is in use again
            Segments.write(store.log(), new TaskKey(ALICE, "agent", "0191"), 1, TaskState.COMPLETED, now);
        }

        move();

        try (Store store = Store.open(target, InstantSource.system(), EncryptionAtRest.PLAIN)) {
            assertThat(store.audit().verify().broken()).isNull();
            assertThat(heads(store, null)).hasSize(10);
        }
        assertThatThrownBy(() -> move())
                .isInstanceOf(NotOpenedException.class)
                .hasMessageContaining("it has tables of Parley");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"t TEXT NOT NULL UNIQUE", "t TEXT NOT NULL CHECK (t <> 's3cret')", "t TEXT, CHECK (t IS NULL)"})
    void errorsOfTheServerHaveNoValuesOfRows(String column) throws IOException {
        try (Database database = Database.open(data)) {
            database.migrate("texts", List.of("CREATE TABLE texts (n KEY PRIMARY KEY, t TEXT)"));
            database.write(session -> session.update("INSERT INTO texts VALUES (1, 's3cret'), (2, 's3cret')"));
        }
        String url = PostgresqlServer.url();
        var other = new ModuleTables("texts", List.of("CREATE TABLE texts (n KEY PRIMARY KEY, " + column + ")"));

        assertThatThrownBy(() -> {
                    try (DatabaseMove move = DatabaseMove.begin(data, url, List.of(other))) {
                        move.copy((table, copied, all) -> {});
                    }
                })
                .hasMessageStartingWith("table texts: ERROR: ")
                .satisfies(failure -> {
                    var trace = new StringWriter();
                    failure.printStackTrace(new PrintWriter(trace));
                    assertThat(trace.toString()).contains("texts_").doesNotContain("s3cret");
                });
    }

    private void beginMove() {
        try (DatabaseMove move = DatabaseMove.begin(data, target, known())) {
            move.copy((table, copied, all) -> {});
        }
    }

    private void complete(TaskKey task) {
        try (Store store = Store.open(data)) {
            Segments.write(store.log(), task, 1, TaskState.COMPLETED, now);
        }
    }

    @Test
    void otherDataInADirectoryOfTheSamePathDoNotGoOnWithItsMove() throws IOException {
        fill(EncryptionAtRest.PLAIN);
        beginMove();
        Files.delete(data.resolve("parley.db"));
        complete(new TaskKey(ALICE, "agent", "0192"));

        assertThatThrownBy(() -> move())
                .isInstanceOf(NotOpenedException.class)
                .hasMessageContaining("the move of " + data + " into it has not ended");
    }

    @Test
    void theSameDataInAnotherDirectoryGoOnWithTheirMove(@TempDir Path parent) throws IOException {
        fill(EncryptionAtRest.PLAIN);
        beginMove();
        Files.move(data.resolve("parley.db"), parent.resolve("parley.db"));
        data = parent;

        assertThat(move()).containsEntry("task", 9L);
    }

    @Test
    void dataWithoutAnAuditAreKnownByTheirDirectory() {
        Store.open(data).close();
        beginMove();
        complete(key(TaskState.COMPLETED));

        assertThat(move()).containsEntry("task", 1L);
    }

    @Test
    void aDirectoryWithARunningHubIsRefused() {
        try (Store running = Store.open(data)) {
            assertThatThrownBy(() -> move()).isInstanceOf(InUseException.class);
            assertThat(running.database().isReadOnly()).isFalse();
        }
    }

    @Test
    void theLogOfAKilledHubIsRead(@TempDir Path killed) throws IOException {
        try (Store store = Store.open(data)) {
            Segments.write(store.log(), key(TaskState.COMPLETED), 1, TaskState.COMPLETED, now);
            for (String file : List.of("parley.db", "parley.db-wal")) {
                Files.copy(data.resolve(file), killed.resolve(file));
            }
        }
        data = killed;
        Map<String, String> before = files();
        assertThat(Files.size(killed.resolve("parley.db-wal"))).isPositive();

        assertThat(move()).containsEntry("task", 1L);

        Map<String, String> after = files();
        after.remove("parley.lock");
        assertThat(after).isEqualTo(before);
    }
}
