package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.testkit.Eventually;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Audit rows of calls wait for the writer in the queue of all works: a group that causes many takes no place from others. */
@Timeout(120)
@Tag("heavy")
final class AuditNotesTest {
    private static final int MANY = 70_000;

    /** Works that may wait for the writer, in all. */
    private static final int PLACES = 65_536;

    @TempDir
    private Path directory;

    private final Queue<String> lines = new ConcurrentLinkedQueue<>();
    private final Logger log = Logger.getLogger("dev.parley.store");
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord line) {
            lines.add(line.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    @BeforeEach
    void listen() {
        log.addHandler(handler);
    }

    @AfterEach
    void leave() {
        log.removeHandler(handler);
    }

    private static AuditEntry answered(String group) {
        return new AuditEntry(group, "mallory", "call.answered", "echo", "", "ok", "192.0.2.1", "", Map.of());
    }

    @Test
    void rowsOfAGroupThatCallsMuchTakeNoPlaceFromThoseOfAnotherWhileTheDiskHangs() throws Exception {
        try (Database database = Database.open(directory)) {
            AuditTrail audit = AuditTrail.in(database, InstantSource.system());
            var disk = new CountDownLatch(1);
            var hanging = new CountDownLatch(1);
            CompletableFuture<Boolean> stuck = CompletableFuture.supplyAsync(() -> database.write(session -> {
                hanging.countDown();
                return await(disk);
            }));
            assertThat(await(hanging)).isTrue();

            for (int i = 0; i < MANY; i++) {
                audit.note(answered("hostile"));
            }
            for (int i = 0; i < 100; i++) {
                audit.note(answered("ordinary"));
            }
            CompletableFuture<Integer> written = CompletableFuture.supplyAsync(() -> write(database));
            disk.countDown();

            assertThat(stuck.get(60, TimeUnit.SECONDS)).isTrue();
            assertThat(written.get(60, TimeUnit.SECONDS)).isZero();
            assertThat(rows(database, "ordinary")).isEqualTo(100);
            Eventually.asserted("all rows are on disk or reported as lost", () -> {
                write(database); // the end of a group says how many are lost
                assertThat(rows(database, "hostile") + lost()).isEqualTo(MANY);
            });
            assertThat(rows(database, "hostile")).isLessThanOrEqualTo(PLACES * 7 / 8);
            assertThat(lines).as("log").hasSizeLessThan(1_000);
            assertThat(audit.verify().broken()).isNull();
        }
    }

    private static int write(Database database) {
        return database.write("ordinary", session -> session.update("DELETE FROM module_version WHERE 0"));
    }

    private static boolean await(CountDownLatch latch) {
        try {
            return latch.await(60, TimeUnit.SECONDS);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static long rows(Database database, String group) {
        return database.read(session -> session.number("SELECT count(*) FROM audit WHERE group_id = ?", group));
    }

    /** Rows that the log reports as lost. */
    private long lost() {
        return lines.stream()
                .filter(line -> line.contains("until now: "))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(": ") + 2)))
                .sum();
    }
}
