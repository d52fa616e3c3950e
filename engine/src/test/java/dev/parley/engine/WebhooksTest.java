package dev.parley.engine;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.engine.spi.PushStore;
import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.WebhookTransport;
import dev.parley.engine.tasks.Tasks;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.CreatePushConfig;
import dev.parley.protocol.Operation.DeletePushConfig;
import dev.parley.protocol.Operation.GetPushConfig;
import dev.parley.protocol.Operation.ListPushConfigs;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
@Tag("heavy")
final class WebhooksTest {
    private static final CallContext ALICE = CallContext.anonymous();
    private static final CallContext BOB = CallContext.of("bob", new CallContext.Scope("another group", "bob"));

    /** A receiver that answers as a test says and remembers what it accepted. */
    private static final class Receiver implements WebhookTransport {
        final BlockingQueue<Long> accepted = new LinkedBlockingQueue<>();
        final AtomicInteger attempts = new AtomicInteger();
        final BlockingQueue<String> urls = new LinkedBlockingQueue<>();
        final CountDownLatch end = new CountDownLatch(1);
        volatile Function<LoggedEvent, Outcome> answer = event -> new Outcome.Accepted();
        volatile boolean ordersContexts;

        @Override
        public boolean ordersContexts(String dialect) {
            return ordersContexts;
        }

        @Override
        public void check(String group, PushConfig config) {
            if (config.url().contains("forbidden")) {
                throw A2AException.invalidParams("url", "forbidden (expected: another)");
            }
        }

        @Override
        public Outcome deliver(Subscription webhook, LoggedEvent event, Supplier<Task> task)
                throws InterruptedException {
            attempts.incrementAndGet();
            if (webhook.config().url().contains("tarpit")) {
                end.await();
            }
            Outcome outcome = answer.apply(event);
            if (outcome instanceof Outcome.Accepted) {
                accepted.add(event.sequence());
                urls.add(webhook.config().url());
            }
            return outcome;
        }

        List<Long> next(int count) throws InterruptedException {
            var all = new ArrayList<Long>();
            for (int i = 0; i < count; i++) {
                all.add(requireNonNull(accepted.poll(10, TimeUnit.SECONDS), "a delivery within ten seconds"));
            }
            return all;
        }
    }

    private final MemoryTaskLog log = new MemoryTaskLog();
    private final PushStore store = log.webhooks();
    private final Receiver receiver = new Receiver();
    private final Engine engine =
            Engine.builder(log).webhooks(store, receiver).grace(Duration.ZERO).build();

    @AfterEach
    void close() {
        engine.close();
    }

    @Test
    void aWebhookGivenWithTheMessageIsToldOfEverythingInOrder() throws Exception {
        send(counting(5), "https://hook");

        assertThat(receiver.next(8)).containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L);
    }

    @Test
    void nothingIsOfferedAfterAHalt() throws Exception {
        receiver.answer = event -> {
            engine.halt(() -> {}); // while the others of its batch wait
            return new WebhookTransport.Outcome.Accepted();
        };

        AgentEndpoint agent = counting(5);
        try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            var unused = callers.submit(() -> send(agent, "https://hook")); // may be refused, or answered just before

            assertThat(receiver.next(1)).containsExactly(1L);
            Webhooks webhooks = engine.deliveries().orElseThrow();
            Calls.awaitUntil("nothing is to be delivered", () -> webhooks.backlog() == 0);
            assertThat(receiver.attempts).hasValue(1);
        }
    }

    @Test
    void anEventThatIsNotAcceptedIsOfferedAgainBeforeTheNextOne() throws Exception {
        receiver.answer = event -> event.sequence() == 2 && receiver.attempts.get() < 5
                ? new WebhookTransport.Outcome.Failed("busy", true, Duration.ofMillis(5))
                : new WebhookTransport.Outcome.Accepted();

        send(counting(1), "https://hook");

        assertThat(receiver.next(4)).containsExactly(1L, 2L, 3L, 4L);
        assertThat(receiver.attempts).hasValue(7);
    }

    @Test
    void aWebhookThatRefusesForGoodIsGivenUpAndCanBeTakenUpAgain() throws Exception {
        receiver.answer = event -> new WebhookTransport.Outcome.Failed("status 410", false, null);
        Task task = send(counting(1), "https://hook");
        Webhooks webhooks = engine.deliveries().orElseThrow();
        Calls.awaitUntil("the webhook is dead", () -> !webhooks.dead(10).isEmpty());
        assertThat(webhooks.dead(10).getFirst().lastError()).isEqualTo("status 410");
        receiver.answer = event -> new WebhookTransport.Outcome.Accepted();

        assertThat(webhooks.redeliver(task.id(), "hook")).isTrue();

        assertThat(receiver.next(4)).containsExactly(1L, 2L, 3L, 4L);
        assertThat(webhooks.dead(10)).isEmpty();
        assertThat(webhooks.redeliver(task.id(), "hook")).isFalse();
    }

    @Test
    void nothingCountsAsBacklogThatIsAnnouncedAfterAHalt() {
        receiver.answer = event -> new WebhookTransport.Outcome.Failed("status 410", false, null);
        Task task = send(counting(1), "https://hook");
        Webhooks webhooks = engine.deliveries().orElseThrow();
        Calls.awaitUntil("the webhook is dead", () -> !webhooks.dead(10).isEmpty() && webhooks.backlog() == 0);
        engine.halt(() -> {});

        webhooks.redeliver(task.id(), "hook");

        assertThat(webhooks.backlog()).isZero();
    }

    @Test
    void deliveryGoesOnAfterARestartWhereItStopped() throws Exception {
        var third = new CountDownLatch(1);
        receiver.answer = event -> {
            if (event.sequence() <= 2) {
                return new WebhookTransport.Outcome.Accepted();
            }
            third.countDown();
            return new WebhookTransport.Outcome.Failed("down", true, Duration.ofHours(1));
        };
        send(counting(3), "https://hook");
        assertThat(receiver.next(2)).containsExactly(1L, 2L);
        third.await(); // by then it is noted that the second was accepted
        engine.close();
        var restored = new Receiver();

        try (Engine restarted = Engine.builder(log)
                .webhooks(store, restored)
                .clock(() -> Instant.now().plus(Duration.ofHours(1)))
                .build()) {
            assertThat(restored.next(4)).containsExactly(3L, 4L, 5L, 6L);
            assertThat(restarted.deliveries()).isPresent();
        }
    }

    @Test
    void aWebhookMadeLaterIsToldOfWhatHappensFromThen() throws Exception {
        var go = new CountDownLatch(1);
        AgentEndpoint agent = host((request, reply) -> {
            reply.working("first");
            go.await();
            reply.complete("done");
        });
        Task task = (Task) agent.call(
                new SendMessage(
                        null,
                        Message.user(Part.text("go")),
                        new SendConfiguration(List.of(), null, null, true),
                        Map.of()),
                ALICE);
        PushConfig made = agent.call(
                new CreatePushConfig(null, new PushConfig(null, null, task.id(), "https://hook", null, null)), ALICE);
        go.countDown();

        assertThat(made.id()).isNotEmpty();
        assertThat(receiver.next(2)).containsExactly(3L, 4L);
        assertThat(agent.call(new ListPushConfigs(null, task.id(), 0, null), ALICE)
                        .configs())
                .containsExactly(made);
        String id = requireNonNull(made.id());
        assertThat(agent.call(new GetPushConfig(null, task.id(), id), ALICE)).isEqualTo(made);
        agent.call(new DeletePushConfig(null, task.id(), id), ALICE);
        agent.call(new DeletePushConfig(null, task.id(), id), ALICE);
        assertThatThrownBy(() -> agent.call(new GetPushConfig(null, task.id(), id), ALICE))
                .isInstanceOf(A2AException.class);
    }

    @Test
    void aWebhookThatMustNotBeCalledIsRefusedAndNoTaskBegins() {
        AgentEndpoint agent = counting(1);

        assertThatThrownBy(() -> send(agent, "https://forbidden"))
                .isInstanceOfSatisfying(
                        A2AException.class, refused -> assertThat(refused).hasMessageContaining("forbidden"));

        assertThat(log.unfinished()).isEmpty();
    }

    @Test
    void aWebhookHasAnIdThatCanBeKept() {
        AgentEndpoint agent = counting(1);
        Task task = send(agent, null);
        String longest = "h".repeat(256);
        var hook = new PushConfig(null, longest + "h", null, "https://hook", null, null);
        var withIt = new SendConfiguration(List.of(), hook, null, false);

        assertThatThrownBy(() -> agent.call(new CreatePushConfig(null, hook.of(task.id(), longest + "h")), ALICE))
                .hasMessageContaining("id: 257 characters (expected: at most 256)");
        assertThatThrownBy(
                        () -> agent.call(new SendMessage(null, Message.user(Part.text("go")), withIt, Map.of()), ALICE))
                .hasMessageContaining(
                        "configuration.taskPushNotificationConfig.id: 257 characters (expected: at most 256)");

        assertThat(agent.call(new CreatePushConfig(null, hook.of(task.id(), longest)), ALICE)
                        .id())
                .isEqualTo(longest);
    }

    @Test
    void aWebhookIsNotThereIfItsMessageWasRefused() {
        AgentEndpoint agent = counting(1);
        Task ended = send(agent, null);
        var hook = new SendConfiguration(
                List.of(), new PushConfig(null, "hook", null, "https://hook", null, null), null, false);
        Message more = Message.user(Part.text("more")).in(null, ended.id());

        assertThatThrownBy(() -> agent.call(new SendMessage(null, more, hook, Map.of()), ALICE))
                .hasMessageContaining("has ended");

        assertThat(agent.call(new ListPushConfigs(null, ended.id(), 0, null), ALICE)
                        .configs())
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"false, other", "true, ", "true, other"})
    void aWebhookThatIsRegisteredAnewForAnotherOrderHasOneSender(boolean inChannel, @Nullable String channel)
            throws Exception {
        receiver.ordersContexts = inChannel;
        var isOld = new AtomicBoolean(true);
        var third = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        receiver.answer = event -> {
            if (event.sequence() == 2 && isOld.getAndSet(false)) {
                Subscription old = store.pending().getFirst();
                Subscription anew = Subscription.of(old.task(), old.config(), old.dialect(), null, 1);
                store.save(anew.in(channel), Tasks.cause(ALICE));
            } else if (event.sequence() == 3) {
                third.countDown();
                awaitOpen(go);
            }
            return new WebhookTransport.Outcome.Accepted();
        };
        AgentEndpoint agent = host((request, reply) -> {
            reply.working("one");
            reply.working("two");
            awaitOpen(third);
            reply.complete("done");
        });

        send(agent, "https://hook");
        Webhooks webhooks = engine.deliveries().orElseThrow();
        Calls.awaitUntil(
                "the fifth event",
                () -> log.find(store.pending().getFirst().task()).orElseThrow().lastSequence() >= 5);
        go.countDown();

        assertThat(receiver.next(6)).containsExactly(1L, 2L, 2L, 3L, 4L, 5L);
        Calls.awaitUntil("nothing is to be delivered", () -> webhooks.backlog() == 0);
        assertThat(receiver.accepted).isEmpty();
    }

    @Test
    void aWebhookGivenWithALaterMessageIsToldOfWhatFollows() throws Exception {
        AgentEndpoint agent = host((request, reply) -> {
            if (request.isFollowUp()) {
                reply.complete("done");
            } else {
                reply.askForInput("and?");
            }
        });
        Task asked = send(agent, null);
        var hook = new SendConfiguration(
                List.of(), new PushConfig(null, "hook", null, "https://hook", null, null), null, false);
        Message more = Message.user(Part.text("more")).in(null, asked.id());

        agent.call(new SendMessage(null, more, hook, Map.of()), ALICE);

        // The fourth is the message itself.
        assertThat(receiver.next(3)).containsExactly(3L, 5L, 6L);
    }

    @Test
    void aPlainMessageLeavesNoWebhook() {
        AgentEndpoint agent = host((request, reply) -> reply.message("pong"));
        var hook = new PushConfig(null, "hook", null, "https://hook", null, null);

        agent.call(
                new SendMessage(
                        null,
                        Message.user(Part.text("ping")),
                        new SendConfiguration(List.of(), hook, null, false),
                        Map.of()),
                ALICE);

        assertThat(store.pending()).isEmpty();
    }

    @Test
    void aWebhookIsNotThereIfItsMessageCouldNotBeWritten() {
        var disk = new MemoryTaskLog();
        SteppedLog failing = SteppedLog.flowing(disk);
        try (Engine other = Engine.builder(failing)
                .webhooks(disk.webhooks(), receiver)
                .grace(Duration.ZERO)
                .build()) {
            AgentEndpoint agent =
                    other.host(Agent.named("agent", "Asks").handle((request, reply) -> reply.askForInput("and?")));
            Task asked = send(agent, null);
            failing.failing(new IllegalStateException("disk full"));
            var hook = new SendConfiguration(
                    List.of(), new PushConfig(null, "hook", null, "https://hook", null, null), null, false);
            Message more = Message.user(Part.text("more")).in(null, asked.id());

            assertThatThrownBy(() -> agent.call(new SendMessage(null, more, hook, Map.of()), ALICE))
                    .isInstanceOf(A2AException.class);

            failing.failing(null);
            assertThat(agent.call(new ListPushConfigs(null, asked.id(), 0, null), ALICE)
                            .configs())
                    .isEmpty();
            agent.call(new SendMessage(null, more, hook, Map.of()), ALICE);
            assertThat(agent.call(new ListPushConfigs(null, asked.id(), 0, null), ALICE)
                            .configs())
                    .hasSize(1);
        }
    }

    @Test
    void aHundredWebhooksAtOnceAreNoMoreThanATaskMayHave() throws Exception {
        AgentEndpoint agent = host((request, reply) -> reply.askForInput("and?"));
        Task task = send(agent, null);
        var config = new PushConfig(null, null, task.id(), "https://hook", null, null);

        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 100; i++) {
                var unused = threads.submit(() -> agent.call(new CreatePushConfig(null, config), ALICE));
            }
        }

        assertThat(agent.call(new ListPushConfigs(null, task.id(), 0, null), ALICE)
                        .configs())
                .hasSize(32);
    }

    @Test
    void webhooksThatCouldNotBeWrittenTakeNoPlacesOfTheTask() {
        var disk = new MemoryTaskLog();
        var full = new AtomicBoolean(true);
        PushStore failing = (PushStore) Proxy.newProxyInstance(
                PushStore.class.getClassLoader(), new Class<?>[] {PushStore.class}, (proxy, method, arguments) -> {
                    if (full.get() && method.getName().equals("save")) {
                        throw A2AException.unavailable("disk full", Duration.ofSeconds(1));
                    }
                    return method.invoke(disk.webhooks(), arguments);
                });
        try (Engine other = Engine.builder(disk)
                .webhooks(failing, receiver)
                .grace(Duration.ZERO)
                .build()) {
            AgentEndpoint agent =
                    other.host(Agent.named("agent", "Asks").handle((request, reply) -> reply.askForInput("and?")));
            Task task = send(agent, null);
            var config = new PushConfig(null, null, task.id(), "https://hook", null, null);
            for (int i = 0; i < 40; i++) {
                assertThatThrownBy(() -> agent.call(new CreatePushConfig(null, config), ALICE))
                        .hasMessageContaining("disk full");
            }

            full.set(false);
            for (int i = 0; i < 32; i++) {
                agent.call(new CreatePushConfig(null, config), ALICE);
            }

            assertThat(agent.call(new ListPushConfigs(null, task.id(), 0, null), ALICE)
                            .configs())
                    .hasSize(32);
            assertThatThrownBy(() -> agent.call(new CreatePushConfig(null, config), ALICE))
                    .hasMessageContaining("at most 32");
        }
    }

    @Test
    void aWebhookThatWasRegisteredAnewIsNotGivenUpForItsPredecessor() throws Exception {
        var offered = new CountDownLatch(1);
        var answer = new CountDownLatch(1);
        receiver.answer = event -> {
            if (receiver.attempts.get() > 1) {
                return new WebhookTransport.Outcome.Accepted();
            }
            offered.countDown();
            awaitOpen(answer);
            return new WebhookTransport.Outcome.Failed("status 410", false, null);
        };
        AgentEndpoint agent = host((request, reply) -> {
            if (request.isFollowUp()) {
                reply.complete("done");
            } else {
                reply.askForInput("and?");
            }
        });
        Task task = send(agent, "https://old");
        offered.await();

        agent.call(
                new CreatePushConfig(null, new PushConfig(null, "hook", task.id(), "https://new", null, null)), ALICE);
        answer.countDown();
        agent.call(SendMessage.of(Message.user(Part.text("more")).in(null, task.id())), ALICE);

        assertThat(receiver.next(3)).containsExactly(3L, 5L, 6L);
        assertThat(receiver.urls).containsOnly("https://new");
        assertThat(store.dead(9)).isEmpty();
    }

    @Test
    void aFailedWriteOfTheCursorDoesNotEndTheDeliveries() throws Exception {
        var failures = new ConcurrentLinkedQueue<>(List.of("of", "advance"));
        var flaky = new MemoryTaskLog();
        PushStore stumbling = (PushStore) Proxy.newProxyInstance(
                PushStore.class.getClassLoader(), new Class<?>[] {PushStore.class}, (proxy, method, arguments) -> {
                    if (failures.remove(method.getName())) {
                        throw new IllegalStateException("could not read");
                    }
                    return method.invoke(flaky.webhooks(), arguments);
                });
        try (Engine other = Engine.builder(flaky)
                .webhooks(stumbling, receiver)
                .grace(Duration.ZERO)
                .build()) {
            AgentEndpoint agent =
                    other.host(Agent.named("agent", "Completes").handle((request, reply) -> reply.complete("done")));
            send(agent, "https://hook");

            List<Long> all = new ArrayList<>();
            while (!all.contains(3L)) {
                all.addAll(receiver.next(1));
            }
            assertThat(all).startsWith(1L).endsWith(3L).isSorted();
        }
    }

    @Test
    void anErrorInADeliveryDoesNotEndTheDeliveries() throws Exception {
        var isFirst = new AtomicBoolean(true);
        receiver.answer = event -> {
            if (event.sequence() == 4 && isFirst.getAndSet(false)) { // no later event announces the webhook again
                throw new StackOverflowError("of a test");
            }
            return new WebhookTransport.Outcome.Accepted();
        };

        send(counting(1), "https://hook");

        assertThat(receiver.next(4)).containsExactly(1L, 2L, 3L, 4L);
    }

    @Test
    void aReceiverThatNeverAnswersDelaysNoOther() throws Exception {
        AgentEndpoint agent = counting(1);
        for (int i = 0; i < 300; i++) {
            send(agent, "https://tarpit/" + i);
        }

        send(agent, "https://hook");

        assertThat(receiver.next(4)).containsExactly(1L, 2L, 3L, 4L);
        assertThat(receiver.attempts.get()).isLessThanOrEqualTo(16 + 4);
        receiver.end.countDown();
    }

    @Test
    void aGroupWithManySilentReceiversDelaysNoOtherGroup() throws Exception {
        AgentEndpoint agent = counting(1);
        for (int i = 0; i < 300; i++) {
            send(agent, "https://tarpit-" + i + ".example");
        }
        Calls.awaitUntil("as many attempts as one group may have", () -> receiver.attempts.get() >= 224);

        send(agent, "https://hook", BOB);

        assertThat(receiver.next(4)).containsExactly(1L, 2L, 3L, 4L);
        assertThat(receiver.attempts.get()).isLessThanOrEqualTo(224 + 4);
        receiver.end.countDown();
    }

    private static void awaitOpen(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    private AgentEndpoint counting(int steps) {
        return host((request, reply) -> {
            for (int i = 0; i < steps; i++) {
                reply.progress(i, null);
            }
            reply.complete("done");
        });
    }

    private AgentEndpoint host(AgentHandler handler) {
        return engine.host(Agent.named("agent", "For a test").handle(handler));
    }

    private static Task send(AgentEndpoint agent, @Nullable String url) {
        return send(agent, url, ALICE);
    }

    private static Task send(AgentEndpoint agent, @Nullable String url, CallContext caller) {
        PushConfig config = url == null ? null : new PushConfig(null, "hook", null, url, null, null);
        return (Task) agent.call(
                new SendMessage(
                        null,
                        Message.user(Part.text("go")),
                        new SendConfiguration(List.of(), config, null, false),
                        Map.of()),
                caller);
    }
}
