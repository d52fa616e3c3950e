package dev.parley.gateway.push;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.engine.Engine;
import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.WebhookTransport;
import dev.parley.extension.HubParts;
import dev.parley.extension.HubTasks;
import dev.parley.extension.HubTimers;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.DeletePushConfig;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.store.Store;
import dev.parley.store.database.Database;
import dev.parley.store.database.SharedSchema;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.testkit.Eventually;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Webhooks for tasks of remote agents at two hubs that work with one PostgreSQL database. */
@Timeout(120)
@Tag("heavy")
final class SharedRelayTest {
    private static final Scope SCOPE = new Scope("default", "alice");
    private static final CallContext ALICE = CallContext.of("alice", SCOPE);
    private static final String ROUTE = "worker";

    private final SharedSchema schema = new SharedSchema();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final LinkedBlockingQueue<String> posts = new LinkedBlockingQueue<>();
    private final Semaphore steps = new Semaphore(0);
    private final Counted remote = new Counted();
    private final Engine remoteEngine = Engine.builder(new MemoryTaskLog()).build();
    private Hub one;
    private Hub other;

    @BeforeEach
    void open() {
        remote.agent = remoteEngine.host(Agent.named(ROUTE, "Works").handle((request, reply) -> {
            switch (request.text()) {
                case "ask" -> reply.askForInput("more?");
                case "done" -> reply.complete("done");
                default -> {
                    for (int step = 1; step <= 3; step++) {
                        steps.acquire();
                        reply.artifact(Artifact.of("step-" + step, Part.text("step-" + step)));
                    }
                    reply.complete();
                }
            }
        }));
        one = new Hub();
        other = new Hub();
    }

    @AfterEach
    void close() {
        one.close();
        other.close();
        remoteEngine.close();
        threads.close();
    }

    /** The remote agent, with the number of its readers. */
    private static final class Counted implements AgentEndpoint {
        private final AtomicInteger streams = new AtomicInteger();
        private final AtomicInteger mostStreams = new AtomicInteger();
        private final AtomicInteger reads = new AtomicInteger();
        private @Nullable AgentEndpoint agent;
        private volatile boolean isSilent;

        @Override
        public <R> R call(Operation.Call<R> operation, CallContext context) {
            reads.addAndGet(operation instanceof GetTask ? 1 : 0);
            return requireNonNull(agent).call(operation, context);
        }

        @Override
        public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
            if (isSilent) {
                throw A2AException.of(A2AError.UNSUPPORTED_OPERATION);
            }
            Feed<E> feed = requireNonNull(agent).watch(operation, context);
            mostStreams.accumulateAndGet(streams.incrementAndGet(), Math::max);
            return new Feed<>() {
                @Override
                public @Nullable List<E> next(Duration patience) throws InterruptedException {
                    return feed.next(patience);
                }

                @Override
                public void close() {
                    streams.decrementAndGet();
                    feed.close();
                }
            };
        }
    }

    /** A hub with a relay and nothing else. */
    private final class Hub implements WebhookTransport {
        final Store store;
        final Engine engine;
        final PushRelay relay;
        final AgentEndpoint notified;

        Hub() {
            Database database = schema.shared();
            store = Store.in(database, InstantSource.system(), EncryptionAtRest.PLAIN, Once.CLAIM);
            schema.run("ALTER TABLE audit_part DROP CONSTRAINT IF EXISTS audit_part_pkey"); // of one chain
            engine = Engine.builder(store.log())
                    .webhooks(store.webhooks(), this)
                    .grace(Duration.ZERO)
                    .build();
            relay = new PushRelay(parts(), "urn:gateway", route -> Optional.of(remote));
            notified = requireNonNull(
                    relay.extension("http://hub", "Relays").handlers().get(PushProtocol.DELIVER));
            var unused = relay.before(engine.host(relay.agent()));
            relay.started();
        }

        private HubParts parts() {
            HubTasks tasks = proxy(HubTasks.class, store.log());
            HubTimers.Timers none = proxy(HubTimers.Timers.class, new Object());
            HubTimers timers = (name, handler) -> none;
            return (HubParts) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {HubParts.class}, (self, method, given) -> {
                        return switch (method.getName()) {
                            case "database" -> store.database();
                            case "tasks" -> tasks;
                            case "timers" -> timers;
                            case "key" -> new byte[32];
                            default -> throw new UnsupportedOperationException(method.getName());
                        };
                    });
        }

        /** An interface with the methods that another object has; others do nothing. */
        private <T> T proxy(Class<T> type, Object target) {
            return type.cast(Proxy.newProxyInstance(
                    type.getClassLoader(), new Class<?>[] {type}, (self, method, given) -> {
                        try {
                            return target.getClass()
                                    .getMethod(method.getName(), method.getParameterTypes())
                                    .invoke(target, given);
                        } catch (NoSuchMethodException none) {
                            return null;
                        } catch (InvocationTargetException failure) {
                            throw failure.getCause();
                        }
                    }));
        }

        @Override
        public void check(String group, PushConfig config) {}

        @Override
        public boolean ordersContexts(String dialect) {
            return false;
        }

        @Override
        public Outcome deliver(Subscription webhook, LoggedEvent event, Supplier<Task> task) {
            posts.add(webhook.config().url() + " "
                    + switch (event.event()) {
                        case TaskStatusUpdateEvent update ->
                            update.status().state().name();
                        case TaskArtifactUpdateEvent update -> update.artifact().artifactId();
                        default -> "other";
                    });
            return new Outcome.Accepted();
        }

        PushConfig create(Task task, String url, String version) {
            var at = new PushRelay.Remote(ROUTE, version, call -> {});
            return relay.create(at, task.id(), task.contextId(), null, hook(url), ALICE);
        }

        List<String> webhooks(Task task) {
            return relay.list(ROUTE, task.id(), ALICE).configs().stream()
                    .map(PushConfig::url)
                    .sorted()
                    .toList();
        }

        boolean runs() {
            return relay.hasRuns();
        }

        /** Ends as a hub whose place another one has taken. */
        void end() {
            schema.end(store);
        }

        void close() {
            relay.stopping();
            engine.close();
            store.close();
        }
    }

    private static PushConfig hook(String url) {
        return new PushConfig(null, null, null, url, null, null);
    }

    private Task sent(String text, @Nullable Task to) {
        Message message = Message.user(Part.text(text));
        Message addressed = to == null ? message : message.in(to.contextId(), to.id());
        var now = new SendConfiguration(List.of(), null, null, true);
        return (Task) remote.call(new SendMessage(null, addressed, now, Map.of()), ALICE);
    }

    /** Waits for what a webhook gets, and returns all up to that. */
    private List<String> postsUntil(String url, String last) throws InterruptedException {
        var found = new ArrayList<String>();
        while (!found.contains(last)) {
            String post = posts.poll(30, TimeUnit.SECONDS);
            assertThat(post).as("after " + found).isNotNull();
            if (requireNonNull(post).startsWith(url + " ")) {
                found.add(post.substring(url.length() + 1));
            }
        }
        return found;
    }

    @Test
    void webhooksOfBothHubsForOneTaskHaveOneRelayAndOneFollower() throws Exception {
        for (int i = 0; i < 10; i++) {
            Task task = sent("go", null);
            var start = new CountDownLatch(1);
            var created = new ArrayList<CompletableFuture<PushConfig>>();
            for (Hub hub : List.of(one, other)) {
                String url = "https://" + (hub == one ? "one" : "other") + i;
                created.add(CompletableFuture.supplyAsync(
                        () -> {
                            try {
                                start.await();
                            } catch (InterruptedException stopped) {
                                throw new IllegalStateException(stopped);
                            }
                            return hub.create(task, url, "");
                        },
                        threads));
            }
            start.countDown();
            for (CompletableFuture<PushConfig> each : created) {
                assertThat(each.get(30, TimeUnit.SECONDS).taskId()).isEqualTo(task.id());
            }

            assertThat(one.webhooks(task)).containsExactly("https://one" + i, "https://other" + i);
            assertThat(other.webhooks(task)).isEqualTo(one.webhooks(task));
            Eventually.holds("a hub follows the task", () -> remote.streams.get() == 1);
            steps.release(3);
            assertThat(postsUntil("https://one" + i, "COMPLETED"))
                    .contains("step-1", "step-2", "step-3")
                    .doesNotHaveDuplicates();
            Eventually.holds("the task is followed no more", () -> remote.streams.get() == 0);
        }
        assertThat(remote.mostStreams).hasValue(1);
    }

    @Test
    void aRepeatedMessageAtTheOtherHubLeadsToTheSameRelay() throws Exception {
        Task task = sent("go", null);
        for (Hub hub : List.of(one, other)) {
            var at = new PushRelay.Remote(ROUTE, "", call -> {});
            PushRelay.Begun begun =
                    hub.relay.begin(at, hook(hub == one ? "https://one" : "https://other"), Map.of(), ALICE);
            hub.relay.bound(begun.id(), task.id(), task.contextId(), null);
        }

        assertThat(one.webhooks(task)).containsExactly("https://one", "https://other");
        steps.release(3);
        assertThat(postsUntil("https://other", "COMPLETED")).contains("step-3");
        assertThat(remote.mostStreams).hasValue(1);
    }

    @Test
    void theFollowerOfAHubThatEndsHasASuccessorAlsoWhileTheTaskWaitsForItsCaller() throws Exception {
        Task task = sent("ask", null);
        one.create(task, "https://hook", "");
        assertThat(postsUntil("https://hook", "INPUT_REQUIRED")).doesNotContain("COMPLETED");
        assertThat(other.runs()).isFalse();

        one.end();
        Eventually.holds("the other hub follows the task", other::runs);
        sent("done", task);

        assertThat(postsUntil("https://hook", "COMPLETED")).containsOnlyOnce("COMPLETED");
        Eventually.holds("the run is over", () -> rows("gateway_run") == 0);
    }

    @Test
    void theFollowerOfAHubThatEndsHasASuccessorWhileTheTaskRuns() throws Exception {
        Task task = sent("go", null);
        one.create(task, "https://hook", "");
        steps.release();
        postsUntil("https://hook", "step-1");

        one.end();
        Eventually.holds("the other hub follows the task", other::runs);
        steps.release(2);

        assertThat(postsUntil("https://hook", "COMPLETED"))
                .contains("step-2", "step-3")
                .doesNotContain("step-1");
    }

    @Test
    void aMessageAtOneHubWakesTheFollowerAtTheOther() throws Exception {
        remote.isSilent = true; // so that the task is read, after pauses of 1 s, 2 s, 4 s
        Task task = sent("ask", null);
        one.create(task, "https://hook", "");
        postsUntil("https://hook", "INPUT_REQUIRED");
        int before = Eventually.value("the pauses have grown", remote.reads::get, reads -> reads >= 3);

        sent("done", task);
        other.relay.sent(ROUTE, SCOPE, task.id());

        Eventually.within(Duration.ofSeconds(3), "the follower looks at once", () -> remote.reads.get() > before);
        assertThat(postsUntil("https://hook", "COMPLETED")).doesNotHaveDuplicates();
    }

    @Test
    void aWebhookThatIsRemovedAtOneHubEndsTheRunAtTheOther() {
        Task task = sent("ask", null);
        PushConfig config = one.create(task, "https://hook", "1.0");
        assertThat(one.runs()).isTrue();

        var at = new PushRelay.Remote(ROUTE, "1.0", call -> {});
        other.relay.delete(at, new DeletePushConfig(null, task.id(), requireNonNull(config.id())), ALICE);

        Eventually.holds("the run is over", () -> !one.runs());
        Eventually.holds("its row is gone", () -> rows("gateway_run") == 0);
    }

    @Test
    void notificationsAtBothHubsReachTheWebhookOnceAndInOrder() throws Exception {
        Task task = sent("ask", null);
        var tokens = new ArrayList<String>();
        var at = new PushRelay.Remote(ROUTE, "1.0", call -> {
            if (call instanceof Operation.CreatePushConfig create) {
                tokens.add(create.config().url().replaceFirst(".*/", ""));
                tokens.add(requireNonNull(create.config().token()));
            }
        });
        one.relay.create(at, task.id(), task.contextId(), null, hook("https://hook"), ALICE);

        for (int i = 0; i < 20; i++) {
            notify(i % 2 == 0 ? other : one, tokens, task, "e" + i, false);
            if (i % 3 == 0) { // the delivery is repeated, as after a lost answer
                notify(i % 2 == 0 ? one : other, tokens, task, "e" + i, false);
            }
        }
        List<String> got = postsUntil("https://hook", "e19");
        assertThat(got.stream().filter(each -> each.startsWith("e")))
                .containsExactlyElementsOf(
                        IntStream.range(0, 20).mapToObj(i -> "e" + i).toList());

        notify(other, tokens, task, "ask", true);
        got = postsUntil("https://hook", "INPUT_REQUIRED");
        one.end(); // which has the run
        Eventually.holds("the run is that of no hub, or of the other", () -> runsOf(one) == 0);
        notify(other, tokens, task, "last", false);

        // A delivery that the end cut off from its record is repeated.
        got.addAll(postsUntil("https://hook", "last"));
        assertThat(got.stream().filter(each -> !each.equals("WORKING")).distinct())
                .containsExactly("INPUT_REQUIRED", "last");
        List<LoggedEvent> events = other.store.log().read(shadow(), 0, 1_000);
        assertThat(events.stream().filter(event -> event.event() instanceof Message))
                .as("messages of the gateway to its own agent: the one that began, and one after the end of its hub")
                .hasSizeLessThanOrEqualTo(2);
    }

    private static void notify(Hub hub, List<String> tokens, Task task, String id, boolean asks) {
        var now = new TaskStatus(TaskState.INPUT_REQUIRED, null, Instant.now());
        TaskEvent event = asks
                ? new TaskStatusUpdateEvent(task.id(), task.contextId(), now, Map.of())
                : new TaskArtifactUpdateEvent(
                        task.id(), task.contextId(), Artifact.of(id, Part.text(id)), false, true, Map.of());
        String json = new String(Json.writeEvent(event), UTF_8);
        hub.notified.call(new PushProtocol.Deliver(tokens.get(0), tokens.get(1), id, json), ALICE);
    }

    private TaskKey shadow() {
        String id = other.store
                .database()
                .read(session -> session.first(row -> row.getString(1), "SELECT shadow FROM gateway_relay"))
                .orElseThrow();
        return new TaskKey(SCOPE, PushRelay.AGENT, id);
    }

    private long rows(String table) {
        return other.store.database().read(session -> session.number("SELECT count(*) FROM " + table));
    }

    private long runsOf(Hub hub) {
        return other.store
                .database()
                .read(session -> session.number(
                        "SELECT count(*) FROM gateway_run WHERE hub_no = ?",
                        hub.store.database().access().hub()));
    }

    @Test
    void newsOfAMinuteAgoAreNotReadAgainWhileATransactionRuns() throws Exception {
        var runs = new SharedRuns(one.store.database());
        try (Connection old = schema.connect();
                Statement statement = old.createStatement()) {
            old.setAutoCommit(false);
            statement.execute("SELECT pg_current_xact_id()");
            schema.run("INSERT INTO gateway_news (shadow) VALUES ('new')");
            schema.run("INSERT INTO gateway_news (shadow, made_at) VALUES ('old', now() - interval '2 minutes')");

            assertThat(runs.news()).contains("new").doesNotContain("old");
            assertThat(runs.news()).contains("new").doesNotContain("old");
            old.rollback();
        }
    }
}
