package dev.parley.mesh.hub;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.extension.HubAgents;
import dev.parley.extension.HubParts;
import dev.parley.mesh.MeshViews.Connection;
import dev.parley.mesh.MeshViews.ConnectionType;
import dev.parley.mesh.MeshViews.EventFilter;
import dev.parley.mesh.MeshViews.EventPage;
import dev.parley.mesh.MeshViews.EventView;
import dev.parley.mesh.MeshViews.ListConnections;
import dev.parley.mesh.MeshViews.ListEvents;
import dev.parley.mesh.MeshViews.WatchEvents;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.store.database.SharedSchema;
import dev.parley.testkit.Eventually;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Events of the mesh at two hubs that work with one PostgreSQL database. */
@Timeout(60)
@Tag("heavy")
final class SharedEventsTest {
    private static final CallContext CALLER = CallContext.anonymous();
    private static final EventFilter ALL = new EventFilter(null, null, null, null, null);
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final SharedSchema schema = new SharedSchema();
    private final List<Hub> hubs = new ArrayList<>();
    private Hub one;
    private Hub other;

    private record Hub(Database database, AuditTrail audit, Views views) {
        /** Adds a message and its answer. */
        void add(String message) {
            audit.note(new AuditEntry(
                    CALLER.scope().group(),
                    "alice",
                    Events.ANSWERED,
                    "agent",
                    "",
                    "ok",
                    "",
                    "",
                    new TreeMap<>(Map.of("agent", "agent", "messageId", message, "contextId", "c"))));
        }

        EventPage page(String after, long size) {
            return views.call(new ListEvents(ALL, after, size), CALLER);
        }

        long messages() {
            return views
                    .call(new ListConnections(Set.of(ConnectionType.COMMUNICATES_WITH), null, 10), CALLER)
                    .connections()
                    .stream()
                    .map(Connection::count)
                    .mapToLong(count -> requireNonNull(count))
                    .sum();
        }

        Feed<EventView> watch(@Nullable String cursor) {
            return views.watch(new WatchEvents(ALL, cursor), CALLER);
        }
    }

    @BeforeEach
    void open() {
        one = hub();
        other = hub();
    }

    @AfterEach
    void close() {
        hubs.forEach(hub -> hub.database().close());
    }

    private Hub hub() {
        Database database = schema.shared();
        AuditTrail audit = AuditTrail.in(database, InstantSource.system());
        database.migrate(MessageAnswers.TABLES);
        var card = new AgentCard(
                "agent",
                "",
                List.of(new AgentCard.Interface("http://127.0.0.1/agents/agent", "JSONRPC", null, "1.0")),
                null,
                "1",
                null,
                new AgentCard.Capabilities(null, null, List.of(), null),
                Map.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                null,
                Map.of());
        HubAgents agents = part(HubAgents.class, Map.of("cards", Map.of("agent", card)));
        HubParts parts = part(HubParts.class, Map.of("database", database, "audit", audit, "agents", agents));
        var hub = new Hub(database, audit, new Views(parts, new Events(audit), new Durations(database)));
        hubs.add(hub);
        return hub;
    }

    /** A part of a hub whose methods answer so. */
    private static <T> T part(Class<T> type, Map<String, Object> answers) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (self, method, arguments) -> requireNonNull(answers.get(method.getName()), method.getName())));
    }

    private static List<String> names(List<EventView> events) {
        return events.stream()
                .map(event -> event.type() + " " + event.metadata().get("messageId") + " " + event.number())
                .toList();
    }

    @Test
    void pagesHaveTheEventsOfAllHubsOnce() {
        int messages = 60;
        var read = new ArrayList<String>();
        String place = "0";
        for (int i = 0; i < messages; i++) {
            (i % 3 == 0 ? one : other).add("m-" + i);
            if (i % 5 == 0) {
                EventPage page = (i % 2 == 0 ? one : other).page(place, 7);
                read.addAll(names(page.events()));
                place = page.next();
            }
            if (i == messages / 2) {
                one = hub(); // a further chain
            }
        }
        var last = new AtomicReference<>(place);
        Eventually.holds("all events are read", () -> {
            EventPage page = other.page(requireNonNull(last.get()), 7);
            read.addAll(names(page.events()));
            last.set(page.next());
            return read.size() >= 2 * messages;
        });

        assertThat(read).hasSize(2 * messages).doesNotHaveDuplicates();
        EventPage all = one.page("0", 1_000);
        assertThat(names(all.events())).containsExactlyInAnyOrderElementsOf(read);
        assertThat(all.more()).isFalse();
        assertThat(one.page(all.next(), 10).events()).isEmpty();
    }

    @Test
    void aStreamHasEventsOfTheOtherHubAndGoesOnThere() throws Exception {
        var read = new ArrayList<EventView>();
        try (Feed<EventView> events = one.watch(null)) {
            for (int i = 0; i < 5; i++) {
                (i % 2 == 0 ? other : one).add("m-" + i);
                int wanted = 2 * (i + 1);
                while (read.size() < wanted) {
                    List<EventView> next = events.next(PATIENCE);
                    assertThat(next).as("events of message " + i).isNotEmpty();
                    read.addAll(requireNonNull(next));
                }
            }
        }
        assertThat(read).hasSize(10);
        assertThat(names(read)).doesNotHaveDuplicates();

        var rest = new ArrayList<EventView>();
        try (Feed<EventView> events = other.watch(read.get(2).cursor())) {
            while (rest.size() < 7) {
                List<EventView> next = events.next(PATIENCE);
                assertThat(next).as("events after %s", names(rest)).isNotEmpty();
                rest.addAll(requireNonNull(next));
            }
        }
        assertThat(names(rest)).containsExactlyInAnyOrderElementsOf(names(read.subList(3, 10)));
    }

    @Test
    void sumsAreOverTheEventsOfAllHubs() {
        for (int i = 0; i < 20; i++) {
            (i % 2 == 0 ? one : other).add("m-" + i);
            for (Hub hub : hubs) {
                long before = i;
                Eventually.holds("the message counts", () -> hub.messages() == 2 * (before + 1));
            }
        }
    }

    @Test
    void sumsWithErasedNamesAreDroppedByAllHubs() {
        one.add("m");
        for (Hub hub : hubs) {
            Eventually.holds("the message counts", () -> hub.messages() == 2);
        }
        schema.run("DELETE FROM audit");

        one.views().forget(CALLER.scope().group());

        for (Hub hub : hubs) {
            assertThat(hub.messages()).isZero();
        }
    }

    @Test
    void aPlaceThatIsNoneIsRefused() {
        for (String place : List.of("x", "1.", "1.-2", "99999999999999999999")) {
            assertThatThrownBy(() -> one.page(place, 10))
                    .isInstanceOf(A2AException.class)
                    .hasMessageContaining("after");
        }
    }
}
