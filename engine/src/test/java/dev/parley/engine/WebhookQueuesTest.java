package dev.parley.engine;

import static dev.parley.engine.Calls.ALICE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.scheduling.ScarceThreads;
import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.PushStore;
import dev.parley.engine.spi.PushStore.Queue;
import dev.parley.engine.spi.PushStore.Recorded;
import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.WebhookTransport;
import dev.parley.engine.tasks.Tasks;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.CreatePushConfig;
import dev.parley.protocol.Operation.DeletePushConfig;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Queues of webhooks that wait: for an attempt, another engine, or a thread. */
@Timeout(60)
final class WebhookQueuesTest {
    private final MemoryTaskLog log = new MemoryTaskLog(InstantSource.system(), Once.CLAIM);
    private final PushStore stored = log.webhooks();
    private final ScarceThreads threads = new ScarceThreads();
    private final List<Engine> engines = new ArrayList<>();
    /** Results of methods of the store instead of its own, each for one call. */
    private final Map<String, LinkedBlockingQueue<Supplier<Object>>> answers = new ConcurrentHashMap<>();

    /** The events that were offered, by the addresses of their webhooks. */
    private final LinkedBlockingQueue<String> offered = new LinkedBlockingQueue<>();

    /** Runs once after a method of the store. */
    private final Map<String, Runnable> afterwards = new ConcurrentHashMap<>();

    private volatile String failing = "none";
    /** Opened before an attempt fails. */
    private volatile CountDownLatch mayFail = new CountDownLatch(0);

    private final WebhookTransport transport = new WebhookTransport() {
        @Override
        public void check(String group, PushConfig config) {}

        @Override
        public boolean ordersContexts(String dialect) {
            return true;
        }

        @Override
        public Outcome deliver(Subscription webhook, LoggedEvent event, Supplier<Task> task) {
            String url = webhook.config().url();
            offered.add(url + " " + event.sequence());
            if (!url.equals(failing)) {
                return new Outcome.Accepted();
            }
            awaitOpen(mayFail);
            return new Outcome.Failed("status 503", true, Duration.ofHours(1));
        }
    };

    @AfterEach
    void close() {
        engines.forEach(Engine::close);
    }

    private PushStore store() {
        return (PushStore) Proxy.newProxyInstance(
                PushStore.class.getClassLoader(), new Class<?>[] {PushStore.class}, (proxy, method, arguments) -> {
                    LinkedBlockingQueue<Supplier<Object>> prepared = answers.get(method.getName());
                    Supplier<Object> answer = prepared == null ? null : prepared.poll();
                    try {
                        Object result = answer == null ? method.invoke(stored, arguments) : answer.get();
                        Runnable next = afterwards.remove(method.getName());
                        if (next != null) {
                            next.run();
                        }
                        return result;
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
    }

    private void answer(String method, Supplier<Object> answer) {
        answers.computeIfAbsent(method, name -> new LinkedBlockingQueue<>()).add(answer);
    }

    private Engine engine(MemoryTaskLog log) {
        Engine engine = Engine.builder(log)
                .webhooks(store(), transport)
                .threads(threads)
                .grace(Duration.ZERO)
                .build();
        engines.add(engine);
        return engine;
    }

    private static AgentEndpoint host(Engine engine) {
        return engine.host(Agent.named("agent", "Completes").handle((request, reply) -> reply.complete("done")));
    }

    private static Task send(AgentEndpoint agent, @Nullable String context, String url) {
        var webhook = new PushConfig(null, "hook", null, url, null, null);
        Message message = Message.user(Part.text("go")).in(context, null);
        var configuration = new SendConfiguration(List.of(), webhook, null, false);
        return (Task) agent.call(new SendMessage(null, message, configuration, Map.of()), ALICE);
    }

    private String next() throws InterruptedException {
        return requireNonNull(offered.poll(30, TimeUnit.SECONDS), "a delivery within 30 s");
    }

    private void requireOffered(String url) throws InterruptedException {
        for (int sequence = 1; sequence <= 3; sequence++) {
            assertThat(next()).isEqualTo(url + " " + sequence);
        }
    }

    private boolean hasFailed(Task task) {
        return stored.pending().stream()
                .anyMatch(webhook -> webhook.task().taskId().equals(task.id()) && webhook.attempts() > 0);
    }

    @Test
    void aSlowTakeoverOfWebhooksDelaysNeitherMailNorTasksOfOtherEngines() throws Exception {
        var begun = new AtomicInteger();
        var end = new CountDownLatch(1);
        for (int i = 0; i < 10; i++) {
            answer("releaseEnded", () -> {
                begun.incrementAndGet();
                awaitOpen(end);
                return false;
            });
        }
        AgentEndpoint slow = host(engine(log));
        Calls.awaitUntil("a takeover", () -> begun.get() > 0);
        var go = new CountDownLatch(1);
        Engine other = Engine.builder(log.share()).grace(Duration.ZERO).build(); // without webhooks
        engines.add(other);
        AgentEndpoint owner = other.host(Agent.named("agent", "Waits").handle((request, reply) -> {
            awaitOpen(go);
            reply.complete("done");
        }));
        Task task = Calls.sendImmediately(owner, "go");
        assertThat(slow.call(GetTask.of(task.id()), ALICE).id()).isEqualTo(task.id());

        go.countDown();

        assertThat(Calls.await(slow, task.id()).text()).isEqualTo("done");
        assertThat(begun).as("takeovers at once").hasValue(1);
        end.countDown();
    }

    private static void awaitOpen(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    @Test
    void aTakeoverThatFailsOrHasNoThreadIsFollowedByTheNext() {
        answer("releaseEnded", () -> {
            throw new StackOverflowError("of a test");
        });
        var isDone = new AtomicBoolean();
        answer("releaseEnded", () -> {
            isDone.set(true);
            return false;
        });
        threads.fail("webhooks", 1);

        engine(log);

        Calls.awaitUntil("the second takeover", isDone::get);
        assertThat(threads.failing()).isZero();
    }

    @Test
    void eventsWhoseDeliveryHasNoThreadAreDeliveredLater() throws Exception {
        AgentEndpoint agent = host(engine(log));
        threads.fail("webhook", 1);
        threads.fail("webhooks", 1);

        send(agent, null, "https://hook");

        requireOffered("https://hook");
        assertThat(threads.failing()).isZero();
    }

    @Test
    void anEventWhoseRecordAnotherEngineDelaysIsNotSentAgain() throws Exception {
        AgentEndpoint agent = host(engine(log));
        answer("advance", () -> Recorded.BUSY);
        answer("advance", () -> Recorded.BUSY);

        Task task = send(agent, null, "https://hook");

        requireOffered("https://hook");
        Calls.awaitUntil("its events are delivered", () -> isDelivered(task));
        assertThat(offered).isEmpty();
    }

    @Test
    void aQueueThatWaitsForItsNextAttemptIsLookedAtIfAnotherEngineHasNewsOfIt() throws Exception {
        failing = "https://old";
        AgentEndpoint agent = host(engine(log));
        Task task = send(agent, null, "https://old");
        Calls.awaitUntil("the first attempt has failed", () -> hasFailed(task));
        assertThat(next()).isEqualTo("https://old 1");
        Subscription old = stored.pending().getFirst();
        var config = new PushConfig(null, "hook", task.id(), "https://new", null, null);

        stored.save(
                Subscription.of(old.task(), config, old.dialect(), null, 0).in(old.channel()),
                Tasks.cause(ALICE)); // as another engine does
        answer("marked", () -> Set.<Queue>of(old.queue()));

        requireOffered("https://new");
    }

    @Test
    void webhooksOfAChannelDoNotWaitForOneThatIsRemovedOrRegisteredAnew() throws Exception {
        failing = "https://hook";
        Engine engine = engine(log);
        AgentEndpoint agent = host(engine);
        Task first = send(agent, "context", "https://hook");
        Calls.awaitUntil("the first attempt has failed", () -> hasFailed(first));
        Task second = send(agent, "context", "https://hook");
        assertThat(next()).isEqualTo("https://hook 1");

        agent.call(new DeletePushConfig(null, first.id(), "hook"), ALICE);
        Calls.awaitUntil("the first attempt has failed", () -> hasFailed(second));
        Task third = send(agent, "context", "https://hook");
        assertThat(next()).isEqualTo("https://hook 1");
        failing = "none";
        agent.call(
                new CreatePushConfig(null, new PushConfig(null, "hook", second.id(), "https://other", null, null)),
                ALICE);

        requireOffered("https://hook");
        assertThat(third.id()).isNotEqualTo(second.id());
        Calls.awaitUntil(
                "nothing is to be delivered",
                () -> engine.deliveries().orElseThrow().backlog() == 0);
    }

    private static TaskKey key(Task task) {
        return new TaskKey(ALICE.scope(), "agent", task.id());
    }

    private boolean isDelivered(Task task) {
        return stored.of(key(task)).getFirst().delivered() == 3;
    }

    /** Registers a webhook for all events of another task of the same channel, as another engine does. */
    private void registerElsewhere(Task task, Subscription old) {
        TaskKey key = key(task);
        var config = new PushConfig(null, "hook", task.id(), "https://other", null, null);
        stored.save(Subscription.of(key, config, old.dialect(), null, 0).in(old.channel()), Tasks.cause(ALICE));
    }

    @Test
    void newsThatArriveWhileTheSenderBeginsToWaitAreSeen() throws Exception {
        failing = "https://hook";
        mayFail = new CountDownLatch(1);
        AgentEndpoint agent = host(engine(log));
        Task other = send(agent, "context", "https://unused");
        Calls.awaitUntil("its events are delivered", () -> isDelivered(other));
        offered.clear();
        Task first = send(agent, "context", "https://hook");
        assertThat(next()).isEqualTo("https://hook 1");
        Runnable news = () -> {
            registerElsewhere(other, stored.of(key(first)).getFirst());
            agent.call(new DeletePushConfig(null, first.id(), "hook"), ALICE);
        };
        afterwards.put("advance", () -> afterwards.put("find", news)); // the sender has read that it is to wait

        mayFail.countDown();

        requireOffered("https://other");
    }

    @Test
    void webhooksDoNotWaitForOneThatFailsWhileItIsRemoved() throws Exception {
        failing = "https://hook";
        mayFail = new CountDownLatch(1);
        AgentEndpoint agent = host(engine(log));
        Task other = send(agent, "context", "https://unused");
        Calls.awaitUntil("its events are delivered", () -> isDelivered(other));
        offered.clear();
        Task first = send(agent, "context", "https://hook");
        assertThat(next()).isEqualTo("https://hook 1");
        registerElsewhere(other, stored.of(key(first)).getFirst());
        afterwards.put("find", () -> {
            mayFail.countDown();
            Calls.awaitUntil("the first attempt has failed", () -> hasFailed(first));
        });

        agent.call(new DeletePushConfig(null, first.id(), "hook"), ALICE);

        requireOffered("https://other");
    }

    @Test
    void webhooksThatAFailedTakeoverLeftOutAreLookedAtTheNextTime() throws Exception {
        AgentEndpoint agent = host(engine(log));
        Task task = send(agent, null, "https://hook");
        Calls.awaitUntil("its events are delivered", () -> isDelivered(task));
        offered.clear();
        Subscription old = stored.of(key(task)).getFirst();
        registerElsewhere(task, old);
        Subscription left = stored.pending().getFirst();
        answer("pending", () -> Arrays.asList(null, left));
        answer("releaseEnded", () -> true);

        requireOffered("https://other");
    }
}
