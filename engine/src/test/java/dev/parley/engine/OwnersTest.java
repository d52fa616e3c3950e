package dev.parley.engine;

import static dev.parley.engine.Calls.await;
import static dev.parley.engine.Calls.sendImmediately;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.OtherOwnerException;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.tasks.Tasks;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Engines that write to one log, each of which runs the tasks that it owns. */
@Timeout(60)
final class OwnersTest {
    private volatile Instant now = Instant.parse("2026-01-01T12:00:00Z");
    private final MemoryTaskLog log = new MemoryTaskLog(() -> now, Once.CLAIM);
    private final List<Engine> engines = new ArrayList<>();
    /** Engines and tasks of the runs that have begun. */
    private final LinkedBlockingQueue<String> begun = new LinkedBlockingQueue<>();

    private final LinkedBlockingQueue<String> steps = new LinkedBlockingQueue<>();

    /** Steps of handlers that stand still. */
    private final LinkedBlockingQueue<String> never = new LinkedBlockingQueue<>();

    @AfterEach
    void close() {
        engines.forEach(Engine::close);
    }

    private Engine engine(TaskLog log) {
        Engine engine = Engine.builder(log).grace(Duration.ZERO).build();
        engines.add(engine);
        return engine;
    }

    private AgentEndpoint host(Engine engine, String name) {
        return engine.host(Agent.named("agent", "Works until it is told to end")
                .resumable(true)
                .concurrency(1)
                .handle((request, reply) -> {
                    reply.working("busy");
                    begun.add(name + " " + request.taskId());
                    (name.equals("ended") ? never : steps).take();
                    reply.complete(name + " " + request.attempt());
                }));
    }

    private String nextRun() throws InterruptedException {
        String run = begun.poll(30, TimeUnit.SECONDS);
        return run == null ? "none within 30 s" : run;
    }

    @Test
    void anEngineThatStartsBesideAnotherDoesNotRunItsTasks() throws Exception {
        AgentEndpoint one = host(engine(log), "one");
        Task working = sendImmediately(one, "hello");
        Task submitted = sendImmediately(one, "hello");
        assertThat(nextRun()).isEqualTo("one " + working.id());

        AgentEndpoint other = host(engine(log.share()), "other");
        assertThat(other.call(GetTask.of(working.id()), Calls.ALICE).state()).isEqualTo(TaskState.WORKING);
        assertThat(other.call(GetTask.of(submitted.id()), Calls.ALICE).state()).isEqualTo(TaskState.SUBMITTED);
        steps.add("end");

        assertThat(nextRun()).isEqualTo("one " + submitted.id());
        steps.add("end");
        assertThat(await(one, working.id()).text()).isEqualTo("one 1");
        assertThat(await(one, submitted.id()).text()).isEqualTo("one 1");
        assertThat(begun).isEmpty();
    }

    /** Ends an engine without a word: its log takes nothing any more, and its handlers stand still. */
    private void kill(MemoryTaskLog ended) {
        ended.close();
    }

    @Test
    void eachTaskOfAnEngineThatHasEndedGoesOnAtOneOther() throws Exception {
        MemoryTaskLog dead = log.share();
        AgentEndpoint ended = host(engine(dead), "ended");
        Set<String> tasks = new HashSet<>();
        for (int i = 0; i < 20; i++) {
            tasks.add(sendImmediately(ended, "hello").id());
        }
        nextRun();
        AgentEndpoint one = host(engine(log), "one");
        AgentEndpoint other = host(engine(log.share()), "other");

        kill(dead);
        var runs = new HashSet<String>();
        for (int i = 0; i < 20; i++) {
            String run = nextRun();
            assertThat(run).doesNotStartWith("ended");
            assertThat(runs.add(run.substring(run.indexOf(' ') + 1)))
                    .as("the first run of %s", run)
                    .isTrue();
            steps.add("end");
        }

        assertThat(runs).isEqualTo(tasks);
        for (String task : tasks) {
            Task done = await(one, task);
            assertThat(done.state()).isEqualTo(TaskState.COMPLETED);
            assertThat(other.call(GetTask.of(task), Calls.ALICE)).isEqualTo(done);
        }
    }

    @Test
    void aTaskThatIsFollowedGoesOnAtTheEngineThatFollowsIt() throws Exception {
        MemoryTaskLog dead = log.share();
        Task task = sendImmediately(host(engine(dead), "ended"), "hello");
        nextRun();
        AgentEndpoint one = host(engine(log), "one");

        try (Feed<LoggedEvent> stream = one.watch(new SubscribeToTask(null, task.id(), 0L), Calls.ALICE)) {
            kill(dead);
            assertThat(nextRun()).isEqualTo("one " + task.id());
            steps.add("end");
            assertThat(Calls.drain(stream))
                    .extracting(LoggedEvent::sequence)
                    .isSorted()
                    .doesNotHaveDuplicates();
        }
        assertThat(await(one, task.id()).text()).isEqualTo("one 2");
    }

    @Test
    void tasksOfAnAgentThatNoEngineHostsFailAfterFiveMinutes() throws Exception {
        MemoryTaskLog dead = log.share();
        AgentEndpoint ended = host(engine(dead), "ended");
        Task working = sendImmediately(ended, "hello");
        Task submitted = sendImmediately(ended, "hello");
        nextRun();
        Engine other = engine(log);
        kill(dead);
        now = now.plus(TaskLog.LONGEST_UNHOSTED.minusSeconds(1));
        assertThat(log.takeOver(Set.of(), 10)).isEmpty();

        now = now.plusSeconds(2);
        for (Task task : List.of(working, submitted)) {
            try (Feed<LoggedEvent> stream = other.follow(new TaskKey(Calls.ALICE.scope(), "agent", task.id()))) {
                Calls.drain(stream);
            }
            Task failed = Tasks.fold(log, new TaskKey(Calls.ALICE.scope(), "agent", task.id()))
                    .task();
            assertThat(failed.state()).isEqualTo(TaskState.FAILED);
            assertThat(requireNonNull(failed.status().message()).text()).startsWith("No server hosts the agent");
        }
    }

    @Test
    void tasksOfAnAgentThatNoEngineHostsFailAlsoIfTheirTakeoverHasNoAnswer() throws Exception {
        MemoryTaskLog dead = log.share();
        Task task = sendImmediately(host(engine(dead), "ended"), "hello");
        nextRun();
        SteppedLog stepped = SteppedLog.flowing(log);
        stepped.onTakeOver(heads -> {
            if (!heads.isEmpty()) {
                throw new IllegalStateException("no answer to the commit");
            }
            return heads;
        });
        Engine other = engine(stepped);
        kill(dead);
        now = now.plus(TaskLog.LONGEST_UNHOSTED.plusSeconds(1));

        try (Feed<LoggedEvent> stream = other.follow(new TaskKey(Calls.ALICE.scope(), "agent", task.id()))) {
            assertThat(Calls.drain(stream)).isNotEmpty();
        }
        assertThat(log.find(Calls.ALICE.scope().group(), task.id()))
                .hasValueSatisfying(head -> assertThat(head.state()).isEqualTo(TaskState.FAILED));
    }

    @Test
    void tasksOfAnAgentThatAnotherEngineHostsAreLeftToIt() {
        MemoryTaskLog dead = log.share();
        sendImmediately(host(engine(dead), "ended"), "hello");
        MemoryTaskLog hosting = log.share();
        hosting.takeOver(Set.of("agent"), 10);
        kill(dead);

        now = now.plus(TaskLog.LONGEST_UNHOSTED.plusSeconds(1));

        assertThat(log.takeOver(Set.of("another"), 10)).isEmpty();
        assertThat(hosting.takeOver(Set.of("agent"), 10)).hasSize(1);
        assertThat(hosting.takeOver(Set.of("agent"), 10)).isEmpty();
    }

    @Test
    void aWriteThatIsRefusedEndsNeitherAStreamNorARepetition() throws Exception {
        AgentEndpoint one = host(engine(log), "one");
        AgentEndpoint other = host(engine(log.share()), "other");
        Message message = Message.user(Part.text("hello")).withId("m-1");
        Task task = sendImmediately(one, message);
        nextRun();
        var repeated = CompletableFuture.supplyAsync(() -> (Task) other.call(SendMessage.of(message), Calls.ALICE));
        try (Feed<LoggedEvent> stream = other.watch(new SubscribeToTask(null, task.id(), 0L), Calls.ALICE)) {
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> other.call(CancelTask.of(task.id()), Calls.ALICE))
                        .isInstanceOfSatisfying(A2AException.class, refusal -> {
                            assertThat(refusal.error()).isEqualTo(A2AError.UNAVAILABLE);
                            assertThat(refusal.retryAfter()).isNotNull();
                        });
            }
            steps.add("end");

            List<LoggedEvent> read = Calls.drain(stream);

            assertThat(read)
                    .extracting(LoggedEvent::sequence)
                    .containsExactlyElementsOf(
                            LongStream.rangeClosed(1, read.size()).boxed().toList());
        }
        assertThat(repeated.get(10, TimeUnit.SECONDS).state()).isEqualTo(TaskState.COMPLETED);
        assertThat(await(one, task.id()).text()).isEqualTo("one 1");
    }

    /** Agent that asks. After the text "linger" it waits for an interrupt, then emits an artifact and reports the outcome. */
    private AgentEndpoint lingering(Engine engine, LinkedBlockingQueue<Object> outcomes) {
        return engine.host(Agent.named("agent", "Lingers").handle((request, reply) -> {
            if (!request.text().equals("linger")) {
                reply.askForInput(request.text());
                return;
            }
            reply.askForInput("what?");
            try {
                never.take();
            } catch (InterruptedException ended) {
                outcomes.add(ended);
            }
            try {
                reply.artifact("late", "late");
                outcomes.add("written");
            } catch (A2AException refused) {
                outcomes.add(refused);
                throw refused;
            }
        }));
    }

    @Test
    void aHandlerThatLingersWhileItsTaskGoesOnElsewhereIsEndedAndWritesNothing() throws Exception {
        var outcomes = new LinkedBlockingQueue<Object>();
        AgentEndpoint one = lingering(engine(log), outcomes);
        AgentEndpoint other = lingering(engine(log.share()), outcomes);
        Task task = (Task) one.call(SendMessage.of(Message.user(Part.text("linger"))), Calls.ALICE);
        assertThat(task.state()).isEqualTo(TaskState.INPUT_REQUIRED);

        Message answer = Message.user(Part.text("and?")).in(null, task.id());
        Task asked = (Task) other.call(SendMessage.of(answer.withId("m-2")), Calls.ALICE);
        assertThat(asked.state()).isEqualTo(TaskState.INPUT_REQUIRED);

        assertThat(outcomes.poll(10, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
        assertThat(outcomes.poll(10, TimeUnit.SECONDS))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refusal -> assertThat(refusal.error()).isEqualTo(A2AError.UNAVAILABLE));
        assertThat(one.call(GetTask.of(task.id()), Calls.ALICE)).isEqualTo(asked);
        Task back = (Task) one.call(SendMessage.of(answer.withId("m-3")), Calls.ALICE);
        assertThat(back.state()).isEqualTo(TaskState.INPUT_REQUIRED);
        assertThat(back.artifacts()).isEmpty();
        assertThat(other.call(GetTask.of(task.id()), Calls.ALICE)).isEqualTo(back);
    }

    @Test
    void aReadWaitsForTheFateOfAnOwnWriteIfAnotherEngineHasWritten() throws Exception {
        var outcomes = new LinkedBlockingQueue<Object>();
        SteppedLog stepped = SteppedLog.flowing(log);
        AgentEndpoint one = lingering(engine(stepped), outcomes);
        AgentEndpoint other = lingering(engine(log.share()), outcomes);
        Message question = Message.user(Part.text("first?"));
        Task task = (Task) one.call(SendMessage.of(question.withId("m-1")), Calls.ALICE);
        stepped.step();
        var refused = CompletableFuture.supplyAsync(() ->
                one.call(SendMessage.of(question.withId("m-2").in(null, task.id())), Calls.ALICE));
        stepped.awaitWaiting(1);
        Message answer = Message.user(Part.text("second?")).withId("m-3");
        Task asked = (Task) other.call(SendMessage.of(answer.in(null, task.id())), Calls.ALICE);

        var compared = new CountDownLatch(1);
        stepped.onNextFind(compared::countDown);
        var read = CompletableFuture.supplyAsync(() -> one.call(GetTask.of(task.id()), Calls.ALICE));
        compared.await();
        stepped.begin().fail(new OtherOwnerException(task.id()));

        assertThat(read.get(10, TimeUnit.SECONDS)).isEqualTo(asked);
        assertThatThrownBy(refused::get).hasCauseInstanceOf(A2AException.class);
    }

    @Test
    void aTaskThatIsTakenOverWhileItIsReadIsReadAgain() throws Exception {
        MemoryTaskLog dead = log.share();
        var more = new CountDownLatch(1);
        AgentEndpoint ended = engine(dead)
                .host(Agent.named("agent", "Says more").resumable(true).handle((request, reply) -> {
                    reply.working("first");
                    begun.add("ended");
                    more.await();
                    reply.working("second");
                    never.take();
                }));
        Task task = sendImmediately(ended, "hello");
        nextRun();
        var key = new TaskKey(Calls.ALICE.scope(), "agent", task.id());
        long first = Tasks.fold(log, key).sequence();
        SteppedLog stepped = SteppedLog.flowing(log);
        AgentEndpoint one = host(engine(stepped), "one");
        stepped.onNextRead(() -> {
            more.countDown();
            Calls.awaitUntil("the second event", () -> Tasks.fold(log, key).sequence() > first);
            kill(dead);
            Calls.awaitUntil("the task has no owner", () -> !log.interrupted().isEmpty());
        });

        one.call(GetTask.of(task.id()), Calls.ALICE);

        assertThat(one.call(GetTask.of(task.id()), Calls.ALICE).history())
                .extracting(Message::text)
                .contains("first");
        assertThat(nextRun()).isEqualTo("one " + task.id());
        steps.add("end");
        assertThat(await(one, task.id()).text()).isEqualTo("one 2");
    }

    @Test
    void aTaskThatIsCanceledWhileItsCallIsWrittenIsNotWorkedAt() throws Exception {
        SteppedLog stepped = SteppedLog.flowing(log);
        AgentEndpoint one = host(engine(stepped), "one");
        sendImmediately(one, "first");
        nextRun();
        Task second = sendImmediately(one, "second");
        stepped.step();
        steps.add("end");
        stepped.awaitWaiting(2); // the end of the first, and the begin of the second
        Thread canceling = Thread.ofPlatform().start(() -> one.call(CancelTask.of(second.id()), Calls.ALICE));
        Calls.awaitUntil(
                "the cancellation waits",
                () -> canceling.getState() == Thread.State.WAITING
                        || canceling.getState() == Thread.State.TIMED_WAITING);
        Thread committing = stepped.committing();

        Task third = sendImmediately(one, "third");
        assertThat(nextRun()).isEqualTo("one " + third.id());
        steps.add("end");
        assertThat(await(one, third.id()).state()).isEqualTo(TaskState.COMPLETED);
        canceling.join();
        committing.interrupt();
        assertThat(one.call(GetTask.of(second.id()), Calls.ALICE).state()).isEqualTo(TaskState.CANCELED);
    }

    @Test
    void anAnswerThatIsOnDiskAlthoughItsCommitSeemedToFailIsWorkedAt() throws Exception {
        SteppedLog stepped = SteppedLog.flowing(log);
        AgentEndpoint one = engine(stepped)
                .host(Agent.named("agent", "Asks").resumable(true).handle((request, reply) -> {
                    if (request.isFollowUp()) {
                        reply.complete("done");
                    } else {
                        reply.askForInput("what?");
                    }
                }));
        Message question = Message.user(Part.text("hello"));
        Task task = (Task) one.call(SendMessage.of(question.withId("m-1")), Calls.ALICE);
        stepped.step();
        var refused = CompletableFuture.supplyAsync(() ->
                one.call(SendMessage.of(question.withId("m-2").in(null, task.id())), Calls.ALICE));
        stepped.awaitWaiting(1);

        stepped.begin().failLanded(new IOException("no answer to the commit"));

        assertThatThrownBy(refused::get).hasCauseInstanceOf(A2AException.class);
        Thread committing = stepped.committing();
        assertThat(await(one, task.id()).state()).isEqualTo(TaskState.COMPLETED);
        committing.interrupt();
    }

    private static AgentEndpoint fenced(Engine engine, List<Long> fences) {
        return engine.host(Agent.named("agent", "Asks").resumable(true).handle((request, reply) -> {
            fences.add(request.fence());
            reply.working("busy");
            reply.askForInput("what?");
        }));
    }

    @Test
    void aCallHasAGreaterFenceThanThoseOfOtherEnginesBeforeIt() {
        List<Long> fences = new CopyOnWriteArrayList<>();
        AgentEndpoint one = fenced(engine(log), fences);
        AgentEndpoint other = fenced(engine(log.share()), fences);
        Message message = Message.user(Part.text("hello"));
        Task task = (Task) one.call(SendMessage.of(message.withId("m-1")), Calls.ALICE);

        for (AgentEndpoint next : List.of(other, one, one, other)) {
            next.call(SendMessage.of(message.withId("m-" + fences.size() + "-").in(null, task.id())), Calls.ALICE);
        }

        assertThat(fences).hasSize(5).startsWith(0L).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void aLoneEngineTakesUpAllTasks() throws Exception {
        var alone = new MemoryTaskLog(() -> now);
        AgentEndpoint before = host(engine(alone), "before");
        Task working = sendImmediately(before, "hello");
        Task submitted = sendImmediately(before, "hello");
        assertThat(nextRun()).isEqualTo("before " + working.id());
        engines.removeFirst().close();

        host(engine(alone), "after");

        for (int i = 0; i < 2; i++) {
            assertThat(nextRun()).isIn("after " + working.id(), "after " + submitted.id());
            steps.add("end");
        }
    }
}
