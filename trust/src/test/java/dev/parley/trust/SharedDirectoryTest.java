package dev.parley.trust;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.support.Sha256;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.store.database.SharedSchema;
import dev.parley.testkit.Eventually;
import dev.parley.trust.Directory.Actor;
import dev.parley.trust.Directory.NewKey;
import dev.parley.trust.tokens.Clients;
import dev.parley.trust.tokens.Sessions;
import dev.parley.trust.tokens.Sessions.Credential;
import dev.parley.trust.tokens.Sessions.Kind;
import dev.parley.trust.tokens.SignIns;
import dev.parley.trust.tokens.SignIns.User;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Directories of two hubs that work with one PostgreSQL database. */
@Timeout(90)
@Tag("heavy")
final class SharedDirectoryTest {
    private static final Actor ADMIN = new Actor("default", "admin", "192.0.2.1");
    private static final String ADDRESS = "192.0.2.2";
    private static final byte[] SECRET = new byte[32];

    private final SharedSchema schema = new SharedSchema();
    private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
    private final List<Hub> hubs = new ArrayList<>();
    private Hub one;
    private Hub other;

    /** What a hub has of its callers. */
    private record Hub(Database database, Directory directory, Sessions sessions, SignIns signIns) {
        boolean isObstructed() {
            return database.access().obstacle().isPresent();
        }

        /** Whether a call with a key is let in. */
        boolean admits(NewKey key) {
            return !isObstructed() && directory.byKey(key.secret()) != null;
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
        Directory directory = Directory.in(database, audit, InstantSource.system());
        var hub = new Hub(database, directory, directory.sessions(SECRET), directory.signIns(SECRET));
        hubs.add(hub);
        return hub;
    }

    private NewKey key(String user) {
        return one.directory().createKey("team", user, List.of("read"), null, ADMIN);
    }

    @Test
    void aNewKeyIsTakenByTheOtherHub() {
        NewKey key = key("alice");

        assertThat(other.admits(key)).isTrue();
        assertThat(other.directory().groups()).isEqualTo(one.directory().groups());
        assertThat(other.directory().users(null)).isEqualTo(one.directory().users(null));
        assertThat(other.directory().keys(null)).isEqualTo(one.directory().keys(null));
    }

    @Test
    void aRevokedKeyIsRefusedByTheOtherHubWhenTheRevocationIsAnswered() {
        for (int i = 0; i < 20; i++) {
            NewKey key = key("alice");
            assertThat(other.admits(key)).isTrue();

            (i % 2 == 0 ? one : other).directory().revokeKey(key.key().id(), ADMIN);

            assertThat(one.admits(key)).isFalse();
            assertThat(other.admits(key)).isFalse();
        }
    }

    @Test
    void usersAndGroupsThatAreShutOutAreRefusedByTheOtherHub() {
        NewKey key = key("alice");

        one.directory().disableUser("team", "alice", true, ADMIN);
        assertThat(other.admits(key)).isFalse();
        one.directory().disableUser("team", "alice", false, ADMIN);
        assertThat(other.admits(key)).isTrue();
        one.directory().archiveGroup("team", true, ADMIN);
        assertThat(other.admits(key)).isFalse();
        other.directory().archiveGroup("team", false, ADMIN);
        assertThat(one.admits(key)).isTrue();
    }

    @Test
    void aRotatedKeyEndsAtTheOtherHub() {
        NewKey key = key("alice");

        NewKey next = one.directory().rotateKey(key.key().id(), Duration.ZERO, ADMIN);

        assertThat(other.admits(key)).isFalse();
        assertThat(other.admits(next)).isTrue();
    }

    @Test
    void anErasedUserIsUnknownToTheOtherHub() {
        NewKey key = key("alice");
        one.directory().disableUser("team", "alice", true, ADMIN);
        String session = session("alice");
        assertThat(other.sessions().find(session)).isNotNull();

        one.directory().erase("team", "alice");

        assertThat(other.admits(key)).isFalse();
        assertThat(other.sessions().find(session)).isNull();
        assertThat(other.directory().keys("team")).isEmpty();
        assertThat(other.directory().isWelcome("team", "alice")).isFalse();
    }

    @Test
    void aRevocationIsNotUndoneByARotationOfAHubThatHasNotSeenIt() throws Exception {
        NewKey key = key("alice");
        CompletableFuture<?> revocation;
        try (Connection holder = schema.connect();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            long number = other.database().access().hub();
            statement.execute("SELECT 1 FROM hub WHERE hub_no = " + number + " FOR UPDATE");
            revocation = CompletableFuture.runAsync(
                    () -> one.directory().revokeKey(key.key().id(), ADMIN), callers);
            Eventually.holds("the revocation is on disk", () -> !one.admits(key));
            var rotation = CompletableFuture.runAsync(
                    () -> other.directory().rotateKey(key.key().id(), Duration.ofHours(1), ADMIN), callers);
            Eventually.holds("the rotation is on disk", () -> keys() == 2 || rotation.isDone());
            holder.rollback();
        }
        revocation.get(30, TimeUnit.SECONDS);

        assertThat(one.admits(key)).isFalse();
        assertThat(other.admits(key)).isFalse();
        long revoked = one.database()
                .read(session -> session.number(
                        "SELECT count(*) FROM trust_key WHERE revoked_ms IS NOT NULL AND successor IS NOT NULL"));
        assertThat(revoked).isOne();
    }

    private long keys() {
        return one.database().read(session -> session.number("SELECT count(*) FROM trust_key"));
    }

    @Test
    void aRevocationWaitsForAHubThatIsNotSeenAndThatAdmitsNoCalls() throws SQLException {
        NewKey key = key("alice");
        CompletableFuture<?> revocation;
        try (Connection holder = schema.connect();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            long number = other.database().access().hub();
            statement.execute("SELECT 1 FROM hub WHERE hub_no = " + number + " FOR UPDATE");
            revocation = CompletableFuture.runAsync(
                    () -> one.directory().revokeKey(key.key().id(), ADMIN), callers);
            Eventually.holds("the other hub admits no calls", () -> other.isObstructed());
            assertThat(revocation).isNotDone();
            assertThat(one.admits(key)).isFalse();
            statement.execute("UPDATE hub SET ended_at = clock_timestamp() WHERE hub_no = " + number);
            holder.commit();
        }

        assertThat(revocation).succeedsWithin(Duration.ofSeconds(10));
        assertThat(other.admits(key)).isFalse();
    }

    @Test
    void aRepetitionOfARevocationWaitsAsTheFirstOneDoes() throws SQLException {
        NewKey key = key("alice");
        CompletableFuture<?> revocations;
        try (Connection holder = schema.connect();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            long number = other.database().access().hub();
            statement.execute("SELECT 1 FROM hub WHERE hub_no = " + number + " FOR UPDATE");
            CompletableFuture<?> first = CompletableFuture.runAsync(
                    () -> one.directory().revokeKey(key.key().id(), ADMIN), callers);
            Eventually.holds("the revocation is on disk", () -> !one.admits(key));
            CompletableFuture<?> second = CompletableFuture.runAsync(
                    () -> one.directory().revokeKey(key.key().id(), ADMIN), callers);
            Eventually.holds("the other hub admits no calls", () -> other.isObstructed());
            assertThat(second).isNotDone();
            revocations = CompletableFuture.allOf(first, second);
            holder.rollback();
        }

        assertThat(revocations).succeedsWithin(Duration.ofSeconds(20));
        assertThat(other.admits(key)).isFalse();
    }

    private String session(String user) {
        return one.sessions()
                .begin("team", user, new Credential(Kind.KEY, "secret"), null, Map.of(), ADDRESS)
                .session()
                .id();
    }

    @Test
    void anEndedSessionIsUnknownToTheOtherHub() {
        String session = session("alice");
        assertThat(other.sessions().find(session)).isNotNull();

        one.sessions().end(session, ADDRESS);

        assertThat(other.sessions().find(session)).isNull();
    }

    @Test
    void aSignInWhoseCodeComesAgainIsEndedAtTheOtherHub() {
        var client = new Clients(SECRET)
                .register("Client", List.of("https://client.example/"), Clients.PUBLIC, Instant.now());
        String verifier = "verifier";
        String challenge = Base64.getUrlEncoder().withoutPadding().encodeToString(Sha256.of(verifier));
        var user = new User("team", "alice", "");
        String code = one.signIns()
                .begin(user, client, "https://client.example/", challenge, Set.of(), "https://hub.example", ADDRESS);
        String id = code.substring(0, code.indexOf('.'));
        assertThat(one.signIns().redeem(code, client, "https://client.example/", verifier))
                .isPresent();
        assertThat(other.signIns().isRevoked(id)).isFalse();

        assertThat(one.signIns().redeem(code, client, "https://client.example/", verifier))
                .isEmpty();

        assertThat(other.signIns().isRevoked(id)).isTrue();
        assertThat(hub().signIns().isRevoked(id))
                .as("at a hub that starts later")
                .isTrue();
    }

    @Test
    void changesAtBothHubsAtOnceAreInBothDirectories() throws Exception {
        var changes = new ArrayList<CompletableFuture<?>>();
        for (int i = 0; i < 40; i++) {
            String user = "user" + i;
            Directory directory = (i % 2 == 0 ? one : other).directory();
            changes.add(CompletableFuture.runAsync(
                    () -> {
                        NewKey key = directory.createKey("team", user, List.of(), null, ADMIN);
                        directory.revokeKey(key.key().id(), ADMIN);
                        assertThat(one.admits(key)).isFalse();
                        assertThat(other.admits(key)).isFalse();
                    },
                    callers));
        }

        CompletableFuture.allOf(changes.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
        one.directory().createUser("team", "last", ADMIN);
        other.directory().createUser("team", "latest", ADMIN);
        assertThat(one.directory().users(null)).isEqualTo(other.directory().users(null));
        assertThat(one.directory().keys(null))
                .hasSize(40)
                .isEqualTo(other.directory().keys(null));
    }
}
