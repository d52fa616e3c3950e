package dev.parley.store.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.store.database.Database;
import dev.parley.store.database.Place;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.StoreException;
import dev.parley.testkit.SettableClock;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The record of who did what can be read, and cannot be changed without its showing. */
@ParameterizedClass
@EnumSource(DatabaseKind.class)
final class AuditTrailTest {
    @Parameter
    private DatabaseKind kind = DatabaseKind.SQLITE;

    private final SettableClock clock = new SettableClock(Instant.parse("2026-01-05T10:00:00Z"));

    @TempDir
    private Path directory;

    private Database database;
    private AuditTrail audit;

    private Place place;

    @BeforeEach
    void begin() {
        place = new Place(kind, directory);
        open();
    }

    private void open() {
        database = place.database();
        audit = AuditTrail.in(database, clock);
    }

    @AfterEach
    void close() {
        database.close();
    }

    private static AuditEntry entry(String actor, String action, String target) {
        return new AuditEntry(
                "shop", actor, action, target, "", "ok", "192.0.2.1", "", Map.of("state", "WORKING", "at", 1));
    }

    private void add(AuditEntry... entries) {
        database.write(session -> {
            for (AuditEntry entry : entries) {
                audit.add(session, entry);
            }
            return entries;
        });
    }

    private void tamper(String sql, Object... values) {
        database.write(session -> session.update(sql, values));
    }

    @Test
    void rowsAreNumberedAndCanBeAskedFor() {
        add(entry("alice", "task.created", "t-1"), entry("bob", "task.created", "t-2"));
        clock.advance(Duration.ofHours(1));
        add(entry("alice", "task.canceled", "t-1"));

        List<AuditRow> all = audit.rows(Filter.ALL, 0, 10);
        assertThat(all).extracting(AuditRow::number).containsExactly(1L, 2L, 3L);
        assertThat(all.getFirst().entry()).isEqualTo(entry("alice", "task.created", "t-1"));
        assertThat(audit.rows(new Filter(null, "alice", null, null, null, null), 0, 10))
                .hasSize(2);
        assertThat(audit.rows(new Filter("shop", null, "task.created", "t-2", null, null), 0, 10))
                .hasSize(1);
        assertThat(audit.rows(new Filter("other", null, null, null, null, null), 0, 10))
                .isEmpty();
        assertThat(audit.rows(new Filter(null, null, null, null, null, Instant.parse("2026-01-05T10:30:00Z")), 0, 10))
                .extracting(AuditRow::number)
                .containsExactly(3L);
        assertThat(audit.rows(Filter.ALL, 1, 1)).extracting(AuditRow::number).containsExactly(2L);
        assertThat(audit.newest()).isEqualTo(3);
    }

    @Test
    void aChainThatNobodyTouchedIsGoodAfterARestartToo() {
        add(entry("alice", "task.created", "t-1"));
        database.close();
        open();
        add(entry("bob", "task.created", "t-2"));

        assertThat(audit.verify().broken()).isNull();
        assertThat(audit.verify().rows()).isEqualTo(2);
    }

    @Test
    void whatWasRolledBackLeavesNoGap() {
        add(entry("alice", "task.created", "t-1"));
        assertThatThrownBy(() -> database.write(session -> {
                    audit.add(session, entry("bob", "task.created", "t-2"));
                    throw new java.sql.SQLException("the rest failed");
                }))
                .isInstanceOf(StoreException.class);
        add(entry("carol", "task.created", "t-3"));

        assertThat(audit.rows(Filter.ALL, 0, 10))
                .extracting(row -> row.entry().actor())
                .containsExactly("alice", "carol");
        assertThat(audit.verify().broken()).isNull();
    }

    @Test
    void aRowThatWasChangedIsNamed() {
        add(entry("alice", "a", "1"), entry("alice", "b", "2"), entry("alice", "c", "3"));
        tamper("UPDATE audit SET outcome = 'denied' WHERE row_no = 2");

        assertThat(audit.verify().rows()).isEqualTo(1);
        assertThat(audit.verify().broken()).startsWith("row 2 is not what was written");
    }

    @Test
    void aRowThatWasRemovedIsNamedBeItTheLast() {
        add(entry("alice", "a", "1"), entry("alice", "b", "2"), entry("alice", "c", "3"));
        tamper("DELETE FROM audit WHERE row_no = 3");
        assertThat(audit.verify().broken()).isEqualTo("row 3 is missing: the chain ended at row 3");

        tamper("DELETE FROM audit WHERE row_no = 1");
        assertThat(audit.verify().broken()).isEqualTo("row 1 is missing");
    }

    @Test
    void aNameCanBeForgottenAndTheChainStaysGood() {
        add(entry("alice", "task.created", "t-1"), entry("bob", "task.created", "t-2"));

        assertThat(audit.forget("shop", "alice")).isEqualTo(1);

        AuditEntry left = audit.rows(Filter.ALL, 0, 1).getFirst().entry();
        assertThat(left.actor()).startsWith(AuditChain.FORGOTTEN).doesNotContain("alice");
        assertThat(left.address()).isEmpty();
        assertThat(audit.verify().broken()).isNull();
        assertThat(audit.rows(new Filter(null, "alice", null, null, null, null), 0, 10))
                .hasSize(1);
    }

    private static AuditEntry called(
            String actor, String action, String target, String subject, Map<String, ?> detail) {
        return new AuditEntry("shop", actor, action, target, subject, "ok", "10.1.2.3", "", detail);
    }

    private List<AuditEntry> all() {
        return audit.rows(Filter.ALL, 0, 100).stream().map(AuditRow::entry).toList();
    }

    @Test
    void whatSomebodyChoseAndFromWhereTheyCalledIsForgottenWithTheName() {
        Map<String, ?> chosen = Map.of("agent", "echo", "contextId", "alice-1990", "agents", List.of("alice.example"));
        add(
                called("alice", "task.created", "t-1", "", chosen),
                called("agent:echo", "task.moved", "t-1", "shop/alice", Map.of("agents", List.of("alice.example"))),
                called("alice", "call.denied", "alices-diary", "", Map.of("reason", "not theirs")),
                called("boss", "key.created", "k-1", "shop/alice", Map.of()),
                called("bob", "task.created", "t-2", "", chosen));

        assertThat(audit.forget("shop", "alice")).isEqualTo(4);

        assertThat(audit.verify().broken()).isNull();
        assertThat(all().subList(0, 3).toString())
                .contains("agent=echo", "not theirs")
                .doesNotContain("alice", "10.1.2.3");
        assertThat(all().get(3).address()).isEqualTo("10.1.2.3");
        assertThat(all().get(4)).isEqualTo(called("bob", "task.created", "t-2", "", chosen));
        assertThat(audit.rows(new Filter(null, null, null, "alices-diary", null, null), 0, 10))
                .hasSize(1);
    }

    @Test
    void aContextIsForgottenWhereItIsMeant() {
        Map<String, ?> chosen = Map.of("contextId", "our plan");
        AuditEntry bobs = called("bob", "task.created", "t-2", "", chosen);
        AuditEntry other = called("alice", "task.created", "t-3", "", Map.of("contextId", "our planet"));
        add(called("alice", "task.created", "t-1", "", chosen), bobs, other);

        audit.forgetContext("shop", "alice", "our plan");

        assertThat(all().getFirst().detail().toString()).startsWith("{contextId=sha256:");
        assertThat(all().subList(1, 3)).containsExactly(bobs, other);

        audit.forgetContext("toys", null, "our plan");
        assertThat(all().get(1)).isEqualTo(bobs);
        audit.forgetContext("shop", null, "our plan");
        assertThat(all().get(1).detail().toString()).startsWith("{contextId=sha256:");
        assertThat(audit.verify().broken()).isNull();
    }

    @Test
    void whatWasChosenCannotBeExchanged() {
        add(called("alice", "task.created", "t-1", "", Map.of("contextId", "one")));
        tamper("UPDATE audit SET detail = '{\"contextId\":\"two\"}'");
        assertThat(audit.verify().broken()).startsWith("row 1 is not what was written");

        tamper("UPDATE audit SET detail = '{\"contextId\":\"two\",\"contextId\":\"one\"}'");
        assertThat(audit.verify().broken()).startsWith("row 1 is not what was written");

        for (String other : List.of("nothing at all", "null", "[]", "")) {
            tamper("UPDATE audit SET detail = ?", other);
            assertThat(audit.verify().broken()).startsWith("row 1 is not what was written");
            assertThat(all().getFirst().detail()).isEqualTo(Map.of("unreadable", other));
        }
    }

    @Test
    void anAddressThatWasChangedIsNamed() {
        add(called("alice", "a", "1", "", Map.of()), called("bob", "b", "2", "", Map.of()));
        audit.forget("shop", "alice");
        assertThat(audit.verify().broken()).isNull();

        tamper("UPDATE audit SET address = '10.9.8.7' WHERE row_no = 1");
        assertThat(audit.verify().broken()).startsWith("row 1 is not what was written");

        tamper("UPDATE audit SET address = '' WHERE row_no = 1");
        tamper("UPDATE audit SET address = '10.9.8.7' WHERE row_no = 2");
        assertThat(audit.verify().broken()).startsWith("row 2 is not what was written");
    }

    @Test
    void whatOnlyLooksLikeAHashIsForgottenToo() {
        add(called("alice", "task.created", "t-1", "", Map.of("contextId", "sha256:home of alice")));

        audit.forgetContext("shop", null, "sha256:home of alice");

        assertThat(all().toString()).doesNotContain("home");
        assertThat(audit.verify().broken()).isNull();
    }

    @Test
    void whatWasAddedIsNamed() {
        add(entry("alice", "a", "1"));
        tamper(
                kind == DatabaseKind.SQLITE
                        ? "INSERT INTO audit_end (row_no, hash) VALUES (1, 'x')"
                        : "INSERT INTO stream (hub_no, audit_no, audit_hash) VALUES (0, 1, 'x')");
        assertThat(audit.verify().broken()).isEqualTo("the chain has two ends");

        tamper("UPDATE audit SET row_no = 0");
        assertThat(audit.verify().broken()).isEqualTo("row 0 was added");
    }
}
