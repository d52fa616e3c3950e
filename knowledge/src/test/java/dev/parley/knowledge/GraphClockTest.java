package dev.parley.knowledge;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.Subscribe;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.journal.ChangeStore;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.Feed;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.testkit.SettableClock;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A clock that is wrong, at the start or for a while, neither repeats updates nor removes changes that readers need. */
@Timeout(60)
final class GraphClockTest {
    private static final CallContext ALICE = CallContext.of("alice", new Scope("group", "alice"));
    private static final String ALL = "subscription { knowledgeChanged { op } }";
    private static final Duration YEARS = Duration.ofDays(1_000);

    /** Old entries are looked for with each entry. */
    private static final ChangeStore.Keeping KEEPING =
            new ChangeStore.Keeping(1_000, Duration.ofDays(7), 1_000, Duration.ofDays(1), 1);

    @TempDir
    private Path directory;

    private final SettableClock clock = new SettableClock(Instant.parse("2026-01-05T10:00:00Z"));
    private Database database;
    private Graph graph;

    @BeforeEach
    void open() {
        open(clock);
    }

    private void open(InstantSource shown) {
        database = Database.open(directory);
        AuditTrail trail = AuditTrail.in(database, shown);
        graph = Graph.in(database, trail, shown, trail.steadyClock(), KEEPING);
    }

    @AfterEach
    void close() {
        graph.close();
        database.close();
    }

    private void restart() {
        close();
        open();
    }

    private UpdateResult add(String value, Map<String, Object> metadata) {
        UpdateResult result = graph.update(
                Update.of(Patch.add(Statement.of("ex:p1", "ex:status", Literal.of(value))))
                        .with(metadata),
                ALICE);
        graph.awaitSweep();
        return result;
    }

    /** Returns the id of the change. */
    private String add(String value) {
        add(value, Map.of());
        try (Feed<Change> changes = graph.subscribe(Subscribe.graphql(ALL, Map.of()), ALICE)) {
            return requireNonNull(changes.position());
        }
    }

    private UpdateResult addOnce(String key) {
        return add("of " + key, Map.of("idempotencyKey", key));
    }

    private long changesOnDisk() {
        return count("kg_change");
    }

    private long count(String table) {
        return database.read(session -> {
            try (ResultSet row = session.bind("SELECT count(*) FROM " + table).executeQuery()) {
                return row.next() ? row.getLong(1) : -1;
            }
        });
    }

    private List<String> valuesBehind(String changeId, int wanted) throws InterruptedException {
        var values = new ArrayList<String>();
        var subscription = Subscribe.graphql(ALL, Map.of()).with(Map.of("afterChangeId", changeId));
        try (Feed<Change> changes = graph.subscribe(subscription, ALICE)) {
            while (values.size() < wanted) {
                List<Change> news = requireNonNull(changes.next(Duration.ofSeconds(30)), "the end of the subscription");
                assertThat(news).as("changes within 30 s after " + values).isNotEmpty();
                news.forEach(change -> values.add(((Literal) change.statement().object()).lexical()));
            }
        }
        return values;
    }

    @Test
    void aRepeatableUpdateIsDoneOnceThoughTheClockJumpsAhead() {
        UpdateResult first = addOnce("k");
        clock.advance(YEARS);

        assertThat(addOnce("k")).isEqualTo(first);
        assertThat(changesOnDisk()).isOne();
    }

    @Test
    void aRepeatableUpdateIsDoneOnceThoughTheClockIsYearsAheadAtTheStart() {
        UpdateResult first = addOnce("k");
        clock.advance(YEARS);
        restart();

        assertThat(addOnce("k")).isEqualTo(first);
        assertThat(changesOnDisk()).isOne();
    }

    @Test
    void aRepeatableUpdateIsDoneOnceThoughTheClockIsPutBackAndForward() {
        UpdateResult first = addOnce("k");
        clock.advance(YEARS.negated());
        assertThat(addOnce("k")).isEqualTo(first);
        UpdateResult second = addOnce("made while the clock was behind");
        clock.advance(YEARS);

        assertThat(addOnce("k")).isEqualTo(first);
        assertThat(addOnce("made while the clock was behind")).isEqualTo(second);
        assertThat(changesOnDisk()).isEqualTo(2);
    }

    @Test
    void aKeyThatWasMadeByAClockAheadIsForgottenADayAfterTheClockWasPutRight() {
        clock.advance(YEARS);
        restart();
        addOnce("made ahead");
        clock.advance(YEARS.negated());
        restart();

        UpdateResult known = addOnce("made ahead");
        add("the first entry after the start");
        assertThat(known.affectedIds()).isNotEmpty();
        clock.advance(Duration.ofDays(1).plusMinutes(1));
        restart();
        add("the first entry a day later");

        assertThat(count("kg_key")).isZero();
    }

    @Test
    void aReaderThatComesBackMissesNothingThoughTheClockJumpedAhead() throws InterruptedException {
        String first = add("first");
        add("second");
        clock.advance(YEARS);
        add("third");

        assertThat(valuesBehind(first, 2)).containsExactly("second", "third");
    }

    @Test
    void aReaderThatComesBackMissesNothingThoughTheClockIsYearsAheadAtTheStart() throws InterruptedException {
        String first = add("first");
        add("second");
        clock.advance(YEARS);
        restart();
        add("third");

        assertThat(valuesBehind(first, 2)).containsExactly("second", "third");
    }

    @Test
    void aReaderThatComesBackMissesNothingThoughTheClockWasPutBackAndForward() throws InterruptedException {
        String first = add("first");
        clock.advance(YEARS.negated());
        add("second");
        clock.advance(YEARS);
        restart();
        add("third");
        add("fourth");

        assertThat(valuesBehind(first, 3)).containsExactly("second", "third", "fourth");
    }

    @Test
    void aQueryDoesNotTimeOutBecauseTheClockSteps() {
        add("first");
        close();
        open(new InstantSource() {
            @Override
            public Instant instant() {
                clock.advance(Duration.ofHours(2));
                return clock.instant();
            }
        });

        for (String query : List.of(
                "{ entities { nodes { statements { nodes { object { value } } } } } }",
                "{ statements { nodes { subject { statements { nodes { predicate } } } } } }")) {
            var answer = graph.query(Query.graphql(query, Map.of()), ALICE);

            assertThat(answer.metadata()).doesNotContainKey("errors");
            assertThat(answer.data()).isNotNull();
        }
    }
}
