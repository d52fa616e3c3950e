package dev.parley.store;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.engine.Engine;
import dev.parley.engine.Webhooks;
import dev.parley.engine.spi.PushStore;
import dev.parley.engine.spi.PushStore.ClaimResult;
import dev.parley.engine.spi.PushStore.Queue;
import dev.parley.engine.spi.PushStore.Recorded;
import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.WebhookTransport;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.GroupListener;
import dev.parley.store.database.PostgresqlSystem;
import dev.parley.store.database.SharedSchema;
import dev.parley.testkit.Eventually;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Webhooks of engines that write to one PostgreSQL database: one of them at a time sends the events of a queue. */
@Timeout(180)
@Tag("heavy")
final class SharedWebhooksTest {
    private static final CallContext CALLER = CallContext.anonymous();
    private static final TaskKey TASK = new TaskKey(CALLER.scope(), "agent", "task-1");
    private static final Queue QUEUE = new Queue.Single(TASK, "hook");

    /** Events of a task of the agent. */
    private static final int EVENTS = 8;

    private final SharedSchema schema = new SharedSchema();
    private final List<Store> stores = new ArrayList<>();
    private final List<Engine> engines = new ArrayList<>();
    private final LinkedBlockingQueue<Post> posts = new LinkedBlockingQueue<>();
    private final Map<Queue, AtomicInteger> sending = new ConcurrentHashMap<>();
    private final AtomicInteger mostAtOnce = new AtomicInteger();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @AfterEach
    void close() {
        engines.forEach(Engine::close);
        stores.forEach(Store::close);
        threads.close();
    }

    /** A call of a receiver that has accepted an event. */
    private record Post(Hub hub, String task, long sequence) {}

    /** An engine with an agent whose tasks have 8 events. */
    private final class Hub implements WebhookTransport {
        final Store store;
        final Engine engine;
        final AgentEndpoint agent;
        volatile Function<LoggedEvent, Outcome> receiver = event -> new Outcome.Accepted();
        volatile boolean ordersContexts;

        Hub(Store store) {
            this(store, store.log(), store.webhooks());
        }

        Hub(Store store, TaskLog log, PushStore webhooks) {
            this.store = store;
            this.engine = Engine.builder(log)
                    .webhooks(webhooks, this)
                    .grace(Duration.ZERO)
                    .build();
            engines.add(engine);
            this.agent = engine.host(Agent.named("agent", "Counts").handle((request, reply) -> {
                for (int i = 0; i < EVENTS - 3; i++) {
                    reply.progress(i, null);
                }
                reply.complete("done");
            }));
        }

        Webhooks webhooks() {
            return engine.deliveries().orElseThrow();
        }

        @Override
        public void check(String group, PushConfig config) {}

        @Override
        public boolean ordersContexts(String dialect) {
            return ordersContexts;
        }

        @Override
        public Outcome deliver(Subscription webhook, LoggedEvent event, Supplier<Task> task) {
            AtomicInteger running = sending.computeIfAbsent(webhook.queue(), queue -> new AtomicInteger());
            mostAtOnce.accumulateAndGet(running.incrementAndGet(), Math::max);
            try {
                Outcome outcome = receiver.apply(event);
                if (outcome instanceof Outcome.Accepted) {
                    posts.add(new Post(this, webhook.task().taskId(), event.sequence()));
                }
                return outcome;
            } finally {
                running.decrementAndGet();
            }
        }

        Task send(String message, @Nullable String context, String url) {
            var hook =
                    new SendConfiguration(List.of(), new PushConfig(null, "hook", null, url, null, null), null, false);
            Message first = Message.user(Part.text("go")).withId(message).in(context, null);
            return (Task) agent.call(new SendMessage(null, first, hook, Map.of()), CALLER);
        }
    }

    private Store store() {
        return store(sql -> {});
    }

    private Store store(Consumer<String> before) {
        Store store = schema.store(InstantSource.system(), before);
        stores.add(store);
        return store;
    }

    private static Cause cause() {
        return new Cause("alice", "192.0.2.1", null, CallChain.NONE);
    }

    private static Subscription webhook() {
        var config = new PushConfig(null, "hook", TASK.taskId(), "https://hook", null, null);
        return Subscription.of(TASK, config, CallContext.V1, null, 0);
    }

    /** Writes the first event of a task with a webhook, without an engine that announces it. */
    private static void begin(Store store, TaskState state) {
        Segments.write(store.log(), TASK, 1, state, Instant.now());
        store.webhooks().save(webhook(), cause());
    }

    private Post nextPost() throws InterruptedException {
        return requireNonNull(posts.poll(30, TimeUnit.SECONDS), "a delivery within 30 s");
    }

    private List<Long> sequences(String task) {
        return posts.stream()
                .filter(post -> post.task.equals(task))
                .map(Post::sequence)
                .toList();
    }

    private static List<Long> range(int first, int last) {
        return LongStream.rangeClosed(first, last).boxed().toList();
    }

    private static void awaitOpen(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    private static long number(Store store, String sql) {
        return store.database().read(session -> session.number(sql));
    }

    private static long stream(Store store) {
        return ((PostgresqlSystem) store.database().system()).stream();
    }

    @Test
    void eachEventOfAQueueIsSentOnceAndInOrderWhileTwoHubsHaveEventsForIt() throws Exception {
        List<Hub> hubs = List.of(new Hub(store()), new Hub(store()));
        hubs.forEach(hub -> hub.ordersContexts = true);

        var sent = new ArrayList<Future<Task>>();
        for (int i = 0; i < 40; i++) {
            Hub hub = hubs.get(i % 2);
            String message = "m-" + i;
            sent.add(threads.submit(() -> hub.send(message, "context", "https://hook")));
        }
        var tasks = new ArrayList<String>();
        for (Future<Task> task : sent) {
            tasks.add(task.get().id());
        }

        Eventually.asserted("all events are sent", () -> assertThat(posts).hasSize(40 * EVENTS));
        for (String task : tasks) {
            assertThat(sequences(task)).as(task).isEqualTo(range(1, EVENTS));
        }
        assertThat(mostAtOnce).as("senders of the channel at once").hasValue(1);
        Eventually.asserted(
                "no queue is claimed any more",
                () -> assertThat(number(
                                stores.getFirst(),
                                "SELECT count(*) FROM webhook_sender WHERE queue NOT LIKE 'stream %'"))
                        .isZero());
    }

    /** Has {@code before} see the names of methods before they are called; those for which it returns false are not. */
    private static <T> T watched(Class<T> type, T target, Predicate<String> before) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    try {
                        return before.test(method.getName()) ? method.invoke(target, arguments) : null;
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                }));
    }

    @Test
    void theOthersGoOnWithTheWebhooksOfAHubThatHasEndedAndItSendsNothingMore() throws Exception {
        int tasks = 20;
        var claims = new AtomicInteger();
        Store first = store();
        var ended = new Hub(first, first.log(), watched(PushStore.class, first.webhooks(), method -> {
            if (method.equals("claim")) {
                claims.incrementAndGet();
            }
            return true;
        }));
        var inFlight = new CountDownLatch(tasks);
        var answer = new CountDownLatch(1);
        ended.receiver = event -> {
            if (event.sequence() == 3) {
                inFlight.countDown();
                awaitOpen(answer);
            }
            return new WebhookTransport.Outcome.Accepted();
        };
        List<Hub> others = List.of(new Hub(store()), new Hub(store()));
        var ids = new ArrayList<String>();
        for (int i = 0; i < tasks; i++) {
            ids.add(ended.send("m-" + i, null, "https://hook-" + i).id());
        }
        inFlight.await();

        schema.end(ended.store);

        Eventually.asserted("the others send the rest", () -> assertThat(posts).hasSize(tasks * EVENTS));
        for (String task : ids) {
            assertThat(sequences(task)).as(task).isEqualTo(range(1, EVENTS));
            assertThat(posts)
                    .filteredOn(post -> post.task.equals(task) && post.sequence > 2)
                    .as(task)
                    .extracting(Post::hub)
                    .allMatch(others::contains)
                    .containsOnly(posts.stream()
                            .filter(post -> post.task.equals(task) && post.sequence == EVENTS)
                            .findFirst()
                            .orElseThrow()
                            .hub);
        }
        int before = claims.get();
        answer.countDown(); // the paused hub goes on
        Eventually.holds("it has tried to go on with each webhook", () -> claims.get() >= before + tasks);
        assertThat(posts)
                .filteredOn(post -> post.hub == ended && post.sequence > 3)
                .isEmpty();
        assertThat(posts).hasSize(tasks * EVENTS + tasks); // of each the event in flight twice
        assertThat(ended.store.webhooks().maySend()).isFalse();
        assertThat(others).allMatch(other -> other.store.webhooks().maySend());
        for (String task : ids) {
            assertThat(others.getFirst()
                            .store
                            .webhooks()
                            .find(new TaskKey(CALLER.scope(), "agent", task), "hook")
                            .orElseThrow()
                            .delivered())
                    .isEqualTo(EVENTS);
        }
    }

    @Test
    void aHubWithoutItsClaimRecordsNoDeliveryAndSendsNothingMore() throws Exception {
        var hub = new Hub(store());
        Store other = store();
        var inFlight = new CountDownLatch(1);
        var answer = new CountDownLatch(1);
        hub.receiver = event -> {
            if (event.sequence() == 3) {
                inFlight.countDown();
                awaitOpen(answer);
            }
            return new WebhookTransport.Outcome.Accepted();
        };
        var task = new TaskKey(
                CALLER.scope(), "agent", hub.send("m", null, "https://hook").id());
        inFlight.await();

        schema.run("DELETE FROM webhook_sender WHERE queue NOT LIKE 'stream %'");
        Queue queue = new Queue.Single(task, "hook");
        assertThat(other.webhooks().claim(queue)).isEqualTo(ClaimResult.GRANTED);
        Subscription webhook = other.webhooks().find(task, "hook").orElseThrow();
        assertThat(other.webhooks().advance(webhook.delivered(5))).isEqualTo(Recorded.DONE);
        answer.countDown();

        Eventually.holds("the hub has given up", () -> hub.webhooks().backlog() == 0);
        assertThat(sequences(task.taskId())).containsExactly(1L, 2L, 3L);
        assertThat(other.webhooks().find(task, "hook").orElseThrow().delivered())
                .isEqualTo(5);
        assertThat(number(other, "SELECT count(*) FROM webhook_sender WHERE marked"))
                .isOne();

        schema.end(other);
        Eventually.asserted(
                "the hub goes on after the other one",
                () -> assertThat(sequences(task.taskId())).containsExactly(1L, 2L, 3L, 6L, 7L, 8L));
    }

    @Test
    void anEventThatAHubHasNotAnnouncedBeforeItsEndIsSentByAnother() throws Exception {
        Store ended = store();
        var other = new Hub(store()); // before the event, which its first look does not find

        begin(ended, TaskState.COMPLETED);
        schema.end(ended);

        assertThat(nextPost()).isEqualTo(new Post(other, TASK.taskId(), 1));
    }

    @Test
    void anEventOfAnotherHubIsFoundByASenderThatIsAboutToGiveUpItsClaim() throws Exception {
        Store other = store();
        begin(other, TaskState.WORKING);
        var releasing = new AtomicReference<@Nullable Runnable>();
        var claim = new CompletableFuture<ClaimResult>();
        releasing.set(() -> {
            Segments.write(other.log(), TASK, 2, TaskState.COMPLETED, Instant.now());
            claim.complete(other.webhooks().claim(QUEUE));
        });
        var hub = new Hub(store(sql -> {
            Runnable action =
                    sql.startsWith("DELETE FROM webhook_sender WHERE queue = ") ? releasing.getAndSet(null) : null;
            if (action != null) {
                action.run();
            }
        }));

        assertThat(nextPost()).isEqualTo(new Post(hub, TASK.taskId(), 1));
        assertThat(claim.get(30, TimeUnit.SECONDS)).isEqualTo(ClaimResult.TAKEN);
        assertThat(nextPost()).isEqualTo(new Post(hub, TASK.taskId(), 2));
        Eventually.asserted(
                "the claim is given up",
                () -> assertThat(number(other, "SELECT count(*) FROM webhook_sender WHERE queue NOT LIKE 'stream %'"))
                        .isZero());
    }

    /** Has a store pause in the transaction of a change, until the latch opens. Returns once it does. */
    private <T> Future<T> paused(Store store, Callable<T> change, CountDownLatch until) {
        var begun = new CountDownLatch(1);
        var isArmed = new AtomicBoolean();
        store.database().listen(new GroupListener() {
            @Override
            public void beforeCommit(DatabaseSession session) {
                if (isArmed.getAndSet(false)) {
                    begun.countDown();
                    awaitOpen(until);
                }
            }
        });
        isArmed.set(true);
        Future<T> changed = threads.submit(change);
        awaitOpen(begun);
        return changed;
    }

    private static void requireWrites(Store store) {
        assertThat(Segments.submit(store.log(), TASK, 1, TaskState.WORKING, Instant.now()))
                .as("an unrelated write")
                .succeedsWithin(Duration.ofSeconds(30));
    }

    @Test
    void aHubThatPausesInItsClaimDoesNotDelayOthers() throws Exception {
        Store store = store();
        Store other = store();
        var until = new CountDownLatch(1);
        Future<ClaimResult> claim = paused(store, () -> store.webhooks().claim(QUEUE), until);

        try {
            assertThat(threads.submit(() -> other.webhooks().claim(QUEUE)))
                    .succeedsWithin(Duration.ofSeconds(30))
                    .isEqualTo(ClaimResult.BUSY);
            requireWrites(other);
        } finally {
            until.countDown();
        }

        assertThat(claim.get()).isEqualTo(ClaimResult.GRANTED);
        assertThat(other.webhooks().claim(QUEUE)).isEqualTo(ClaimResult.TAKEN);
        assertThat(store.webhooks().release(QUEUE)).as("after the mark").isFalse();
        assertThat(store.webhooks().claim(QUEUE)).isEqualTo(ClaimResult.GRANTED);
        assertThat(store.webhooks().release(QUEUE)).isTrue();
        assertThat(other.webhooks().claim(QUEUE)).isEqualTo(ClaimResult.GRANTED);
    }

    @Test
    void aSenderWhoseQueueIsBeingMarkedDoesNotWaitForThat() throws Exception {
        Store store = store();
        Store other = store();
        assertThat(store.webhooks().claim(QUEUE)).isEqualTo(ClaimResult.GRANTED);
        var until = new CountDownLatch(1);
        Future<ClaimResult> mark = paused(other, () -> other.webhooks().claim(QUEUE), until);

        try {
            assertThat(threads.submit(() -> store.webhooks().release(QUEUE)))
                    .succeedsWithin(Duration.ofSeconds(30))
                    .isEqualTo(false);
            store.webhooks().abandon(List.of(QUEUE));
            requireWrites(store);
        } finally {
            until.countDown();
        }

        assertThat(mark.get()).isEqualTo(ClaimResult.TAKEN);
        assertThat(store.webhooks().release(QUEUE)).isFalse();
    }

    @Test
    void aHubThatPausesInATakeoverDoesNotDelayOthers() throws Exception {
        Store ended = store();
        Store store = store();
        Store other = store();
        assertThat(ended.webhooks().claim(QUEUE)).isEqualTo(ClaimResult.GRANTED);
        schema.end(ended);
        var until = new CountDownLatch(1);
        Future<Boolean> takeover = paused(store, () -> store.webhooks().releaseEnded(), until);

        try {
            assertThat(threads.submit(() -> other.webhooks().releaseEnded()))
                    .succeedsWithin(Duration.ofSeconds(30))
                    .isEqualTo(false);
            assertThat(threads.submit(() -> other.webhooks().claim(QUEUE)))
                    .succeedsWithin(Duration.ofSeconds(30))
                    .isEqualTo(ClaimResult.BUSY);
            requireWrites(other);
        } finally {
            until.countDown();
        }

        assertThat(takeover.get()).isTrue();
        assertThat(other.webhooks().claim(QUEUE)).isEqualTo(ClaimResult.GRANTED);
    }

    @Test
    void aRowThatAnotherHubHasClaimedMeanwhileIsNotTakenForThatOfTheHubThatHasEnded() throws Exception {
        Store ended = store();
        Store store = store();
        assertThat(ended.webhooks().claim(QUEUE)).isEqualTo(ClaimResult.GRANTED);
        schema.end(ended);
        String row = "webhook_sender WHERE queue = '" + QUEUE.id() + "'";

        Store other;
        try (Connection rival = schema.connect();
                Statement statement = rival.createStatement()) {
            rival.setAutoCommit(false);
            statement.execute("SELECT 1 FROM " + row + " FOR UPDATE");
            Future<Boolean> takeover = threads.submit(() -> store.webhooks().releaseEnded());
            Eventually.holds("the takeover waits for the row", () -> isWaiting("%DELETE FROM webhook_sender%"));
            other = store(); // whose stream the statement that waits does not see
            statement.execute("UPDATE " + row.replace(" WHERE", " SET stream_no = " + stream(other) + " WHERE"));
            rival.commit();

            assertThat(takeover.get()).as("the row of the hub itself").isTrue();
        }

        assertThat(store.webhooks().claim(QUEUE)).isEqualTo(ClaimResult.TAKEN);
        assertThat(other.webhooks().claim(QUEUE)).isEqualTo(ClaimResult.GRANTED);
    }

    private boolean isWaiting(String statement) throws SQLException {
        try (Connection connection = schema.connect();
                var waiting = connection.prepareStatement(
                        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE ?")) {
            waiting.setString(1, statement);
            return waiting.executeQuery().next();
        }
    }

    @Test
    void aHubThatStopsLeavesWebhooksThatWaitForTheirNextAttemptToOthers() throws Exception {
        Store first = store();
        // A log that stays open, as it does for some seconds of most stops.
        var stopping = new Hub(
                first, watched(TaskLog.class, first.log(), method -> !method.equals("close")), first.webhooks());
        var other = new Hub(store());
        stopping.receiver = event -> new WebhookTransport.Outcome.Failed("status 503", true, null);
        String task = stopping.send("m", null, "https://hook").id();
        var key = new TaskKey(CALLER.scope(), "agent", task);
        Eventually.holds(
                "the first attempt has failed",
                () -> stopping.store.webhooks().find(key, "hook").orElseThrow().attempts() > 0);

        stopping.engine.close();

        Eventually.asserted(
                "the other hub sends", () -> assertThat(sequences(task)).isEqualTo(range(1, EVENTS)));
        assertThat(posts).extracting(Post::hub).containsOnly(other);
    }

    @Test
    void queuesThatAHubLeavesToOthersAreReleasedByThem() {
        Store store = store();
        Store other = store();
        List<Queue> queues = LongStream.range(0, 250)
                .<Queue>mapToObj(i -> new Queue.Single(TASK, "hook-" + i))
                .toList();
        queues.forEach(queue -> assertThat(store.webhooks().claim(queue)).isEqualTo(ClaimResult.GRANTED));
        assertThat(other.webhooks().claim(QUEUE)).isEqualTo(ClaimResult.GRANTED);
        assertThat(other.webhooks().releaseEnded()).isFalse();

        store.webhooks().abandon(queues);
        store.webhooks().abandon(List.of(QUEUE)); // of the other one

        assertThat(other.webhooks().releaseEnded()).isTrue();
        assertThat(number(other, "SELECT count(*) FROM webhook_sender WHERE queue NOT LIKE 'stream %'"))
                .isOne();
        assertThat(store.webhooks().claim(QUEUE)).isEqualTo(ClaimResult.TAKEN);
    }

    @Test
    void aWebhookThatWasGivenUpIsTakenUpAgainAtAnyHub() throws Exception {
        var hub = new Hub(store());
        var other = new Hub(store());
        hub.receiver = event -> new WebhookTransport.Outcome.Failed("status 410", false, null);
        String task = hub.send("m", null, "https://hook").id();
        Eventually.holds("it is given up", () -> !other.webhooks().dead(10).isEmpty());

        hub.receiver = event -> new WebhookTransport.Outcome.Accepted(); // which may not have given up its claim yet

        assertThat(other.webhooks().redeliver(task, "hook")).isTrue();

        Eventually.asserted("all is sent", () -> assertThat(sequences(task)).isEqualTo(range(1, EVENTS)));
        assertThat(other.webhooks().redeliver(task, "hook")).isFalse();
    }

    @Test
    void aStoreOfOneHubHasNoSenders() {
        Store store = schema.lone(InstantSource.system());
        stores.add(store);
        begin(store, TaskState.WORKING);

        assertThat(store.webhooks().claim(QUEUE)).isEqualTo(ClaimResult.GRANTED);
        assertThat(store.webhooks()
                        .advance(store.webhooks().pending().getFirst().delivered(1)))
                .isEqualTo(Recorded.DONE);
        assertThat(store.webhooks().release(QUEUE)).isTrue();
        assertThat(store.webhooks().releaseEnded()).isFalse();

        assertThat(
                        number(
                                store,
                                "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'webhook_sender'"))
                .isZero();
        assertThat(number(store, "SELECT count(*) FROM module_version WHERE module = 'webhook senders'"))
                .isZero();
    }
}
