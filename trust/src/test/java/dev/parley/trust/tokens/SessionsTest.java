package dev.parley.trust.tokens;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.store.Faults;
import dev.parley.store.Faults.Fault;
import dev.parley.store.Faults.Side;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.StoreException;
import dev.parley.testkit.Eventually;
import dev.parley.testkit.SettableClock;
import dev.parley.trust.Directory;
import dev.parley.trust.tokens.Sessions.BrowserSession;
import dev.parley.trust.tokens.Sessions.Credential;
import dev.parley.trust.tokens.Sessions.Kind;
import dev.parley.trust.tokens.Sessions.NewSession;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sessions in the database of a directory, whose rows and times change outside. */
@Timeout(60)
final class SessionsTest {
    private static final String ADDRESS = "192.0.2.1";

    private final SettableClock clock = new SettableClock(Instant.parse("2026-01-05T10:00:00Z"));

    private final Faults faults = new Faults();

    @TempDir
    private Path data;

    private Database database;
    private Sessions sessions;

    @BeforeEach
    void open() {
        database = Database.open(data, faults::wrap);
        AuditTrail audit = AuditTrail.in(database, clock);
        Directory.in(database, audit, clock); // which makes the tables
        sessions = new Sessions(database, audit, new byte[32], clock);
    }

    @AfterEach
    void close() {
        faults.pass();
        database.close();
    }

    private NewSession begin(String name, Kind kind, String text) {
        return sessions.begin("team", name, new Credential(kind, text), null, Map.of(), ADDRESS);
    }

    private @Nullable BrowserSession find(NewSession begun) {
        return sessions.find(begun.session().id());
    }

    private String credential() {
        return database.read(session -> session.first(
                        row -> DatabaseSession.text(row, 1),
                        "SELECT credential FROM trust_session WHERE principal = 'alice'")
                .orElseThrow());
    }

    private int rows() {
        return database.read(session -> session.list(row -> row.getInt(1), "SELECT 1 FROM trust_session"))
                .size();
    }

    @Test
    void aSessionHasItsCredentialAndProof() {
        NewSession alice = begin("alice", Kind.KEY_ID, "0123456789ab");
        NewSession bob = begin("bob", Kind.TOKEN, "a.b.c");
        clock.advance(Duration.ofMinutes(1));

        BrowserSession found = requireNonNull(find(alice));
        assertThat(found).isEqualTo(alice.session());
        assertThat(found.credential()).isEqualTo(new Credential(Kind.KEY_ID, "0123456789ab"));
        assertThat(requireNonNull(find(bob)).credential()).isEqualTo(new Credential(Kind.TOKEN, "a.b.c"));
        assertThat(found.isProvedBy(alice.proof())).isTrue();
        assertThat(found.isProvedBy(bob.proof())).isFalse();
        assertThat(found.isProvedBy("")).isFalse();
        assertThat(alice.toString() + found + found.credential())
                .doesNotContain(found.id(), alice.proof(), "0123456789ab");
    }

    @Test
    void aSessionThatHasEndedStaysEnded() {
        NewSession begun = begin("alice", Kind.TOKEN, "a.b.c");
        assertThat(find(begun)).isNotNull();

        sessions.end(begun.session().id(), ADDRESS);
        assertThat(find(begun)).isNull();
        clock.advance(Duration.ofMinutes(1));
        assertThat(find(begun)).isNull();
        sessions.end(begun.session().id(), ADDRESS);
    }

    @Test
    void aReadThatBeganBeforeTheEndDoesNotBringASessionBack() throws Exception {
        NewSession begun = begin("alice", Kind.TOKEN, "a.b.c");
        String id = begun.session().id();
        // Behind the statement and the row, whether the connection is opened first or not.
        faults.at(4, Fault.HANG, Side.READS);

        CompletableFuture<Boolean> found = CompletableFuture.supplyAsync(() -> sessions.find(id) != null);
        Eventually.holds("the read does not return", () -> faults.hits() > 0);
        sessions.end(id, ADDRESS);
        faults.pass();

        assertThat(found.get(30, TimeUnit.SECONDS)).isFalse();
        assertThat(find(begun)).isNull();
    }

    @Test
    void theOldestSessionOfAUserEndsForANewerOne() {
        NewSession oldest = begin("alice", Kind.TOKEN, "a.b.c");
        NewSession other = begin("bob", Kind.TOKEN, "d.e.f");
        clock.advance(Duration.ofMillis(1));
        assertThat(find(oldest)).isNotNull();
        for (int i = 0; i < 99; i++) {
            begin("alice", Kind.TOKEN, "a.b.c");
        }
        assertThat(find(oldest)).isNotNull();

        begin("alice", Kind.TOKEN, "a.b.c");

        assertThat(find(oldest)).isNull();
        assertThat(find(other)).isNotNull();
        assertThat(rows()).isEqualTo(101);
    }

    @Test
    void aSessionOutlivesAnOutageOfTheDatabaseButNotItsTime() {
        NewSession begun = begin("alice", Kind.TOKEN, "a.b.c");
        NewSession unread = begin("bob", Kind.TOKEN, "d.e.f");
        assertThat(find(begun)).isNotNull();
        faults.from(1, Fault.IO, Side.READS);

        for (int i = 0; i < 3; i++) {
            clock.advance(Duration.ofMinutes(1));
            assertThat(find(begun)).isNotNull();
        }
        assertThatThrownBy(() -> find(unread)).isInstanceOf(StoreException.class);
        clock.advance(Sessions.LIFE);
        assertThat(find(begun)).isNull();
        faults.pass();
        assertThat(find(unread)).isNull(); // its time is over, too
    }

    @ParameterizedTest
    @ValueSource(strings = {"no Base64", "no text", "no blank", "no kind", "another bit", "cut"})
    void aDamagedRowIsNoSessionAndCanBeEnded(String damage) {
        NewSession begun = begin("alice", Kind.TOKEN, "a.b.c");
        NewSession other = begin("bob", Kind.TOKEN, "d.e.f");
        byte[] sealed = Base64.getDecoder().decode(credential());
        sealed[sealed.length - 1] ^= 1;
        String credential = switch (damage) {
            case "no Base64" -> "*";
            case "no text" -> "";
            case "no blank" -> Base64.getEncoder().encodeToString("x".getBytes(UTF_8));
            case "no kind" -> Base64.getEncoder().encodeToString("x y".getBytes(UTF_8));
            case "another bit" -> Base64.getEncoder().encodeToString(sealed);
            default -> credential().substring(0, 40);
        };
        database.write(session ->
                session.update("UPDATE trust_session SET credential = ? WHERE principal = 'alice'", credential));
        clock.advance(Duration.ofMinutes(1));

        assertThat(find(begun)).isNull();
        assertThat(find(begun)).isNull();
        assertThat(find(other)).isNotNull();
        assertThat(rows()).isEqualTo(2);
        sessions.end(begun.session().id(), ADDRESS);
        assertThat(rows()).isEqualTo(1);
        assertThat(find(begin("alice", Kind.TOKEN, "a.b.c"))).isNotNull();
    }
}
