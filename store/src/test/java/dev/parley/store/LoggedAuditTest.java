package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.TaskState;
import dev.parley.store.audit.AuditChain;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditPage;
import dev.parley.store.audit.AuditRow;
import dev.parley.store.audit.Filter;
import dev.parley.store.audit.Verification;
import dev.parley.store.database.Place;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.testkit.SegmentWriter;
import dev.parley.testkit.SettableClock;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The audit as a reading of the task log. */
@ParameterizedClass
@EnumSource(DatabaseKind.class)
final class LoggedAuditTest {
    private static final Scope ALICE = new Scope("shop", "alice");
    private static final TaskKey FIRST = new TaskKey(ALICE, "echo", "t-1");
    private static final TaskKey SECOND = new TaskKey(new Scope("shop", "bob"), "echo", "t-2");
    private static final AuditEntry NOTED =
            new AuditEntry("shop", "carol", "key.created", "k-1", "shop/bob", "ok", "192.0.2.9", "", Map.of());

    private final SettableClock clock = new SettableClock(Instant.parse("2026-01-05T10:00:00Z"));

    @Parameter
    private DatabaseKind kind = DatabaseKind.SQLITE;

    @TempDir
    private Path directory;

    private Store store;

    private Place place;

    @BeforeEach
    void begin() {
        place = new Place(kind, directory);
        open();
    }

    private void open() {
        store = place.store(clock);
    }

    @AfterEach
    void close() {
        store.close();
    }

    private void write(TaskKey key, long sequence, TaskState state) {
        Segments.write(store.log(), key, sequence, state, clock.instant());
    }

    private List<AuditRow> rows(Filter filter) {
        return store.audit().rows(filter, 0, 100);
    }

    private void note() {
        store.database().write(session -> {
            store.audit().add(session, NOTED);
            return NOTED;
        });
    }

    private void tamper(String sql) {
        store.database().write(session -> session.update(sql));
    }

    private long count(String sql) {
        return store.database().read(session -> {
            try (ResultSet row = session.bind(sql).executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        });
    }

    private static Filter about(String target) {
        return new Filter(null, null, null, target, null, null);
    }

    @Test
    void theLifeOfATaskIsReadFromTheLogAndWrittenOnce() {
        write(FIRST, 1, TaskState.SUBMITTED);
        note();
        write(FIRST, 2, TaskState.SUBMITTED);
        write(FIRST, 3, TaskState.WORKING);
        write(SECOND, 1, TaskState.COMPLETED);
        write(FIRST, 4, TaskState.CANCELED);

        assertThat(rows(Filter.ALL)).extracting(AuditRow::number).containsExactly(1L, 2L, 3L, 4L, 5L);
        assertThat(rows(Filter.ALL))
                .extracting(row -> row.entry().action() + " " + row.entry().actor() + " "
                        + row.entry().outcome())
                .containsExactly(
                        "task.created alice SUBMITTED",
                        "key.created carol ok",
                        "task.moved agent:echo WORKING",
                        "task.created bob COMPLETED",
                        "task.canceled alice CANCELED");
        assertThat(rows(Filter.ALL).get(2).entry())
                .isEqualTo(new AuditEntry(
                        "shop",
                        "agent:echo",
                        "task.moved",
                        "t-1",
                        "shop/alice",
                        "WORKING",
                        "192.0.2.1",
                        "",
                        Map.of("before", "SUBMITTED")));
        assertThat(rows(Filter.ALL).getFirst().entry().detail().get("messageId"))
                .as("id of the message that began the task")
                .isInstanceOf(String.class);
        assertThat(rows(about("t-1"))).extracting(AuditRow::number).containsExactly(1L, 3L, 5L);
        assertThat(rows(new Filter("shop", null, null, null, "shop/alice", null)))
                .extracting(AuditRow::number)
                .containsExactly(3L);
        assertThat(store.audit().rows(Filter.ALL, 2, 2))
                .extracting(AuditRow::number)
                .containsExactly(3L, 4L);
        assertThat(store.audit().newest()).isEqualTo(5);
        assertThat(count("SELECT count(*) FROM audit")).isEqualTo(1);
        assertThat(store.audit().verify()).isEqualTo(new Verification(5, end(), null));
    }

    private String end() {
        return store.database().read(session -> {
            try (ResultSet row = session.bind("SELECT hash FROM audit_end").executeQuery()) {
                row.next();
                return row.getString(1);
            }
        });
    }

    @Test
    void aGroupIsOneLinkOfTheChain() {
        var written = IntStream.range(0, 500)
                .mapToObj(each -> Segments.submit(
                        store.log(), new TaskKey(ALICE, "echo", "t-" + each), 1, TaskState.COMPLETED, clock.instant()))
                .toList();
        written.forEach(each -> each.join());

        assertThat(count("SELECT count(*) FROM audit_log")).isLessThan(500);
        assertThat(count("SELECT sum(entries) FROM audit_log")).isEqualTo(500);
        assertThat(store.audit().rows(Filter.ALL, 0, 1_000))
                .extracting(AuditRow::number)
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(1, 500).mapToObj(Long::valueOf).toList());
        assertThat(store.audit().verify().rows()).isEqualTo(500);
        assertThat(store.audit().verify().broken()).isNull();
    }

    @Test
    void whatATaskSaysAndWhoItIsForCannotBeChangedUnseen() {
        for (String change : List.of(
                "UPDATE segment SET events = '[]' WHERE task_id = 't-1' AND first_seq = 2",
                "UPDATE segment SET state = 4 WHERE task_id = 't-1' AND first_seq = 2",
                "UPDATE segment SET address = '10.9.8.7' WHERE task_id = 't-1'",
                "UPDATE segment SET caller = 'mallory' WHERE task_id = 't-1' AND first_seq = 2",
                "UPDATE task SET caller = 'mallory' WHERE task_id = 't-1'",
                "DELETE FROM segment WHERE task_id = 't-1'",
                "UPDATE task SET events = '[]' WHERE task_id = 't-2'",
                "UPDATE task SET state = 4 WHERE task_id = 't-2'",
                "UPDATE task SET address = '10.9.8.7' WHERE task_id = 't-2'",
                "DELETE FROM task WHERE task_id = 't-2'",
                "UPDATE audit_log SET at_ms = at_ms + 1",
                "DELETE FROM audit_part",
                "UPDATE audit_part SET places = '1 t-9/1'",
                "UPDATE audit_part SET group_id = 'other'",
                "DELETE FROM audit_log WHERE row_no = 3")) {
            store.close();
            open();
            write(FIRST, 1, TaskState.WORKING);
            write(SECOND, 1, TaskState.COMPLETED);
            write(FIRST, 2, TaskState.COMPLETED);
            assertThat(store.audit().verify().broken()).isNull();

            tamper(change);

            assertThat(store.audit().verify().broken()).as(change).isNotNull();
            tamper("DELETE FROM task");
            tamper("DELETE FROM segment");
            tamper("DELETE FROM audit_log");
            tamper("DELETE FROM audit_part");
            tamper(kind == DatabaseKind.SQLITE ? "DELETE FROM audit_end" : "DELETE FROM stream");
        }
    }

    private static Filter of(String group) {
        return new Filter(group, null, null, null, null, null);
    }

    private void writeOfTwoGroups() {
        var other = new Scope("other", "mallory");
        var written = IntStream.range(0, 600)
                .mapToObj(each -> Segments.submit(
                        store.log(),
                        new TaskKey(each % 3 == 0 ? ALICE : other, "echo", "t-" + each),
                        1,
                        each % 2 == 0 ? TaskState.COMPLETED : TaskState.WORKING,
                        clock.instant()))
                .toList();
        written.forEach(each -> each.join());
        note();
    }

    @Test
    @DisplayName(
            "T1 the rows of a group are those of all rows that are of it, page by page and whatever the size of a page")
    void aGroupIsReadByItself() {
        writeOfTwoGroups();
        List<Long> ofShop = rows(Filter.ALL, 1_000).stream()
                .filter(row -> row.entry().group().equals("shop"))
                .map(AuditRow::number)
                .toList();
        assertThat(ofShop).hasSize(201);

        for (int size : List.of(1, 7, 200, 201, 202)) {
            var found = new ArrayList<Long>();
            AuditPage page;
            long after = 0;
            do {
                page = store.audit().page(of("shop"), after, size);
                page.rows().forEach(row -> found.add(row.number()));
                after = page.next();
            } while (!page.isLast());
            assertThat(found).as("pages of " + size).isEqualTo(ofShop);
        }
        assertThat(store.audit().page(of("nobody"), 0, 10)).isEqualTo(new AuditPage(List.of(), 0, true));
    }

    private List<AuditRow> rows(Filter filter, int limit) {
        return store.audit().rows(filter, 0, limit);
    }

    @Test
    @DisplayName("T1 a database with an audit of the version before has the same rows by group, removed tasks included")
    void theListsOfGroupsAreMadeForAnEarlierAudit() {
        writeOfTwoGroups();
        clock.advance(Duration.ofHours(1));
        store.log().removeEnded(clock.instant(), 50);
        List<AuditRow> shop = rows(of("shop"), 1_000);
        List<AuditRow> other = rows(of("other"), 1_000);
        tamper("DROP TABLE audit_part");
        tamper("UPDATE module_version SET version = 2 WHERE module = 'audit'");
        store.close();
        open();

        assertThat(rows(of("shop"), 1_000)).isEqualTo(shop).hasSize(201);
        assertThat(rows(of("other"), 1_000)).isEqualTo(other).hasSize(400);
        assertThat(store.audit().verify().broken()).isNull();
    }

    @Test
    @DisplayName("T1 a page of the audit has some mebibytes at most, however long its rows are")
    void aPageIsBoundedByBytes() {
        AuditEntry large = new AuditEntry(
                "shop", "carol", "one.message", "k-1", "", "ok", "", "", Map.of("content", "x".repeat(400_000)));
        for (int i = 0; i < 10; i++) {
            store.audit().note(large);
        }
        note();

        AuditPage first = store.audit().page(of("shop"), 0, 100);
        AuditPage ofAction = store.audit().page(new Filter("shop", null, "one.message", null, null, null), 0, 100);

        assertThat(first.rows().size()).isLessThanOrEqualTo(4);
        assertThat(first.isLast()).isFalse();
        assertThat(ofAction.rows().size()).isEqualTo(3);
        assertThat(rows(of("shop"), 100)).hasSize(11);
    }

    @Test
    void aMessageToATaskThatStaysInItsStateIsAnEntryOfItsCaller() {
        write(FIRST, 1, TaskState.WORKING);
        Message again = Message.user(Part.text("again"));
        SegmentWriter.submit(
                        store.log(),
                        new TaskLog.Segment(
                                new Head(FIRST, "context", TaskState.WORKING, clock.instant(), 2),
                                List.of(new LoggedEvent(2, again)),
                                List.of(),
                                null,
                                new TaskLog.Cause("bob", "192.0.2.1", null, CallChain.NONE)))
                .join();

        assertThat(rows(about("t-1")).getLast().entry())
                .isEqualTo(new AuditEntry(
                        "shop",
                        "bob",
                        "task.continued",
                        "t-1",
                        "",
                        "WORKING",
                        "192.0.2.1",
                        "",
                        Map.of("before", "WORKING", "messageId", again.messageId())));
        assertThat(store.audit().verify().broken()).isNull();
    }

    @Test
    void aChainOfRowsGoesOnInTheLog() {
        note();
        write(FIRST, 1, TaskState.COMPLETED);
        store.close();
        open();
        write(SECOND, 1, TaskState.COMPLETED);

        assertThat(store.audit().verify().rows()).isEqualTo(3);
        assertThat(store.audit().verify().broken()).isNull();
        tamper("UPDATE audit SET actor = 'mallory'");
        assertThat(store.audit().verify().broken()).startsWith("row 1 is not what was written");
    }

    @Test
    void entriesStayWhenRetentionRemovesTheirTask() {
        write(FIRST, 1, TaskState.WORKING);
        write(FIRST, 2, TaskState.COMPLETED);
        write(SECOND, 1, TaskState.WORKING);
        List<AuditRow> before = rows(Filter.ALL);
        clock.advance(Duration.ofHours(1));

        assertThat(store.log().removeEnded(clock.instant(), 10)).isEqualTo(1);

        assertThat(rows(Filter.ALL))
                .extracting(AuditRow::entry)
                .isEqualTo(before.stream().map(AuditRow::entry).toList());
        assertThat(rows(Filter.ALL))
                .extracting(AuditRow::at)
                .isEqualTo(before.stream().map(AuditRow::at).toList());
        assertThat(rows(about("t-1"))).hasSize(2);
        assertThat(store.audit().verify().broken()).isNull();
        tamper("UPDATE audit SET outcome = 'FAILED' WHERE row_no = 2");
        assertThat(store.audit().verify().broken()).startsWith("row 2 is not what was written");
        tamper("DELETE FROM audit WHERE row_no = 1");
        assertThat(store.audit().verify().broken()).isEqualTo("row 1 is missing");
    }

    @Test
    void aNameIsForgottenInTasksOfOthersAndInThoseThatAreErased() {
        write(FIRST, 1, TaskState.WORKING);
        write(SECOND, 1, TaskState.WORKING);
        writeForAlice();
        store.log().erase(List.of(FIRST));

        int changed = store.audit().forget("shop", "alice");

        assertThat(changed).isEqualTo(2);
        assertThat(rows(Filter.ALL).toString()).doesNotContain("alice").contains(AuditChain.hashed("alice"));
        assertThat(rows(new Filter("shop", "alice", null, null, null, null))).hasSize(1);
        assertThat(rows(new Filter("shop", null, null, null, "shop/alice", null)))
                .hasSize(1);
        assertThat(count("SELECT count(*) FROM segment WHERE caller IS NOT NULL"))
                .isZero();
        assertThat(store.audit().verify().broken()).isNull();
    }

    @Test
    void aNameIsForgottenInATaskThatWasWrittenOnce() {
        write(FIRST, 1, TaskState.COMPLETED);

        assertThat(store.audit().forget("shop", "alice")).isEqualTo(1);

        assertThat(rows(Filter.ALL).toString()).doesNotContain("alice").doesNotContain("192.0.2.1");
        assertThat(count("SELECT count(*) FROM task WHERE address IS NOT NULL")).isZero();
        assertThat(store.audit().verify().broken()).isNull();
    }

    /** Has alice write to bob's task. */
    private void writeForAlice() {
        Segments.submit(store.log(), SECOND, 2, TaskState.INPUT_REQUIRED, clock.instant(), "alice")
                .join();
        assertThat(count("SELECT count(*) FROM segment WHERE caller = 'alice'")).isEqualTo(1);
    }
}
