package dev.parley.store.database;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.parley.store.hubs.HubTable;
import dev.parley.store.hubs.HubTable.LivingHub;
import dev.parley.store.spi.Ending;
import dev.parley.store.spi.InUseException;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.OutageException;
import dev.parley.store.spi.Registration;
import dev.parley.store.spi.Registration.Sharing;
import dev.parley.store.spi.StoreException;
import dev.parley.store.spi.Wrapper;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Hubs that share a schema of PostgreSQL: one works, the others wait for their turn. */
@Timeout(90)
@Tag("heavy")
class HubsOfOneDatabaseTest {
    private DataSource schema;
    private final Queue<String> waited = new ConcurrentLinkedQueue<>();
    private final List<Opening> openings = new ArrayList<>();

    /** A hub that opens the database on a thread of its own. */
    private final class Opening {
        final CompletableFuture<Database> opened = new CompletableFuture<>();
        final Thread thread;

        Opening(String version) {
            this(version, connection -> connection);
        }

        Opening(String version, Wrapper wrapper) {
            var registration = new Registration(version, () -> List.of("echo"), Sharing.IN_TURNS, 0, waited::add);
            thread = Thread.ofPlatform().start(() -> {
                try {
                    opened.complete(Database.open(schema, wrapper, registration));
                } catch (RuntimeException refused) {
                    opened.completeExceptionally(refused);
                }
            });
            openings.add(this);
        }

        Database database() {
            return opened.orTimeout(60, TimeUnit.SECONDS).join();
        }
    }

    @BeforeEach
    void open() throws IOException {
        schema = PostgresqlServer.schema();
    }

    @AfterEach
    void close() throws InterruptedException {
        for (Opening opening : openings) {
            opening.thread.interrupt();
            opening.thread.join();
            if (opening.opened.isDone() && !opening.opened.isCompletedExceptionally()) {
                opening.opened.join().close();
            }
        }
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = schema.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private long number(String sql) {
        try (Connection connection = schema.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    /** Opens a connection, and a transaction of it that has run a statement, whose locks last until it is closed. */
    private Connection holding(String sql) throws SQLException {
        Connection holder = schema.getConnection();
        holder.setAutoCommit(false);
        try (Statement statement = holder.createStatement()) {
            statement.execute(sql);
        }
        return holder;
    }

    private static boolean isObstructed(Database database) {
        return database.access().obstacle().isPresent();
    }

    private static List<LivingHub> hubs(Database database) {
        return HubTable.living(database);
    }

    private Opening waiting() {
        int before = waited.size();
        var waiting = new Opening("2");
        Eventually.holds("the second hub waits", () -> waited.size() > before);
        return waiting;
    }

    @Test
    void theHubThatWaitsBeginsWhenTheOtherIsClosed() {
        Database first = new Opening("1").database();
        first.write(session -> session.update("CREATE TABLE note (text TEXT)"));
        first.write(session -> session.update("INSERT INTO note VALUES ('kept')"));
        Opening second = waiting();

        assertThat(waited).singleElement().asString().endsWith("(number 1)");
        assertThat(hubs(first))
                .extracting(LivingHub::number, LivingHub::version, LivingHub::isWorking)
                .containsExactly(tuple(1L, "1", true), tuple(2L, "2", false));
        assertThat(second.opened).isNotDone();
        first.close();

        Database next = second.database();
        long notes = next.read(session -> session.number("SELECT count(*) FROM note"));
        assertThat(notes).isOne();
        assertThat(hubs(next)).extracting(LivingHub::isWorking).containsExactly(true);
        assertThat(next.access().hub()).isEqualTo(2);
    }

    @Test
    void aHubThatOthersHaveEndedWhileItWaitedRegistersAgain() throws SQLException {
        Database first = new Opening("1").database();
        waiting();

        execute("UPDATE hub SET ended_at = clock_timestamp() WHERE hub_no = 2");

        Eventually.holds(
                "it has another number",
                () -> hubs(first).stream().map(LivingHub::number).toList().equals(List.of(1L, 3L)));
        assertThat(first.access().ending()).isEmpty();
    }

    @Test
    void aHubThatWorksAndWasEndedLeavesItsTurnToTheNextOne() throws SQLException {
        Database first = new Opening("1").database();
        var told = new CompletableFuture<Ending>();
        first.access().onEnding(told::complete);
        Opening second = waiting();

        execute("UPDATE hub SET ended_at = clock_timestamp() WHERE hub_no = 1");

        assertThat(told.orTimeout(10, TimeUnit.SECONDS).join().cause()).isEqualTo(Ending.Cause.TAKEN_OVER);
        second.database();
        assertThatThrownBy(() -> first.write(session -> session.update("CREATE TABLE late (text TEXT)")))
                .isInstanceOf(StoreException.class);
        assertThat(first.access().obstacle()).isPresent();
    }

    @Test
    void anInterruptEndsTheWaitAndTheRow() {
        Database first = new Opening("1").database();
        Opening second = waiting();

        second.thread.interrupt();

        assertThatThrownBy(second::database)
                .isInstanceOf(CompletionException.class)
                .hasMessageContaining("stopped while it waited");
        assertThat(hubs(first)).extracting(LivingHub::number).containsExactly(1L);
    }

    @Test
    void ofHubsThatOpenAnEmptySchemaAtOnceOneWorks() {
        for (int i = 0; i < 4; i++) {
            new Opening(Integer.toString(i));
        }
        CompletableFuture.anyOf(openings.stream().map(opening -> opening.opened).toArray(CompletableFuture[]::new))
                .orTimeout(60, TimeUnit.SECONDS)
                .join();
        Eventually.holds("three wait", () -> waited.size() >= 3);
        Opening working = openings.stream()
                .filter(opening -> opening.opened.isDone())
                .findFirst()
                .orElseThrow();

        assertThat(hubs(working.database()))
                .hasSize(4)
                .filteredOn(LivingHub::isWorking)
                .hasSize(1);
    }

    @Test
    void hubsThatShareAndHubsThatDoNotExcludeEachOther() {
        Opening sharing = new Opening("1");
        sharing.database();
        assertThatThrownBy(() -> Database.open(schema))
                .isInstanceOf(InUseException.class)
                .hasMessageContaining("in use by another hub, ")
                .hasMessageContaining("--cluster");
        sharing.database().close();

        try (Database alone = Database.open(schema)) {
            assertThatThrownBy(new Opening("2")::database)
                    .hasCauseInstanceOf(InUseException.class)
                    .hasMessageContaining("in use by another hub, ");
            assertThat(alone.access().ending()).isEmpty();
        }
    }

    @Test
    void aHubThatIsNotSeenAnyMoreStaysUncertainUntilItLearnsOfItsEnd() throws SQLException {
        Database first = new Opening("1").database();
        try (Connection hangs = holding("SELECT 1 FROM hub WHERE hub_no = 1 FOR UPDATE")) {
            Eventually.holds("the hub is uncertain", () -> isObstructed(first));
            try (Connection slow = holding("LOCK TABLE stream IN ACCESS EXCLUSIVE MODE");
                    Statement end = hangs.createStatement()) {
                end.execute("UPDATE hub SET ended_at = clock_timestamp() WHERE hub_no = 1");
                hangs.commit();
                Eventually.holds("the hub looks for its server", () -> {
                    assertThat(isObstructed(first)).isTrue();
                    return number("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'stream'::regclass")
                            > 0;
                });
                assertThat(isObstructed(first)).isTrue();
            }
            Eventually.holds("the hub knows", () -> {
                assertThat(isObstructed(first)).isTrue();
                return first.access().ending().isPresent();
            });
        }
    }

    @Test
    void aHubWhoseLeaseHangsAnswersNothingUntilItIsRenewed() throws SQLException {
        Database first = new Opening("1").database();
        try (Connection hangs = holding("SELECT 1 FROM hub WHERE hub_no = 1 FOR UPDATE")) {
            Eventually.holds("the hub is uncertain", () -> isObstructed(first));
            assertThatThrownBy(() -> first.read(session -> session.number("SELECT 1")))
                    .isInstanceOf(OutageException.class);
        }
        Eventually.holds("the lease is renewed", () -> !isObstructed(first));
        assertThat(first.access().ending()).isEmpty();
    }

    @Test
    void aCommitWithoutAnAnswerIsMadeOnceByAHubThatShares() throws SQLException {
        var writer = new AtomicReference<@Nullable Connection>();
        Database first = new Opening("1", connection -> {
                    if (!connection.isReadOnly()) {
                        writer.set(connection);
                    }
                    return connection;
                })
                .database();
        first.write(session -> {
            session.once("CREATE TABLE note (text TEXT)");
            session.once("CREATE FUNCTION hang() RETURNS trigger LANGUAGE plpgsql AS"
                    + " 'BEGIN PERFORM pg_advisory_xact_lock(42, 42); RETURN NULL; END'");
            session.once("CREATE CONSTRAINT TRIGGER hangs AFTER INSERT ON note DEFERRABLE INITIALLY DEFERRED"
                    + " FOR EACH ROW EXECUTE FUNCTION hang()");
            return session;
        });
        CompletableFuture<Integer> written;
        try (Connection holder = holding("SELECT pg_advisory_xact_lock(42, 42)")) {
            written = CompletableFuture.supplyAsync(
                    () -> first.write(session -> session.update("INSERT INTO note VALUES ('once')")));
            String hanging =
                    "SELECT max(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = 42 AND NOT granted";
            Eventually.holds("the commit hangs", () -> number(hanging) > 0);
            long lost = number(hanging);
            requireNonNull(writer.get()).abort(Runnable::run);
            Eventually.holds("another connection commits", () -> number(hanging) > 0 && number(hanging) != lost);
            assertThat(number("SELECT count(*) FROM pg_stat_activity WHERE pid = " + lost))
                    .as("the connection of the lost commit")
                    .isZero();
            holder.rollback();
        }
        assertThat(written.orTimeout(30, TimeUnit.SECONDS).join()).isOne();
        assertThat(number("SELECT count(*) FROM note")).isOne();
        assertThat(first.access().ending()).isEmpty();
    }

    @Test
    void aStartThatFailsAfterItHasTakenTheDatabaseLeavesItToTheNextOne() {
        Wrapper withoutReaders = connection -> {
            if (connection.isReadOnly()) {
                throw new SQLException("no more connections", "53300");
            }
            return connection;
        };
        for (boolean isShared : List.of(false, true)) {
            var registration =
                    new Registration("1", List::of, isShared ? Sharing.IN_TURNS : Sharing.NONE, 0, waited::add);
            assertThatThrownBy(() -> Database.open(schema, withoutReaders, registration))
                    .hasMessageContaining("no more connections");
            Eventually.holds(
                    "nobody has the lock of the database",
                    () -> number("SELECT count(*)" + PostgresqlSystem.held(PostgresqlSystem.LOCK, "")) == 0);
        }
    }

    @Test
    void aHubWaitsForOneThatStartsWithoutHoldingAStatement() throws SQLException {
        Database first = new Opening("1").database();
        Opening second = waiting();
        try (Connection starts = holding(PostgresqlSystem.START_ALONE)) {
            assertThat(starts.isClosed()).isFalse();
            first.close();
            Opening third = new Opening("3");
            Eventually.holds(
                    "the lease of the second hub is renewed meanwhile",
                    () -> number("SELECT count(*) FROM hub WHERE hub_no = 2 AND beat_at > begun_at + interval '2 s'")
                            > 0);
            assertThat(number("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 727541 AND NOT"
                            + " granted"))
                    .isZero();
            assertThat(third.opened).isNotDone();
            assertThat(second.opened).isNotDone();
            starts.rollback();
            CompletableFuture.anyOf(second.opened, third.opened)
                    .orTimeout(60, TimeUnit.SECONDS)
                    .join();
        }
    }

    @Test
    void aTakeoverWithoutAnAnswerIsMadeAnew() {
        var isCut = new AtomicBoolean();
        Wrapper cutsOnce = connection -> (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    Object result;
                    try {
                        result = method.invoke(connection, arguments);
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                    boolean isTakeover = method.getName().equals("commit") && number("SELECT count(*) FROM stream") > 0;
                    if (isTakeover && isCut.compareAndSet(false, true)) {
                        connection.abort(Runnable::run);
                        throw new SQLException("the connection was cut", "08006");
                    }
                    return result;
                });

        Database database = new Opening("1", cutsOnce).database();

        assertThat(isCut).isTrue();
        database.write(session -> session.update("CREATE TABLE note (text TEXT)"));
        assertThat(number("SELECT count(*) FROM stream")).isOne();
        assertThat(number("SELECT count(*) FROM stream_end")).isOne();
        assertThat(database.access().ending()).isEmpty();
    }

    @Test
    void aHubThatWaitsOutlivesAServerWithoutFreeConnections() throws SQLException {
        Database first = new Opening("1").database();
        var refusals = new AtomicInteger();
        var second = new Opening("2", connection -> {
            if (!connection.isReadOnly() && refusals.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                throw new SQLException("too many connections", "53300");
            }
            return connection;
        });
        Eventually.holds("the second hub waits", () -> !waited.isEmpty());
        refusals.set(3);

        execute("UPDATE hub SET ended_at = clock_timestamp() WHERE hub_no = 2");
        Eventually.holds("it has tried to register again", () -> refusals.get() == 0);
        first.close();

        assertThat(second.database().access().hub()).isGreaterThan(2);
    }

    @Test
    void anEndBeforeTheFirstAnswerIsNotMissed() {
        var opened = new Opening("1", connection -> {
            if (connection.isReadOnly() && number("SELECT count(*) FROM stream") > 0) {
                try {
                    execute("UPDATE hub SET ended_at = clock_timestamp() WHERE ended_at IS NULL");
                } catch (SQLException failure) {
                    throw new IllegalStateException(failure);
                }
                Eventually.holds(
                        "the hub has noticed",
                        () -> number("SELECT count(*)" + PostgresqlSystem.held(PostgresqlSystem.HUB_LOCK, "1::bigint"))
                                == 1); // that of its writer
            }
            return connection;
        });

        assertThat(opened.database().access().ending())
                .get()
                .extracting(Ending::cause)
                .isEqualTo(Ending.Cause.TAKEN_OVER);
    }

    @Test
    void aDatabaseOfSqliteIsNotShared(@TempDir Path directory) {
        var shared = new Registration("1", List::of, Sharing.IN_TURNS, 0, waited::add);

        assertThatThrownBy(() -> Database.open(directory, connection -> connection, shared))
                .isInstanceOf(NotOpenedException.class)
                .hasMessageContaining("--cluster")
                .hasMessageContaining("--database");
    }
}
