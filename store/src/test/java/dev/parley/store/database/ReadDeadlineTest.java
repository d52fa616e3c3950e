package dev.parley.store.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.store.connection.PostgresqlUrl;
import dev.parley.store.connection.ServerIdentity;
import dev.parley.store.spi.StoreException;
import dev.parley.store.spi.Wrapper;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A read has one time limit for all that it waits for: a session of the pool, a new connection, a look at the server, and its statements.
 * The threads of these tests are platform threads, on which no interrupt ends a statement.
 */
@Timeout(60)
@Tag("heavy") // waits for time limits of reads
final class ReadDeadlineTest {
    private static final Duration LIMIT = Duration.ofSeconds(2);

    /** Most of the limit. */
    private static final Duration MOST = Duration.ofMillis(1_800);

    /** Longest time until a refusal, on a busy machine. A login has 10 s, a statement without an answer 20 s, a look at the server 2 s. */
    private static final Duration REFUSAL = Duration.ofMillis(3_400);

    private static final int READERS = 4;

    private SilentProxy proxy;
    private Database database;

    /** Steps between the login of a reader and its first statement. */
    private volatile Wrapper loggedIn = connection -> connection;

    @BeforeEach
    void open() throws IOException {
        proxy = new SilentProxy(PostgresqlServer.port());
        database = Database.open(
                new PostgresqlUrl("postgresql://postgres@127.0.0.1:" + proxy.port()
                        + "/postgres?socketTimeout=20&currentSchema=" + PostgresqlServer.emptySchema()),
                connection -> connection.isReadOnly() ? loggedIn.wrap(connection) : connection,
                LIMIT);
    }

    @AfterEach
    void close() throws IOException {
        proxy.close();
        database.close();
    }

    private static void waitFor(Duration time) {
        try {
            assertThat(new CountDownLatch(1).await(time.toMillis(), TimeUnit.MILLISECONDS))
                    .isFalse();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private static long endOfSession(DatabaseSession session) throws SQLException {
        return session.number("SELECT CAST(pg_terminate_backend(pg_backend_pid()) AS INTEGER)");
    }

    /** Has the next reads open connections: each read uses the session that was idle for the longest. */
    private void closeSessions() {
        for (int i = 0; i < READERS; i++) {
            assertThatThrownBy(() -> database.read(ReadDeadlineTest::endOfSession))
                    .isInstanceOf(StoreException.class);
        }
    }

    private static Duration timeUntilRefusal(Runnable read) {
        long begun = System.nanoTime();
        assertThatThrownBy(read::run).isInstanceOf(StoreException.class);
        return Duration.ofNanos(System.nanoTime() - begun);
    }

    private long answer() {
        return database.read(session -> session.number("SELECT 1"));
    }

    @Test
    void aReadOpensNoConnectionAfterItsTimeLimit() {
        closeSessions();
        proxy.hold();

        Duration time = timeUntilRefusal(() -> database.read(session -> {
            waitFor(LIMIT.plusMillis(200));
            return session.number("SELECT 1");
        }));

        assertThat(time).isLessThan(REFUSAL);
        proxy.release();
        assertThat(answer()).isOne();
    }

    @Test
    void aServerThatIsSilentDuringALoginEndsNoReadLate() {
        closeSessions();
        proxy.hold();

        assertThat(timeUntilRefusal(this::answer)).isLessThan(REFUSAL);

        proxy.release();
        assertThat(answer()).isOne();
    }

    @Test
    void aServerThatIsSilentAfterALoginEndsNoReadLate() {
        closeSessions();
        loggedIn = connection -> {
            proxy.hold();
            return connection;
        };

        assertThat(timeUntilRefusal(this::answer)).isLessThan(REFUSAL);

        loggedIn = connection -> connection;
        proxy.release();
        assertThat(answer()).isOne();
    }

    @Test
    void aSearchForTheServerEndsNoReadLate() {
        closeSessions();
        loggedIn = connection -> {
            proxy.hold(); // the writer does not answer
            waitFor(MOST);
            new ServerIdentity(1, "00000001").require(new ServerIdentity(1, "00000002"));
            return connection;
        };

        assertThat(timeUntilRefusal(this::answer)).isLessThan(REFUSAL);
    }

    @Test
    void aReadWithinAReadEndsInItsTime() {
        Duration time = timeUntilRefusal(() -> database.read(session -> {
            waitFor(MOST);
            return database.read(inner -> inner.list(row -> 1, "SELECT pg_sleep(15)"));
        }));

        assertThat(time).isLessThan(REFUSAL);
    }

    @Test
    void readsWithinReadsNeedNoSecondSession() {
        var begun = new CountDownLatch(READERS);

        List<CompletableFuture<Long>> reads = IntStream.range(0, READERS)
                .mapToObj(i -> CompletableFuture.supplyAsync(
                        () -> database.read(session -> {
                            begun.countDown();
                            awaitAll(begun);
                            return answer();
                        }),
                        Thread::startVirtualThread))
                .toList();

        assertThat(reads).allSatisfy(read -> assertThat(read.join()).isOne());
    }

    private static void awaitAll(CountDownLatch begun) {
        try {
            assertThat(begun.await(LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void aSnapshotThatHasWaitedForASessionHasTheRestOfItsTime() throws InterruptedException {
        Readers readers = database.readers(1);
        var borrowed = new CountDownLatch(1);
        var first = CompletableFuture.supplyAsync(() -> readers.snapshot(Duration.ofSeconds(30), session -> {
            borrowed.countDown();
            waitFor(MOST);
            return session.number("SELECT 1");
        }));
        borrowed.await();

        Duration time = timeUntilRefusal(
                () -> readers.snapshot(LIMIT, session -> session.list(row -> 1, "SELECT pg_sleep(15)")));

        assertThat(first.join()).isOne();
        assertThat(time).isLessThan(REFUSAL);
    }

    @Test
    void aSnapshotWithoutAConnectionEndsInTimeWhileTheServerIsSilent() {
        Readers readers = database.readers(1);
        assertThatThrownBy(() -> readers.snapshot(LIMIT, ReadDeadlineTest::endOfSession))
                .isInstanceOf(StoreException.class);
        proxy.hold();

        assertThat(timeUntilRefusal(() -> readers.snapshot(LIMIT, session -> session.number("SELECT 1"))))
                .isLessThan(REFUSAL);

        proxy.release();
        assertThat(readers.<Long>snapshot(LIMIT, session -> session.number("SELECT 1")))
                .isOne();
    }
}
