package dev.parley.engine;

import static dev.parley.engine.Calls.ALICE;
import static dev.parley.engine.Calls.await;
import static dev.parley.engine.Calls.awaitUntil;
import static dev.parley.engine.Calls.sendImmediately;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.scheduling.ScarceThreads;
import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.engine.spi.Priority;
import dev.parley.engine.spi.TaskLog.Subject;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.tasks.LiveTask;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tasks whose agents were cut off, and an engine that stops. */
@Timeout(60)
@Tag("heavy")
final class RecoveryTest {

    private final MemoryTaskLog disk = new MemoryTaskLog();
    private final SteppedLog log = SteppedLog.flowing(disk);
    private final Engine engine =
            Engine.builder(log).grace(Duration.ofMillis(200)).build();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @AfterEach
    void close() {
        engine.close();
        threads.shutdownNow();
    }

    /** Works until the test lets it emit once more; completes when it is taken up again. */
    private static final class Worker implements AgentHandler {
        final BlockingQueue<Integer> begun = new LinkedBlockingQueue<>();
        final CountDownLatch go = new CountDownLatch(1);

        @Override
        public void handle(Request request, Reply reply) throws Exception {
            reply.working("busy");
            begun.add(request.attempt());
            if (request.attempt() == 1) {
                go.await();
                reply.working("still busy");
                new CountDownLatch(1).await();
            }
            reply.complete("attempt " + request.attempt());
        }

        void awaitAttempt(int attempt) throws InterruptedException {
            assertThat(begun.poll(30, TimeUnit.SECONDS)).isEqualTo(attempt);
        }
    }

    @Test
    void aTaskWhoseEventsTheLogRefusedIsTakenUpOnceWritingWorks() throws Exception {
        var worker = new Worker();
        AgentEndpoint agent =
                engine.host(Agent.named("agent", "Goes on").resumable(true).handle(worker));
        Task begun = sendImmediately(agent, "go");
        worker.awaitAttempt(1);
        Future<Task> waiting = threads.submit(() -> await(agent, begun.id()));

        log.failing(new IOException("disk full"));
        worker.go.countDown();
        // Its readers do not wait for as long as the agent might have worked.
        assertThatThrownBy(waiting::get).hasCauseInstanceOf(A2AException.class).hasMessageContaining("written");
        log.failing(null);

        assertThat(await(agent, begun.id()).text()).isEqualTo("attempt 2");
        awaitUntil("no run is left", () -> isIdle(engine)); // a task ends a moment before its slot is given back
    }

    @Test
    void aTaskWhoseEventsTheLogRefusedFailsIfItsAgentCannotResume() throws Exception {
        var worker = new Worker();
        AgentEndpoint agent = engine.host(Agent.named("agent", "Cannot go on").handle(worker));
        Task begun = sendImmediately(agent, "go");
        worker.awaitAttempt(1);

        Future<Task> reader = threads.submit(() -> await(agent, begun.id()));
        log.failing(new IOException("disk full"));
        worker.go.countDown();
        assertThatThrownBy(reader::get).hasCauseInstanceOf(A2AException.class);
        Future<Task> late = threads.submit(() -> awaitAgain(agent, begun.id()));
        log.failing(null);

        Task failed = late.get();
        assertThat(failed.state()).isEqualTo(TaskState.FAILED);
        assertThat(requireNonNull(failed.status().message()).text()).startsWith("The task could not be written");
    }

    @Test
    void aTaskThatCannotBeReadKeepsNeitherTheStartNorOtherTasksWaiting() throws Exception {
        var stuck = new Worker();
        AgentEndpoint before =
                engine.host(Agent.named("agent", "Is cut off").resumable(true).handle(stuck));
        Task damaged = sendImmediately(before, "one");
        Task whole = sendImmediately(before, "two");
        stuck.awaitAttempt(1);
        stuck.awaitAttempt(1);
        SteppedLog after = SteppedLog.flowing(disk);
        after.damage(damaged.id());

        try (Engine restarted = Engine.builder(after).grace(Duration.ZERO).build()) {
            AgentEndpoint agent = restarted.host(
                    Agent.named("agent", "Goes on").resumable(true).handle(new Worker()));

            assertThat(await(agent, whole.id()).text()).isEqualTo("attempt 2");
            awaitUntil("an unreadable task", () -> !restarted.unreadable().isEmpty());
            assertThat(restarted.unreadable())
                    .singleElement()
                    .satisfies(task -> assertThat(task.taskId()).isEqualTo(damaged.id()))
                    .satisfies(task -> assertThat(task.agent()).isEqualTo("agent"))
                    .satisfies(task -> assertThat(task.reason()).contains("damaged"));

            assertThat(restarted.erase(new Subject("t1", "alice", null), ALICE, ids -> {}))
                    .isEqualTo(2);
            assertThat(restarted.unreadable()).isEmpty();
        }
    }

    @Test
    void aStartWithThousandsOfInterruptedTasksTakesUpAFewAtATime() throws Exception {
        var begun = new AtomicInteger();
        var stuck = new CountDownLatch(1);
        AgentEndpoint before = engine.host(Agent.named("agent", "Is cut off")
                .concurrency(500)
                .resumable(true)
                .handle((request, reply) -> {
                    reply.working("busy");
                    begun.incrementAndGet();
                    stuck.await();
                }));
        for (int i = 0; i < 400; i++) {
            sendImmediately(before, "go");
        }
        var go = new CountDownLatch(1);
        var done = new CountDownLatch(400);

        try (Engine restarted =
                Engine.builder(SteppedLog.flowing(disk)).grace(Duration.ZERO).build()) {
            restarted.host(Agent.named("agent", "Goes on")
                    .concurrency(1)
                    .resumable(true)
                    .handle((request, reply) -> {
                        go.await();
                        reply.complete("attempt " + request.attempt());
                        done.countDown();
                    }));

            assertThat(requireNonNull(restarted.load().get("agent")).waiting()).isLessThanOrEqualTo(64);
            go.countDown();

            assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void aTaskThatCouldNotBeResumedIsTriedAgain() throws Exception {
        var stuck = new Worker();
        AgentEndpoint before = engine.host(Agent.named("agent", "Is cut off")
                .concurrency(16)
                .resumable(true)
                .handle(stuck));
        var tasks = new ArrayList<Task>();
        for (int i = 0; i < 8; i++) {
            tasks.add(sendImmediately(before, "go"));
            stuck.awaitAttempt(1);
        }
        SteppedLog after = SteppedLog.flowing(disk);
        failNextTakeUp(after);
        after.onNextCause(() -> fail("the caller of a task cannot be read"));
        var withoutPriority = new AtomicInteger(1);
        var scarce = new ScarceThreads();
        scarce.fail("agent", 1);
        scarce.fail("recovery", 1);

        try (Engine restarted =
                Engine.builder(after).threads(scarce).grace(Duration.ZERO).build()) {
            AgentEndpoint agent = restarted.host(Agent.named("agent", "Goes on")
                    .concurrency(16)
                    .resumable(true)
                    .priority(message -> {
                        if (withoutPriority.getAndDecrement() > 0) {
                            throw new IllegalStateException("a fault of the agent");
                        }
                        return Priority.MEDIUM;
                    })
                    .handle(new Worker()));

            for (Task task : tasks) {
                assertThat(await(agent, task.id()).text()).startsWith("attempt");
            }
            assertThat(scarce.failing()).isZero();
            assertThat(withoutPriority.get()).isNotPositive();
            awaitUntil("no run is left", () -> isIdle(restarted));
        }
    }

    /** Has the next task that is to be taken up be unreadable, and not one that a caller reads. */
    private static void failNextTakeUp(SteppedLog log) {
        log.onNextRead(() -> {
            if (Thread.currentThread().getName().equals("recovery")) {
                fail("a task cannot be read");
            }
            failNextTakeUp(log);
        });
    }

    private static void fail(String reason) {
        throw new StackOverflowError(reason);
    }

    @Test
    void aStopBeginsNoneOfTheTasksThatWait() throws Exception {
        var runs = new LinkedBlockingQueue<String>();
        AgentHandler handler = (request, reply) -> {
            runs.add(request.text());
            new CountDownLatch(1).await();
        };
        AgentEndpoint agent =
                engine.host(Agent.named("agent", "One at a time").concurrency(1).handle(handler));
        sendImmediately(agent, "runs");
        Task waits = sendImmediately(agent, "waits");
        assertThat(runs.poll(30, TimeUnit.SECONDS)).isEqualTo("runs");

        engine.close();

        assertThat(runs).isEmpty();
        try (Engine restarted =
                Engine.builder(SteppedLog.flowing(disk)).grace(Duration.ZERO).build()) {
            AgentEndpoint again = restarted.host(Agent.named("agent", "One at a time")
                    .handle((request, reply) -> reply.complete("ran: " + request.text())));
            assertThat(await(again, waits.id()).text()).isEqualTo("ran: waits");
        }
    }

    /** Asks, and tells what it is answered; never ends if it is told to hold. */
    private static final class Asker implements AgentHandler {
        final BlockingQueue<String> begun = new LinkedBlockingQueue<>();

        @Override
        public void handle(Request request, Reply reply) throws Exception {
            begun.add(request.text());
            switch (request.text()) {
                case "ask" -> reply.askForInput("What?");
                case "hold" -> new CountDownLatch(1).await();
                default -> reply.complete("answered: " + request.text());
            }
        }

        void awaitCall(String text) throws InterruptedException {
            assertThat(begun.poll(30, TimeUnit.SECONDS)).isEqualTo(text);
        }
    }

    @Test
    void anAnswerThatTheAgentHadNoTimeForRunsAfterACrash() throws Exception {
        var asker = new Asker();
        AgentEndpoint agent =
                engine.host(Agent.named("agent", "Cannot resume").concurrency(1).handle(asker));
        Task asked = (Task) agent.call(SendMessage.of(Message.user(Part.text("ask"))), ALICE);
        assertThat(asked.state()).isEqualTo(TaskState.INPUT_REQUIRED);
        awaitUntil("no run is left", () -> isIdle(engine));
        Task began = sendImmediately(agent, "hold");
        asker.awaitCall("ask");
        asker.awaitCall("hold");
        Task waits = answerImmediately(agent, asked.id());
        assertThat(waits.state()).isEqualTo(TaskState.SUBMITTED);
        assertThat(asker.begun).isEmpty();

        // The process is killed: what it had on disk is all there is.
        try (Engine restarted =
                Engine.builder(SteppedLog.flowing(disk)).grace(Duration.ZERO).build()) {
            AgentEndpoint again =
                    restarted.host(Agent.named("agent", "Cannot resume").handle(new Asker()));

            assertThat(await(again, asked.id()).text()).isEqualTo("answered: answer");
            assertThat(await(again, began.id()).state())
                    .as("its handler had begun")
                    .isEqualTo(TaskState.FAILED);
        }
    }

    @Test
    void anAnswerThatComesWhileTheEngineStopsRunsAfterTheStart() throws Exception {
        var asker = new Asker();
        AgentEndpoint agent =
                engine.host(Agent.named("agent", "Cannot resume").concurrency(1).handle(asker));
        Task asked = (Task) agent.call(SendMessage.of(Message.user(Part.text("ask"))), ALICE);
        awaitUntil("no run is left", () -> isIdle(engine));
        engine.drain(Duration.ZERO);

        assertThatThrownBy(() -> answerImmediately(agent, asked.id())).hasMessageContaining("stopping");

        engine.close();
        try (Engine restarted =
                Engine.builder(SteppedLog.flowing(disk)).grace(Duration.ZERO).build()) {
            AgentEndpoint again =
                    restarted.host(Agent.named("agent", "Cannot resume").handle(new Asker()));
            Task after = again.call(GetTask.of(asked.id()), ALICE);
            assertThat(after.state() == TaskState.INPUT_REQUIRED
                            || await(again, asked.id()).text().equals("answered: answer"))
                    .as("the answer was refused, or it is read")
                    .isTrue();
        }
    }

    @Test
    void aMessageThatWaitsWhileItsTaskIsWorkedOnRunsAfterTheStart() throws Exception {
        var begun = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        AgentEndpoint agent = engine.host(Agent.named("agent", "Asks late").handle((request, reply) -> {
            reply.working("busy");
            begun.countDown();
            try {
                go.await();
            } catch (InterruptedException stopping) {
                reply.askForInput("What?"); // it is done when it is stopped
            }
        }));
        Task busy = sendImmediately(agent, "go");
        begun.await();
        answerImmediately(agent, busy.id());

        engine.drain(Duration.ZERO);
        engine.close();

        try (Engine restarted =
                Engine.builder(SteppedLog.flowing(disk)).grace(Duration.ZERO).build()) {
            AgentEndpoint again = restarted.host(Agent.named("agent", "Answers").handle(new Asker()));
            assertThat(await(again, busy.id()).text()).isEqualTo("answered: answer");
        }
    }

    @ParameterizedTest
    @CsvSource({"false, COMPLETED", "true, FAILED"})
    void anAnswerThatWaitsForAHandlerThatLingersRunsAfterTheStart(boolean worksOn, TaskState after) throws Exception {
        var lingers = new CountDownLatch(1);
        AgentEndpoint agent = engine.host(Agent.named("agent", "Lingers").handle((request, reply) -> {
            reply.askForInput("What?");
            if (worksOn) {
                reply.working("The handler is not done");
            }
            lingers.countDown();
            new CountDownLatch(1).await();
        }));
        Task asked = sendImmediately(agent, "go");
        lingers.await();
        answerImmediately(agent, asked.id());

        engine.drain(Duration.ZERO);
        engine.close();

        try (Engine restarted =
                Engine.builder(SteppedLog.flowing(disk)).grace(Duration.ZERO).build()) {
            AgentEndpoint again = restarted.host(Agent.named("agent", "Answers").handle(new Asker()));
            assertThat(await(again, asked.id()).state()).isEqualTo(after);
        }
    }

    @Test
    void aHaltInterruptsHandlersAndRefusesTheirCallersWithoutWaiting() throws Exception {
        var begun = new CountDownLatch(1);
        var interrupted = new CountDownLatch(1);
        var leaves = new CountDownLatch(1);
        AgentEndpoint agent = engine.host(Agent.named("agent", "Does not stop").handle((request, reply) -> {
            reply.working("busy");
            begun.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException stop) {
                interrupted.countDown();
                leaves.await();
            }
        }));
        try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> blocked = callers.submit(() -> agent.call(SendMessage.of(Message.user(Part.text("go"))), ALICE));
            begun.await();

            engine.halt(() -> {});

            assertThat(interrupted.await(10, TimeUnit.SECONDS)).isTrue();
            assertThatThrownBy(() -> blocked.get(10, TimeUnit.SECONDS)).hasMessageContaining("stopping");
            assertThatThrownBy(() -> sendImmediately(agent, "more")).hasMessageContaining("stopping");
        } finally {
            leaves.countDown();
        }
    }

    /** Ways in which a handler ends when its thread is interrupted. */
    enum Ending {
        THROWN {
            @Override
            void end(InterruptedException stop) throws Exception {
                throw stop;
            }
        },
        WRAPPED {
            @Override
            void end(InterruptedException stop) {
                throw new UncheckedIOException(new IOException("no answer", stop));
            }
        },
        CHANNEL {
            @Override
            void end(InterruptedException stop) {
                throw new IllegalStateException(new ClosedByInterruptException());
            }
        },
        FLAG {
            @Override
            void end(InterruptedException stop) {
                Thread.currentThread().interrupt();
                throw A2AException.unavailable("gave up", Duration.ofSeconds(1));
            }
        },
        CIRCLE {
            @Override
            void end(InterruptedException stop) {
                Thread.currentThread().interrupt();
                var one = new IllegalStateException("one");
                one.initCause(new IllegalStateException("other", one));
                throw one;
            }
        };

        abstract void end(InterruptedException stop) throws Exception;
    }

    @ParameterizedTest
    @EnumSource
    void aHandlerThatAStopInterruptsGoesOnAfterTheStartHoweverItEnds(Ending ending) throws Exception {
        var begun = new CountDownLatch(1);
        AgentEndpoint agent = engine.host(Agent.named("agent", "Is interrupted")
                .resumable(true)
                .handle((request, reply) -> {
                    reply.working("busy");
                    begun.countDown();
                    try {
                        new CountDownLatch(1).await();
                    } catch (InterruptedException stop) {
                        ending.end(stop);
                    }
                }));
        Task busy = sendImmediately(agent, "go");
        begun.await();

        engine.drain(Duration.ZERO);
        engine.close();

        try (Engine restarted =
                Engine.builder(SteppedLog.flowing(disk)).grace(Duration.ZERO).build()) {
            AgentEndpoint again = restarted.host(
                    Agent.named("agent", "Goes on").resumable(true).handle(new Worker()));
            assertThat(await(again, busy.id()).text()).isEqualTo("attempt 2");
        }
    }

    @Test
    void aTaskThatIsErasedWhileItsEventsAreReadIsNotFound() {
        AgentEndpoint agent = engine.host(Agent.named("agent", "Says much").handle((request, reply) -> {
            for (int i = 0; i < LiveTask.MAX_PENDING + 10; i++) {
                reply.working("secret");
            }
            reply.complete("secret");
        }));
        Task task = (Task) agent.call(SendMessage.of(Message.user(Part.text("go"))), ALICE);
        var key = new TaskKey(ALICE.scope(), "agent", task.id());

        try (Engine second = Engine.builder(log).build()) {
            assertThat(second.tasks().find(key)).isPresent();
            log.onNextRead(() -> disk.erase(List.of(key)));

            assertThat(second.tasks().find(key)).isEmpty();
        }
    }

    private static Task answerImmediately(AgentEndpoint agent, String id) {
        return sendImmediately(agent, Message.user(Part.text("answer")).in(null, id));
    }

    @Test
    void aStopTellsEverybodyWhoWaitsAndTakesNoLongerThanItsGrace() throws Exception {
        var begun = new CountDownLatch(2);
        AgentEndpoint agent =
                engine.host(Agent.named("agent", "Ends when it likes").handle((request, reply) -> {
                    reply.working("busy");
                    begun.countDown();
                    while (true) {
                        try {
                            new CountDownLatch(1).await();
                        } catch (InterruptedException ignored) {
                            // as handlers do that catch everything
                        }
                    }
                }));
        Future<Object> blocked = threads.submit(() -> agent.call(SendMessage.of(Message.user(Part.text("go"))), ALICE));
        Task begunTask = sendImmediately(agent, "go");
        Future<Task> reader = threads.submit(() -> await(agent, begunTask.id()));
        begun.await();

        long start = System.nanoTime();
        engine.drain(Duration.ofMillis(100));

        assertThatThrownBy(blocked::get).hasCauseInstanceOf(A2AException.class).hasMessageContaining("stopping");
        assertThatThrownBy(reader::get).hasCauseInstanceOf(A2AException.class).hasMessageContaining("stopping");
        assertThat(agent.call(GetTask.of(begunTask.id()), ALICE).state()).isEqualTo(TaskState.WORKING);
        engine.close();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
    }

    @Test
    void whatAnErasureRemovedIsNotReadableAlthoughItFailed() {
        AgentEndpoint agent =
                engine.host(Agent.named("agent", "Completes").handle((request, reply) -> reply.complete("secret")));
        Task task = (Task) agent.call(SendMessage.of(Message.user(Part.text("go"))), ALICE);
        assertThat(agent.call(GetTask.of(task.id()), ALICE).text()).isEqualTo("secret"); // from now on it is in memory
        log.failErasure(new IllegalStateException("still in the write-ahead log"));

        assertThatThrownBy(() -> engine.erase(new Subject("t1", "alice", null), ALICE, ids -> {}))
                .hasMessageContaining("write-ahead log");

        assertThatThrownBy(() -> agent.call(GetTask.of(task.id()), ALICE))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.error()).isEqualTo(A2AError.TASK_NOT_FOUND));
    }

    @Test
    void aTaskThatIsErasedWhileItIsLoadedIsNotReadable() {
        AgentEndpoint agent =
                engine.host(Agent.named("agent", "Completes").handle((request, reply) -> reply.complete("secret")));
        Task task = (Task) agent.call(SendMessage.of(Message.user(Part.text("go"))), ALICE);
        var key = new TaskKey(ALICE.scope(), "agent", task.id());

        try (Engine second = Engine.builder(log).build()) {
            log.onNextRead(() -> second.erase(new Subject("t1", "alice", null), ALICE, ids -> {}));

            assertThat(second.tasks().live().pin(key)).isNull();
            assertThat(second.tasks().find(key)).isEmpty();
        }
    }

    /** Waits until the task ends; subscribes anew when the log fails. */
    private static Task awaitAgain(AgentEndpoint agent, String id) throws InterruptedException {
        while (true) {
            try {
                return await(agent, id);
            } catch (A2AException unavailable) {
                assertThat(unavailable.error()).isEqualTo(A2AError.UNAVAILABLE);
            }
        }
    }

    private static boolean isIdle(Engine engine) {
        return new Engine.Load(0, 0).equals(engine.load().get("agent"));
    }
}
