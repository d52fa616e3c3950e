package dev.parley.mesh.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.mesh.MessageType;
import dev.parley.mesh.hub.MessageAnswers.Answer;
import dev.parley.mesh.hub.MessageAnswers.Key;
import dev.parley.protocol.A2AException;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.store.database.PostgresqlSystem;
import dev.parley.store.database.SharedSchema;
import dev.parley.testkit.Eventually;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Parts of the mesh at two hubs that work with one PostgreSQL database. */
@Timeout(60)
@Tag("heavy")
final class SharedMeshTest {
    private static final long DEADLINE_SECONDS = 30;
    private static final Duration LIFETIME = Duration.ZERO;

    private final SharedSchema schema = new SharedSchema();
    private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
    private final List<Hub> hubs = new ArrayList<>();
    private Hub one;
    private Hub other;

    private record Hub(Database database, MessageAnswers answers, Durations durations) {
        Optional<Answer> claim(Key key) {
            return answers.claims().claim(key);
        }

        Answer keep(Key key, String fingerprint) {
            Instant now = Instant.ofEpochMilli(System.currentTimeMillis()); // to the millisecond, as it is kept
            var answer = new Answer(fingerprint, now, MessageType.RESPONSE, null, null);
            return answers.keep(key, answer, entry());
        }

        private static AuditEntry entry() {
            return new AuditEntry("team", "alice", Events.MESSAGE, "agent", "", "response", "", "", Map.of());
        }

        long stream() {
            return ((PostgresqlSystem) database.system()).stream();
        }

        long number(String sql) {
            return database.read(session -> session.number(sql));
        }
    }

    @BeforeEach
    void open() {
        one = hub();
        other = hub();
    }

    @AfterEach
    void close() {
        callers.close();
        hubs.forEach(hub -> hub.database().close());
    }

    private Hub hub() {
        Database database = schema.shared();
        AuditTrail audit = AuditTrail.in(database, InstantSource.system());
        schema.run("ALTER TABLE audit_part DROP CONSTRAINT IF EXISTS audit_part_pkey"); // of one chain
        var answers = new MessageAnswers(database, audit);
        var hub = new Hub(database, answers, new Durations(database, LIFETIME));
        hubs.add(hub);
        return hub;
    }

    private static Key key(int number) {
        return new Key("team", "alice", "message-" + number);
    }

    @Test
    void aMessageThatComesToBothHubsAtOnceIsHandledByOne() throws Exception {
        int messages = 50;
        var handled = new AtomicInteger();
        for (int i = 0; i < messages; i++) {
            Key key = key(i);
            var both = new CyclicBarrier(2);
            var answers = new ArrayList<CompletableFuture<Answer>>();
            for (Hub hub : List.of(one, other)) {
                answers.add(CompletableFuture.supplyAsync(() -> answer(hub, key, both, handled), callers));
            }
            Answer first = answers.getFirst().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
            assertThat(answers.getLast().get(DEADLINE_SECONDS, TimeUnit.SECONDS))
                    .isEqualTo(first);
        }

        assertThat(handled).hasValue(messages);
        assertThat(one.number("SELECT count(*) FROM audit")).isEqualTo(messages);
        assertThat(one.number("SELECT count(*) FROM one_claim")).isLessThan(messages);
    }

    private static Answer answer(Hub hub, Key key, CyclicBarrier both, AtomicInteger handled) {
        try {
            both.await(DEADLINE_SECONDS, TimeUnit.SECONDS);
        } catch (Exception impossible) {
            throw new IllegalStateException(impossible);
        }
        return hub.claim(key).orElseGet(() -> {
            handled.incrementAndGet();
            return hub.keep(key, "by " + hub.stream());
        });
    }

    @Test
    void aMessageThatAHubRefusesIsHandledByTheOther() {
        assertThat(one.claim(key(1))).isEmpty();
        CompletableFuture<Optional<Answer>> waiting = CompletableFuture.supplyAsync(() -> other.claim(key(1)), callers);
        assertThat(waiting).isNotDone();

        one.answers().claims().release(key(1));

        assertThat(waiting).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(Optional.empty());
        assertThat(one.number("SELECT claimed_by FROM one_claim")).isEqualTo(other.stream());
    }

    @Test
    void aMessageThatAHubRefusesWhileAnotherLooksAtItIsHandledByTheOther() throws Exception {
        assertThat(one.claim(key(1))).isEmpty();
        try (Connection holder = schema.connect();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute("SELECT pg_advisory_xact_lock(727543,"
                    + " hashtext(current_schema() || '/one_claim/team/alice/message-1'))");
            CompletableFuture<Optional<Answer>> waiting =
                    CompletableFuture.supplyAsync(() -> other.claim(key(1)), callers);

            one.answers().claims().release(key(1));
            one.keep(key(2), "after the release");
            holder.rollback();

            assertThat(waiting).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(Optional.empty());
        }
    }

    @Test
    void aMessageOfAHubThatHasEndedIsHandledByTheOther() {
        assertThat(one.claim(key(1))).isEmpty();
        CompletableFuture<Optional<Answer>> waiting = CompletableFuture.supplyAsync(() -> other.claim(key(1)), callers);

        schema.run("DELETE FROM stream WHERE stream_no = " + one.stream());

        assertThat(waiting).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(Optional.empty());
    }

    @Test
    void aMessageThatAPausedHubHasInATransactionDelaysNoOther() throws Exception {
        try (Connection holder = schema.connect();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute("SELECT pg_advisory_xact_lock(727543,"
                    + " hashtext(current_schema() || '/one_claim/team/alice/message-1'))");
            statement.execute("INSERT INTO one_claim VALUES ('team', 'alice', 'message-1', " + one.stream() + ", 1)");
            CompletableFuture<Optional<Answer>> waiting =
                    CompletableFuture.supplyAsync(() -> other.claim(key(1)), callers);

            for (int i = 2; i < 10; i++) {
                assertThat(other.claim(key(i))).isEmpty();
            }
            assertThat(waiting).isNotDone();
            holder.rollback();
            assertThat(waiting).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(Optional.empty());
        }
    }

    @Test
    void theWaitForAnotherHubHasALimit() {
        assertThat(one.claim(key(1))).isEmpty();
        try (Database third = schema.shared()) {
            var claims = new MessageClaims(third, Duration.ofSeconds(1));

            assertThatThrownBy(() -> claims.claim(key(1)))
                    .isInstanceOf(A2AException.class)
                    .hasMessageContaining("Another hub handles the message");
        }
    }

    @Test
    void theRemovalOfOldAnswersDoesNotWaitForAHubThatRemovesThem() throws Exception {
        one.keep(key(1), "old");
        one.keep(key(2), "old");
        schema.run("UPDATE one_answer SET at_ms = 1");
        try (Connection holder = schema.connect();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute("SELECT 1 FROM one_answer WHERE message_id = 'message-1' FOR UPDATE");

            CompletableFuture<Answer> kept = CompletableFuture.supplyAsync(() -> other.keep(key(3), "new"), callers);

            assertThat(kept).succeedsWithin(Duration.ofSeconds(10));
            assertThat(other.number("SELECT count(*) FROM one_answer")).isEqualTo(2);
            holder.rollback();
        }
    }

    @Test
    void durationsOfAllHubsCount() {
        one.durations().add("echo", "shout", Duration.ofMillis(100));
        other.durations().add("echo", "shout", Duration.ofMillis(300));

        for (Hub hub : hubs) {
            Eventually.holds(
                    "the median of both hubs",
                    () -> hub.durations().median("echo", "shout").equals(Optional.of(Duration.ofMillis(200))));
            assertThat(hub.durations().median("echo", "whisper")).isEmpty();
        }
    }

    @Test
    void durationsOfAHubThatHasEndedCount() {
        one.durations().add("echo", "shout", Duration.ofMillis(100));
        other.durations().add("echo", "shout", Duration.ofMillis(300));
        Eventually.holds("both are written", () -> one.number("SELECT count(*) FROM one_duration") == 2);
        schema.run("DELETE FROM stream WHERE stream_no = " + one.stream());

        Hub next = hub();
        next.durations().add("echo", "shout", Duration.ofMillis(500));

        Eventually.holds(
                "the median of three hubs",
                () -> next.durations().median("echo", "shout").equals(Optional.of(Duration.ofMillis(300))));
        assertThat(next.number("SELECT count(*) FROM one_duration WHERE hub_slot = 0"))
                .isOne();
    }
}
