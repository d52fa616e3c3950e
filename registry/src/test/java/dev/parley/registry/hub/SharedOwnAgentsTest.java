package dev.parley.registry.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.extension.HubAgents;
import dev.parley.extension.HubParts;
import dev.parley.extension.HubTimers;
import dev.parley.protocol.CallContext;
import dev.parley.registry.Cards;
import dev.parley.registry.Entry;
import dev.parley.registry.EntryFilter;
import dev.parley.registry.EntryOperation.Order;
import dev.parley.registry.search.NoParts;
import dev.parley.registry.store.Entries;
import dev.parley.store.database.Database;
import dev.parley.store.database.SharedSchema;
import dev.parley.testkit.Eventually;
import java.lang.reflect.Proxy;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Agents of two hubs that work with one PostgreSQL database. */
@Timeout(90)
@Tag("heavy")
final class SharedOwnAgentsTest {
    private final SharedSchema schema = new SharedSchema();
    private final List<Hub> hubs = new ArrayList<>();
    private Hub one;
    private Hub other;

    /** A hub with agents that are hosted and removed by hand, and timers that are due by hand. */
    private static final class Hub {
        final Set<String> hosted = ConcurrentHashMap.newKeySet();
        final Map<String, HubTimers.Handler> timers = new ConcurrentHashMap<>();
        final Set<String> set = ConcurrentHashMap.newKeySet();
        final Database database;
        final Entries entries;
        final OwnAgents own;
        private @Nullable BiConsumer<String, byte[]> onHosted;
        private @Nullable Consumer<String> onRemoved;

        Hub(SharedSchema schema) {
            this.database = schema.shared(sql -> {}, () -> List.copyOf(hosted));
            this.entries = Entries.open(
                    database,
                    "agent.localhost",
                    List.of(),
                    (caller, agent) -> true,
                    new NoParts(),
                    new NoParts(),
                    InstantSource.system());
            this.own = new OwnAgents(fake(HubParts.class, this::answer), entries);
        }

        private interface Answers {
            @Nullable
            Object to(String method, @Nullable Object[] arguments);
        }

        private static <T> T fake(Class<T> type, Answers answers) {
            return type.cast(Proxy.newProxyInstance(
                    type.getClassLoader(),
                    new Class<?>[] {type},
                    (self, method, arguments) ->
                            answers.to(method.getName(), arguments == null ? new Object[0] : arguments)));
        }

        private Object answer(String method, @Nullable Object[] arguments) {
            return switch (method) {
                case "database" -> database;
                case "faces" -> Map.of();
                case "agents" -> fake(HubAgents.class, this::ofAgents);
                case "timers" ->
                    (HubTimers) (name, handler) -> {
                        timers.put(name, handler);
                        return fake(
                                HubTimers.Timers.class,
                                (set, values) -> this.set.add((String) requireNonNull(values[0])));
                    };
                default -> throw new UnsupportedOperationException(method);
            };
        }

        @SuppressWarnings("unchecked")
        private @Nullable Object ofAgents(String method, @Nullable Object[] arguments) {
            switch (method) {
                case "onHosted" -> onHosted = (BiConsumer<String, byte[]>) requireNonNull(arguments[0]);
                case "onRemoved" -> onRemoved = (Consumer<String>) requireNonNull(arguments[0]);
                default -> {
                    return "http://localhost/agents/" + arguments[0];
                }
            }
            return null;
        }

        void host(String agent) {
            hosted.add(agent);
            requireNonNull(onHosted).accept(agent, Cards.v1(agent, "add").getBytes(UTF_8));
        }

        void remove(String agent) {
            hosted.remove(agent);
            requireNonNull(onRemoved).accept(agent);
            own.await();
        }

        /** Has the timer of an agent be due; * for that of all agents. */
        void due(String agent) throws Exception {
            requireNonNull(timers.get("registry/own-agents")).due(agent, "");
        }

        List<String> names() {
            own.await();
            return entries.reader().list(EntryFilter.NONE, Order.NAME, 100, null, Entries.ITSELF).entries().stream()
                    .map(entry -> entry.resource().name())
                    .toList();
        }
    }

    @BeforeEach
    void open() {
        one = hub();
        other = hub();
    }

    @AfterEach
    void close() {
        hubs.forEach(hub -> {
            hub.own.close();
            hub.entries.changes().log().close();
            hub.database.close();
        });
    }

    private Hub hub() {
        var hub = new Hub(schema);
        hubs.add(hub);
        return hub;
    }

    private void awaitSaid(Hub hub) {
        Eventually.holds(
                "the hub has said which agents it hosts",
                () -> hub.database
                        .read(session -> session.list(
                                row -> row.getString(1),
                                "SELECT array_to_string(agents, ' ') FROM hub WHERE hub_no = ?",
                                hub.database.access().hub()))
                        .equals(List.of(String.join(" ", List.copyOf(hub.hosted)))));
    }

    @Test
    void hubsThatStartAtOnceRegisterAnAgentOnce() {
        for (int round = 0; round < 10; round++) {
            String agent = "agent " + round;
            CompletableFuture.allOf(
                            CompletableFuture.runAsync(() -> one.host(agent)),
                            CompletableFuture.runAsync(() -> other.host(agent)))
                    .join();
        }

        assertThat(one.names()).hasSize(10).doesNotHaveDuplicates().isEqualTo(other.names());
    }

    @Test
    void agentsOfAnotherHubStayRegisteredWhenAHubStarts() throws Exception {
        one.host("alpha");
        other.host("beta");
        other.own.clean();
        awaitSaid(one);
        awaitSaid(other);
        assertThat(one.names()).containsExactly("alpha", "beta");

        schema.run("UPDATE hub SET begun_at = begun_at - interval '1 hour'");
        other.due("*");

        assertThat(other.set).contains("*");
        assertThat(one.names()).containsExactly("alpha", "beta");
    }

    @Test
    void agentsThatNoHubHostsAreDeletedWhenNoHubHasBegunOrEndedForMinutes() throws Exception {
        one.host("alpha");
        assertThat(one.names()).containsExactly("alpha");
        Eventually.holds(
                "the other hub knows the agent",
                () -> other.entries
                        .find("urn:air:agent.localhost:agents:alpha", CallContext.anonymous())
                        .isPresent());
        one.hosted.clear();
        awaitSaid(one);

        other.due("*");
        assertThat(other.names()).containsExactly("alpha");

        schema.run("UPDATE hub SET begun_at = begun_at - interval '1 hour'");
        Eventually.holds("the other hub has read the agent", () -> {
            try {
                other.due("*");
            } catch (Exception failure) {
                throw new IllegalStateException(failure);
            }
            return other.names().isEmpty();
        });
    }

    @Test
    void anAgentIsDeletedWhenTheLastHubHasRemovedIt() throws Exception {
        one.host("alpha");
        other.host("alpha");
        awaitSaid(one);
        awaitSaid(other);
        assertThat(other.names()).containsExactly("alpha");

        one.remove("alpha");
        assertThat(one.names()).containsExactly("alpha");
        assertThat(one.set).contains("alpha");
        one.due("alpha");
        assertThat(one.names()).containsExactly("alpha");

        awaitSaid(one);
        other.remove("alpha");
        assertThat(one.names()).isEmpty();
        assertThat(one.entries.find("urn:air:agent.localhost:agents:alpha", Entries.ITSELF))
                .map(entry -> entry.state().status())
                .satisfiesAnyOf(
                        status -> assertThat(status).isEmpty(),
                        status -> assertThat(status).contains(Entry.Status.DELETED));
    }
}
