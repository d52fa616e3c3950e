package dev.parley.store;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.Agent;
import dev.parley.engine.Engine;
import dev.parley.engine.spi.PushStore.ClaimResult;
import dev.parley.engine.spi.PushStore.Queue;
import dev.parley.engine.spi.PushStore.Recorded;
import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.WebhookTransport;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.CreatePushConfig;
import dev.parley.protocol.Operation.DeletePushConfig;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.store.database.SharedSchema;
import dev.parley.testkit.Eventually;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Webhooks that another hub changes, which writes to the same PostgreSQL database. */
@Timeout(180)
@Tag("heavy")
final class SharedWebhookRowsTest {
    private static final CallContext CALLER = CallContext.anonymous();
    private static final TaskKey TASK = new TaskKey(CALLER.scope(), "agent", "task-1");
    private static final Queue QUEUE = new Queue.Single(TASK, "hook");
    private static final String OLD = "https://old";

    private final SharedSchema schema = new SharedSchema();
    private final List<Store> stores = new ArrayList<>();
    private final List<Engine> engines = new ArrayList<>();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    /** The addresses that were called, with the numbers of the events. */
    private final LinkedBlockingQueue<String> posts = new LinkedBlockingQueue<>();

    private volatile Runnable calling = () -> {};

    @AfterEach
    void close() {
        engines.forEach(Engine::close);
        stores.forEach(Store::close);
        threads.close();
    }

    private Store store() {
        Store store = schema.store(InstantSource.system());
        stores.add(store);
        return store;
    }

    /** A store with a task and its webhook, whose queue it has claimed. */
    private Store claiming() {
        Store store = store();
        Segments.write(store.log(), TASK, 1, TaskState.WORKING, Instant.now());
        var config = new PushConfig(null, "hook", TASK.taskId(), "https://hook", null, null);
        store.webhooks()
                .save(
                        Subscription.of(TASK, config, CallContext.V1, null, 0),
                        new Cause("alice", "192.0.2.1", null, CallChain.NONE));
        assertThat(store.webhooks().claim(QUEUE)).isEqualTo(ClaimResult.GRANTED);
        return store;
    }

    private static Subscription webhook(Store store) {
        return store.webhooks().find(TASK, "hook").orElseThrow();
    }

    /** Has another hub be in the middle of a change of all webhooks. */
    private Connection changing() throws SQLException {
        Connection rival = schema.connect();
        rival.setAutoCommit(false);
        try (var statement = rival.createStatement()) {
            statement.execute("UPDATE webhook SET error = error");
        }
        return rival;
    }

    @Test
    void theRecordOfADeliveryDoesNotWaitForAHubThatChangesTheWebhook() throws Exception {
        Store store = claiming();

        try (Connection rival = changing()) {
            assertThat(threads.submit(
                            () -> store.webhooks().advance(webhook(store).delivered(1))))
                    .succeedsWithin(Duration.ofSeconds(30))
                    .isEqualTo(Recorded.BUSY);
            assertThat(Segments.submit(store.log(), TASK, 2, TaskState.WORKING, Instant.now()))
                    .as("an unrelated write")
                    .succeedsWithin(Duration.ofSeconds(30));
            assertThat(webhook(store).delivered()).isZero();
            rival.rollback();
        }

        assertThat(store.webhooks().advance(webhook(store).delivered(1))).isEqualTo(Recorded.DONE);
        assertThat(webhook(store).delivered()).isEqualTo(1);
        assertThat(store().webhooks().advance(webhook(store).delivered(2)))
                .as("without the claim")
                .isEqualTo(Recorded.REFUSED);
    }

    @Test
    void aWebhookThatAnotherHubChangesIsNotTakenUpAgain() throws Exception {
        Store store = claiming();
        Subscription dead = webhook(store).failed(1, null, Instant.now(), "status 410");
        assertThat(store.webhooks().advance(dead)).isEqualTo(Recorded.DONE);

        try (Connection rival = changing()) {
            assertThatThrownBy(() -> store.webhooks().revive(dead))
                    .isInstanceOf(A2AException.class)
                    .hasMessageContaining("Another server");
            rival.rollback();
        }

        assertThat(store.webhooks().revive(dead)).isTrue();
        assertThat(store.webhooks().revive(dead)).as("once more").isFalse();
    }

    @Test
    void aHubFindsTheMarksOfOthersInItsQueues() {
        Store store = claiming();
        Store other = store();
        Queue unmarked = new Queue.Single(TASK, "other");
        assertThat(store.webhooks().claim(unmarked)).isEqualTo(ClaimResult.GRANTED);
        Set<Queue> queues = Set.of(QUEUE, unmarked);
        assertThat(store.webhooks().marked(queues)).isEmpty();

        assertThat(other.webhooks().claim(QUEUE)).isEqualTo(ClaimResult.TAKEN);

        assertThat(store.webhooks().marked(queues)).containsExactly(QUEUE);
        assertThat(store.webhooks().marked(Set.of(unmarked))).isEmpty();
        assertThat(other.webhooks().marked(queues)).isEmpty();
        assertThat(store.webhooks().claim(QUEUE)).isEqualTo(ClaimResult.GRANTED);
        assertThat(store.webhooks().marked(queues)).isEmpty();
    }

    /** A receiver of which one address fails and asks for an hour. */
    private final class Transport implements WebhookTransport {
        @Override
        public void check(String group, PushConfig config) {}

        @Override
        public boolean ordersContexts(String dialect) {
            return true;
        }

        @Override
        public Outcome deliver(Subscription webhook, LoggedEvent event, Supplier<Task> task) {
            calling.run();
            posts.add(webhook.config().url() + " " + event.sequence());
            return webhook.config().url().equals(OLD)
                    ? new Outcome.Failed("status 503", true, Duration.ofHours(1))
                    : new Outcome.Accepted();
        }
    }

    private AgentEndpoint hub() {
        Store store = store();
        Engine engine = Engine.builder(store.log())
                .webhooks(store.webhooks(), new Transport())
                .grace(Duration.ZERO)
                .build();
        engines.add(engine);
        return engine.host(Agent.named("agent", "Completes").handle((request, reply) -> reply.complete("done")));
    }

    private static Task send(AgentEndpoint agent, String url) {
        var webhook =
                new SendConfiguration(List.of(), new PushConfig(null, "hook", null, url, null, null), null, false);
        Message message = Message.user(Part.text("go")).in("context", null);
        return (Task) agent.call(new SendMessage(null, message, webhook, Map.of()), CALLER);
    }

    private String nextPost() throws InterruptedException {
        return requireNonNull(posts.poll(30, TimeUnit.SECONDS), "a delivery within 30 s");
    }

    private boolean hasFailed(Task task) {
        var key = new TaskKey(CALLER.scope(), "agent", task.id());
        return stores.getFirst().webhooks().find(key, "hook").orElseThrow().attempts() > 0;
    }

    private static long delivered(Store store) {
        return store.database().read(session -> session.number("SELECT min(delivered) FROM webhook"));
    }

    @Test
    void anEventWhoseRecordAnotherHubDelaysIsSentOnce() throws Exception {
        AgentEndpoint agent = hub();
        var rivals = new LinkedBlockingQueue<Connection>();
        calling = () -> {
            calling = () -> {};
            try {
                rivals.add(changing());
            } catch (SQLException failure) {
                throw new IllegalStateException(failure);
            }
        };

        Task unused = send(agent, "https://hook");
        try (Connection rival = requireNonNull(rivals.poll(30, TimeUnit.SECONDS), "a call within 30 s")) {
            assertThat(nextPost()).isEqualTo("https://hook 1");
            assertThat(posts.poll(300, TimeUnit.MILLISECONDS))
                    .as("another call")
                    .isNull();
            rival.rollback();
        }

        assertThat(nextPost()).isEqualTo("https://hook 2");
        assertThat(nextPost()).isEqualTo("https://hook 3");
        Eventually.holds("all is recorded", () -> delivered(stores.getFirst()) == 3);
        assertThat(posts).isEmpty();
    }

    @Test
    void aHubThatWaitsForItsNextAttemptLearnsOfARemovalAtAnotherOne() throws Exception {
        AgentEndpoint agent = hub();
        AgentEndpoint other = hub();
        Task first = send(agent, OLD);
        assertThat(nextPost()).isEqualTo(OLD + " 1");
        Eventually.holds("the first attempt has failed", () -> hasFailed(first));
        Task second = send(agent, OLD); // which waits for the first one, in the order of the context

        other.call(new DeletePushConfig(null, first.id(), "hook"), CALLER);

        assertThat(nextPost()).isEqualTo(OLD + " 1");
        Eventually.holds("the first attempt has failed", () -> hasFailed(second));
    }

    @Test
    void aHubThatWaitsForItsNextAttemptLearnsOfARegistrationAtAnotherOne() throws Exception {
        AgentEndpoint agent = hub();
        AgentEndpoint other = hub();
        Task first = send(agent, OLD);
        assertThat(nextPost()).isEqualTo(OLD + " 1");
        Eventually.holds("the first attempt has failed", () -> hasFailed(first));
        Task second = send(agent, OLD);

        other.call(
                new CreatePushConfig(null, new PushConfig(null, "hook", first.id(), "https://new", null, null)),
                CALLER);

        assertThat(nextPost()).isEqualTo(OLD + " 1");
        Eventually.holds("the first attempt has failed", () -> hasFailed(second));
    }
}
