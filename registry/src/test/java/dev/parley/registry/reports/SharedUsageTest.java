package dev.parley.registry.reports;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import dev.parley.store.database.Database;
import dev.parley.store.database.SharedSchema;
import dev.parley.testkit.SettableClock;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Measures of two hubs that work with one PostgreSQL database. */
@Timeout(90)
@Tag("heavy")
final class SharedUsageTest {
    private static final String GROUP = "blue";

    private final SettableClock clock = new SettableClock(Instant.parse("2027-01-01T12:00:00Z"));
    private final SharedSchema schema = new SharedSchema();
    private final List<Hub> hubs = new ArrayList<>();
    private Hub one;
    private Hub other;

    private record Hub(Database database, Usage usage) {
        void call(String caller, Duration time) {
            usage.called(
                    "echo",
                    new Operation.GetTask(null, "t", null),
                    CallContext.of(caller, new CallContext.Scope(GROUP, caller)),
                    time.toNanos(),
                    null);
        }

        void call(String caller) {
            call(caller, Duration.ofMillis(1));
        }

        void close() {
            usage.close();
            database.close();
        }
    }

    @BeforeEach
    void open() {
        one = hub();
        other = hub();
    }

    @AfterEach
    void close() {
        hubs.forEach(Hub::close);
    }

    private Hub hub() {
        Database database = schema.shared();
        var hub = new Hub(database, new Usage(database, clock));
        hubs.add(hub);
        return hub;
    }

    /** The measures of callers in all hours, as a hub reports them. */
    private Map<String, Measures> measures(Hub hub) {
        clock.advance(Duration.ofSeconds(1)); // hubs write for reports once a second
        var measures = new TreeMap<String, Measures>();
        hub.usage()
                .read(
                        Instant.EPOCH,
                        clock.instant().plusSeconds(1),
                        GROUP,
                        row -> measures.computeIfAbsent(row.key().caller(), any -> new Measures())
                                .add(row.measures()));
        return measures;
    }

    private long calls(Hub hub, String caller) {
        return measures(hub).getOrDefault(caller, new Measures()).sum(Measures.CALLS.prefix());
    }

    @Test
    void aReportAddsUpTheCallsOfAllHubsUntilItIsMade() {
        for (int i = 0; i < 10; i++) {
            one.call("alice");
            other.call("alice", Duration.ofMillis(100));
            other.call("bob");
            assertThat(calls(i % 2 == 0 ? one : other, "alice")).isEqualTo(2 * i + 2);
        }

        assertThat(calls(one, "bob")).isEqualTo(10);
        assertThat(requireNonNull(measures(one).get("alice")).millis(Measures.CALLS, 0.5))
                .isLessThan(2);
        assertThat(requireNonNull(measures(one).get("alice")).millis(Measures.CALLS, 0.95))
                .isBetween(90.0, 110.0);
    }

    @Test
    void callsOfAHubThatHasEndedStayInTheReport() {
        one.call("alice");
        other.call("alice");
        hubs.remove(other);
        other.close();

        Hub third = hub();
        third.call("alice");

        assertThat(calls(one, "alice")).isEqualTo(3);
    }

    @Test
    void anErasedCallerIsForgottenByAllHubs() {
        one.call("alice");
        other.call("alice");
        assertThat(calls(one, "alice")).isEqualTo(2);
        other.call("alice");

        one.usage().erase(GROUP, "alice");

        other.call("bob");
        assertThat(measures(other)).hasSize(2).doesNotContainKey("alice");
        assertThat(measures(one).entrySet().stream()
                        .filter(row -> row.getKey().startsWith("erased-"))
                        .mapToLong(row -> row.getValue().sum(Measures.CALLS.prefix()))
                        .sum())
                .isEqualTo(3);
        schema.run("UPDATE report_erasure SET begun_ms = begun_ms - 660000");
        assertThat(calls(one, "bob")).isOne();
        long left = one.database().read(session -> session.number("SELECT count(*) FROM report_erasure"));
        assertThat(left).isZero();
    }

    @Test
    void aCallerIsForgottenByAHubThatHearsOfTheErasureLater() {
        other.call("alice");
        other.usage().write();
        other.call("alice");

        // As when the barrier has failed: the rows are renamed first.
        schema.run("INSERT INTO report_erasure (caller_hash, pseudonym, begun_ms) VALUES ('"
                + HubSlots.hash(GROUP, "alice") + "', 'erased-1', extract(epoch FROM clock_timestamp()) * 1000)");
        schema.run("UPDATE report_hour SET caller = 'erased-1'");
        boolean isSeen = new HubSlots(one.database(), clock).gather();

        assertThat(isSeen).isTrue();
        assertThat(measures(one)).containsOnlyKeys("erased-1");
        assertThat(calls(one, "erased-1")).isEqualTo(2);

        other.call("alice"); // after it has been forgotten
        assertThat(measures(one)).containsOnlyKeys("erased-1");
        assertThat(calls(one, "erased-1")).isEqualTo(3);
    }

    @Test
    void callsDuringAnErasureNeitherStopItNorAreLost() {
        one.call("alice");
        other.call("alice");
        assertThat(calls(one, "alice")).isEqualTo(2);
        var slots = new HubSlots(one.database(), clock);

        int unused = slots.erase(GROUP, "alice", "erased-1", pseudonym -> {
            one.call("alice");
            other.call("alice");
            one.usage().write();
            other.usage().write();
            return one.usage().rename(GROUP, "alice", pseudonym);
        });

        assertThat(measures(one)).containsOnlyKeys("erased-1");
        assertThat(calls(other, "erased-1")).isEqualTo(4);
    }

    @Test
    void reportsOfOneSecondHaveTheHubsWriteOnce() {
        String numbers = "SELECT coalesce(sum(n), 0) FROM epoch";
        var slots = new HubSlots(one.database(), clock);
        long before = one.database().read(session -> session.number(numbers));

        assertThat(slots.gather()).isTrue();
        assertThat(slots.gather()).isTrue();
        long after = one.database().read(session -> session.number(numbers));
        assertThat(after).isEqualTo(before + 1);

        clock.advance(Duration.ofSeconds(1));
        assertThat(slots.gather()).isTrue();
        long later = one.database().read(session -> session.number(numbers));
        assertThat(later).isEqualTo(before + 2);
    }

    @Test
    void aReportIsAnsweredWhileNothingCanBeWritten() {
        one.call("alice");
        assertThat(calls(one, "alice")).isOne();
        schema.run("ALTER TABLE epoch RENAME TO away");
        try {
            assertThat(calls(one, "alice")).isOne();
        } finally {
            schema.run("ALTER TABLE away RENAME TO epoch");
        }
        other.call("alice");
        assertThat(calls(one, "alice")).isEqualTo(2);
    }

    @Test
    void aHubWhoseRowsAreLockedDelaysAReportBriefly() throws SQLException {
        one.call("alice");
        assertThat(calls(one, "alice")).isOne();
        other.call("alice");
        try (Connection operator = schema.connect();
                Statement statement = operator.createStatement()) {
            operator.setAutoCommit(false);
            statement.execute("LOCK TABLE report_hour IN SHARE MODE");

            boolean isSeen = new HubSlots(one.database(), clock).gather();

            assertThat(isSeen).isTrue();
            operator.rollback();
        }
        other.usage().write();
        assertThat(calls(one, "alice")).isEqualTo(2);
    }
}
