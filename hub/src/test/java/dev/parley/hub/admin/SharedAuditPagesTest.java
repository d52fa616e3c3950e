package dev.parley.hub.admin;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.extension.AdminCall;
import dev.parley.hub.admin.AuditOperation.NewestRow;
import dev.parley.hub.admin.AuditOperation.QueryAudit;
import dev.parley.hub.admin.AuditOperation.RowPage;
import dev.parley.protocol.CallContext;
import dev.parley.store.Store;
import dev.parley.store.audit.AuditCodecs;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditPosition;
import dev.parley.store.audit.AuditRow;
import dev.parley.store.audit.Filter;
import dev.parley.store.database.SharedSchema;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Lists of the audit of two hubs that work with one PostgreSQL database. */
@Timeout(60)
@Tag("heavy")
final class SharedAuditPagesTest {
    private static final Filter NOTED = new Filter(null, null, "test.noted", null, null, null);

    private final SharedSchema schema = new SharedSchema();
    private final List<Store> stores = new ArrayList<>();

    @BeforeEach
    void open() {
        stores.add(schema.store(InstantSource.system()));
        stores.add(schema.store(InstantSource.system()));
    }

    @AfterEach
    void close() {
        stores.forEach(Store::close);
    }

    /** Has the hubs add rows in turn. */
    private List<String> note(String name, int count) {
        List<String> names = IntStream.range(0, count)
                .mapToObj(i -> name + "-" + i % 2 + "-" + i)
                .toList();
        for (int i = 0; i < count; i++) {
            Store store = stores.get(i % 2);
            var entry = new AuditEntry("default", "me", "test.noted", names.get(i), "", "done", "", "", Map.of());
            store.database().write(session -> {
                store.audit().add(session, entry);
                return entry;
            });
        }
        return names;
    }

    private <A> A ask(int hub, String name, AdminCall<A> call) {
        return requireNonNull(new AuditPages(stores.get(hub).audit())
                        .handlers()
                        .byName()
                        .get(name))
                .call(call, CallContext.anonymous());
    }

    private AuditPosition newest(int hub, @Nullable AuditPosition before, long rows) {
        return ask(hub, AuditOperation.NEWEST.name(), new NewestRow(before, rows));
    }

    /** Reads rows to the end, each page at another hub, with places as they are written. */
    private List<String> rows(AuditPosition after, int limit) {
        var rows = new ArrayList<AuditRow>();
        AuditPosition next = after;
        for (int hub = 0; next != null; hub++) {
            AuditPosition place = requireNonNull(AuditCodecs.PLACE.parse(next.toString(), "after"));
            RowPage page = ask(hub % 2, AuditOperation.QUERY.name(), new QueryAudit(NOTED, place, limit));
            rows.addAll(page.rows());
            next = page.next();
        }
        return rows.stream().map(row -> row.entry().target()).toList();
    }

    @Test
    void aListHasEachRowOnceAndThoseOfAHubInOrder() {
        List<String> names = note("list", 21);

        for (int limit : List.of(1, 4, 100)) {
            List<String> rows = rows(AuditPosition.BEGINNING, limit);
            assertThat(rows).containsExactlyInAnyOrderElementsOf(names);
            for (String hub : List.of("-0-", "-1-")) {
                assertThat(rows.stream().filter(name -> name.contains(hub)))
                        .containsExactlyElementsOf(names.stream()
                                .filter(name -> name.contains(hub))
                                .toList());
            }
        }
    }

    @Test
    void newRowsOfBothHubsAreFollowed() {
        note("before", 4);
        AuditPosition place = newest(0, null, 0);
        assertThat(newest(1, null, 0)).isEqualTo(place);
        assertThat(place.numbers()).hasSize(2);

        for (int i = 0; i < 3; i++) {
            List<String> names = note("round" + i, 3);
            assertThat(rows(place, 100)).containsExactlyInAnyOrderElementsOf(names);
            place = newest(i % 2, null, 0);
        }
    }

    @Test
    void theNewestRowsAreReadBackwards() {
        List<String> names = note("back", 20);
        AuditPosition newest = newest(0, null, 0);

        AuditPosition place = newest(1, null, 3);
        assertThat(rows(place, 100)).containsExactlyInAnyOrderElementsOf(names.subList(14, 20));
        place = newest(0, place, 2);
        assertThat(rows(place, 100)).containsExactlyInAnyOrderElementsOf(names.subList(10, 20));
        stores.removeFirst().close(); // its rows stay, and are before those of the hub that works
        stores.add(schema.store(InstantSource.system()));
        List<String> more = note("more", 2);
        assertThat(rows(place, 100)).hasSize(12).containsAll(more);
        assertThat(rows(newest, 100)).containsExactlyInAnyOrderElementsOf(more);
        for (int step = 0; !place.equals(AuditPosition.BEGINNING); step++) {
            place = newest(step % 2, place, 4);
            assertThat(step).isLessThan(10);
        }
        assertThat(rows(place, 100)).hasSize(22);
    }
}
