package dev.parley.engine.mail;

import dev.parley.engine.scheduling.Threads;
import dev.parley.engine.spi.TaskMail;
import dev.parley.engine.spi.TaskMail.Answer;
import dev.parley.engine.spi.TaskMail.Incoming;
import dev.parley.engine.spi.TaskMail.Request;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.Task;
import dev.parley.protocol.support.TemporaryFailure;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Executes calls that other engines hand to this one, each on a thread of its own. Safe for any thread. */
public final class MailReceiver {
    private static final Logger LOG = System.getLogger("dev.parley.engine");

    private static final int MOST_AT_ONCE = 64;

    private static final int RECEIVED_AT_ONCE = 16;

    private final TaskMail mail;
    private final Threads threads;
    private final InstantSource clock;
    private final BooleanSupplier isOpen;
    private final Executor looks;
    private final Map<String, AgentEndpoint> agents = new ConcurrentHashMap<>();
    private final AtomicBoolean isHinted = new AtomicBoolean();
    /** Reasons to receive calls since the thread that does so has begun; 0 if there is no such thread. */
    private final AtomicInteger reasons = new AtomicInteger();

    private final AtomicInteger executing = new AtomicInteger();
    /** Whether the latest attempt to receive calls has failed: it is logged once. */
    private volatile boolean hasFailed;

    /**
     * @param isOpen whether calls are executed
     * @param looks runs looks after hints, on one thread
     */
    public MailReceiver(TaskMail mail, Threads threads, InstantSource clock, BooleanSupplier isOpen, Executor looks) {
        this.mail = mail;
        this.threads = threads;
        this.clock = clock;
        this.isOpen = isOpen;
        this.looks = looks;
        mail.onHint(this::hinted);
    }

    /** Has an agent execute the calls about its tasks. */
    public void host(String agent, AgentEndpoint endpoint) {
        agents.put(agent, endpoint);
    }

    private void hinted() {
        if (!isHinted.getAndSet(true)) { // one look, however many hints
            looks.execute(() -> {
                isHinted.set(false);
                try {
                    look();
                } catch (RuntimeException failure) { // the look of each second tells
                    LOG.log(Level.DEBUG, "a look for mail failed", failure);
                }
            });
        }
    }

    /** Completes calls of this engine that have an answer, and begins to execute those of others. Called on one thread. */
    public void look() {
        if (mail.look()) {
            receive();
        }
    }

    private void receive() {
        if (reasons.getAndIncrement() == 0) {
            try {
                threads.start("mail", () -> {
                    int seen;
                    do {
                        seen = reasons.get();
                        receiveAll();
                    } while (!reasons.compareAndSet(seen, 0));
                });
            } catch (RuntimeException | Error notStarted) { // the next look tries again
                reasons.set(0);
                failed(notStarted);
            }
        }
    }

    private void receiveAll() {
        try {
            for (int wanted = wanted(); wanted > 0; ) {
                List<Incoming> calls = mail.receive(wanted);
                beginAll(calls);
                wanted = calls.size() < wanted ? 0 : wanted();
            }
            hasFailed = false;
        } catch (RuntimeException | Error failure) { // the next look tries again
            failed(failure);
        }
    }

    private void failed(Throwable failure) {
        if (!hasFailed) {
            LOG.log(
                    Level.WARNING,
                    "calls of other engines cannot be received; it is tried each second while there are any",
                    failure);
        }
        hasFailed = true;
    }

    /**
     * Begins to execute calls, and refuses those that get no thread.
     *
     * @throws IllegalStateException if some got none
     */
    private void beginAll(List<Incoming> calls) {
        RuntimeException refused = null;
        for (Incoming call : calls) {
            executing.incrementAndGet();
            try {
                threads.start("mail call", () -> execute(call));
            } catch (RuntimeException | Error notStarted) {
                executing.decrementAndGet();
                refused = new IllegalStateException("no thread for a call of another engine", notStarted);
                refuse(call);
            }
        }
        if (refused != null) {
            throw refused; // further calls wait for the next look
        }
    }

    /** Refuses a call that was not executed, unless the engine closes: the end of its stream decides then. */
    private void refuse(Incoming call) {
        if (isOpen.getAsBoolean()) {
            try {
                call.answer(new Answer.Failed(A2AException.unavailable(
                        "The server that works at the task has no capacity for the call", Duration.ofSeconds(1))));
            } catch (RuntimeException | Error unanswered) { // the others are to be refused all the same
                LOG.log(Level.WARNING, "a call of another engine could not be refused", unanswered);
            }
        }
    }

    private int wanted() {
        return isOpen.getAsBoolean() ? Math.min(MOST_AT_ONCE - executing.get(), RECEIVED_AT_ONCE) : 0;
    }

    private void execute(Incoming call) {
        try {
            Answer answer = answer(call);
            if (answer != null) {
                call.answer(answer);
            }
        } finally {
            if (executing.getAndDecrement() == MOST_AT_ONCE) {
                receive(); // others may have been left
            }
        }
    }

    /** Executes a call; returns null if the engine closes meanwhile: its events in the log decide once its stream has ended. */
    private @Nullable Answer answer(Incoming call) {
        try {
            Request request = call.request();
            AgentEndpoint agent = agents.get(request.task().agent());
            if (agent == null) {
                throw A2AException.unavailable("Another server works at the task", Duration.ofSeconds(1));
            }
            Object result = agent.call(
                    request.operation(),
                    request.caller().withDeadline(clock.instant().plus(request.patience())));
            return new Answer.Done(
                    result instanceof Task task ? task.id() : request.task().taskId());
        } catch (A2AException refusal) {
            boolean isStopping = refusal.error() == A2AError.UNAVAILABLE && !isOpen.getAsBoolean();
            return isStopping ? null : new Answer.Failed(refusal);
        } catch (RuntimeException failure) {
            return new Answer.Failed(problem(failure));
        }
    }

    /** Returns the error for the caller at the other engine, and logs the rest of the failure. */
    private static A2AException problem(RuntimeException failure) {
        if (A2AError.of(failure) == A2AError.UNAVAILABLE) {
            LOG.log(Level.DEBUG, "a call of another engine is answered UNAVAILABLE", failure);
            String reason = TemporaryFailure.reasonOf(failure)
                    .map(words -> ": " + words)
                    .orElse("");
            return A2AException.unavailable(
                    "The data cannot be read or written at present" + reason, Duration.ofSeconds(1));
        }
        String reference = UUID.randomUUID().toString().substring(0, 8);
        LOG.log(Level.ERROR, "a call of another engine failed (reference " + reference + ")", failure);
        return A2AException.of(
                A2AError.INTERNAL, A2AError.INTERNAL.defaultMessage() + " (reference " + reference + ")");
    }
}
