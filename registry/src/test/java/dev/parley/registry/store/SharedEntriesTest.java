package dev.parley.registry.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.Feed;
import dev.parley.registry.Cards;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Status;
import dev.parley.registry.Entry.Visibility;
import dev.parley.registry.EntryChange;
import dev.parley.registry.EntryFilter;
import dev.parley.registry.EntryOperation.Order;
import dev.parley.registry.search.NoParts;
import dev.parley.registry.spi.DerivedTable;
import dev.parley.registry.spi.EntryListener;
import dev.parley.registry.spi.Publication;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.SharedSchema;
import dev.parley.testkit.Eventually;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Entries of two hubs that work with one PostgreSQL database. */
@Timeout(90)
@Tag("heavy")
final class SharedEntriesTest {
    private static final CallContext ANNA = CallContext.of("anna", new Scope("blue", "anna"));
    private static final CallContext BEN = CallContext.of("ben", new Scope("red", "ben"));
    private static final String SECRET = "secret";

    private final SharedSchema schema = new SharedSchema();
    private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
    private final List<Hub> hubs = new ArrayList<>();
    private Hub one;
    private Hub other;

    private record Hub(Database database, Entries entries) {
        Entry register(String name) {
            return entries.publisher().publish(publication(name, null), ANNA);
        }

        Entry own(String agent) {
            return entries.publisher()
                    .publishOwn(agent, Cards.v1(agent, "add").getBytes(UTF_8), List.of(), Visibility.PUBLIC);
        }

        Entry describe(Entry entry, String text) {
            return entries.writer()
                    .change(
                            entry.id(),
                            EntryChange.Kind.CHANGED,
                            Map.of("text", text),
                            ANNA,
                            now -> now.with(now.state().with(Status.DEPRECATED)));
        }

        @Nullable
        Status status(Entry entry) {
            return entries.reader()
                    .find(entry.id(), ANNA)
                    .map(now -> now.state().status())
                    .orElse(null);
        }

        List<String> names(CallContext caller) {
            return entries.reader().list(EntryFilter.NONE, Order.NAME, 100, null, caller).entries().stream()
                    .map(entry -> entry.resource().name())
                    .toList();
        }

        long number(String sql) {
            return database.read(session -> session.number(sql));
        }
    }

    private static Publication publication(String name, @Nullable String humanId) {
        return new Publication(
                null,
                Entry.AGENT_CARD,
                Cards.v1(name, "add").getBytes(UTF_8),
                null,
                humanId,
                Visibility.PUBLIC,
                null,
                List.of(),
                Map.of());
    }

    @BeforeEach
    void open() {
        one = hub(InstantSource.system());
        other = hub(InstantSource.system());
    }

    @AfterEach
    void close() {
        callers.close();
        hubs.forEach(hub -> {
            hub.entries().changes().log().close();
            hub.database().close();
        });
    }

    private Hub hub(InstantSource clock) {
        Database database = schema.shared();
        Entries entries = Entries.open(
                database,
                "agent.localhost",
                List.of(),
                (caller, agent) -> !agent.equals(SECRET),
                new NoParts(),
                new NoParts(),
                clock);
        var hub = new Hub(database, entries);
        hubs.add(hub);
        return hub;
    }

    private <T> CompletableFuture<T> later(Supplier<T> work) {
        return CompletableFuture.supplyAsync(work, callers);
    }

    @Test
    void anEntryIsReadAsTheOtherHubHasChangedIt() {
        for (int round = 0; round < 20; round++) {
            Hub writer = round % 2 == 0 ? one : other;
            Hub reader = round % 2 == 0 ? other : one;
            Entry entry = writer.register("agent " + round);
            assertThat(reader.status(entry)).isEqualTo(Status.ACTIVE);

            writer.describe(entry, "once");
            assertThat(reader.status(entry)).isEqualTo(Status.DEPRECATED);
            List<Long> number = List.of(writer.number("SELECT max(number) FROM registry_entry"));
            assertThat(reader.entries().reader().byNumbers(number, ANNA).entries())
                    .extracting(now -> now.state().status())
                    .containsExactly(Status.DEPRECATED);

            writer.entries().setActive(entry.id(), false, ANNA);
            assertThat(reader.entries().find(entry.id(), BEN)).isEmpty();
            assertThat(reader.entries().reader().byNumbers(number, BEN).entries())
                    .isEmpty();
        }
    }

    @Test
    void anErasedEntryIsGoneAtTheOtherHub() {
        Entry entry = one.register("agent");
        assertThat(other.status(entry)).isEqualTo(Status.ACTIVE);

        new PersonalEntries(one.database(), one.entries().writer()).erase("blue", "anna");

        assertThat(other.entries().find(entry.id(), ANNA)).isEmpty();
    }

    @Test
    void registrationsAtBothHubsAtOnceSucceedAndAreNumberedOnce() throws Exception {
        var registrations = new ArrayList<CompletableFuture<Entry>>();
        for (int i = 0; i < 40; i++) {
            String name = "agent " + i;
            registrations.add(later(() -> one.register(name + " of one")));
            registrations.add(later(() -> other.register(name + " of the other")));
        }
        var same = new ArrayList<CompletableFuture<Entry>>();
        for (int i = 0; i < 20; i++) {
            String name = "same " + i / 2;
            Hub hub = i % 2 == 0 ? one : other;
            same.add(later(() -> hub.register(name)));
        }
        CompletableFuture.allOf(registrations.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
        CompletableFuture.allOf(same.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);

        assertThat(registrations).extracting(each -> each.join().id()).doesNotHaveDuplicates();
        for (int i = 0; i < same.size(); i += 2) {
            assertThat(same.get(i).join().id()).isEqualTo(same.get(i + 1).join().id());
        }
        assertThat(one.number("SELECT count(*) FROM registry_entry")).isEqualTo(90);
        assertThat(one.number("SELECT count(DISTINCT number) FROM registry_change"))
                .isEqualTo(one.number("SELECT change FROM registry_newest"));
    }

    /** Reads the changes of a feed up to a number of them, and returns the position after them. */
    private static long read(Feed<EntryChange> feed, List<Long> numbers, int count) throws InterruptedException {
        while (numbers.size() < count) {
            List<EntryChange> next = requireNonNull(feed.next(Duration.ofSeconds(30)));
            assertThat(next).as("changes after %s", numbers).isNotEmpty();
            next.forEach(change -> numbers.add(change.number()));
        }
        return numbers.getLast();
    }

    @Test
    void streamsAtEachHubHaveAllChangesOnceAndInOrderAndGoOnAtTheOtherHub() throws Exception {
        int count = 120;
        var seen = new ArrayList<List<Long>>();
        var streams = new ArrayList<CompletableFuture<Void>>();
        for (Hub hub : List.of(one, other)) {
            Hub next = hub.equals(one) ? other : one;
            var numbers = new ArrayList<Long>();
            seen.add(numbers);
            streams.add(CompletableFuture.runAsync(
                    () -> {
                        try (var first = hub.entries().changes().log().changes(0, EntryFilter.NONE, BEN)) {
                            long last = read(first, numbers, count / 2);
                            try (var second = next.entries().changes().log().changes(last, EntryFilter.NONE, BEN)) {
                                read(second, numbers, count);
                            }
                        } catch (InterruptedException stopped) {
                            throw new IllegalStateException(stopped);
                        }
                    },
                    callers));
        }
        var registrations = new ArrayList<CompletableFuture<Entry>>();
        for (int i = 0; i < count; i++) {
            String name = "agent " + i;
            Hub hub = i % 2 == 0 ? one : other;
            registrations.add(later(() -> hub.register(name)));
        }

        CompletableFuture.allOf(registrations.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
        CompletableFuture.allOf(streams.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
        assertThat(seen.getFirst())
                .hasSize(count)
                .isSorted()
                .doesNotHaveDuplicates()
                .isEqualTo(seen.getLast());
    }

    @Test
    void anAgentOfAnotherHubIsNeverShownToCallersThatMayNotKnowIt() {
        var shown = later(() -> {
            while (!other.names(BEN).contains("known")) {
                assertThat(other.names(BEN)).doesNotContain(SECRET);
            }
            return other.names(BEN);
        });

        one.own(SECRET);
        one.own("known");

        assertThat(shown).succeedsWithin(Duration.ofSeconds(30)).isEqualTo(List.of("known"));
        assertThat(other.names(Entries.ITSELF)).containsExactly("known", SECRET);
    }

    @Test
    void aHubThatPausesInAChangeDelaysChangesOfEntriesAndNoOtherWrites() throws Exception {
        one.register("first");
        CompletableFuture<Entry> second;
        try (Connection paused = schema.connect();
                Statement statement = paused.createStatement()) {
            paused.setAutoCommit(false);
            statement.execute("UPDATE registry_newest SET change = change + 1");
            second = later(() -> one.register("second"));
            var slowest = Duration.ZERO;
            long begun = System.nanoTime();
            int writes = 0;
            while (System.nanoTime() - begun < Duration.ofSeconds(2).toNanos()) {
                long before = System.nanoTime();
                int unused = one.database().write(session -> session.update("UPDATE registry_setting SET name = name"));
                var took = Duration.ofNanos(System.nanoTime() - before);
                slowest = took.compareTo(slowest) > 0 ? took : slowest;
                writes++;
            }
            assertThat(second).isNotDone();
            assertThat(writes).isGreaterThan(20);
            assertThat(slowest).isLessThan(Duration.ofSeconds(1));
            paused.rollback();
        }

        assertThat(second).succeedsWithin(Duration.ofSeconds(10));
        assertThat(second.join().state().change()).isEqualTo(2);
        String timeout = one.database()
                .write(session -> session.first(row -> row.getString(1), "SHOW lock_timeout"))
                .orElseThrow();
        assertThat(timeout).isEqualTo("0");
    }

    @Test
    void aTableOfAnExtensionHasTheChangesOfAHubWithoutIt() {
        schema.run("CREATE TABLE derived_name (number BIGINT PRIMARY KEY, change BIGINT NOT NULL, name TEXT NOT NULL)");
        one.entries().derive(new DerivedTable("derived_name", "number", "change"), new EntryListener() {
            @Override
            public void changed(DatabaseSession session, long number, Entry now) throws SQLException {
                erased(session, number);
                session.update(
                        "INSERT INTO derived_name (number, change, name) VALUES (?, ?, ?)",
                        number,
                        now.state().change(),
                        now.resource().name());
            }

            @Override
            public void erased(DatabaseSession session, long number) throws SQLException {
                session.update("DELETE FROM derived_name WHERE number = ?", number);
            }
        });
        one.register("first");
        other.register("second");
        one.register("third");

        Eventually.holds(
                "the table has all entries",
                () -> one.number("SELECT count(*) FROM derived_name d JOIN registry_entry e USING (number, change)")
                        == 3);
    }

    @Test
    void timesAreThoseOfTheDatabase() {
        Hub ahead = hub(() -> Instant.now().plus(Duration.ofHours(1)));

        Instant created = ahead.register("agent").state().created();

        assertThat(created)
                .isBetween(Instant.now().minusSeconds(20), Instant.now().plusSeconds(20));
        assertThat(ahead.entries().clock().instant()).isBefore(Instant.now().plusSeconds(20));
        Eventually.holds(
                "the clock goes on", () -> ahead.entries().clock().instant().isAfter(created));
    }
}
