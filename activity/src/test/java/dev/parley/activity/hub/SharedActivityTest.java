package dev.parley.activity.hub;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.activity.ActivityOperation.Change;
import dev.parley.activity.ActivityOperation.Reach;
import dev.parley.activity.ActivityOperation.ReadTrace;
import dev.parley.activity.ActivityOperation.Span;
import dev.parley.activity.ActivityOperation.WatchChanges;
import dev.parley.engine.Agent;
import dev.parley.engine.Engine;
import dev.parley.engine.spi.TaskLog;
import dev.parley.extension.HubAgents;
import dev.parley.extension.HubParts;
import dev.parley.extension.HubTasks;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.store.Store;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditPosition;
import dev.parley.store.database.SharedSchema;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The feeds of changes of two hubs that work with one PostgreSQL database. */
@Timeout(120)
@Tag("heavy")
class SharedActivityTest {
    private static final CallContext CALLER = CallContext.anonymous();
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /** Turns of a task: each begins or continues it, and the agent asks for more. */
    private static final int TURNS = 4;

    private final SharedSchema schema = new SharedSchema();
    private final List<Hub> hubs = new ArrayList<>();

    /** A hub with an agent that asks for more. */
    private static final class Hub implements AutoCloseable {
        private final Store store;
        private final ActivityFeed feed;
        private final Engine engine;
        private final AgentEndpoint agent;

        Hub(Store store) {
            this.store = store;
            this.feed = new ActivityFeed(parts(store));
            this.engine = Engine.builder(store.log()).written(feed::written).build();
            this.agent =
                    engine.host(Agent.named("ask", "Asks").handle((request, reply) -> reply.askForInput("Which one?")));
            feed.start();
        }

        /** Sends a message to a task, or to a new one for null, and returns its id. */
        String send(@Nullable String task, String id) {
            return send(task, id, CALLER);
        }

        String send(@Nullable String task, String id, CallContext caller) {
            Message message = Message.user(Part.text("more")).withId(id);
            var send = new SendMessage(
                    null,
                    task == null ? message : message.in(null, task),
                    new SendConfiguration(List.of(), null, null, false),
                    Map.of());
            return ((Task) agent.call(send, caller)).id();
        }

        Feed<Change> watch(@Nullable String after) {
            return feed.watch(new WatchChanges(null, null, after, Reach.OWN), CALLER);
        }

        void note(String action) {
            store.audit().note(new AuditEntry("default", "me", action, "any", "", "done", "", "", Map.of()));
        }

        @Override
        public void close() {
            feed.close();
            engine.close();
            store.close();
        }
    }

    private static HubParts parts(Store store) {
        HubTasks tasks = of(HubTasks.class, (own, method, given) -> {
            try {
                return TaskLog.class
                        .getMethod(method.getName(), method.getParameterTypes())
                        .invoke(store.log(), given);
            } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
            }
        });
        HubAgents agents = of(HubAgents.class, (own, method, given) -> switch (method.getName()) {
            case "scope" -> ((CallContext) given[0]).scope();
            case "onHosted", "onRemoved" -> null;
            default -> true;
        });
        return of(HubParts.class, (own, method, given) -> switch (method.getName()) {
            case "isKept", "isLocal" -> true;
            case "database" -> store.database();
            case "audit" -> store.audit();
            case "agents" -> agents;
            case "tasks" -> tasks;
            default -> throw new UnsupportedOperationException(method.getName());
        });
    }

    private static <T> T of(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    @BeforeEach
    void open() {
        // Their clocks differ by more than a task takes.
        hubs.add(new Hub(schema.store(() -> Instant.now().plusSeconds(60))));
        hubs.add(new Hub(schema.store(() -> Instant.now().minusSeconds(60))));
    }

    @AfterEach
    void close() {
        hubs.forEach(Hub::close);
    }

    /** Has tasks go from one hub to the other, and returns how many changes they have. */
    private int work(String name, int tasks) throws Exception {
        try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            var sent = new ArrayList<Future<?>>();
            for (int i = 0; i < tasks; i++) {
                int begin = i;
                sent.add(callers.submit(() -> {
                    String task = null;
                    for (int turn = 0; turn < TURNS; turn++) {
                        task = hubs.get((begin + turn) % 2).send(task, name + "-" + begin + "-" + turn);
                    }
                }));
            }
            for (Future<?> each : sent) {
                each.get();
            }
        }
        return Math.toIntExact(hubs.getFirst()
                .store
                .database()
                .read(session -> session.number("SELECT count(*) FROM logged WHERE entry_no > 0")));
    }

    /** Reads changes of tasks, so many at least; the last ones may come together. */
    private static List<Change> read(Feed<Change> feed, int most) throws InterruptedException {
        var read = new ArrayList<Change>();
        while (read.size() < most) {
            for (Change change : requireNonNull(feed.next(PATIENCE))) {
                if (change.kind() == Change.Kind.TASK) {
                    read.add(change);
                }
            }
        }
        return read;
    }

    private static void assertOnceEachInOrder(List<Change> changes, int count) {
        assertThat(changes).extracting(Change::number).hasSize(count).doesNotHaveDuplicates();
        var states = new HashMap<String, Object>();
        for (Change change : changes) {
            String task = requireNonNull(change.taskId());
            assertThat(change.before()).as(task).isEqualTo(states.get(task));
            states.put(task, requireNonNull(change.state()));
        }
    }

    @Test
    void changesOfBothHubsComeToEachStreamOnceInTheOrderOfTheirTasks() throws Exception {
        try (Feed<Change> one = hubs.getFirst().watch(null);
                Feed<Change> other = hubs.getLast().watch(null)) {
            int changes = work("live", 20);

            assertOnceEachInOrder(read(one, changes), changes);
            assertOnceEachInOrder(read(other, changes), changes);
            for (Hub hub : hubs) {
                try (Feed<Change> all = hub.watch("0")) {
                    assertOnceEachInOrder(read(all, changes), changes);
                }
                assertThat(AuditPosition.read(hub.feed.newest()).numbers()).hasSize(2);
            }
        }
    }

    @Test
    void aReaderGoesOnAtTheOtherHubWithoutAGapOrARepetition() throws Exception {
        Feed<Change> first = hubs.getFirst().watch(null);
        int changes = work("cut", 10);
        var read = new ArrayList<Change>();
        read.add(read(first, 1).getFirst());
        first.close();
        for (int i = 1; read.size() < changes; i++) {
            String place = requireNonNull(read.getLast().position());
            try (Feed<Change> feed = hubs.get(i % 2).watch(place)) {
                List<Change> next = read(feed, 1);
                read.addAll(next.subList(0, Math.min(i, next.size()))); // cut after so many
            }
        }
        assertOnceEachInOrder(read, changes);

        try (Feed<Change> feed = hubs.getLast().watch(read.getLast().position())) {
            int more = work("more", 1) - changes;
            List<Change> next = read(feed, more);
            assertThat(next)
                    .extracting(Change::taskId)
                    .hasSize(more)
                    .containsOnly(next.getFirst().taskId());
        }
    }

    @Test
    void aReaderGoesOnAfterItsHubHasEndedAndAnotherOneHasBegun() throws Exception {
        int before = work("before", 5);
        String place;
        try (Feed<Change> feed = hubs.getFirst().watch("0")) {
            place = requireNonNull(read(feed, before).getLast().position());
        }
        int meanwhile = work("meanwhile", 5);
        hubs.removeFirst().close();
        hubs.add(new Hub(schema.store(Instant::now)));

        int all = work("after", 5);

        try (Feed<Change> feed = hubs.getLast().watch(place)) {
            List<Change> rest = read(feed, all - before);
            assertThat(rest).extracting(Change::number).hasSize(all - before).doesNotHaveDuplicates();
            assertOnceEachInOrder(rest, all - before);
            assertThat(meanwhile).isBetween(before, all);
        }
    }

    @Test
    void operatorsLearnOfRowsOfTheOtherHub() throws Exception {
        try (Feed<Change> feed = hubs.getFirst().watch(null)) {
            hubs.getLast().note("key.created");
            boolean isTold = false;
            while (!isTold) {
                isTold = requireNonNull(feed.next(PATIENCE)).stream()
                        .anyMatch(change -> change.kind() == Change.Kind.AUDIT);
            }
        }
    }

    @Test
    void aTraceHasRowsOfBothHubs() throws Exception {
        String trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        String parent = "00-" + trace + "-00f067aa0ba902b7-01";
        work("before", 3);
        hubs.getFirst().send(null, "traced", CALLER.withTraceparent(parent));
        for (Hub hub : hubs) {
            hub.store.database().write(session -> {
                hub.store
                        .audit()
                        .add(
                                session,
                                new AuditEntry("default", "me", "test.noted", "any", "", "done", "", parent, Map.of()));
                return parent;
            });
        }

        for (Hub hub : hubs) {
            List<Span> spans = new SpanTree(parts(hub.store), null)
                    .read(ReadTrace.of(trace), CALLER.withGrants(Set.of("admin"), ""))
                    .spans();
            assertThat(spans)
                    .extracting(Span::kind)
                    .containsExactlyInAnyOrder(Span.Kind.TASK, Span.Kind.AUDIT, Span.Kind.AUDIT);
        }
    }

    @Test
    void aPlaceOfOtherDataLeadsToTheNewestChangesBehindAGap() throws Exception {
        work("any", 1);
        for (String place : List.of("1.99999999999999", "999999999999999", "not-a-place")) {
            try (Feed<Change> feed = hubs.getFirst().watch(place)) {
                List<Change> first = requireNonNull(feed.next(PATIENCE));
                assertThat(first.getFirst().kind()).isEqualTo(Change.Kind.GAP);
                assertThat(feed.position()).isEqualTo(hubs.getLast().feed.newest());
            }
        }
    }
}
