package dev.parley.engine.mail;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Calls;
import dev.parley.engine.scheduling.ScarceThreads;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.TaskMail;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class MailReceiverTest {
    private static final CallContext CALLER = CallContext.anonymous();
    private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");

    /** Calls that are to be received. */
    private final LinkedBlockingQueue<String> due = new LinkedBlockingQueue<>();
    /** Answers, each by the id of its task. */
    private final LinkedBlockingQueue<Map.Entry<String, TaskMail.Answer>> answers = new LinkedBlockingQueue<>();

    private final AtomicInteger failures = new AtomicInteger();
    private volatile boolean isOpen = true;
    private volatile Runnable receiving = () -> {};
    private volatile @Nullable Runnable hint;

    private final TaskMail mail = new TaskMail() {
        @Override
        public Optional<Outgoing> send(Request request) {
            return Optional.empty();
        }

        @Override
        public void onHint(Runnable listener) {
            hint = listener;
        }

        @Override
        public boolean look() {
            return !due.isEmpty();
        }

        @Override
        public List<Incoming> receive(int limit) {
            if (failures.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                throw new IllegalStateException("the log does not write");
            }
            receiving.run();
            var received = new ArrayList<String>();
            due.drainTo(received, limit);
            return received.stream().map(MailReceiverTest.this::incoming).toList();
        }
    };

    private TaskMail.Incoming incoming(String task) {
        return new TaskMail.Incoming() {
            @Override
            public TaskMail.Request request() {
                var key = new TaskKey(CALLER.scope(), "agent", task);
                return new TaskMail.Request(key, CancelTask.of(task), CALLER, Duration.ofSeconds(3));
            }

            @Override
            public void answer(TaskMail.Answer answer) {
                answers.add(Map.entry(task, answer));
            }
        };
    }

    private final ScarceThreads threads = new ScarceThreads();

    private MailReceiver receiver(Function<CallContext, TaskState> agent) {
        var receiver = new MailReceiver(mail, threads, () -> NOW, () -> isOpen, Runnable::run);
        receiver.host("agent", new AgentEndpoint() {
            @Override
            @SuppressWarnings("unchecked") // the operation is a cancellation
            public <R> R call(Operation.Call<R> operation, CallContext context) {
                String id = ((CancelTask) operation).id();
                var status = TaskStatus.of(agent.apply(context), NOW);
                return (R) new Task(id, "context", status, List.of(), List.of(), Map.of());
            }

            @Override
            public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
                throw new UnsupportedOperationException();
            }
        });
        return receiver;
    }

    private TaskMail.Answer nextAnswer() throws InterruptedException {
        return requireNonNull(answers.poll(30, TimeUnit.SECONDS), "no answer within 30 s")
                .getValue();
    }

    private A2AException nextRefusal() throws InterruptedException {
        return ((TaskMail.Answer.Failed) nextAnswer()).refusal();
    }

    @Test
    void eachCallIsExecutedOnceAndNoMoreThanSomeAtOnce() throws Exception {
        var executing = new Semaphore(0);
        var release = new CountDownLatch(1);
        MailReceiver receiver = receiver(caller -> {
            executing.release();
            awaitOpen(release);
            return TaskState.CANCELED;
        });
        for (int i = 0; i < 200; i++) {
            due.add("task-" + i);
        }

        receiver.look();
        executing.acquire(64);
        receiver.look();
        assertThat(due).hasSize(200 - 64);
        assertThat(executing.tryAcquire()).isFalse();
        release.countDown();

        var answered = new ArrayList<String>();
        for (int i = 0; i < 200; i++) {
            Map.Entry<String, TaskMail.Answer> answer =
                    requireNonNull(answers.poll(30, TimeUnit.SECONDS), "no answer within 30 s");
            assertThat(answer.getValue()).isEqualTo(new TaskMail.Answer.Done(answer.getKey()));
            answered.add(answer.getKey());
        }
        assertThat(answered).doesNotHaveDuplicates();
    }

    private static void awaitOpen(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    @Test
    void theCallerWaitsAsLongAsItsRequestSays() throws Exception {
        var deadlines = new LinkedBlockingQueue<Instant>();
        MailReceiver receiver = receiver(caller -> {
            Instant deadline = caller.deadline();
            deadlines.add(deadline == null ? Instant.MAX : deadline);
            return TaskState.CANCELED;
        });
        due.add("task");

        receiver.look();

        nextAnswer();
        assertThat(deadlines).containsExactly(NOW.plusSeconds(3));
    }

    @Test
    void aHintLeadsToALook() throws Exception {
        MailReceiver unused = receiver(caller -> TaskState.CANCELED);
        due.add("task");

        requireNonNull(hint).run();

        assertThat(nextAnswer()).isEqualTo(new TaskMail.Answer.Done("task"));
    }

    @Test
    void callsThatCouldNotBeReceivedAreReceivedByTheNextLook() throws Exception {
        MailReceiver receiver = receiver(caller -> TaskState.CANCELED);
        due.add("task");
        failures.set(1);

        Calls.awaitUntil(
                "an answer",
                () -> { // the first look fails on a thread of its own
                    receiver.look();
                    return !answers.isEmpty();
                });

        assertThat(nextAnswer()).isEqualTo(new TaskMail.Answer.Done("task"));
        assertThat(failures).hasValue(0);
    }

    @Test
    void aCallWithoutAThreadIsRefusedAndNotCountedAsRunning() throws Exception {
        var executing = new Semaphore(0);
        var release = new CountDownLatch(1);
        MailReceiver receiver = receiver(caller -> {
            executing.release();
            awaitOpen(release);
            return TaskState.CANCELED;
        });
        for (int i = 0; i < 64; i++) {
            due.add("refused-" + i);
        }

        threads.fail("mail call", 64);
        Calls.awaitUntil(
                "no thread for 64 calls",
                () -> { // each look takes some, on a thread of its own
                    receiver.look();
                    return threads.failing() == 0;
                });

        for (int i = 0; i < 64; i++) {
            assertThat(nextRefusal().error()).isEqualTo(A2AError.UNAVAILABLE);
        }
        for (int i = 0; i < 64; i++) {
            due.add("task-" + i);
        }
        Calls.awaitUntil("all calls are received", () -> {
            receiver.look();
            return due.isEmpty();
        });

        assertThat(executing.tryAcquire(64, 30, TimeUnit.SECONDS))
                .as("as many calls at once as before")
                .isTrue();
        release.countDown();
    }

    @Test
    void aLookWhoseThreadDoesNotStartLeavesItsCallsToTheNextOne() throws Exception {
        MailReceiver receiver = receiver(caller -> TaskState.CANCELED);
        due.add("task");
        threads.fail("mail", 1);

        receiver.look();
        assertThat(due).containsExactly("task");
        receiver.look();

        assertThat(nextAnswer()).isEqualTo(new TaskMail.Answer.Done("task"));
    }

    @Test
    void anEngineThatClosesLeavesACallWithoutAThreadToTheEndOfItsStream() throws Exception {
        MailReceiver receiver = receiver(caller -> TaskState.CANCELED);
        due.add("task");
        threads.fail("mail call", 1);
        receiving = () -> isOpen = false;

        receiver.look();
        for (Thread thread : threads.started()) {
            thread.join();
        }

        assertThat(due).isEmpty();
        assertThat(answers).isEmpty();
    }

    @Test
    void refusalsAreAnswersAndFailuresSayNothing() throws Exception {
        A2AException refusal = A2AException.taskNotFound("task");
        due.add("task");
        receiver(caller -> {
                    throw refusal;
                })
                .look();
        assertThat(nextRefusal()).isSameAs(refusal);

        due.add("task");
        receiver(caller -> {
                    throw new IllegalStateException("secret");
                })
                .look();
        A2AException internal = nextRefusal();
        assertThat(internal.error()).isEqualTo(A2AError.INTERNAL);
        assertThat(internal).hasMessageNotContaining("secret");

        due.add("task");
        new MailReceiver(mail, threads, () -> NOW, () -> isOpen, Runnable::run).look();
        assertThat(nextRefusal().error()).isEqualTo(A2AError.UNAVAILABLE);
    }

    @Test
    void anEngineThatClosesReceivesNothingAndDoesNotAnswerWhatItStops() throws Exception {
        var executing = new Semaphore(0);
        var release = new CountDownLatch(1);
        MailReceiver receiver = receiver(caller -> {
            executing.release();
            awaitOpen(release);
            throw A2AException.unavailable("The server is stopping", Duration.ofSeconds(1));
        });
        due.add("task-1");
        receiver.look();
        executing.acquire();

        isOpen = false;
        release.countDown();
        due.add("task-2");
        receiver.look();
        for (Thread thread : threads.started()) {
            thread.join();
        }

        assertThat(answers).isEmpty();
        assertThat(due).containsExactly("task-2");
    }
}
