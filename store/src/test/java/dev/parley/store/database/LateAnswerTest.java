package dev.parley.store.database;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.store.connection.HangWatch;
import dev.parley.store.spi.StoreException;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A database whose answer arrives in the moment in which works have waited for long enough. */
@Timeout(60)
final class LateAnswerTest {
    private static final Duration PATIENCE = Duration.ofMillis(200);

    private final CountDownLatch never = new CountDownLatch(1);

    private void last(Duration time) {
        try {
            assertThat(never.await(time.toMillis(), TimeUnit.MILLISECONDS)).isFalse();
        } catch (InterruptedException interruption) {
            Thread.currentThread().interrupt();
        }
    }

    private static int write(Database database, String sql) {
        try {
            return database.write(session -> session.update(sql));
        } catch (StoreException refused) {
            return 0;
        }
    }

    /** The writer is late once more while it says that the database answers again, and has nothing to write afterwards. */
    @Test
    void worksAreTakenAgainAfterAnAnswerThatWasLate() throws IOException {
        try (Database database = Database.open(PostgresqlServer.schema(), connection -> connection, PATIENCE)) {
            database.migrate("notes", List.of("CREATE TABLE note (n BIGINT)"));
            var changes = new AtomicInteger();
            database.onOutage(() -> {
                if (changes.incrementAndGet() == 2) {
                    last(PATIENCE.multipliedBy(3));
                }
            });
            write(database, "INSERT INTO note SELECT 1 FROM pg_sleep(5)");

            Eventually.holds("a write", () -> write(database, "INSERT INTO note (n) VALUES (2)") == 1);
            assertThat(changes).as("beginnings and ends of outages").hasValueGreaterThan(2);
            assertThat(database.outage()).isEmpty();
        }
    }

    @Test
    void theEndOfAnOperationWaitsForTheActionForALateOne() throws InterruptedException {
        var begun = new CountDownLatch(1);
        var isDone = new AtomicBoolean();
        var watch = new HangWatch(Duration.ofMillis(50), () -> {
            begun.countDown();
            last(Duration.ofMillis(200));
            isDone.set(true);
        });

        watch.begin();
        assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
        watch.end();

        assertThat(isDone).isTrue();
    }

    @Test
    void noActionForALateOperationRunsAfterItsEnd() {
        var isEnded = new AtomicBoolean();
        var late = new AtomicInteger();
        var watch = new HangWatch(Duration.ofMillis(1), () -> {
            if (isEnded.get()) {
                late.incrementAndGet();
            }
        });

        for (int i = 0; i < 200; i++) {
            isEnded.set(false);
            watch.begin();
            last(Duration.ofMillis(1));
            watch.end();
            isEnded.set(true);
            last(Duration.ofMillis(i % 3));
        }

        assertThat(late).hasValue(0);
    }
}
