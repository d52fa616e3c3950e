package dev.parley.store.memories;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.spi.Memories;
import dev.parley.engine.spi.TaskLog.Subject;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.Storage;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.store.encryption.ValueCipher;
import dev.parley.store.spi.Quotas;
import dev.parley.testkit.SettableClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Memories in SQLite; {@link PostgresqlMemoriesTest} has them in PostgreSQL. */
class JdbcMemoriesTest {
    private static final Memories.Key ALICE = key("alice", "desk", "shared");
    private static final Memories.Key BOB = key("bob", "desk", "shared");

    @TempDir
    private Path directory;

    private final SettableClock clock = new SettableClock(Instant.parse("2026-06-01T00:00:00Z"));
    private Database database;
    private Memories memories;

    @BeforeEach
    void start() throws Exception {
        database = open();
        memories = new JdbcMemories(database, clock, EncryptionAtRest.PLAIN);
    }

    @AfterEach
    void stop() {
        database.close();
    }

    /** The database of this test. */
    Database open() throws Exception {
        return Database.open(directory);
    }

    @Test
    void aMemoryHasTheTextThatWasWrittenLast() {
        assertThat(memories.read(ALICE)).isEmpty();

        memories.write(ALICE, "one", memories.newestErasure(), () -> true);
        memories.write(ALICE, "two ✓", memories.newestErasure(), () -> true);

        assertThat(memories.read(ALICE)).contains("two ✓");
        memories.remove(ALICE);
        assertThat(memories.read(ALICE)).isEmpty();
    }

    @Test
    void callersAgentsAndContextsHaveMemoriesOfTheirOwn() {
        memories.write(ALICE, "of alice", memories.newestErasure(), () -> true);

        assertThat(memories.read(BOB)).isEmpty();
        assertThat(memories.read(key("alice", "other", "shared"))).isEmpty();
        assertThat(memories.read(key("alice", "desk", "else"))).isEmpty();
        assertThat(memories.read(new Memories.Key(new Scope("T2", "alice"), "desk", "shared")))
                .isEmpty();
    }

    @Test
    void aTextThatIsNotWantedAnyMoreIsNotWritten() {
        memories.write(ALICE, "kept", memories.newestErasure(), () -> true);

        assertThat(memories.write(ALICE, "late", memories.newestErasure(), () -> false))
                .isFalse();
        assertThat(memories.read(ALICE)).contains("kept");
    }

    @Test
    void aMemoryTakesTheBytesOfItsTextAndARowUntilItIsRemoved() {
        memories.write(ALICE, "x".repeat(1_000), memories.newestErasure(), () -> true);
        assertThat(bytes()).isEqualTo(Storage.ROW + 1_000);
        memories.write(ALICE, "x".repeat(10), memories.newestErasure(), () -> true);
        memories.write(BOB, "two ✓", memories.newestErasure(), () -> true);
        assertThat(bytes()).isEqualTo(2 * Storage.ROW + 10 + 7);

        memories.remove(ALICE);
        assertThat(bytes()).isEqualTo(Storage.ROW + 7);
        assertThat(memories.erase(new Subject("T1", "bob", null))).isEqualTo(1);
        assertThat(bytes()).isZero();
        memories.write(ALICE, "old", memories.newestErasure(), () -> true);
        clock.advance(Duration.ofMinutes(1));
        assertThat(memories.removeUnchanged(clock.instant(), 9)).isEqualTo(1);
        assertThat(bytes()).isZero();
    }

    @Test
    void aTextThatDoesNotFitIntoTheQuotaOfTheGroupIsRefused() {
        database.storage().limit(new Quotas(null, Map.of("T1", 2_000L)));
        memories.write(ALICE, "x".repeat(1_000), memories.newestErasure(), () -> true);

        assertThatThrownBy(() -> memories.write(BOB, "x".repeat(700), memories.newestErasure(), () -> true))
                .isInstanceOfSatisfying(
                        A2AException.class, full -> assertThat(full.error()).isEqualTo(A2AError.QUOTA_EXCEEDED));
        assertThat(memories.read(BOB)).isEmpty();
        memories.write(ALICE, "x".repeat(1_800), memories.newestErasure(), () -> true);
        assertThat(bytes()).isEqualTo(2_000);
        memories.write(
                new Memories.Key(new Scope("T2", "alice"), "desk", "shared"),
                "x".repeat(3_000),
                memories.newestErasure(),
                () -> true);
    }

    @Test
    void memoriesThatWereWrittenBeforeTheyWereCountedAreCountedByTheNextStart() {
        memories.write(ALICE, "x".repeat(1_000), memories.newestErasure(), () -> true);
        database.write(session -> session.update("DELETE FROM stored"));
        database.write(session -> {
            session.once("DROP TABLE memory_erasure");
            return session.update("UPDATE module_version SET version = 1 WHERE module = 'memories'");
        });

        var unused = new JdbcMemories(database, clock, EncryptionAtRest.PLAIN);

        assertThat(bytes()).isEqualTo(Storage.ROW + 1_000);
    }

    private long bytes() {
        Storage.Usage usage = database.storage().usage().get("T1");
        return usage == null ? 0 : usage.bytes().getOrDefault(Storage.Kind.MEMORIES, 0L);
    }

    @Test
    void memoriesThatWereNotWrittenForATimeAreRemovedTheOldestFirst() {
        for (int i = 0; i < 3; i++) {
            memories.write(key("alice", "desk", "c" + i), "text", memories.newestErasure(), () -> true);
            clock.advance(Duration.ofMinutes(1));
        }
        memories.write(key("alice", "desk", "c0"), "again", memories.newestErasure(), () -> true);

        assertThat(memories.removeUnchanged(clock.instant(), 1)).isEqualTo(1);

        assertThat(memories.read(key("alice", "desk", "c1"))).isEmpty();
        assertThat(memories.read(key("alice", "desk", "c2"))).isPresent();
        assertThat(memories.removeUnchanged(clock.instant(), 9)).isEqualTo(1);
        assertThat(memories.read(key("alice", "desk", "c0"))).contains("again");
    }

    @Test
    void aSubjectIsAPrincipalAContextOrBoth() {
        for (Memories.Key key : List.of(ALICE, BOB, key("alice", "desk", "else"), key("carol", "desk", "shared"))) {
            memories.write(key, "text", memories.newestErasure(), () -> true);
        }

        assertThat(memories.erase(new Subject("T1", "carol", "shared"))).isEqualTo(1);
        assertThat(memories.erase(new Subject("T1", null, "else"))).isEqualTo(1);
        assertThat(memories.erase(new Subject("T2", "alice", null))).isZero();
        assertThat(memories.erase(new Subject("T1", "alice", null))).isEqualTo(1);

        assertThat(memories.read(ALICE)).isEmpty();
        assertThat(memories.read(BOB)).isPresent();
    }

    @Test
    void memoriesAboutASubjectAreReadInPages() {
        for (Memories.Key key : List.of(ALICE, BOB, key("alice", "desk", "else"), key("alice", "cook", "shared"))) {
            memories.write(key, "text of " + key.owner().owner(), memories.newestErasure(), () -> true);
            clock.advance(Duration.ofMinutes(1));
        }
        var alice = new Subject("T1", "alice", null);

        List<Memories.Memory> first = memories.about(alice, null, 2);
        List<Memories.Memory> rest = memories.about(alice, first.getLast().key(), 2);

        assertThat(first)
                .extracting(Memories.Memory::key)
                .containsExactly(key("alice", "cook", "shared"), key("alice", "desk", "else"));
        assertThat(rest)
                .containsExactly(new Memories.Memory(ALICE, Instant.parse("2026-06-01T00:00:00Z"), "text of alice"));
        assertThat(memories.about(alice, ALICE, 2)).isEmpty();
        assertThat(memories.about(new Subject("T1", null, "shared"), null, 9)).hasSize(3);
        assertThat(memories.about(new Subject("T1", "alice", "shared"), null, 9))
                .hasSize(2);
        assertThat(memories.about(new Subject("T2", "alice", null), null, 9)).isEmpty();
    }

    @Test
    void aPageOfLargeMemoriesHasFewer() {
        for (int i = 0; i < 3; i++) {
            memories.write(key("alice", "desk", "c" + i), "x".repeat(3 << 20), memories.newestErasure(), () -> true);
        }

        assertThat(memories.about(new Subject("T1", "alice", null), null, 9)).hasSize(1);
    }

    @Test
    void aRequestThatCameBeforeAnErasureWritesNoMemoryOfTheSubjectAfterIt() {
        Memories.Key other = key("alice", "desk", "else");
        for (Subject subject : List.of(
                new Subject("T1", "alice", null),
                new Subject("T1", null, "shared"),
                new Subject("T1", "alice", "shared"))) {
            long begun = memories.newestErasure();
            memories.erase(subject);

            assertThat(memories.write(ALICE, "late", begun, () -> true))
                    .as(subject.toString())
                    .isFalse();
            assertThat(memories.write(BOB, "late", begun, () -> true)).isEqualTo(subject.principal() != null);
            assertThat(memories.write(other, "late", begun, () -> true)).isEqualTo(subject.contextId() != null);
            assertThat(memories.read(ALICE)).isEmpty();
        }
        assertThat(memories.write(ALICE, "new", memories.newestErasure(), () -> true))
                .isTrue();
    }

    @Test
    void erasuresHaveNoNamesAndAreForgottenButForTheNewest() {
        memories.erase(new Subject("T1", "alice", "tea-party"));
        clock.advance(Duration.ofDays(91));
        memories.erase(new Subject("T1", "bob", null));

        List<String> subjects = database.read(
                session -> session.list(row -> DatabaseSession.text(row, 1), "SELECT subject FROM memory_erasure"));
        assertThat(subjects).singleElement().asString().matches("[0-9a-f]{64}");
        assertThat(new JdbcMemories(database, clock, EncryptionAtRest.PLAIN).newestErasure())
                .isEqualTo(memories.newestErasure())
                .isEqualTo(2);
    }

    @Test
    void textsAreEncryptedIfTasksAre(@TempDir Path sealed) throws IOException {
        var atRest = new EncryptionAtRest(ValueCipher.of(List.of(ValueCipher.newKey())), true);
        try (Database other = Database.open(sealed)) {
            var there = new JdbcMemories(other, clock, atRest);
            there.write(ALICE, "a secret of Alice", there.newestErasure(), () -> true);

            assertThat(there.read(ALICE)).contains("a secret of Alice");
            try (var files = Files.list(sealed)) {
                for (Path file : files.toList()) {
                    assertThat(Files.readString(file, ISO_8859_1)).doesNotContain("secret of Alice");
                }
            }
        }
    }

    private static Memories.Key key(String owner, String agent, String contextId) {
        return new Memories.Key(new Scope("T1", owner), agent, contextId);
    }
}
