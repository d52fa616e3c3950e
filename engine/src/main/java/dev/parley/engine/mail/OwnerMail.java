package dev.parley.engine.mail;

import dev.parley.engine.scheduling.Guarded;
import dev.parley.engine.scheduling.Threads;
import dev.parley.engine.scheduling.TimeLimits;
import dev.parley.engine.spi.OtherOwnerException;
import dev.parley.engine.spi.TaskMail;
import dev.parley.engine.spi.TaskMail.Answer;
import dev.parley.engine.spi.TaskMail.Outgoing;
import dev.parley.engine.spi.TaskMail.Request;
import dev.parley.engine.tasks.LiveTask;
import dev.parley.engine.tasks.Refused;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Task;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/** Hands calls about tasks that other engines run to these engines, and waits for the answers. Safe for any thread. */
public final class OwnerMail {
    /** Longest wait for the owner of a task: a hub that has ended without a word is noticed by then, and mostly its tasks are taken over. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);

    /** Outcome of handing a call over. */
    public sealed interface Handed {
        /** No other engine runs the task: the call is for this one. */
        record Kept() implements Handed {}

        /** The owner has executed the call. Its events are in the log. */
        record Done(String taskId) implements Handed {}

        /** The owner has ended, and may have executed the call. Its events, if any, are in the log. */
        record Lost() implements Handed {}
    }

    private final TaskMail mail;
    private final Threads threads;
    private final TimeLimits limits;
    private final BooleanSupplier isStopped;
    private final AtomicLong numbers = new AtomicLong();
    /** In the order in which they have begun. */
    private final Map<Long, Wait> waits = new ConcurrentSkipListMap<>();

    /** @param isStopped whether waits are refused */
    public OwnerMail(TaskMail mail, Threads threads, TimeLimits limits, BooleanSupplier isStopped) {
        this.mail = mail;
        this.threads = threads;
        this.limits = limits;
        this.isStopped = isStopped;
    }

    /**
     * Hands a call over if another engine runs its task.
     *
     * @param live the task, as {@linkplain dev.parley.engine.tasks.LiveTasks#pin pinned} for the call
     * @throws A2AException the refusal of the owner; UNAVAILABLE if there is no answer in time, or the task has another owner by now, which
     *     {@link #isElsewhere} tells
     */
    public Handed hand(LiveTask live, Operation.Call<?> operation, CallContext caller, Duration patience) {
        Task task = live.durable();
        if (!live.isForeign() || task == null || task.state().isSettled()) {
            return new Handed.Kept();
        }
        Duration wait = longest(patience);
        if (!wait.isPositive()) {
            throw A2AException.unavailable("Another server works at the task", Duration.ofSeconds(1));
        }
        Optional<Outgoing> sent = mail.send(new Request(live.key(), operation, caller, wait));
        if (sent.isEmpty()) {
            return new Handed.Kept();
        }
        try (Outgoing call = sent.get()) {
            return switch (await(call.answer(), wait)) {
                case Answer.Done(String taskId) -> new Handed.Done(taskId);
                case Answer.Failed(A2AException refusal) -> throw refusal;
                case Answer.Moved moved -> throw elsewhere(task.id());
                case Answer.Lost lost -> new Handed.Lost();
            };
        }
    }

    /** {@link #hand} of a message, for whose outcome the owner does not wait. */
    public Handed handMessage(LiveTask live, Operation.Send send, CallContext caller, Duration patience) {
        var configuration = new SendConfiguration(
                send.configuration().acceptedOutputModes(), send.configuration().pushConfig(), null, true);
        var call = new SendMessage(send.tenant(), send.message(), configuration, send.metadata());
        return hand(live, call, caller, patience);
    }

    /** Longest time of a call that another engine may execute, given the patience of its caller. */
    public Duration longest(Duration patience) {
        return patience.compareTo(LONGEST_WAIT) < 0 ? patience : LONGEST_WAIT;
    }

    /** The refusal of a call whose task another engine runs. */
    public static A2AException elsewhere(String taskId) {
        return Refused.unwritten(new OtherOwnerException(taskId));
    }

    /** Whether a call that was refused is to be admitted again, because another engine runs its task and may execute it. */
    public boolean isElsewhere(A2AException refusal) {
        return !mail.equals(TaskMail.NONE) && Refused.isOfOtherOwner(refusal);
    }

    /** Wakes all waits, which then see that they are refused. */
    public void wakeAll() {
        waits.values().forEach(Wait::wake);
    }

    private Answer await(CompletableFuture<Answer> answer, Duration patience) {
        var wait = new Wait();
        long number = numbers.incrementAndGet();
        waits.put(number, wait);
        try {
            var unused = answer.whenComplete((any, failure) -> wait.wake());
            return wait.until(answer, patience);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw Refused.stopping();
        } catch (CompletionException failure) {
            throw Refused.unwritten(failure.getCause() instanceof Exception cause ? cause : failure);
        } finally {
            waits.remove(number);
        }
    }

    /** The wait for one answer. */
    private final class Wait {
        private final ReentrantLock lock = threads.lock();
        private final Condition changed = lock.newCondition();

        void wake() {
            Guarded.change(lock, changed::signalAll);
        }

        Answer until(CompletableFuture<Answer> answer, Duration patience) throws InterruptedException {
            TimeLimits.Limit limit = limits.in(patience, this::wake);
            lock.lockInterruptibly();
            try {
                while (!answer.isDone()) {
                    if (isStopped.getAsBoolean()) {
                        throw Refused.stopping();
                    }
                    if (limit.isReached()) {
                        throw A2AException.unavailable("Another server works at the task", Duration.ofSeconds(1));
                    }
                    changed.await();
                }
            } finally {
                lock.unlock();
                limit.drop();
            }
            return answer.join();
        }
    }
}
