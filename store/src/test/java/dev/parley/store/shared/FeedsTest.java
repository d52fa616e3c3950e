package dev.parley.store.shared;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.store.database.Database;
import dev.parley.store.database.SharedSchema;
import dev.parley.testkit.Eventually;
import java.nio.file.Path;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Rows that several hubs add to one PostgreSQL database. */
@Timeout(90)
@Tag("heavy")
final class FeedsTest {
    private final SharedSchema schema = new SharedSchema();

    @Test
    void aHubLooksForRowsOfAnotherOneAfterAHintAndIfItIsLost() throws Exception {
        try (Database one = schema.shared();
                Database other = schema.shared()) {
            var looks = new LinkedBlockingQueue<Long>();
            other.access().feeds().follow("events", () -> looks.add(System.nanoTime()));

            // Without a hint there is a look with each renewal of the lease.
            assertThat(looks.poll(10, TimeUnit.SECONDS)).isNotNull();
            Eventually.holds("a hint leads to a look of its own, between two renewals", () -> {
                long renewed = looks.take();
                one.access().feeds().tell("events");
                Long next = looks.poll(10, TimeUnit.SECONDS);
                return next != null && next - renewed < TimeUnit.MILLISECONDS.toNanos(800);
            });
        }
    }

    @Test
    void aFeedThatIsOnlyHeardIsLookedAtWhenItsHubListensAgain() throws Exception {
        try (Database hub = schema.shared()) {
            var looks = new LinkedBlockingQueue<String>();
            hub.access().feeds().hear("events", () -> looks.add("look"));

            Eventually.holds("no look with each renewal", () -> looks.poll(2, TimeUnit.SECONDS) == null);
            Eventually.holds("a look after a cut of the connection that listens", () -> {
                schema.cut("UPDATE hub SET beat_at");
                return looks.poll(3, TimeUnit.SECONDS) != null;
            });
        }
    }

    @Test
    void aHintThatCouldNotBeSentIsSentWithTheNextRenewalOfTheLease() throws Exception {
        var fails = new AtomicInteger();
        try (Database one = schema.shared(sql -> {
                    if (sql.contains("pg_notify") && fails.getAndDecrement() > 0) {
                        throw new IllegalStateException("the hint cannot be sent");
                    }
                });
                Database other = schema.shared();
                Database third = schema.shared()) {
            var looks = new LinkedBlockingQueue<String>();
            other.access().feeds().hear("events", () -> looks.add("look"));
            Eventually.holds("the other hub listens", () -> {
                third.access().feeds().tell("events");
                return looks.poll(1, TimeUnit.SECONDS) != null;
            });
            looks.clear();

            fails.set(2); // a statement is prepared once for each connection
            one.access().feeds().tell("events");

            assertThat(looks.poll(10, TimeUnit.SECONDS)).isNotNull();
            assertThat(fails).as("attempts that failed").hasNonPositiveValue();
        }
    }

    @Test
    void aFailedLookIsRepeatedAndOwnHintsLeadToNone() throws Exception {
        try (Database hub = schema.shared()) {
            var looks = new LinkedBlockingQueue<String>();
            hub.access().feeds().follow("events", () -> {
                looks.add("look");
                throw new IllegalStateException("the rows cannot be read");
            });

            assertThat(looks.poll(10, TimeUnit.SECONDS)).isNotNull();
            assertThat(looks.poll(10, TimeUnit.SECONDS)).isNotNull();
            assertThat(hub.access().feeds().takes("feed " + hub.access().hub() + " events"))
                    .isTrue();
            assertThat(hub.access().feeds().takes("changed 1")).isFalse();
        }
    }

    @Test
    void aHubThatHasItsDatabaseAloneNeverLooks(@TempDir Path directory) {
        try (Database alone = Database.open(directory)) {
            assertThat(alone.access().feeds().isShared()).isFalse();
            alone.access().feeds().follow("events", () -> {
                throw new IllegalStateException("looked");
            });
            alone.access().feeds().renewed();
            alone.access().feeds().tell("events");
        }
    }
}
