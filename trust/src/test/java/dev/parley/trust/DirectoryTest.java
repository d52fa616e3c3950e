package dev.parley.trust;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.store.audit.AuditTrail;
import dev.parley.store.audit.Filter;
import dev.parley.store.database.Database;
import dev.parley.testkit.Eventually;
import dev.parley.testkit.SettableClock;
import dev.parley.trust.Directory.Actor;
import dev.parley.trust.Directory.NewKey;
import dev.parley.trust.tokens.Sessions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Groups, members and keys: made, found, changed, and on disk. */
final class DirectoryTest {
    private static final Actor ADMIN = new Actor("default", "admin", "192.0.2.1");

    private final SettableClock clock = new SettableClock(Instant.parse("2026-01-05T10:00:00Z"));

    @TempDir
    private Path data;

    private Database database;
    private AuditTrail audit;
    private Directory directory;

    @BeforeEach
    void open() {
        database = Database.open(data);
        audit = AuditTrail.in(database, clock);
        directory = Directory.in(database, audit, clock);
    }

    @AfterEach
    void close() {
        database.close();
    }

    private NewKey key(String group, String principal, String... scopes) {
        return directory.createKey(group, principal, List.of(scopes), null, ADMIN);
    }

    private void pass(Duration time) {
        clock.advance(time);
    }

    @Test
    void aKeyTellsWhoCallsAfterARestartToo() {
        NewKey made = key("T1", "alice", "tasks", "read");
        var alice = new Principal("T1", "alice", Set.of("read", "tasks"));
        assertThat(directory.byKey(made.secret())).isEqualTo(alice);
        assertThat(made.secret()).startsWith("parley_" + made.key().id() + "_");

        database.close();
        open();

        assertThat(directory.byKey(made.secret())).isEqualTo(alice);
        assertThat(directory.groups()).extracting(Directory.Group::id).containsExactly("T1");
        assertThat(directory.users("T1")).extracting(Directory.User::name).containsExactly("alice");
        assertThat(directory.keys(null)).containsExactly(made.key());
        assertThat(directory.keys("T2")).isEmpty();
    }

    @Test
    void theLastUseOfAKeyIsRememberedAndWrittenAtMostOnceAnHour() {
        NewKey made = key("T1", "alice");
        NewKey other = key("T1", "bob");
        assertThat(directory.lastUse(made.key().id())).isNull();

        assertThat(directory.byKey(made.secret() + "x")).isNull();
        assertThat(directory.lastUse(made.key().id())).isNull();
        Instant first = clock.instant();
        assertThat(directory.byKey(made.secret())).isNotNull();
        Eventually.asserted("the last use", () -> assertThat(written(made)).isEqualTo(first));
        pass(Duration.ofMinutes(59));
        assertThat(directory.byKey(made.secret())).isNotNull();
        assertThat(directory.lastUse(made.key().id())).isEqualTo(clock.instant());
        assertThat(directory.lastUse(other.key().id())).isNull();

        database.close();
        open();
        assertThat(directory.lastUse(made.key().id())).isEqualTo(first);
        pass(Duration.ofMinutes(1));
        assertThat(directory.byKey(made.secret())).isNotNull();
        Eventually.asserted("the last use", () -> assertThat(written(made)).isEqualTo(clock.instant()));

        directory.erase("T1", "alice");
        assertThat(directory.lastUse(made.key().id())).isNull();
    }

    /** The last use of a key on disk. */
    private @Nullable Instant written(NewKey key) {
        return Directory.in(database, audit, clock).lastUse(key.key().id());
    }

    @Test
    void anotherSecretOfTheSameIdIsNobodys() {
        NewKey made = key("T1", "alice");

        assertThat(directory.byKey(made.secret() + "0")).isNull();
        assertThat(directory.byKey("parley_" + made.key().id() + "_" + "0".repeat(48)))
                .isNull();
        assertThat(directory.byKey("parley_" + made.key().id())).isNull();
        assertThat(directory.byKey("")).isNull();
    }

    @Test
    void aRevokedKeyIsNobodysAtOnce() {
        NewKey made = key("T1", "alice");
        directory.revokeKey(made.key().id(), ADMIN);

        assertThat(directory.byKey(made.secret())).isNull();
        assertThat(directory.revokeKey(made.key().id(), ADMIN).revoked()).isEqualTo(clock.instant());
    }

    @Test
    void aKeyExpires() {
        Instant end = clock.instant().plusSeconds(60);
        NewKey made = directory.createKey("T1", "alice", List.of(), end, ADMIN);
        pass(Duration.ofSeconds(59));
        assertThat(directory.byKey(made.secret())).isNotNull();

        pass(Duration.ofSeconds(1));

        assertThat(directory.byKey(made.secret())).isNull();
        assertThatThrownBy(() -> directory.createKey("T1", "alice", List.of(), end, ADMIN))
                .hasMessage("expires: 2026-01-05T10:01:00Z (expected: a time to come)");
    }

    @Test
    void aRotatedKeyGoesOnForAWhileBesideItsSuccessor() {
        NewKey old = key("T1", "alice", "read");
        NewKey next = directory.rotateKey(old.key().id(), Duration.ofHours(1), ADMIN);

        assertThat(directory.byKey(old.secret())).isEqualTo(directory.byKey(next.secret()));
        assertThat(next.key().scopes()).containsExactly("read");
        pass(Duration.ofHours(1));
        assertThat(directory.byKey(old.secret())).isNull();
        assertThat(directory.byKey(next.secret())).isNotNull();
        assertThatThrownBy(() -> directory.rotateKey(old.key().id(), Duration.ZERO, ADMIN))
                .hasMessageContaining("was rotated to " + next.key().id());
    }

    @Test
    void whoIsShutOutHasNoKeyThatHelps() {
        NewKey alice = key("T1", "alice");
        directory.disableUser("T1", "alice", true, ADMIN);
        assertThat(directory.byKey(alice.secret())).isNull();
        directory.disableUser("T1", "alice", false, ADMIN);
        assertThat(directory.byKey(alice.secret())).isNotNull();

        directory.archiveGroup("T1", true, ADMIN);

        assertThat(directory.byKey(alice.secret())).isNull();
        assertThat(directory.isWelcome("T1", "alice")).isFalse();
    }

    @Test
    void whoIsShutOutStaysOutWhenTheNameIsErased() throws IOException {
        key("T1", "alice-liddell");
        directory.disableUser("T1", "alice-liddell", true, ADMIN);
        directory.erase("T1", "alice-liddell");
        audit.forget("T1", "alice-liddell");

        close();
        assertThat(Files.readString(data.resolve("parley.db"), StandardCharsets.ISO_8859_1))
                .doesNotContain("alice-liddell");
        open();
        assertThat(directory.isWelcome("T1", "alice-liddell")).isFalse();
        assertThat(directory.isWelcome("T2", "alice-liddell")).isTrue();

        assertThat(directory.byKey(key("T1", "alice-liddell").secret())).isNotNull();
        assertThat(directory.users("T1")).hasSize(1);
    }

    @Test
    void whoWasEnabledBeforeTheErasureIsSomebodyNew() {
        key("T1", "alice");
        directory.erase("T1", "alice");

        assertThat(directory.users("T1")).isEmpty();
        assertThat(directory.isWelcome("T1", "alice")).isTrue();
    }

    @Test
    void theFilesHoldNoKey() throws IOException {
        NewKey made = key("T1", "alice");
        String secret = made.secret().substring(made.secret().lastIndexOf('_') + 1);
        database.close();

        try (var files = Files.list(data)) {
            for (Path file : files.toList()) {
                assertThat(Files.readString(file, StandardCharsets.ISO_8859_1)).doesNotContain(secret);
            }
        }
        open();
    }

    @Test
    void anErasedUserHasNoSession() {
        Sessions sessions = directory.sessions(new byte[32]);
        var credential = new Sessions.Credential(
                Sessions.Kind.KEY_ID, key("T1", "alice").key().id());
        String id = sessions.begin("T1", "alice", credential, null, Map.of(), "192.0.2.1")
                .session()
                .id();
        String other = sessions.begin("T1", "bob", credential, null, Map.of(), "192.0.2.1")
                .session()
                .id();
        assertThat(sessions.find(id)).isNotNull();
        assertThat(sessions.find(other)).isNotNull();

        directory.erase("T1", "alice");

        assertThat(sessions.find(id)).isNull();
        assertThat(sessions.find(other)).isNotNull();
        pass(Duration.ofMinutes(1));
        assertThat(sessions.find(id)).isNull();
    }

    @Test
    void whatIsChangedIsInTheAudit() {
        NewKey made = key("T1", "alice");
        directory.rotateKey(made.key().id(), Duration.ZERO, ADMIN);
        directory.revokeKey(made.key().id(), ADMIN);

        assertThat(audit.rows(Filter.ALL, 0, 10))
                .extracting(row -> row.entry().actor() + " " + row.entry().action())
                .containsExactly(
                        "admin group.created",
                        "admin user.created",
                        "admin key.created",
                        "admin key.rotated",
                        "admin key.revoked");
        assertThat(audit.rows(Filter.ALL, 0, 10).toString()).doesNotContain(made.secret());
    }

    @Test
    void namesThatCannotBeAreMistakes() {
        assertThatThrownBy(() -> key("a group", "alice")).hasMessageStartingWith("group: a group (expected:");
        assertThatThrownBy(() -> key("T1", "anonymous")).hasMessageStartingWith("principal: anonymous (expected:");
        assertThatThrownBy(() -> key("T1", "alice", "a b")).hasMessageStartingWith("scope: a b (expected:");
        directory.createGroup("T1", ADMIN);
        assertThatThrownBy(() -> directory.createGroup("T1", ADMIN))
                .hasMessage("group \"T1\": exists already (expected: a new id)");
        assertThatThrownBy(() -> directory.revokeKey("none", ADMIN))
                .hasMessage("key: none (expected: one that there is)");
    }
}
