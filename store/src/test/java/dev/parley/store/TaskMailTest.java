package dev.parley.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.engine.Agent;
import dev.parley.engine.Engine;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.engine.TaskLimits;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SendStreamingMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.store.database.PostgresqlSystem;
import dev.parley.store.database.SharedSchema;
import dev.parley.testkit.Eventually;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls of tasks that another hub runs, which works with the same PostgreSQL database: the hub that gets a call hands it to the owner. */
@Timeout(180)
@Tag("heavy")
final class TaskMailTest {
    private static final CallContext CALLER = CallContext.anonymous();
    private static final CallContext NAMING = CALLER.withDialect("0.1", true);

    /** Beginnings of statements. */
    private static final String LOOK = "EXISTS (SELECT 1 FROM mail";

    private static final String ANSWER = "UPDATE mail SET answer";

    private final SharedSchema schema = new SharedSchema();
    private final List<Engine> engines = new ArrayList<>();
    /** Messages that agents have processed, and where. */
    private final List<String> processed = new CopyOnWriteArrayList<>();

    private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();

    @AfterEach
    void close() {
        engines.forEach(Engine::close);
        callers.close();
    }

    /**
     * A hub that shares the database.
     *
     * @param steps of the handlers that work
     */
    private record Hub(Store store, AgentEndpoint agent, LinkedBlockingQueue<String> steps) {}

    private Hub hub(String name) {
        return hub(name, TaskLimits.DEFAULTS, sql -> {});
    }

    /** @param before is told each statement before it is prepared; what it throws is a failure of that */
    private Hub hub(String name, TaskLimits limits, Consumer<String> before) {
        Store store = schema.store(InstantSource.system(), before);
        var steps = new LinkedBlockingQueue<String>();
        Engine engine = Engine.builder(store.log())
                .grace(Duration.ZERO)
                .taskLimits(limits)
                .build();
        engines.add(engine);
        AgentEndpoint agent = engine.host(Agent.named("agent", "Works, or is done at once")
                .resumable(true)
                .handle((request, reply) -> handle(name, steps, request, reply)));
        return new Hub(store, agent, steps);
    }

    private void handle(String hub, LinkedBlockingQueue<String> steps, Request request, Reply reply) throws Exception {
        if (request.text().equals("work")) {
            for (String step = steps.take(); !step.equals("end"); step = steps.take()) {
                if (step.equals("ask")) {
                    reply.askForInput("what?");
                    return;
                }
                reply.artifact(step, step);
            }
        } else {
            processed.add(request.message().messageId() + " at " + hub);
        }
        reply.complete(hub);
    }

    /** Fails the statements that begin so, while it is on. */
    private static Consumer<String> failing(String statement, AtomicBoolean isOn) {
        return sql -> {
            if (isOn.get() && sql.contains(statement)) {
                throw new IllegalStateException("refused by the test: " + statement);
            }
        };
    }

    private static Message said(String id, String text) {
        return Message.user(Part.text(text)).withId(id);
    }

    private static String begun(Hub hub) {
        var configuration = new SendConfiguration(List.of(), null, null, true);
        return ((Task) hub.agent.call(new SendMessage(null, said("m-1", "work"), configuration, Map.of()), CALLER))
                .id();
    }

    private static Task send(Hub hub, Message message) {
        return (Task) hub.agent.call(SendMessage.of(message), CALLER);
    }

    private static Task get(Hub hub, String task) {
        return hub.agent.call(new GetTask(null, task, null), CALLER);
    }

    private static List<String> messages(Task task) {
        return task.history().stream()
                .filter(message -> message.role() == Role.USER)
                .map(Message::messageId)
                .toList();
    }

    private static Task cancel(Hub hub, String task) {
        return hub.agent.call(CancelTask.of(task), CALLER);
    }

    private static long mail(Store store) {
        return store.database().read(session -> session.number("SELECT count(*) FROM mail"));
    }

    private static A2AException refusal(Future<?> call) throws Exception {
        ExecutionException failure =
                catchThrowableOfType(ExecutionException.class, () -> call.get(60, TimeUnit.SECONDS));
        assertThat(failure).hasCauseInstanceOf(A2AException.class);
        return (A2AException) requireNonNull(failure.getCause());
    }

    private static void assertSame(A2AException refusal, A2AException expected) {
        assertThat(refusal.error()).isEqualTo(expected.error());
        assertThat(refusal).hasMessage(expected.getMessage());
        assertThat(refusal.metadata()).isEqualTo(expected.metadata());
        assertThat(refusal.violations()).isEqualTo(expected.violations());
        assertThat(refusal.retryAfter()).isEqualTo(expected.retryAfter());
    }

    @Test
    void aTaskIsCanceledByTheHubThatRunsIt() {
        Hub owner = hub("owner");
        Hub other = hub("other");
        String task = begun(owner);

        Task canceled = other.agent.call(new CancelTask(null, task, Map.of("reason", "late")), CALLER);

        assertThat(canceled.state()).isEqualTo(TaskState.CANCELED);
        assertThat(get(owner, task)).isEqualTo(canceled);
        var key = new TaskKey(CALLER.scope(), "agent", task);
        TaskEvent last = owner.store.log().read(key, 0, 100).getLast().event();
        assertThat(last)
                .isInstanceOfSatisfying(
                        TaskStatusUpdateEvent.class,
                        update -> assertThat(update.metadata()).isEqualTo(Map.of("reason", "late")));
        Eventually.holds("no mail", () -> mail(other.store) == 0);
    }

    @Test
    void aTaskIsCanceledByItsNameAtAnotherHub() {
        Hub owner = hub("owner");
        Hub other = hub("other");
        var configuration = new SendConfiguration(List.of(), null, null, true);
        var begins = new SendMessage(null, said("m-1", "work").in(null, "mine"), configuration, Map.of());
        String task = ((Task) owner.agent.call(begins, NAMING)).id();

        Task canceled = other.agent.call(CancelTask.of("mine"), NAMING);

        assertThat(canceled.id()).isEqualTo(task);
        assertThat(canceled.state()).isEqualTo(TaskState.CANCELED);
    }

    @Test
    void aMessageToATaskIsProcessedByTheHubThatRunsIt() throws Exception {
        Hub owner = hub("owner");
        Hub other = hub("other");
        String task = begun(owner);

        Future<Task> sent =
                callers.submit(() -> send(other, said("m-2", "finish").in(null, task)));
        Eventually.holds("the message", () -> messages(get(owner, task)).contains("m-2"));
        owner.steps.add("ask");

        Task done = sent.get(60, TimeUnit.SECONDS);
        assertThat(done.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(done).isEqualTo(get(owner, task));
        assertThat(messages(done)).containsExactly("m-1", "m-2");
        assertThat(processed).containsExactly("m-2 at owner");
        assertThat(send(other, said("m-2", "finish").in(null, task))).isEqualTo(done);
        assertThat(processed).hasSize(1);
        Eventually.holds("no mail", () -> mail(other.store) == 0);
    }

    @Test
    void aMessageToANamedTaskIsProcessedByTheHubThatRunsIt() throws Exception {
        Hub owner = hub("owner");
        Hub other = hub("other");
        var configuration = new SendConfiguration(List.of(), null, null, true);
        var begins = new SendMessage(null, said("m-1", "work").in(null, "mine"), configuration, Map.of());
        String task = ((Task) owner.agent.call(begins, NAMING)).id();

        Future<Task> sent = callers.submit(() ->
                (Task) other.agent.call(SendMessage.of(said("m-2", "finish").in(null, "mine")), NAMING));
        Eventually.holds("the message", () -> messages(get(owner, task)).contains("m-2"));
        owner.steps.add("ask");

        assertThat(sent.get(60, TimeUnit.SECONDS).id()).isEqualTo(task);
        assertThat(processed).containsExactly("m-2 at owner");
    }

    @Test
    void aStreamThatGoesOnWithATaskOfAnotherHubHasAllEvents() throws Exception {
        Hub owner = hub("owner");
        Hub other = hub("other");
        String task = begun(owner);
        var send = new SendStreamingMessage(
                null, said("m-2", "finish").in(null, task), SendConfiguration.DEFAULTS, Map.of());

        var read = new ArrayList<LoggedEvent>();
        try (Feed<LoggedEvent> stream = other.agent.watch(send, CALLER)) {
            owner.steps.addAll(List.of("step", "ask"));
            for (var next = stream.next(Duration.ofSeconds(20));
                    next != null;
                    next = stream.next(Duration.ofSeconds(20))) {
                assertThat(next).as("events within 20 s, after %s", read).isNotEmpty();
                read.addAll(next);
            }
        }

        assertThat(read.getFirst().event())
                .isInstanceOfSatisfying(
                        Task.class, first -> assertThat(messages(first)).containsExactly("m-2"));
        assertThat(read).extracting(LoggedEvent::sequence).isSorted().doesNotHaveDuplicates();
        assertThat(read.getLast().event())
                .isInstanceOfSatisfying(
                        TaskStatusUpdateEvent.class,
                        last -> assertThat(last.status().state()).isEqualTo(TaskState.COMPLETED));
        assertThat(processed).containsExactly("m-2 at owner");
    }

    @Test
    void aRefusalOfTheOwnerIsThatOfALocalCall() {
        Hub owner = hub("owner", new TaskLimits(1_000, 1, 1 << 20), sql -> {});
        Hub other = hub("other");
        String task = begun(owner);
        Message tooMuch = said("m-2", "finish").in(null, task);

        A2AException local = catchThrowableOfType(A2AException.class, () -> send(owner, tooMuch));
        A2AException handed = catchThrowableOfType(A2AException.class, () -> send(other, tooMuch));

        assertThat(local.error()).isEqualTo(A2AError.UNSUPPORTED_OPERATION);
        assertSame(handed, local);
        assertThat(messages(get(other, task))).containsExactly("m-1");
        Eventually.holds("no mail", () -> mail(other.store) == 0);
    }

    @Test
    void callsOfATaskThatEndsBeforeItsOwnerHasReadThemAreRefusedAsLocally() throws Exception {
        var isDeaf = new AtomicBoolean(true);
        Hub owner = hub("owner", TaskLimits.DEFAULTS, failing(LOOK, isDeaf));
        Hub other = hub("other");
        String task = begun(owner);
        Future<Task> canceled = callers.submit(() -> cancel(other, task));
        Future<Task> sent =
                callers.submit(() -> send(other, said("m-2", "finish").in(null, task)));
        Eventually.holds("two rows of mail", () -> mail(other.store) == 2);

        owner.steps.add("end");
        Eventually.holds("the end of the task", () -> get(owner, task).state() == TaskState.COMPLETED);
        isDeaf.set(false);

        A2AException notCanceled = refusal(canceled);
        assertThat(notCanceled.error()).isEqualTo(A2AError.TASK_NOT_CANCELABLE);
        assertSame(notCanceled, catchThrowableOfType(A2AException.class, () -> cancel(owner, task)));
        assertSame(
                refusal(sent),
                catchThrowableOfType(
                        A2AException.class,
                        () -> send(owner, said("m-3", "finish").in(null, task))));
        assertThat(processed).isEmpty();
    }

    @Test
    void callsArriveAlsoWithoutHints() throws Exception {
        var isMute = new AtomicBoolean(true);
        Hub owner = hub("owner", TaskLimits.DEFAULTS, failing("pg_notify", isMute));
        Hub other = hub("other", TaskLimits.DEFAULTS, failing("pg_notify", isMute));
        String task = begun(owner);

        Future<Task> sent =
                callers.submit(() -> send(other, said("m-2", "finish").in(null, task)));
        Eventually.holds("the message", () -> messages(get(owner, task)).contains("m-2"));
        Task canceled = cancel(other, task);

        assertThat(canceled.state()).isEqualTo(TaskState.CANCELED);
        assertThat(sent.get(60, TimeUnit.SECONDS)).isEqualTo(canceled);
    }

    @Test
    void aMessageThatWaitsWhenTheOwnerEndsIsProcessedOnceByTheNextOwner() throws Exception {
        var isDeaf = new AtomicBoolean(true);
        Hub ended = hub("ended", TaskLimits.DEFAULTS, failing(LOOK, isDeaf));
        Hub one = hub("one");
        Hub other = hub("other");
        String task = begun(ended);
        Future<Task> sent =
                callers.submit(() -> send(other, said("m-2", "finish").in(null, task)));
        Eventually.holds("a row of mail", () -> mail(other.store) == 1);

        schema.end(ended.store);
        isDeaf.set(false);
        one.steps.add("ask");
        other.steps.add("ask");

        Task done = sent.get(60, TimeUnit.SECONDS);
        assertThat(done.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(messages(done)).containsExactly("m-1", "m-2");
        assertThat(processed).singleElement().asString().matches("m-2 at (one|other)");
        Eventually.holds("no mail", () -> mail(other.store) == 0);
    }

    @Test
    void aCancellationThatWaitsWhenTheOwnerEndsIsExecutedByTheNextOwner() throws Exception {
        var isDeaf = new AtomicBoolean(true);
        Hub ended = hub("ended", TaskLimits.DEFAULTS, failing(LOOK, isDeaf));
        Hub other = hub("other");
        hub("one");
        String task = begun(ended);
        Future<Task> canceled = callers.submit(() -> cancel(other, task));
        Eventually.holds("a row of mail", () -> mail(other.store) == 1);

        schema.end(ended.store);

        assertThat(canceled.get(60, TimeUnit.SECONDS).state()).isEqualTo(TaskState.CANCELED);
        Eventually.holds("no mail", () -> mail(other.store) == 0);
    }

    @Test
    void callsWhoseAnswersAreLostWithTheOwnerAreNotExecutedTwice() throws Exception {
        Hub ended = hub("ended", TaskLimits.DEFAULTS, failing(ANSWER, new AtomicBoolean(true)));
        Hub one = hub("one");
        Hub other = hub("other");
        String task = begun(ended);
        Future<Task> sent =
                callers.submit(() -> send(other, said("m-2", "finish").in(null, task)));
        Eventually.holds("the message", () -> messages(get(ended, task)).contains("m-2"));

        schema.end(ended.store);
        one.steps.add("ask");
        other.steps.add("ask");

        Task done = sent.get(60, TimeUnit.SECONDS);
        assertThat(done.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(messages(done)).containsExactly("m-1", "m-2");
        assertThat(processed).singleElement().asString().matches("m-2 at (one|other)");
    }

    @Test
    void aCancellationWhoseAnswerIsLostWithTheOwnerIsAnsweredWithTheCanceledTask() throws Exception {
        Hub ended = hub("ended", TaskLimits.DEFAULTS, failing(ANSWER, new AtomicBoolean(true)));
        Hub other = hub("other");
        String task = begun(ended);
        Future<Task> canceled = callers.submit(() -> cancel(other, task));
        Task expected = Eventually.value(
                "the task is canceled", () -> get(ended, task), read -> read.state() == TaskState.CANCELED);

        schema.end(ended.store);

        assertThat(canceled.get(60, TimeUnit.SECONDS)).isEqualTo(expected);
    }

    @Test
    void oneOfTwoCancellationsAtOnceFindsTheTaskEnded() throws Exception {
        Hub owner = hub("owner");
        List<Hub> others = List.of(hub("one"), hub("other"));
        for (int i = 0; i < 10; i++) {
            var configuration = new SendConfiguration(List.of(), null, null, true);
            var begins = new SendMessage(null, said("task-" + i, "work"), configuration, Map.of());
            String task = ((Task) owner.agent.call(begins, CALLER)).id();

            List<Future<Task>> calls = others.stream()
                    .map(hub -> callers.submit(() -> cancel(hub, task)))
                    .toList();

            int canceled = 0;
            for (Future<Task> call : calls) {
                try {
                    assertThat(call.get(60, TimeUnit.SECONDS).state()).isEqualTo(TaskState.CANCELED);
                    canceled++;
                } catch (ExecutionException refused) {
                    assertThat(refused.getCause())
                            .isInstanceOfSatisfying(
                                    A2AException.class,
                                    refusal -> assertThat(refusal.error()).isEqualTo(A2AError.TASK_NOT_CANCELABLE));
                }
            }
            assertThat(canceled).isOne();
        }
    }

    @Test
    void aCallOfAHubThatHasEndedIsRemovedAndNotExecuted() {
        var isDeaf = new AtomicBoolean(true);
        Hub owner = hub("owner", TaskLimits.DEFAULTS, failing(LOOK, isDeaf));
        Hub ended = hub("ended");
        String task = begun(owner);
        CallContext impatient = CALLER.withDeadline(Instant.now().plusSeconds(5));
        Future<Task> canceled = callers.submit(() -> ended.agent.call(CancelTask.of(task), impatient));
        Eventually.holds("a row of mail", () -> mail(owner.store) == 1);

        schema.end(ended.store);
        isDeaf.set(false);

        Eventually.holds("no mail", () -> mail(owner.store) == 0);
        assertThat(get(owner, task).state()).isEqualTo(TaskState.WORKING);
        assertThat(canceled).failsWithin(Duration.ofSeconds(60));
    }

    @Test
    void aCallThatTheOwnerDoesNotReadIsRefusedAndRemoved() {
        Hub owner = hub("owner", TaskLimits.DEFAULTS, failing(LOOK, new AtomicBoolean(true)));
        Hub other = hub("other");
        String task = begun(owner);
        CallContext impatient =
                CALLER.withToken("secret").withDeadline(Instant.now().plusMillis(500));

        assertThatThrownBy(() -> other.agent.call(CancelTask.of(task), impatient))
                .isInstanceOfSatisfying(A2AException.class, refusal -> {
                    assertThat(refusal.error()).isEqualTo(A2AError.UNAVAILABLE);
                    assertThat(refusal.retryAfter()).isNotNull();
                });

        assertThat(get(other, task).state()).isEqualTo(TaskState.WORKING);
        Eventually.holds("no mail", () -> mail(other.store) == 0);
    }

    @Test
    void mailOfACallerHasNoToken() throws Exception {
        Hub owner = hub("owner", TaskLimits.DEFAULTS, failing(LOOK, new AtomicBoolean(true)));
        Hub other = hub("other");
        String task = begun(owner);
        CallContext caller =
                CALLER.withToken("secret").withDeadline(Instant.now().plusSeconds(2));
        Future<Task> canceled = callers.submit(() -> other.agent.call(CancelTask.of(task), caller));
        Eventually.holds("a row of mail", () -> mail(other.store) == 1);

        List<byte[]> requests = other.store
                .database()
                .read(session -> session.list(row -> row.getBytes(1), "SELECT request FROM mail"));

        assertThat(new String(requests.getFirst(), UTF_8))
                .contains(task, CALLER.caller())
                .doesNotContain("secret");
        assertThat(refusal(canceled).error()).isEqualTo(A2AError.UNAVAILABLE);
    }

    @Test
    void aHubThatHasItsDatabaseAloneRemovesMailThatOthersHaveLeft() {
        String row = "INSERT INTO mail (from_stream, mail_no, to_stream, made_at, request) SELECT %d, n, 0,"
                + " clock_timestamp() - INTERVAL '%d s', '' FROM generate_series(%d, %d) AS n";
        try (Store ended = schema.store(InstantSource.system())) { // without an engine, which would look for mail
            schema.run(row.formatted(stream(ended), 61, 1, 1_200));
            schema.run(row.formatted(stream(ended), 0, 2_001, 2_001));
        }

        try (Store lone = schema.lone(InstantSource.system())) {
            assertThat(mail(lone)).isZero();
        }
    }

    private static long stream(Store store) {
        return ((PostgresqlSystem) store.database().system()).stream();
    }
}
