package dev.parley.store.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.parley.store.hubs.HubTable;
import dev.parley.store.hubs.HubTable.LivingHub;
import dev.parley.store.spi.Ending;
import dev.parley.store.spi.InUseException;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.Registration;
import dev.parley.store.spi.StoreException;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Hubs that share a schema of PostgreSQL: one works, the others wait for their turn. */
@Timeout(90)
class HubsOfOneDatabaseTest {
    private DataSource schema;
    private final Queue<String> waited = new ConcurrentLinkedQueue<>();
    private final List<Opening> openings = new ArrayList<>();

    /** A hub that opens the database on a thread of its own. */
    private final class Opening {
        final CompletableFuture<Database> opened = new CompletableFuture<>();
        final Thread thread;

        Opening(String version) {
            var registration = new Registration(version, () -> List.of("echo"), true, 0, waited::add);
            thread = Thread.ofPlatform().start(() -> {
                try {
                    opened.complete(Database.open(schema, connection -> connection, registration));
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
        assertThat(next.standing().hub()).isEqualTo(2);
    }

    @Test
    void aHubThatOthersHaveEndedWhileItWaitedRegistersAgain() throws SQLException {
        Database first = new Opening("1").database();
        waiting();

        execute("UPDATE hub SET ended_at = clock_timestamp() WHERE hub_no = 2");

        Eventually.holds(
                "it has another number",
                () -> hubs(first).stream().map(LivingHub::number).toList().equals(List.of(1L, 3L)));
        assertThat(first.standing().ending()).isEmpty();
    }

    @Test
    void aHubThatWorksAndWasEndedLeavesItsTurnToTheNextOne() throws SQLException {
        Database first = new Opening("1").database();
        var told = new CompletableFuture<Ending>();
        first.standing().onEnding(told::complete);
        Opening second = waiting();

        execute("UPDATE hub SET ended_at = clock_timestamp() WHERE hub_no = 1");

        assertThat(told.orTimeout(10, TimeUnit.SECONDS).join().cause()).isEqualTo(Ending.Cause.TAKEN_OVER);
        second.database();
        assertThatThrownBy(() -> first.write(session -> session.update("CREATE TABLE late (text TEXT)")))
                .isInstanceOf(StoreException.class);
        assertThat(first.standing().obstacle()).isPresent();
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
        Eventually.holds("three wait", () -> waited.size() == 3);
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
            assertThat(alone.standing().ending()).isEmpty();
        }
    }

    @Test
    void aDatabaseOfSqliteIsNotShared(@TempDir Path directory) {
        var shared = new Registration("1", List::of, true, 0, waited::add);

        assertThatThrownBy(() -> Database.open(directory, connection -> connection, shared))
                .isInstanceOf(NotOpenedException.class)
                .hasMessageContaining("--cluster")
                .hasMessageContaining("--database");
    }
}
