package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.Agent;
import dev.parley.engine.Engine;
import dev.parley.engine.TaskManager;
import dev.parley.engine.spi.KeyTakenException;
import dev.parley.engine.spi.OtherOwnerException;
import dev.parley.engine.spi.TaskLog.Claim;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.Segment;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.TaskLog.TaskName;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.GroupListener;
import dev.parley.store.database.SharedSchema;
import dev.parley.testkit.SettableClock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Engines that write to one PostgreSQL database, each by a stream of its own. */
@Timeout(180)
@Tag("heavy")
final class SharedTasksTest {
    private static final CallContext CALLER = CallContext.anonymous();
    private static final CallContext NAMING = CALLER.withDialect("0.1", true);

    /** Sessions of a database for reads of a few rows. */
    private static final int READERS = 4;

    private SharedSchema schema = new SharedSchema();
    private final List<Store> stores = new ArrayList<>();
    private final Map<String, AtomicInteger> runs = new ConcurrentHashMap<>();
    /** What an agent that waits does next. */
    private final LinkedBlockingQueue<String> steps = new LinkedBlockingQueue<>();

    private final ExecutorService senders = Executors.newVirtualThreadPerTaskExecutor();

    @AfterEach
    void close() {
        stores.forEach(Store::close);
        senders.close();
    }

    private Store store(InstantSource clock) {
        return added(schema.store(clock));
    }

    /** A store of a hub that has the database alone. */
    private Store lone(InstantSource clock) {
        return added(schema.lone(clock));
    }

    private Store added(Store store) {
        stores.add(store);
        return store;
    }

    /** A hub with an agent that completes each task at once. */
    private AgentEndpoint hub(InstantSource clock) {
        return host(store(clock));
    }

    private AgentEndpoint host(Store store) {
        Engine engine = Engine.builder(store.log()).build();
        return engine.host(Agent.named("agent", "Counts").handle((request, reply) -> {
            runs.computeIfAbsent(request.message().messageId(), id -> new AtomicInteger())
                    .incrementAndGet();
            reply.complete("done");
        }));
    }

    private static Message message(String id) {
        return Message.user(Part.text("hello")).withId(id);
    }

    private static MessageKey key(String id) {
        return new MessageKey(CALLER.scope(), "agent", id);
    }

    private static Task send(AgentEndpoint agent, Message message, CallContext caller) {
        var send = new SendMessage(null, message, new SendConfiguration(List.of(), null, null, false), Map.of());
        return (Task) agent.call(send, caller);
    }

    /** Sends a message to all agents at once, and returns the one task that it leads to. */
    private String sendToAll(List<AgentEndpoint> agents, Message message, CallContext caller) throws Exception {
        List<Future<Task>> sent = agents.stream()
                .map(agent -> senders.submit(() -> send(agent, message, caller)))
                .toList();
        var tasks = new ArrayList<String>();
        for (Future<Task> each : sent) {
            tasks.add(each.get().id());
        }
        assertThat(tasks).as(message.messageId()).containsOnly(tasks.getFirst());
        return tasks.getFirst();
    }

    @Test
    void aMessageThatIsSentToTwoHubsAtOnceIsOneTaskThatRunsOnce() throws Exception {
        List<AgentEndpoint> agents = List.of(hub(InstantSource.system()), hub(InstantSource.system()));

        var pairs = new ArrayList<Future<String>>();
        for (int i = 0; i < 1_000; i++) {
            Message message = message("m-" + i);
            pairs.add(senders.submit(() -> sendToAll(agents, message, CALLER)));
            if (i % 20 == 19) {
                for (Future<String> pair : pairs.subList(i - 19, i)) {
                    pair.get();
                }
            }
        }

        var tasks = new ArrayList<String>();
        for (Future<String> pair : pairs) {
            tasks.add(pair.get());
        }
        assertThat(tasks).doesNotHaveDuplicates();
        assertThat(runs)
                .hasSize(1_000)
                .allSatisfy((id, count) -> assertThat(count).as(id).hasValue(1));
        assertThat(stores.getFirst().log().counts(null, Set.of(), null, 10))
                .singleElement()
                .satisfies(count -> assertThat(count.tasks()).isEqualTo(1_000));
    }

    @Test
    void aMessageLeadsToOneTaskOverMidnightAndWithClocksThatDiffer() throws Exception {
        Instant evening = Instant.parse("2026-01-01T23:59:45Z");
        schema = new SharedSchema(evening);
        var early = new SettableClock(evening.minus(Duration.ofHours(1)));
        var late = new SettableClock(evening.plus(Duration.ofHours(1)));
        List<AgentEndpoint> agents = List.of(hub(early), hub(late));

        for (int i = 0; i < 50; i++) {
            sendToAll(agents, message("m-" + i), CALLER);
        }

        assertThat(runs).allSatisfy((id, count) -> assertThat(count).as(id).hasValue(1));
        early.advance(Duration.ofHours(1));
        late.advance(Duration.ofHours(1));
        String before = send(agents.getFirst(), message("m-0"), CALLER).id();
        assertThat(send(agents.getLast(), message("m-0"), CALLER).id()).isEqualTo(before);
        assertThat(runs.get("m-0")).hasValue(1);
    }

    @ParameterizedTest
    @CsvSource({
        "false, 23:59:45, 1",
        "false, 00:00:15, 1",
        "true, 12:00:00, 1",
        "true, 23:59:45, 2",
        "true, 00:00:15, 2"
    })
    void aKeyIsOfTwoDaysNearMidnightOnlyIfOtherHubsWriteToo(boolean isShared, LocalTime time, int rows) {
        Instant now = LocalDate.of(2026, 1, 1).atTime(time).toInstant(ZoneOffset.UTC);
        if (isShared) {
            schema = new SharedSchema(now);
        }
        AgentEndpoint agent = isShared ? hub(InstantSource.system()) : host(lone(new SettableClock(now)));

        String task = send(agent, message("m"), CALLER).id();

        assertThat(send(agent, message("m"), CALLER).id()).isEqualTo(task);
        long written = stores.getFirst()
                .database()
                .read(session -> session.number("SELECT count(*) FROM message WHERE message_id = ?", "m"));
        assertThat(written).isEqualTo(rows);
    }

    @Test
    void aRepetitionAfterMidnightIsOfTheSameTaskWithOneRow() {
        var clock = new SettableClock(Instant.parse("2026-01-01T23:59:59Z"));
        AgentEndpoint agent = host(lone(clock));
        String task = send(agent, message("m"), CALLER).id();

        clock.advance(Duration.ofSeconds(2));

        assertThat(send(agent, message("m"), CALLER).id()).isEqualTo(task);
        assertThat(runs.get("m")).hasValue(1);
    }

    @Test
    void aClaimOfAHubThatHasEndedIsTakenOver() throws Exception {
        Store dead = store(InstantSource.system());
        dead.log().claim(new Claim(key("m"), "never-begun", null)).join();
        List<AgentEndpoint> agents = List.of(hub(InstantSource.system()), hub(InstantSource.system()));

        schema.end(dead);
        String task = sendToAll(agents, message("m"), CALLER);

        assertThat(task).isNotEqualTo("never-begun");
        assertThat(runs.get("m")).hasValue(1);
    }

    @Test
    void aClaimOfAHubThatLivesIsWaitedForAndThenRefused() throws Exception {
        Store other = store(InstantSource.system());
        AgentEndpoint agent = hub(InstantSource.system());
        other.log().claim(new Claim(key("m"), "task-1", null)).join();

        assertThatThrownBy(() -> send(
                        agent, message("m"), CALLER.withDeadline(Instant.now().plusMillis(500))))
                .isInstanceOfSatisfying(A2AException.class, refusal -> {
                    assertThat(refusal.error()).isEqualTo(A2AError.UNAVAILABLE);
                    assertThat(refusal.retryAfter()).isNotNull();
                });
        Future<Task> waiting = senders.submit(() -> send(agent, message("m"), CALLER));
        other.log().release(new Claim(key("m"), "task-1", null));

        assertThat(waiting.get().id()).isNotEqualTo("task-1");
        assertThat(runs.get("m")).hasValue(1);
    }

    @Test
    void aTaskInALaneOfAnotherHubIsReadByTheLastIdleSession() throws Exception {
        Store store = store(InstantSource.system());
        String task = send(hub(InstantSource.system()), message("m"), CALLER).id();
        var borrowed = new CountDownLatch(READERS - 1);
        var end = new CompletableFuture<Boolean>();
        for (int i = 0; i < READERS - 1; i++) {
            var unused = senders.submit(() -> store.database().read(session -> {
                borrowed.countDown();
                return end.join();
            }));
        }
        borrowed.await();

        try {
            assertThat(store.log().find(CALLER.scope().group(), task)).isPresent();
        } finally {
            end.complete(true);
        }
    }

    /** A store before whose statements others are run, each once. */
    private Store interrupted(Map<String, String> others) {
        var left = new ConcurrentHashMap<>(others);
        Store store = schema.store(
                InstantSource.system(),
                sql -> left.forEach((part, other) -> {
                    if (sql.contains(part) && left.remove(part, other)) {
                        schema.run(other);
                    }
                }));
        stores.add(store);
        return store;
    }

    private static List<String> tasksOf(Store store, String message) {
        return store.database()
                .read(session -> session.list(
                        row -> DatabaseSession.text(row, 1),
                        "SELECT task_id FROM message WHERE message_id = ?",
                        message));
    }

    @Test
    void aClaimWhoseRivalIsReleasedMeanwhileHasItsRow() {
        Store other = store(InstantSource.system());
        other.log().claim(new Claim(key("m"), "task-1", null)).join();
        Store store = interrupted(Map.of("WITH ORDINALITY", "DELETE FROM message WHERE task_id = 'task-1'"));

        store.log().claim(new Claim(key("m"), "task-2", null)).join();

        assertThat(tasksOf(store, "m")).containsOnly("task-2");
        assertThat(other.log().claim(new Claim(key("m"), "task-3", null)))
                .failsWithin(Duration.ofSeconds(30))
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(KeyTakenException.class);
    }

    @Test
    void aClaimWhoseRivalIsReleasedAndFollowedByAnotherIsRefused() {
        Store other = store(InstantSource.system());
        other.log().claim(new Claim(key("m"), "task-1", null)).join();
        Store store = interrupted(Map.of(
                "WITH ORDINALITY",
                "DELETE FROM message WHERE task_id = 'task-1'",
                "INSERT INTO message (day, lane_no, message_id, task_id, made_ms, stream_no) VALUES",
                "INSERT INTO message (day, lane_no, message_id, task_id, made_ms, stream_no)"
                        + " SELECT day, lane_no, 'm', 'task-3', made_ms, stream_no FROM message"));
        other.log().claim(new Claim(key("n"), "task-n", null)).join();

        CompletableFuture<?> claim = store.log().claim(new Claim(key("m"), "task-2", null));

        assertThat(claim)
                .failsWithin(Duration.ofSeconds(30))
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(KeyTakenException.class);
        assertThat(tasksOf(store, "m")).containsOnly("task-3");
    }

    @Test
    void aTaskWithoutAClaimWhoseRivalIsReleasedMeanwhileHasItsKey() {
        Store other = store(InstantSource.system());
        other.log().claim(new Claim(key("m"), "task-1", null)).join();
        Store store = interrupted(Map.of("WITH ORDINALITY", "DELETE FROM message WHERE task_id = 'task-1'"));

        Segments.write(
                store.log(),
                new TaskKey(CALLER.scope(), "agent", "task-2"),
                1,
                TaskState.WORKING,
                Instant.now(),
                key("m"));

        assertThat(tasksOf(store, "m")).containsOnly("task-2");
        assertThat(other.log().taskOf(key("m"))).contains("task-2");
    }

    @Test
    void aHubThatIsTakenOverBetweenClaimAndTaskWritesNothing() {
        Store dead = store(InstantSource.system());
        AgentEndpoint agent = host(dead);
        dead.log().claim(new Claim(key("m"), "task-1", null)).join();
        schema.end(dead);

        assertThatThrownBy(() -> send(agent, message("m"), CALLER)).isInstanceOf(A2AException.class);

        assertThat(runs).isEmpty();
    }

    @Test
    void anotherMessageUnderANameIsOfTheTaskThatHasIt() throws Exception {
        List<AgentEndpoint> agents = List.of(hub(InstantSource.system()), hub(InstantSource.system()));
        @Nullable String before = null;

        for (int i = 0; i < 20; i++) {
            Message message = message("m-" + i).in(null, "mine");
            String task = sendToAll(agents, message, NAMING);
            assertThat(task).isNotEqualTo(before);
            assertThat(stores.getLast().log().taskNamed(new TaskName(CALLER.scope(), "agent", "mine")))
                    .contains(task);
            before = task;
        }

        assertThat(runs)
                .hasSize(20)
                .allSatisfy((id, count) -> assertThat(count).as(id).hasValue(1));
    }

    private AgentEndpoint asking() {
        return engine().host(asks());
    }

    private Engine engine() {
        return Engine.builder(store(InstantSource.system()).log()).build();
    }

    /** An agent that asks the question in a message, and completes its task at any other message. */
    private Agent asks() {
        return Agent.named("agent", "Asks").handle((request, reply) -> {
            String said = ((Part.Text) request.message().parts().getFirst()).text();
            switch (said) {
                case "ask" -> reply.askForInput("what?");
                case "authorize" -> reply.askForCredentials("who?");
                case "wait" -> {
                    for (String step = steps.take(); !step.equals("end"); step = steps.take()) {
                        reply.artifact(step, step);
                    }
                    reply.complete("done");
                }
                default -> reply.complete("done");
            }
        });
    }

    private static Message said(String id, String text) {
        return Message.user(Part.text(text)).withId(id);
    }

    private static Task get(AgentEndpoint agent, String task) {
        return agent.call(new GetTask(null, task, null), CALLER);
    }

    @Test
    void aTaskGoesOnAtTheHubThatGetsTheAnswerAndIsReadAtAllOfThem() {
        AgentEndpoint one = asking();
        AgentEndpoint other = asking();
        String task = send(one, said("m-1", "ask"), CALLER).id();
        assertThat(get(other, task).state()).isEqualTo(TaskState.INPUT_REQUIRED);

        send(other, said("m-2", "authorize").in(null, task), CALLER);
        assertThat(get(one, task).state()).isEqualTo(TaskState.AUTH_REQUIRED);
        send(one, said("m-3", "ask").in(null, task), CALLER);
        assertThat(get(other, task).state()).isEqualTo(TaskState.INPUT_REQUIRED);
        send(other, said("m-4", "end").in(null, task), CALLER);

        assertThat(get(one, task)).isEqualTo(get(other, task));
        assertThat(get(one, task).state()).isEqualTo(TaskState.COMPLETED);
        assertThat(get(one, task).history()).extracting(Message::messageId).contains("m-1", "m-2", "m-3", "m-4");
        assertThat(stores.getFirst().log().counts(null, Set.of(), null, 10))
                .as("tasks by their states")
                .singleElement()
                .satisfies(count -> assertThat(count.state()).isEqualTo(TaskState.COMPLETED))
                .satisfies(count -> assertThat(count.tasks()).isOne());
    }

    @Test
    void aStreamAtAnotherHubHasAllEventsOnceAndInOrder() throws Exception {
        AgentEndpoint one = asking();
        AgentEndpoint other = asking();
        var begins = new SendMessage(
                null, said("m-1", "wait"), new SendConfiguration(List.of(), null, null, true), Map.of());
        String task = ((Task) one.call(begins, CALLER)).id();
        Future<Task> repeated = senders.submit(() -> send(other, said("m-1", "wait"), CALLER));
        try (Feed<LoggedEvent> stream = other.watch(new SubscribeToTask(null, task, 0L), CALLER)) {
            for (int i = 0; i < 2_000; i++) {
                steps.add("step " + i);
            }
            steps.add("end");

            var read = new ArrayList<LoggedEvent>();
            for (var next = stream.next(Duration.ofSeconds(20));
                    next != null;
                    next = stream.next(Duration.ofSeconds(20))) {
                assertThat(next).as("events within 20 s, after %s", read.size()).isNotEmpty();
                read.addAll(next);
            }
            assertThat(read)
                    .extracting(LoggedEvent::sequence)
                    .containsExactlyElementsOf(
                            LongStream.rangeClosed(1, read.size()).boxed().toList());
            assertThat(read).hasSizeGreaterThan(2_000);
        }
        assertThat(repeated.get(20, TimeUnit.SECONDS)).isEqualTo(get(one, task));
    }

    @Test
    void aHubThatStartsBesideAnotherDoesNotTakeUpItsTasks() {
        AgentEndpoint one = asking();
        var begins = new SendMessage(
                null, said("m-1", "wait"), new SendConfiguration(List.of(), null, null, true), Map.of());
        String task = ((Task) one.call(begins, CALLER)).id();

        Store other = store(InstantSource.system());

        assertThat(stores.getFirst().log().interrupted())
                .extracting(head -> head.key().taskId())
                .containsExactly(task);
        assertThat(other.log().interrupted()).isEmpty();
        assertThat(other.log().unfinished()).hasSize(1);
        steps.add("end");
    }

    @Test
    void theLookForOwnTasksWaitsForACommitThatGoesOn() throws Exception {
        var committing = new AtomicReference<@Nullable Runnable>();
        Store store = schema.store(InstantSource.system(), sql -> {
            Runnable action = sql.contains("UPDATE task SET state = u.state") ? committing.getAndSet(null) : null;
            if (action != null) {
                action.run();
            }
        });
        stores.add(store);
        var task = new TaskKey(CALLER.scope(), "agent", "task-1");
        Segments.write(store.log(), task, 1, TaskState.INPUT_REQUIRED, Instant.now());
        var look = new CompletableFuture<List<Head>>();
        committing.set(() -> {
            look.completeAsync(store.log()::interrupted, senders);
            look.copy().completeOnTimeout(List.of(), 300, TimeUnit.MILLISECONDS).join();
        });

        Segments.write(store.log(), task, 2, TaskState.WORKING, Instant.now());

        assertThat(look.get(20, TimeUnit.SECONDS)).extracting(Head::key).containsExactly(task);
    }

    private String begun(AgentEndpoint agent, String message) {
        var begins = new SendMessage(
                null, said(message, "wait"), new SendConfiguration(List.of(), null, null, true), Map.of());
        return ((Task) agent.call(begins, CALLER)).id();
    }

    @Test
    void eachTaskOfAHubThatHasEndedIsTakenOverOnce() throws Exception {
        AgentEndpoint ended = asking();
        Set<String> begun = new TreeSet<>();
        for (int i = 0; i < 300; i++) {
            begun.add(begun(ended, "m-" + i));
        }
        List<Store> others = List.of(store(InstantSource.system()), store(InstantSource.system()));
        assertThat(others.getFirst().log().takeOver(Set.of("agent"), 100)).isEmpty();

        schema.end(stores.getFirst());
        // Answers from before the end are valid for 0.7 s; the hub that ends another hints at it, which has them read
        // again.
        others.forEach(store -> store.database().access().poll().renew());
        List<Future<List<String>>> takeovers = others.stream()
                .map(store -> senders.submit(() -> {
                    List<String> taken = new ArrayList<>();
                    for (var some = store.log().takeOver(Set.of("agent"), 10);
                            !some.isEmpty();
                            some = store.log().takeOver(Set.of("agent"), 10)) {
                        some.forEach(head -> taken.add(head.key().taskId()));
                    }
                    return taken;
                }))
                .toList();

        var all = new ArrayList<String>();
        for (int i = 0; i < 2; i++) {
            List<String> taken = takeovers.get(i).get();
            assertThat(others.get(i).log().interrupted())
                    .extracting(head -> head.key().taskId())
                    .containsExactlyInAnyOrderElementsOf(taken);
            all.addAll(taken);
        }
        assertThat(all).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(begun);
    }

    @Test
    void tasksOfAHubThatHasEndedGoOnAtTheOthersAndItsStreamsToo() throws Exception {
        AgentEndpoint ended = asking();
        AgentEndpoint one = asking();
        AgentEndpoint other = asking();
        List<String> tasks = List.of(begun(ended, "m-1"), begun(ended, "m-2"), begun(ended, "m-3"));

        try (Feed<LoggedEvent> stream = one.watch(new SubscribeToTask(null, tasks.getFirst(), 0L), CALLER)) {
            schema.end(stores.getFirst());

            var read = new ArrayList<LoggedEvent>();
            for (var next = stream.next(Duration.ofSeconds(20));
                    next != null;
                    next = stream.next(Duration.ofSeconds(20))) {
                assertThat(next).as("events within 20 s, after %s", read).isNotEmpty();
                read.addAll(next);
            }
            assertThat(read).extracting(LoggedEvent::sequence).isSorted().doesNotHaveDuplicates();
        }
        for (String task : tasks) {
            // The agent cannot resume.
            assertThat(send(one, said("m-" + (1 + tasks.indexOf(task)), "wait"), CALLER)
                            .state())
                    .isEqualTo(TaskState.FAILED);
            assertThat(get(other, task)).isEqualTo(get(one, task));
        }
    }

    @Test
    void tasksOfAnAgentThatNoHubHostsAreTakenOverAfterFiveMinutesOfTheDatabase() {
        begun(asking(), "m-1");
        Store other = store(InstantSource.system());
        schema.end(stores.getFirst());
        String earlier = "clock_timestamp() - interval '301 s'";

        assertThat(other.log().takeOver(Set.of("another"), 10)).isEmpty();
        schema.run("UPDATE hub SET begun_at = " + earlier);
        schema.run("INSERT INTO hub (name, level, version, agents, begun_at)" + " VALUES ('other', 1, '', '{agent}', "
                + earlier + ")");
        assertThat(other.log().takeOver(Set.of("another"), 10))
                .as("a hub hosts the agent")
                .isEmpty();
        schema.run("UPDATE hub SET ended_at = clock_timestamp() WHERE name = 'other'");
        assertThat(other.log().takeOver(Set.of("another"), 10))
                .as("a hub has ended")
                .isEmpty();
        schema.run("UPDATE hub SET ended_at = " + earlier + " WHERE name = 'other'");

        assertThat(other.log().takeOver(Set.of("another"), 10)).hasSize(1);
    }

    private static void awaitOpen(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    /** Keeps the writer busy until the latch opens, so that works submitted meanwhile are one group. Returns once it is. */
    private Future<?> blockWriter(Store store, CountDownLatch until) {
        var begun = new CountDownLatch(1);
        Future<?> blocking = senders.submit(() -> store.database().write(session -> {
            begun.countDown();
            awaitOpen(until);
            return true;
        }));
        awaitOpen(begun);
        return blocking;
    }

    private static AtomicInteger rollbacks(Store store) {
        var rollbacks = new AtomicInteger();
        store.database().listen(new GroupListener() {
            @Override
            public void rolledBack() {
                rollbacks.incrementAndGet();
            }
        });
        return rollbacks;
    }

    @Test
    void segmentsOfTasksThatAnotherHubHasAreRefusedWithoutTheOthersOfTheirGroup() throws Exception {
        Store store = store(InstantSource.system());
        List<TaskKey> tasks = IntStream.range(0, 40)
                .mapToObj(i -> new TaskKey(CALLER.scope(), "agent", "task-" + (10 + i)))
                .toList();
        for (TaskKey task : tasks) {
            Segments.write(store.log(), task, 1, TaskState.WORKING, Instant.now());
        }
        schema.run("UPDATE task SET owner = 999 WHERE task_id IN ('task-11', 'task-27')");
        schema.run("UPDATE task SET owner = NULL, state = 6, last_seq = 2 WHERE task_id = 'task-35'");
        AtomicInteger rollbacks = rollbacks(store);
        var blocked = new CountDownLatch(1);
        Future<?> blocking = blockWriter(store, blocked);

        Map<String, CompletableFuture<Segment>> written = new TreeMap<>();
        for (TaskKey task : tasks) {
            written.put(task.taskId(), Segments.submit(store.log(), task, 2, TaskState.COMPLETED, Instant.now()));
        }
        blocked.countDown();
        blocking.get();

        written.forEach((task, segment) -> {
            if (Set.of("task-11", "task-27", "task-35").contains(task)) {
                assertThat(segment)
                        .failsWithin(Duration.ofSeconds(20))
                        .withThrowableOfType(ExecutionException.class)
                        .withCauseInstanceOf(OtherOwnerException.class);
            } else {
                assertThat(segment).as(task).succeedsWithin(Duration.ofSeconds(20));
            }
        });
        // One for each refused segment, if a slow machine has divided the group; a search by halves takes more than
        // ten.
        assertThat(rollbacks.get()).as("rollbacks").isBetween(1, 3);
        assertThat(store.log().counts(null, Set.of(), null, 10))
                .filteredOn(count -> count.state() == TaskState.COMPLETED)
                .singleElement()
                .satisfies(count -> assertThat(count.tasks()).isEqualTo(37));
    }

    @Test
    void segmentsOfTasksThatHaveGoneOnAtAnotherHubAreRefusedWithoutARollback() throws Exception {
        Store store = store(InstantSource.system());
        List<TaskKey> tasks = IntStream.range(0, 30)
                .mapToObj(i -> new TaskKey(CALLER.scope(), "agent", "task-" + (10 + i)))
                .toList();
        for (TaskKey task : tasks) {
            Segments.write(store.log(), task, 1, TaskState.INPUT_REQUIRED, Instant.now());
        }
        schema.run("UPDATE task SET owner = 999 WHERE task_id < 'task-20'");
        schema.run("UPDATE task SET last_seq = 2 WHERE task_id > 'task-29'");
        AtomicInteger rollbacks = rollbacks(store);
        var blocked = new CountDownLatch(1);
        Future<?> blocking = blockWriter(store, blocked);

        List<CompletableFuture<Segment>> written = tasks.stream()
                .map(task -> Segments.submit(
                        store.log(), task, 2, TaskState.WORKING, Instant.now(), key("of " + task.taskId())))
                .toList();
        blocked.countDown();
        blocking.get();

        for (int i = 0; i < written.size(); i++) {
            boolean isRefused = i < 10 || i >= 20;
            assertThat(written.get(i).handle((segment, cause) -> cause))
                    .as(tasks.get(i).taskId())
                    .succeedsWithin(Duration.ofSeconds(20))
                    .matches(cause -> isRefused ? cause instanceof OtherOwnerException : cause == null);
            assertThat(store.log().taskOf(key("of " + tasks.get(i).taskId())).isPresent())
                    .isNotEqualTo(isRefused);
        }
        assertThat(rollbacks).hasValue(0);
    }

    @Test
    void aWriteThatIsRefusedEndsNoStreamOfItsTask() throws Exception {
        AgentEndpoint one = asking();
        Engine engine = engine();
        Agent agent = asks();
        AgentEndpoint other = engine.host(agent);
        TaskManager reports = engine.tasks(agent, other, CALLER);
        String task = begun(one, "m-1");
        try (Feed<LoggedEvent> stream = other.watch(new SubscribeToTask(null, task, 0L), CALLER)) {
            assertThatThrownBy(() -> reports.updateTaskStatus(task, TaskState.FAILED, null))
                    .isInstanceOfSatisfying(A2AException.class, refusal -> {
                        assertThat(refusal.error()).isEqualTo(A2AError.UNAVAILABLE);
                        assertThat(refusal.retryAfter()).isNotNull();
                    });
            steps.add("step");
            steps.add("end");

            var read = new ArrayList<LoggedEvent>();
            for (var next = stream.next(Duration.ofSeconds(20));
                    next != null;
                    next = stream.next(Duration.ofSeconds(20))) {
                assertThat(next).as("events within 20 s, after %s", read).isNotEmpty();
                read.addAll(next);
            }
            assertThat(read)
                    .extracting(LoggedEvent::sequence)
                    .containsExactlyElementsOf(
                            LongStream.rangeClosed(1, read.size()).boxed().toList());
        }
        assertThat(get(other, task).state()).isEqualTo(TaskState.COMPLETED);
    }

    /**
     * Reads a stream of another hub while the owner emits an event now and then, and returns how late each was, in ms.
     *
     * @param beginning runs before the other hub follows the task
     * @param disturbance runs before each event
     */
    private List<Long> lateness(int events, Runnable beginning, Runnable disturbance) throws Exception {
        AgentEndpoint one = asking();
        AgentEndpoint other = asking();
        var begins = new SendMessage(
                null, said("m-1", "wait"), new SendConfiguration(List.of(), null, null, true), Map.of());
        String task = ((Task) one.call(begins, CALLER)).id();
        var late = new ArrayList<Long>();
        beginning.run();
        try (Feed<LoggedEvent> stream = other.watch(new SubscribeToTask(null, task, 1L), CALLER);
                Feed<LoggedEvent> own = one.watch(new SubscribeToTask(null, task, 1L), CALLER)) {
            for (int i = 0; i < events; i++) {
                disturbance.run();
                steps.add("step " + i);
                assertThat(own.next(Duration.ofSeconds(10))).isNotEmpty();
                long written = System.nanoTime();
                assertThat(stream.next(Duration.ofSeconds(10))).isNotEmpty();
                late.add(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - written));
            }
        }
        steps.add("end");
        late.sort(null);
        return late;
    }

    @Test
    void eventsOfAnotherHubAreHintedAt() throws Exception {
        assertThat(lateness(40, () -> {}, () -> {}).get(20))
                .as("median, in ms")
                .isLessThan(500); // a look each second is later
    }

    @Test
    void eventsOfAnotherHubArriveAlsoIfTheConnectionsOfHintsAreCut() throws Exception {
        List<Long> late = lateness(20, () -> {}, () -> schema.cut("LISTEN"));

        assertThat(late.getLast()).as("the latest, in ms").isLessThan(5_000);
    }

    @Test
    void aHubThatListensAgainLearnsWhichTasksAreFollowedSince() throws Exception {
        var events = new CountDownLatch(3); // the other hub has said that it follows the task long before the third one
        var cuts = new CompletableFuture<Future<?>>();
        Runnable cut = () -> cuts.complete(senders.submit(() -> {
            while (events.getCount() > 0) {
                schema.cut("LISTEN");
            }
        }));
        List<Long> late = lateness(10, cut, () -> {
            events.countDown();
            if (events.getCount() == 0) {
                assertThat(cuts.join()).succeedsWithin(Duration.ofSeconds(10));
            }
        });

        assertThat(late.get(5)).as("median of %s, in ms", late).isLessThan(500); // a look each second is later
    }
}
