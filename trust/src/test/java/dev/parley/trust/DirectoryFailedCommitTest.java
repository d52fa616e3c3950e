package dev.parley.trust;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.store.Faults;
import dev.parley.store.Faults.Fault;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.testkit.Eventually;
import dev.parley.testkit.SettableClock;
import dev.parley.trust.Directory.Actor;
import dev.parley.trust.Directory.NewKey;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Commits that fail, of which SQLite has done nothing or all: the directory in memory is then the one in the database, as
 * a directory that has just been opened reads it.
 */
@Timeout(120)
final class DirectoryFailedCommitTest {
    private static final Actor ADMIN = new Actor("default", "admin", "192.0.2.1");

    private final SettableClock clock = new SettableClock(Instant.parse("2026-01-05T10:00:00Z"));
    private final Faults faults = new Faults();

    @TempDir
    private Path data;

    private Database database;
    private AuditTrail audit;
    private Directory directory;

    @BeforeEach
    void open() {
        database = Database.open(data, faults::wrap);
        audit = AuditTrail.in(database, clock);
        directory = Directory.in(database, audit, clock);
    }

    @AfterEach
    void close() {
        faults.pass();
        database.close();
    }

    private NewKey key(String principal) {
        return directory.createKey("T1", principal, List.of("read"), null, ADMIN);
    }

    /** Returns the directory as it is in the database after the failure. */
    private Directory commitFails(boolean durable, Runnable change) {
        faults.commits(Fault.IO, durable);
        assertThatThrownBy(change::run).isInstanceOf(RuntimeException.class);
        faults.pass();
        Eventually.holds("the outage ends", () -> database.outage().isEmpty());
        database.write(session -> session); // after the reading of what the failed commit has left
        Directory fresh = Directory.in(database, audit, clock);
        assertThat(directory.groups()).isEqualTo(fresh.groups());
        assertThat(directory.users(null)).isEqualTo(fresh.users(null));
        assertThat(directory.keys(null)).isEqualTo(fresh.keys(null));
        return fresh;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void groupsAreThoseOfTheDatabase(boolean durable) {
        commitFails(durable, () -> directory.createGroup("T1", ADMIN));
        assertThat(directory.groups()).hasSize(durable ? 1 : 0);
        if (!durable) {
            directory.createGroup("T1", ADMIN);
        }

        commitFails(durable, () -> directory.archiveGroup("T1", true, ADMIN));

        assertThat(directory.isWelcome("T1", "alice")).isEqualTo(!durable);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void membersAreThoseOfTheDatabase(boolean durable) {
        directory.createGroup("T1", ADMIN);
        commitFails(durable, () -> directory.createUser("T1", "alice", ADMIN));
        assertThat(directory.users("T1")).hasSize(durable ? 1 : 0);
        if (!durable) {
            directory.createUser("T1", "alice", ADMIN);
        }
        NewKey alice = key("alice");

        commitFails(durable, () -> directory.disableUser("T1", "alice", true, ADMIN));

        assertThat(directory.byKey(alice.secret()) == null).isEqualTo(durable);
        assertThat(directory.disableUser("T1", "alice", true, ADMIN).disabled()).isNotNull();
        assertThat(directory.byKey(alice.secret())).isNull();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void keysAreThoseOfTheDatabase(boolean durable) {
        NewKey alice = key("alice");
        commitFails(durable, () -> key("alice"));
        assertThat(directory.keys("T1")).hasSize(durable ? 2 : 1);
        clock.advance(Duration.ofSeconds(1));

        commitFails(durable, () -> directory.rotateKey(alice.key().id(), Duration.ZERO, ADMIN));

        assertThat(directory.byKey(alice.secret()) == null).isEqualTo(durable);
        NewKey bob = key("bob");

        commitFails(durable, () -> directory.revokeKey(bob.key().id(), ADMIN));

        assertThat(directory.byKey(bob.secret()) == null).isEqualTo(durable);
        directory.revokeKey(bob.key().id(), ADMIN);
        assertThat(directory.byKey(bob.secret())).isNull();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anErasedMemberHasTheKeysThatAreInTheDatabase(boolean durable) {
        NewKey alice = key("alice");
        directory.disableUser("T1", "alice", true, ADMIN);
        NewKey bob = key("bob");

        Directory fresh = commitFails(durable, () -> directory.erase("T1", "alice"));

        assertThat(directory.isWelcome("T1", "alice")).isFalse();
        assertThat(fresh.isWelcome("T1", "alice")).isFalse();
        assertThat(directory.byKey(alice.secret())).isNull();
        commitFails(durable, () -> directory.erase("T1", "bob"));
        assertThat(directory.byKey(bob.secret()) == null).isEqualTo(durable);
        assertThat(directory.erase("T1", "bob")).isEqualTo(durable ? 0 : 1);
        assertThat(directory.byKey(bob.secret())).isNull();
    }
}
