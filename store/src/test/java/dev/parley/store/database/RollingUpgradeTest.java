package dev.parley.store.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.parley.store.hubs.HubTable;
import dev.parley.store.hubs.HubTable.LivingHub;
import dev.parley.store.shared.Release;
import dev.parley.store.spi.ModuleTables;
import dev.parley.store.spi.Registration;
import dev.parley.store.spi.Registration.Sharing;
import dev.parley.store.spi.StoreException;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Filter;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Hubs of two releases on one schema of PostgreSQL. */
@Timeout(90)
@Tag("heavy")
final class RollingUpgradeTest {
    private static final Release OLD = Release.current();

    /** The release after this one, which adds a column, and renames it when the upgrade is finished. */
    private static final Release NEW = next(OLD);

    private static final ModuleTables OLD_NOTES = new ModuleTables("notes", List.of("CREATE TABLE note (text TEXT)"));

    private static final ModuleTables NEW_NOTES = new ModuleTables(
            "notes",
            List.of(OLD_NOTES.scripts().getFirst(), "ALTER TABLE note ADD COLUMN author TEXT"),
            Set.of(),
            Map.of(2, "ALTER TABLE note DROP COLUMN text"));

    private DataSource schema;
    private final List<Database> opened = new ArrayList<>();

    private static Release next(Release release) {
        var scripts = new ArrayList<>(release.tasks().scripts());
        scripts.add("ALTER TABLE task ADD COLUMN note TEXT");
        return new Release(
                release.level() + 1,
                new ModuleTables(
                        Release.TASKS,
                        scripts,
                        Set.of(),
                        Map.of(scripts.size(), "ALTER TABLE task RENAME COLUMN note TO remark")));
    }

    @BeforeEach
    void open() throws IOException {
        schema = PostgresqlServer.schema();
    }

    @AfterEach
    void close() {
        opened.forEach(Database::close);
    }

    private Database hub(Release release) {
        return hub(release, Sharing.AT_ONCE);
    }

    private Database hub(Release release, Sharing sharing) {
        var registration = new Registration("v" + release.level(), List::of, sharing, 0, name -> {});
        Database hub = Database.open(schema, wrapped -> wrapped, PostgresqlSystem.PATIENCE, registration, release);
        opened.add(hub);
        return hub;
    }

    /** Starts a hub, which makes or changes the tables of an extension. */
    private Database hub(Release release, ModuleTables notes) {
        Database hub = hub(release);
        hub.migrate(notes);
        return hub;
    }

    private long number(String sql) {
        try (Connection connection = schema.getConnection();
                Statement statement = connection.createStatement();
                var row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private long columns(String table, String column) {
        return number("SELECT count(*) FROM information_schema.columns WHERE table_schema = current_schema()"
                + " AND table_name = '" + table + "' AND column_name = '" + column + "'");
    }

    private static void write(Database hub) {
        hub.write(session -> session.update("INSERT INTO note (text) VALUES ('written')"));
    }

    @Test
    void hubsOfTwoReleasesWorkAtOnceAndWriteFormsThatBothKnow() {
        Database older = hub(OLD, OLD_NOTES);
        Database newer = hub(NEW, NEW_NOTES);

        assertThat(HubTable.living(older))
                .extracting(LivingHub::version, LivingHub::level, LivingHub::isWorking)
                .containsExactly(tuple("v1", 1, true), tuple("v2", 2, true));
        write(older);
        write(newer);
        assertThat(number("SELECT count(*) FROM note")).isEqualTo(2);
        assertThat(columns("task", "note")).isOne();
        assertThat(columns("note", "author")).isOne();
        assertThat(older.access().level()).isEqualTo(1);
        assertThat(newer.access().level()).isEqualTo(1);
    }

    @Test
    void hubsOfTheOldReleaseComeBackAsLongAsTheUpgradeIsNotFinished() {
        Database older = hub(OLD, OLD_NOTES);
        Database newer = hub(NEW, NEW_NOTES);
        older.close();
        newer.close();

        Database back = hub(OLD, OLD_NOTES);
        write(back);

        assertThat(back.access().level()).isEqualTo(1);
        assertThat(number("SELECT version FROM module_version WHERE module = 'notes'"))
                .isEqualTo(2);
    }

    @Test
    void anUpgradeIsFinishedOnlyIfNoOlderHubLives() {
        Database older = hub(OLD, OLD_NOTES);
        Database newer = hub(NEW, NEW_NOTES);
        Database other = hub(NEW, NEW_NOTES);

        assertThatThrownBy(() -> newer.finishUpgrade(List.of(NEW_NOTES)))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("(number 1, version v1) understands level 1")
                .hasMessageContaining("expected: level 2 of each hub");
        assertThat(newer.access().level()).isEqualTo(1);
        assertThat(columns("task", "note")).isOne();
        write(older);
        older.close();

        assertThat(newer.finishUpgrade(List.of(NEW_NOTES))).containsExactly("task", "notes");

        assertThat(other.access().level())
                .as("at another hub, when the upgrade is finished")
                .isEqualTo(2);
        assertThat(columns("task", "remark")).isOne();
        assertThat(columns("note", "text")).isZero();
        assertThat(other.finishUpgrade(List.of(NEW_NOTES))).as("a second time").isEmpty();
        assertThatThrownBy(() -> hub(OLD))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("the database has level 2")
                .hasMessageContaining("this program understands level 1");
        assertThatThrownBy(() -> hub(NEW).migrate(OLD_NOTES))
                .hasMessageContaining("the tables of notes have version 2 (expected: at most 1)");
    }

    @Test
    void aHubThatHasTheDatabaseAloneFinishesTheUpgradeAtItsStart() {
        Database older = hub(OLD, OLD_NOTES);
        older.close();

        Database lone = hub(NEW, Sharing.NONE);
        lone.migrate(NEW_NOTES);

        assertThat(lone.access().level()).isEqualTo(2);
        assertThat(columns("task", "remark")).isOne();
        assertThat(columns("note", "text")).isZero();
        lone.close();
        assertThatThrownBy(() -> hub(OLD, Sharing.NONE)).hasMessageContaining("the database has level 2");
        assertThat(hub(NEW).access().level()).isEqualTo(2);
    }

    @Test
    void theFirstHubOfANewDatabaseWritesTheNewestForms() {
        Database first = hub(NEW, NEW_NOTES);

        assertThat(first.access().level()).isEqualTo(2);
        assertThat(columns("task", "remark")).isOne();
        assertThat(columns("note", "text")).isZero();
    }

    @Test
    void aTableThatIsInUseIsChangedLaterAndOthersWriteMeanwhile() throws Exception {
        Database older = hub(OLD, OLD_NOTES);
        CompletableFuture<Database> start;
        try (Connection reader = schema.getConnection();
                Statement statement = reader.createStatement()) {
            reader.setAutoCommit(false);
            statement.execute("SELECT count(*) FROM task");
            start = CompletableFuture.supplyAsync(() -> hub(NEW));
            Eventually.holds(
                    "the new hub waits for the table",
                    () -> number("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'task'::regclass")
                            > 0);
            for (int i = 0; i < 3; i++) {
                older.write(session -> session.update("UPDATE task SET turns = 1 WHERE task_id = 'none'"));
            }
            assertThat(start).isNotDone();
            reader.rollback();
        }

        assertThat(start.get(30, TimeUnit.SECONDS).access().obstacle()).isEmpty();
        assertThat(columns("task", "note")).isOne();
    }

    /** Each attempt waits 500 ms for the lock, and holds up the others that come after it: the pauses between attempts grow. */
    @Test
    void aHubThatWaitsForATableLeavesOthersMoreTimeAfterEachAttempt() throws Exception {
        hub(OLD, OLD_NOTES);
        var attempts = new LinkedBlockingQueue<Long>();
        Logger log = Logger.getLogger("dev.parley.store");
        Filter filter = line -> {
            if (line.getMessage().startsWith("the start of the hub waits for other transactions")) {
                attempts.add(System.nanoTime());
            }
            return true;
        };
        Filter before = log.getFilter();
        log.setFilter(filter);
        CompletableFuture<Database> start;
        try (Connection reader = schema.getConnection();
                Statement statement = reader.createStatement()) {
            reader.setAutoCommit(false);
            statement.execute("SELECT count(*) FROM task");
            start = CompletableFuture.supplyAsync(() -> hub(NEW));
            var times = new ArrayList<Long>();
            for (int i = 0; i < 4; i++) {
                times.add(attempts.take());
            }

            assertThat(Duration.ofNanos(times.getLast() - times.get(2)))
                    .as("the wait, and at least half of the third pause")
                    .isGreaterThanOrEqualTo(Duration.ofMillis(500 + 400));
            reader.rollback();
        } finally {
            log.setFilter(before);
        }
        assertThat(start.get(30, TimeUnit.SECONDS).access().obstacle()).isEmpty();
    }

    @Test
    void aDatabaseOfSqliteIsBroughtUpAtOnce(@TempDir Path directory) {
        try (Database database = Database.open(directory)) {
            database.migrate(OLD_NOTES);
        }
        try (Database database = Database.open(directory)) {
            database.migrate(NEW_NOTES);
            assertThat(database.access().level()).isEqualTo(Release.newest());
            long texts = database.read(session ->
                    session.number("SELECT count(*) FROM pragma_table_info('note') WHERE name IN ('text', 'author')"));
            assertThat(texts).isOne();
            assertThatThrownBy(() -> database.migrate(OLD_NOTES)).hasMessageContaining("written by a newer Parley");
        }
    }
}
