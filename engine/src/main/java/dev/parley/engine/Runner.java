package dev.parley.engine;

import static java.util.Objects.requireNonNull;

import dev.parley.engine.scheduling.Slots;
import dev.parley.engine.scheduling.TimeLimits;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.Priority;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.Claim;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.tasks.LiveTask;
import dev.parley.engine.tasks.Pin;
import dev.parley.engine.tasks.Refused;
import dev.parley.engine.tasks.Tasks;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskEvent.TaskEndedException;
import dev.parley.protocol.TaskState;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Runs the turns of one agent: as many at once as it allows, each on a virtual thread, each with a time limit. */
final class Runner {
    /** Causes of a failure that are looked at: a chain may be a circle. */
    private static final int LONGEST_CHAIN = 20;

    private static final Logger LOG = System.getLogger("dev.parley.engine");
    private static final Duration WRITE_PATIENCE = Duration.ofMinutes(1);

    private final Parts parts;
    private final Recovery recovery;
    private final Agent agent;
    private final Slots<Run> slots;

    /** A turn that runs, or waits for a slot, and the pin of its task until the last turn after it is over. */
    private record Run(HandlerRun turn, Pin pin, Priority priority) {}

    Runner(Parts parts, Recovery recovery, Agent agent) {
        this.parts = parts;
        this.recovery = recovery;
        this.agent = agent;
        this.slots = new Slots<>(
                agent.concurrency(),
                agent.queueLimit(),
                parts.time().threads().lock(),
                agent.priority() == null ? null : Run::priority);
    }

    /** Fails the tasks of an agent that no engine hosts. */
    static Runner ofUnhosted(Parts parts, Recovery recovery, String agent) {
        return new Runner(
                parts,
                recovery,
                Agent.named(agent, "No engine hosts it")
                        .resumable(true)
                        .handle((request, reply) -> reply.fail("No server hosts the agent any more")));
    }

    /**
     * Lets the first turn of a task run, now or when it is its turn; until then its task is in state submitted.
     *
     * @throws A2AException UNAVAILABLE if too many wait already; the task does not exist then
     */
    void start(HandlerRun turn) {
        start(turn, true);
    }

    /**
     * Starts a turn of an existing task. It is never refused, because its caller has the answer that the task goes on;
     * callers that may still be refused call {@link #checkRoom} first.
     */
    private void goOn(HandlerRun turn) {
        start(turn, false);
    }

    private void start(HandlerRun turn, boolean bounded) {
        LiveTask live = turn.live();
        String group = live.key().scope().group();
        if (!parts.work().runs().isOpen()) {
            waits(turn);
            live.runs().leave();
            throw Refused.stopping();
        }
        Priority priority = priority(turn, bounded);
        if (slots.take(group, priority)) {
            launch(new Run(turn, parts.work().tasks().live().pin(live), priority));
            return;
        }
        if (!slots.takePlace(group, bounded)) {
            live.runs().leave();
            throw full();
        }
        Pin pin = parts.work().tasks().live().pin(live);
        turn.create(TaskState.SUBMITTED);
        waits(turn);
        slots.enqueue(group, new Run(turn, pin, priority));
        launchWaiting();
    }

    /** @param mayRefuse whether a failure of the agent's rule refuses the message; a task that is there goes on without the rule */
    private Priority priority(HandlerRun turn, boolean mayRefuse) {
        Function<Message, Priority> priority = agent.priority();
        if (priority == null) {
            return Priority.MEDIUM;
        }
        try {
            return priority.apply(turn.message());
        } catch (RuntimeException failure) {
            if (mayRefuse) {
                throw failure;
            }
            LOG.log(Level.WARNING, "agent " + agent.name() + ": no priority for task " + turn.taskId(), failure);
            return Priority.MEDIUM;
        }
    }

    /** @throws A2AException UNAVAILABLE if too many wait already */
    private void checkRoom(String group) {
        if (!slots.hasRoom(group)) {
            throw full();
        }
    }

    private A2AException full() {
        return A2AException.unavailable(
                "Agent " + agent.name() + " has too many tasks waiting (expected: at most " + agent.queueLimit() + ")",
                Duration.ofSeconds(1));
    }

    /**
     * Lets a turn of a task run that is there already, after {@code events}, which say what made it go on. Returns the
     * task with these events, and the number of the last of them.
     *
     * @throws A2AException UNAVAILABLE if too many wait already, or what {@code events} throws; nothing has changed then
     */
    LoggedEvent goOn(HandlerRun turn, Function<Task, List<TaskEvent>> events) {
        LiveTask live = turn.live();
        boolean[] first = new boolean[1];
        var after = new AtomicReference<Task>();
        long since = live.emit(task -> {
            if (live.runs().current() == null && !requireNonNull(task).state().isTerminal()) {
                checkRoom(live.key().scope().group());
            }
            List<TaskEvent> said = events.apply(requireNonNull(task));
            first[0] = live.runs().enter(turn);
            Task next = task;
            for (TaskEvent event : said) {
                next = event.applyTo(next);
            }
            after.set(next);
            return said;
        });
        if (first[0]) {
            try {
                goOn(turn);
            } catch (A2AException refused) {
                throw refused;
            } catch (RuntimeException | Error notStarted) {
                end(turn, notStarted);
            }
        }
        return new LoggedEvent(since, requireNonNull(after.get()));
    }

    /** Returns the state of a task after an answer of its caller: submitted if the agent has no free slot. */
    TaskState resumed(TaskKey key) {
        return parts.work().runs().isOpen() && slots.isFree(key.scope().group())
                ? TaskState.WORKING
                : TaskState.SUBMITTED;
    }

    /**
     * Says on disk that the handler has not begun for the newest message, if the task goes on: after a crash it is safe to call
     * it. A task that was taken up stays as it is if its handler had begun before.
     */
    private static void waits(HandlerRun turn) {
        Task task = turn.live().ahead();
        if (task != null && task.state() == TaskState.WORKING && !turn.hasBegunBefore()) {
            emit(
                    turn,
                    now -> now.state() == TaskState.WORKING
                            ? List.of(turn.moved(TaskState.SUBMITTED, null, Map.of()))
                            : List.of());
        }
    }

    /** Number of turns that run and wait. */
    Slots.Load load() {
        return slots.load();
    }

    /** Numbers of turns that wait by priority; empty if all have the same. */
    Map<Priority, Integer> waiting() {
        return slots.waiting();
    }

    /** Starts waiting turns while slots are free. Turns that wait while the engine closes run after the next start. */
    private void launchWaiting() {
        while (parts.work().runs().isOpen()) {
            Run next = slots.next();
            if (next == null) {
                return;
            }
            try {
                launch(next);
            } catch (RuntimeException | Error notStarted) {
                HandlerRun turn = next.turn();
                if (turn.isRecovered()) {
                    recovery.begun(turn.live().key());
                }
                end(turn, notStarted);
            }
        }
    }

    /** Fails the task of a turn whose thread does not start, since its caller has been told that the task goes on. */
    private void end(HandlerRun turn, Throwable notStarted) {
        LOG.log(Level.ERROR, "agent " + agent.name() + ": no thread for task " + turn.taskId(), notStarted);
        LiveTask live = turn.live();
        try (Pin pin = parts.work().tasks().live().pin(live)) {
            fail(turn, "The server could not start the agent");
            var unused = pin.task().runs().leave();
        }
    }

    /** Starts a turn, which has a slot, unless the engine closes. */
    private void launch(Run run) {
        if (parts.work().runs().began(run.turn())) {
            try {
                parts.time().threads().start("agent", () -> runAll(run));
            } catch (RuntimeException | Error notStarted) {
                parts.work().runs().ended(run.turn());
                giveBack(run.pin());
                throw notStarted;
            }
        } else {
            waits(run.turn());
            giveBack(run.pin());
        }
    }

    /** Runs a turn, and those that messages to its task have asked for meanwhile. */
    private void runAll(Run run) {
        LiveTask live = run.pin().task();
        try {
            HandlerRun turn = run.turn();
            HandlerRun next;
            boolean goesOn;
            do {
                if (turn.isRecovered()) {
                    recovery.begun(live.key());
                }
                if (Thread.interrupted()
                        && !parts.work()
                                .runs()
                                .isOpen()) { // a late interrupt of the turn before is no news to this one
                    Thread.currentThread().interrupt();
                }
                try {
                    observed(turn);
                    next = (HandlerRun) live.runs().leave();
                    goesOn = next != null && parts.work().runs().began(next);
                    if (next != null && !goesOn && !turn.isCutOff()) {
                        waits(next); // while this turn counts as running, for which the log is kept open
                    }
                } finally {
                    ended(turn);
                }
                turn = next == null ? turn : next;
            } while (goesOn);
        } finally {
            giveBack(run.pin());
            recovery.rests(live);
            launchWaiting();
        }
    }

    private void ended(HandlerRun turn) {
        LiveTask live = turn.live();
        if (!turn.names().isEmpty() && live.isAnswered()) {
            for (MessageKey message : turn.names()) {
                parts.log().release(new Claim(message, live.key().taskId(), live.naming()));
                parts.work().admissions().leave(message); // nothing is written, so nothing else will
            }
            parts.work().names().settled(live, live.naming());
            live.giveBackSpace();
            parts.work().tasks().live().remove(live); // announced in the moment of the answer, it never comes to be
        }
        parts.work().runs().ended(turn);
    }

    private void giveBack(Pin pin) {
        slots.giveBack(pin.task().key().scope().group());
        pin.close();
    }

    private void observed(HandlerRun turn) {
        parts.observer().observe(agent.name(), turn, () -> run(turn));
        turn.over(events -> dropped(turn, events));
    }

    private void dropped(HandlerRun turn, long events) {
        LOG.log(
                Level.WARNING,
                "agent {0} emitted {1} events after the end of task {2}; they are dropped",
                agent.name(),
                events,
                turn.taskId());
        try {
            parts.observer().dropped(agent.name(), turn, events);
        } catch (RuntimeException unreported) {
            LOG.log(
                    Level.WARNING,
                    "the dropped events of task " + turn.taskId() + " could not be reported",
                    unreported);
        }
    }

    private void run(HandlerRun turn) {
        Task before = turn.live().ahead();
        if (hasEnded(turn.live())) {
            return; // canceled while it waited
        }
        if (turn.live().isBroken() || turn.isSuperseded()) {
            return; // the log has refused its message, or another engine has processed it
        }
        if (before != null && before.state() != TaskState.WORKING) {
            emit(turn, task -> List.of(turn.moved(TaskState.WORKING, null, Map.of())));
        }
        boolean isFenced = turn.isRecovered() || parts.log().once() == Once.CLAIM;
        if (before != null && isFenced && !isWritten(turn.live())) {
            waits(turn); // or it is another engine's message, or task
            return;
        }
        if (isFenced && hasEnded(turn.live())) {
            return; // canceled while this waited for the disk
        }
        turn.live().runs().reads(turn);
        TimeLimits.Limit limit = parts.time().limits().in(agent.timeLimit(), turn::expire);
        try {
            turn.begin(parts.time().clock().instant().plus(agent.timeLimit()));
            agent.handler().handle(turn, turn);
            var unused = turn.end();
            returned(turn);
        } catch (Throwable problem) {
            threw(turn, problem, turn.end());
        } finally {
            limit.drop();
        }
    }

    private static boolean hasEnded(LiveTask live) {
        Task task = live.ahead();
        return task != null && task.state().isTerminal();
    }

    private void returned(HandlerRun turn) {
        if (turn.live().isAnswered()) {
            return;
        }
        if (turn.isExpired()) {
            expired(turn);
            return;
        }
        TaskEvent completed = turn.moved(TaskState.COMPLETED, null, Map.of());
        TaskEvent failed = turn.moved(
                TaskState.FAILED, Message.agent(Part.text("The agent returned without an answer")), Map.of());
        emit(turn, task -> {
            if (task.state().isSettled() || turn.live().runs().hasMail()) {
                return List.of();
            }
            return List.of(task.artifacts().isEmpty() ? failed : completed);
        });
    }

    private void threw(HandlerRun turn, Throwable problem, boolean isInterrupted) {
        Task task = turn.live().ahead();
        if (turn.live().isAnswered() || task != null && task.state().isTerminal()) {
            if (!(problem instanceof TaskEndedException || problem instanceof InterruptedException)) {
                LOG.log(
                        Level.WARNING,
                        "agent " + agent.name() + " failed after task " + turn.taskId() + " ended",
                        problem);
            }
        } else if (turn.isSuperseded()) {
            LOG.log(Level.DEBUG, "agent {0} ends because task {1} goes on elsewhere", agent.name(), turn.taskId());
        } else if (turn.live().isBroken()) {
            LOG.log(Level.DEBUG, "agent {0} ends because task {1} could not be written", agent.name(), turn.taskId());
        } else if (turn.isExpired()) {
            expired(turn);
        } else if (!parts.work().runs().isOpen() && (isInterrupted || isOfInterrupt(problem))) {
            // Stopped with the server: the next start finds the task unfinished and decides.
            turn.cutOff();
            LOG.log(Level.INFO, "agent {0} stops with the server; task {1} is unfinished", agent.name(), turn.taskId());
        } else {
            String reference = UUID.randomUUID().toString().substring(0, 8);
            LOG.log(
                    Level.ERROR,
                    "agent " + agent.name() + " failed (reference " + reference + ", task " + turn.taskId() + ")",
                    problem);
            fail(turn, "The agent failed (reference " + reference + ")");
        }
        if (problem instanceof VirtualMachineError fatal) {
            throw fatal;
        }
    }

    /** Whether a handler failed because its thread was interrupted, which libraries report by exceptions of their own. */
    private static boolean isOfInterrupt(Throwable problem) {
        return Stream.iterate(problem, Objects::nonNull, Throwable::getCause)
                .limit(LONGEST_CHAIN)
                .anyMatch(
                        cause -> cause instanceof InterruptedException || cause instanceof ClosedByInterruptException);
    }

    private void expired(HandlerRun turn) {
        fail(turn, "The agent took longer than " + agent.timeLimit().toSeconds() + " s");
    }

    private void fail(HandlerRun turn, String reason) {
        emit(turn, task -> List.of(turn.moved(TaskState.FAILED, Message.agent(Part.text(reason)), Map.of())));
    }

    /** Emits for the engine itself: that the task has ended meanwhile, or cannot be written, is no news to it. */
    private static void emit(HandlerRun turn, Function<Task, List<TaskEvent>> events) {
        try {
            turn.emit(task -> task.state().isTerminal() ? List.of() : events.apply(task));
        } catch (TaskEndedException answered) {
            LOG.log(Level.DEBUG, "a task that was to be moved was answered with a message", answered);
        } catch (A2AException unwritten) {
            // The log tells of an outage once; a line for each task would fill it.
            Level level = unwritten.error() == A2AError.UNAVAILABLE ? Level.DEBUG : Level.WARNING;
            LOG.log(level, "task " + turn.taskId() + " could not be written", unwritten);
        }
    }

    /**
     * Resumes a task after a crash or a refused write, or ends it if its agent does not support that.
     *
     * @param cause caller that began it
     * @param crash true after a restart; false if the log refused what the agent emitted, which it may do again
     * @return whether a turn of it runs, or waits to be let run
     */
    boolean recover(LiveTask live, Task task, Cause cause, boolean crash) {
        if (task.state().isSettled()) {
            return letRun(live, null);
        }
        int attempt = attempt(task);
        boolean untouched = task.state() == TaskState.SUBMITTED;
        TaskKey key = live.key();
        live.causedBy(cause);
        CallContext context = CallContext.of(cause.caller(), key.scope())
                .withTraceparent(cause.traceparent())
                .through(cause.chain());
        long received = task.history().stream()
                .filter(message -> message.role() == Role.USER)
                .count();
        HandlerRun turn = again(live, task, context, received > 1, untouched ? attempt : attempt + 1);
        if (lastQuestion(task) == null || !untouched && !agent.isResumable()) {
            String reason = crash ? "The server was restarted" : "The task could not be written";
            fail(turn, reason + " while the agent worked, and the agent cannot resume");
            return letRun(live, null);
        }
        if (!untouched) {
            emit(turn, now -> List.of(turn.moved(TaskState.WORKING, null, Map.of("attempt", attempt + 1))));
            if (!crash && !isWritten(live)) {
                return letRun(live, null);
            }
        }
        turn.recovered(!untouched);
        return letRun(live, turn);
    }

    /** Waits until the emitted events are on disk; false if the log has refused them. */
    private static boolean isWritten(LiveTask live) {
        try {
            live.await(live.emitted(), task -> true, WRITE_PATIENCE);
            return !live.isBroken();
        } catch (A2AException refused) {
            return false;
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Lets {@code first} run, or what waits for the task to be taken up. */
    private boolean letRun(LiveTask live, @Nullable HandlerRun first) {
        HandlerRun next = (HandlerRun) live.runs().resume(first);
        if (next != null) {
            goOn(next);
        }
        return first != null;
    }

    /** A turn about the message that the agent has got already. */
    private HandlerRun again(LiveTask live, Task task, CallContext context, boolean followUp, int attempt) {
        Message message = lastQuestion(task);
        return new HandlerRun(
                        live,
                        message == null ? Message.user(Part.text("")) : message,
                        new HandlerRun.Origin(context, List.of(), Map.of(), followUp, attempt, List.of()),
                        parts.time().clock(),
                        parts.work().limits(),
                        uri -> parts.extension(agent, uri),
                        () -> {})
                .offer(parts);
    }

    /** Lets a task go on that waits for a credential. Returns the number of the event that says so. */
    long authorize(LiveTask live, String credential, CallContext context) {
        Task waiting = requireNonNull(live.ahead());
        HandlerRun turn = again(live, waiting, context, true, attempt(waiting));
        turn.give(credential);
        LoggedEvent resumed = goOn(turn, task -> {
            if (task.state() != TaskState.AUTH_REQUIRED) {
                throw A2AException.of(
                        A2AError.UNSUPPORTED_OPERATION,
                        "The task waits for no credential (" + task.state() + ")",
                        Map.of("taskId", task.id()));
            }
            live.causedBy(Tasks.cause(context));
            return List.of(turn.moved(resumed(live.key()), null, Map.of()));
        });
        return resumed.sequence();
    }

    private static int attempt(Task task) {
        return task.metadata().get("attempt") instanceof Number number ? number.intValue() : 1;
    }

    private static @Nullable Message lastQuestion(Task task) {
        for (Message message : task.history().reversed()) {
            if (message.role() == Role.USER) {
                return message;
            }
        }
        return null;
    }
}
