package dev.parley.engine;

import static java.util.Objects.requireNonNull;

import dev.parley.engine.spi.DamagedTaskException;
import dev.parley.engine.spi.PushStore;
import dev.parley.engine.spi.SteadyClock;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.Segment;
import dev.parley.engine.spi.TaskLog.Subject;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.TaskLog.TaskName;
import dev.parley.engine.spi.WebhookTransport;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Runs agents and answers for them from the log.
 *
 * <p>An answer to a caller means that what it says is in the log. Safe for any thread.
 */
public final class Engine implements AutoCloseable {
    private static final Logger LOG = System.getLogger("dev.parley.engine");
    private static final int REMOVE_BATCH = 500;
    /** The part of the heap, one in so many, that tasks may take which streams and agents hold in memory. */
    private static final int HEAP_SHARE_IN_USE = 4;

    /** Time that a stop waits for interrupted handlers. */
    private static final Duration INTERRUPTED = Duration.ofSeconds(1);

    private final TaskLog log;
    private final InstantSource clock;
    private final Duration longestWait;
    private final Duration grace;
    private final @Nullable Duration retention;
    private final LiveTasks tasks;
    private final Admissions admissions = new Admissions();
    private final NamedTasks names = new NamedTasks(this);

    /** Turns that run, in the order in which they began. */
    private final Map<Long, Turn> running = new ConcurrentSkipListMap<>();

    private final AtomicLong turnNumbers = new AtomicLong();
    private final Threads threads;
    private final ReentrantLock stopLock;
    private final Condition noneRuns;
    private final ScheduledExecutorService timer;
    /** Apart from the timer, whose actions must not wait for the disk. */
    private final ScheduledExecutorService sweeper;

    private final SteadyClock steadyClock;
    private final Limits limits;
    private final TaskLimits taskLimits;
    private final ContextTurns turns;
    private final @Nullable Webhooks webhooks;
    private final Map<String, Supplier<AgentEndpoint>> extensions;
    private final RunObserver observer;
    private final Map<String, Runner> runners = new ConcurrentHashMap<>();
    private final Recovery recovery;
    private final LiveTask.Surroundings surroundings;
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile boolean open = true;
    private volatile boolean stopped;

    private Engine(Builder settings) {
        this.log = settings.log;
        this.clock = settings.clock;
        this.longestWait = settings.longestWait;
        this.grace = settings.grace;
        this.retention = settings.retention;
        this.extensions = Map.copyOf(settings.extensions);
        this.observer = settings.observer;
        this.taskLimits = settings.taskLimits;
        this.turns = new ContextTurns(log, taskLimits.turns());
        this.tasks =
                new LiveTasks(settings.cacheBytes, Runtime.getRuntime().maxMemory() / HEAP_SHARE_IN_USE, new FromLog());
        this.threads = settings.threads;
        this.stopLock = threads.lock();
        this.noneRuns = stopLock.newCondition();
        this.timer = threads.timer("engine-timer");
        this.sweeper = threads.timer("engine-retention");
        Instant newest = log.newest().orElse(null);
        this.steadyClock = new SteadyClock(clock, threads::nanoTime, newest);
        SteadyClock.doubt(clock.instant(), newest).ifPresent(doubt -> LOG.log(Level.WARNING, doubt));
        this.limits = new Limits(threads, timer);
        this.surroundings = new LiveTask.Surroundings(log, threads, limits, () -> stopped, new Written());
        PushStore pushStore = settings.pushStore;
        this.webhooks = pushStore == null
                ? null
                : new Webhooks(pushStore, requireNonNull(settings.transport), log, clock, threads, timer);
        this.recovery = new Recovery(this, threads, timer, log.unfinished());
        if (webhooks != null) {
            webhooks.start();
        }
        if (retention != null) {
            var unused = sweeper.scheduleWithFixedDelay(this::removeEnded, 0, 60, TimeUnit.SECONDS);
        }
    }

    /** Begins an engine that keeps its tasks in {@code log}, which it closes with itself. */
    public static Builder builder(TaskLog log) {
        return new Builder(log);
    }

    /** Collects the settings of an engine; holds the only copy of each default. */
    public static final class Builder {
        private final TaskLog log;
        private InstantSource clock = InstantSource.system();
        private long cacheBytes = 3L << 20;
        private Duration longestWait = Duration.ofHours(1);
        private Duration grace = Duration.ofSeconds(5);
        private @Nullable Duration retention;
        private TaskLimits taskLimits = TaskLimits.DEFAULTS;
        private @Nullable PushStore pushStore;
        private @Nullable WebhookTransport transport;
        private final Map<String, Supplier<AgentEndpoint>> extensions = new HashMap<>();
        private RunObserver observer = (agent, request, work) -> work.run();
        private Threads threads = Threads.PLATFORM;

        private Builder(TaskLog log) {
            this.log = requireNonNull(log, "log");
        }

        /** Clock; default that of the system. */
        public Builder clock(InstantSource clock) {
            this.clock = requireNonNull(clock, "clock");
            return this;
        }

        /** Memory for tasks that nothing happens to, in bytes; default 3 MiB. */
        public Builder cacheBytes(long cacheBytes) {
            this.cacheBytes = cacheBytes;
            return this;
        }

        /**
         * Longest wait of a blocking call for its task; the call then returns the task in its present state. Default 1 hour.
         */
        public Builder longestWait(Duration longestWait) {
            this.longestWait = requireNonNull(longestWait, "longestWait");
            return this;
        }

        /** Time that {@link Engine#close} waits for running handlers before it interrupts them; default 5 s. */
        public Builder grace(Duration grace) {
            this.grace = requireNonNull(grace, "grace");
            return this;
        }

        /** After what time tasks that have ended are removed; default: never. */
        public Builder retention(@Nullable Duration retention) {
            this.retention = retention;
            return this;
        }

        /** Limits of the length of conversations and tasks; default {@link TaskLimits#DEFAULTS}. */
        public Builder taskLimits(TaskLimits limits) {
            this.taskLimits = requireNonNull(limits, "limits");
            return this;
        }

        /** Store and transport of webhooks; default: webhooks are not supported. */
        public Builder webhooks(PushStore store, WebhookTransport transport) {
            this.pushStore = requireNonNull(store, "store");
            this.transport = requireNonNull(transport, "transport");
            return this;
        }

        /**
         * An extension for the handlers of agents that {@linkplain Agent.Builder#uses use} it.
         *
         * @param uri as {@link dev.parley.protocol.extension.ExtensionView#uri}
         * @param operations answers its operations; called when a handler uses them
         */
        public Builder extension(String uri, Supplier<AgentEndpoint> operations) {
            extensions.put(requireNonNull(uri, "uri"), requireNonNull(operations, "operations"));
            return this;
        }

        /** Observer of the runs of agents; default: none. */
        public Builder observer(RunObserver observer) {
            this.observer = requireNonNull(observer, "observer");
            return this;
        }

        /** Source of threads, timers and locks. */
        Builder threads(Threads threads) {
            this.threads = threads;
            return this;
        }

        /** Starts the engine. Tasks that a crash interrupted are dealt with when their agent is hosted. */
        public Engine build() {
            return new Engine(this);
        }
    }

    /**
     * Hosts an agent: answers for it from now on, and takes up, or ends, its tasks that a crash interrupted. Those that cannot
     * be read are set aside ({@link #unreadable}).
     *
     * @return the agent as callers see it
     */
    public AgentEndpoint host(Agent agent) {
        var runner = new Runner(this, agent);
        runners.put(agent.name(), runner);
        var hosted = new HostedAgent(this, agent, runner);
        recovery.host(agent.name(), runner);
        return hosted;
    }

    /**
     * Returns a task manager for a hosted agent, whose tasks have names chosen by the caller.
     *
     * @param endpoint what {@link #host} returned for the agent
     */
    public TaskManager tasks(Agent agent, AgentEndpoint endpoint, CallContext caller) {
        return new HostedTasks(this, agent.name(), endpoint, caller);
    }

    /** Interrupted tasks that cannot be taken up because they cannot be read, by their ids. */
    public List<UnreadableTask> unreadable() {
        return recovery.unreadable();
    }

    /**
     * Tries to read a task of a log as it is read to be taken up; for a log that another engine may write.
     *
     * @return empty if it can be read, or has been removed
     */
    public static Optional<UnreadableTask> unreadable(TaskLog log, TaskKey key, Instant now) {
        try {
            var unusedCause = log.cause(key);
            var unused = fold(log, key);
            return Optional.empty();
        } catch (RuntimeException unreadable) {
            return log.find(key).isEmpty() ? Optional.empty() : Optional.of(UnreadableTask.of(key, now, unreadable));
        }
    }

    /** Number of tasks of an agent that run, and of those that wait for a slot. */
    public record Load(int running, int waiting) {}

    /** Returns the load of each hosted agent. */
    public Map<String, Load> load() {
        var load = new TreeMap<String, Load>();
        runners.forEach((agent, runner) -> load.put(agent, runner.load()));
        return load;
    }

    RunObserver observer() {
        return observer;
    }

    /** Operations of an extension that an agent uses; null if it does not use it. */
    @Nullable
    AgentEndpoint extension(Agent agent, String uri) {
        Supplier<AgentEndpoint> operations = extensions.get(uri);
        return operations == null || !agent.uses().contains(uri) ? null : operations.get();
    }

    /** Webhooks and their fate; empty if the engine was built without. */
    public Optional<Webhooks> deliveries() {
        return Optional.ofNullable(webhooks);
    }

    /**
     * Begins no more work, lets running handlers finish within {@code grace} and interrupts the others. Callers that wait
     * for a task or read one then get UNAVAILABLE with the message that the server is stopping; tasks on disk can still be
     * read. Takes a second
     * longer than {@code grace} at most. Idempotent.
     */
    public void drain(Duration grace) {
        open = false;
        awaitRunning(grace);
        running.values().forEach(Turn::interrupt);
        awaitRunning(INTERRUPTED);
        stopped = true; // written before waking: who looks after this does not wait
        tasks.wakeAll();
        running.values().forEach(turn -> turn.live().wake());
    }

    /**
     * {@linkplain #drain Drains} within the grace period, writes what was emitted and closes the log. Tasks of interrupted
     * handlers stay unfinished, for the next start to deal with. Idempotent.
     */
    @Override
    public void close() {
        if (closed.getAndSet(true)) {
            return;
        }
        if (webhooks != null) {
            webhooks.stop();
        }
        drain(stopped ? Duration.ZERO : grace);
        timer.shutdownNow();
        sweeper.shutdownNow();
        log.close();
    }

    private void awaitRunning(Duration grace) {
        Limits.Limit limit = limits.in(grace, this::wakeStop);
        stopLock.lock();
        try {
            while (!running.isEmpty() && !limit.isReached()) {
                noneRuns.await();
            }
        } catch (InterruptedException impatient) {
            Thread.currentThread().interrupt();
        } finally {
            stopLock.unlock();
            limit.drop();
        }
    }

    private void wakeStop() {
        stopLock.lock();
        try {
            noneRuns.signalAll();
        } finally {
            stopLock.unlock();
        }
    }

    /** Says that a turn is about to run; false if it must not, because the engine closes. */
    boolean began(Turn turn) {
        turn.numbered(turnNumbers.incrementAndGet());
        running.put(turn.number(), turn);
        if (open) { // read behind adding: either this sees the close, or the close sees the turn
            return true;
        }
        running.remove(turn.number());
        wakeStop();
        return false;
    }

    static A2AException stopping() {
        return A2AException.unavailable("The server is stopping", Duration.ofSeconds(1));
    }

    /** Says that a turn is done. */
    void ended(Turn turn) {
        running.remove(turn.number());
        MessageKey message = turn.key();
        if (message != null && turn.live().isAnswered()) {
            admissions.leave(message); // nothing is written, so nothing else will
            names.settled(turn.live(), Stream.ofNullable(turn.live().name()).toList());
            tasks.remove(turn.live()); // announced in the moment of the answer, it never comes to be
        }
        if (!open) {
            wakeStop();
        }
    }

    private void removeEnded() {
        try {
            Instant before =
                    steadyClock.instant().truncatedTo(ChronoUnit.MILLIS).minus(requireNonNull(retention));
            int removed;
            int sum = 0;
            do {
                removed = removeEnded(before);
                sum += removed;
            } while (removed == REMOVE_BATCH && open);
            if (sum > 0) {
                LOG.log(Level.INFO, "removed {0} tasks that ended before {1}", sum, before);
            }
        } catch (RuntimeException failure) {
            LOG.log(Level.ERROR, "could not remove tasks that have ended", failure);
        }
    }

    /** Removes a batch of tasks that ended before {@code before}, from the log and from memory. */
    private int removeEnded(Instant before) {
        int removed =
                REMOVE_BATCH; // also on failure: some tasks may be removed, and the others are read again on demand
        try {
            removed = log.removeEnded(before, REMOVE_BATCH);
            return removed;
        } finally {
            if (removed > 0) {
                tasks.removed(live -> {
                    Task task = live.durable();
                    return task != null
                            && task.state().isTerminal()
                            && requireNonNull(task.status().timestamp()).isBefore(before);
                });
            }
        }
    }

    /**
     * Hands a credential to a task that waits for one. The agent is called again, with the message that it has got already
     * and with {@link Request#credential}; the credential is kept nowhere.
     *
     * @throws A2AException TASK_NOT_FOUND if the caller has no such task, UNSUPPORTED_OPERATION if it waits for no credential
     */
    public Task authorize(String agent, String taskId, String credential, CallContext context) {
        TaskKey key = names.key(context, agent, taskId);
        Runner runner = runners.get(agent);
        if (runner == null) {
            throw A2AException.taskNotFound(taskId);
        }
        try (Pin pin = pinned(key)) {
            LiveTask live = pin.task();
            live.await(runner.authorize(live, credential, context), task -> true, patience(context));
            return read(key);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw stopping();
        }
    }

    // ---- Whose data it is

    /** Tasks about a subject, by their ids, behind {@code after}; null for the first. */
    public List<Task> about(Subject subject, @Nullable String after, int limit) {
        return log.about(subject, after, limit).stream()
                .flatMap(head -> find(head.key()).stream())
                .toList();
    }

    /**
     * Removes the tasks about a subject for good, and returns how many there were. Those that run are canceled first, for
     * {@code by}; a concurrent reader gets "task not found".
     *
     * @param links removes what elsewhere refers to tasks of these ids; they are gone when it was done
     */
    public int erase(Subject subject, CallContext by, Consumer<List<String>> links) {
        int erased = 0;
        List<TaskKey> keys;
        do {
            List<Head> heads = log.about(subject, null, REMOVE_BATCH);
            heads.stream().filter(head -> !head.state().isTerminal()).forEach(head -> end(head, by));
            keys = heads.stream().map(Head::key).toList();
            links.accept(keys.stream().map(TaskKey::taskId).toList());
            Set<TaskKey> gone = Set.copyOf(keys);
            try {
                log.erase(keys);
            } finally {
                // Also on failure: the tasks may be removed, and those that remain are read again on demand.
                tasks.removed(live -> gone.contains(live.key()));
                recovery.forget(gone);
                turns.forget(heads);
            }
            erased += keys.size();
        } while (keys.size() == REMOVE_BATCH);
        if (subject.principal() != null && subject.contextId() == null) {
            log.forget(subject.group(), subject.principal());
        }
        return erased;
    }

    private void end(Head head, CallContext by) {
        try {
            cancel(head.key(), Map.of(), by);
        } catch (A2AException ended) {
            LOG.log(Level.DEBUG, "a task that was to be erased has ended by itself", ended);
        } catch (RuntimeException unreadable) {
            LOG.log(Level.WARNING, "task " + head.key().taskId() + " is erased although it cannot be read", unreadable);
        }
    }

    /** Ends a task for its caller. */
    Task cancel(TaskKey key, Map<String, @Nullable Object> metadata, CallContext context) {
        try (Pin pin = pinned(key)) {
            LiveTask live = pin.task();
            long canceled = live.emit(task -> {
                TaskState state = requireNonNull(task).state();
                if (state.isTerminal()) {
                    throw A2AException.of(
                            A2AError.TASK_NOT_CANCELABLE,
                            "The task has ended (" + state + ")",
                            Map.of("taskId", task.id()));
                }
                live.causedBy(HostedAgent.cause(context));
                return List.of(new TaskStatusUpdateEvent(
                        task.id(), task.contextId(), TaskStatus.of(TaskState.CANCELED, now()), metadata));
            });
            Turn running = live.turn();
            if (running != null) {
                running.cancel();
            }
            TaskEvent ended = live.await(canceled, task -> true, patience(context));
            return ended instanceof Task task ? task : read(live.key());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw stopping();
        }
    }

    // ---- For the agents hosted here

    LiveTask newTask(TaskKey key, String contextId) {
        return new LiveTask(key, contextId, surroundings);
    }

    /** Continues the engine's work after a commit or a failed one. */
    private final class Written implements LiveTask.Listener {
        @Override
        public void written(LiveTask live, Segment segment) {
            tasks.settled(live);
            admissions.settled(segment.messages());
            names.settled(live, Stream.ofNullable(segment.name()).toList());
            if (live.isWatched() && webhooks != null) {
                webhooks.wake(live.key());
            }
        }

        @Override
        public void refuses(LiveTask live, Segment segment) {
            recovery.refuses(live, segment.head());
        }

        @Override
        public void refused(LiveTask live, List<MessageKey> messages, List<TaskName> lost) {
            tasks.settled(live);
            admissions.settled(messages);
            names.settled(live, lost);
            Turn running = live.turn();
            if (running != null) {
                running.interrupt(); // nothing that it emits can be written
            }
            recovery.rests(live);
        }
    }

    /** Returns a task in memory, pinned; null if there is none. */
    @Nullable
    Pin pin(TaskKey key) {
        return tasks.pin(key);
    }

    /**
     * Returns a task in memory, pinned.
     *
     * @throws A2AException TASK_NOT_FOUND if there is none in the key's scope
     */
    Pin pinned(TaskKey key) {
        Pin pin = pin(key);
        if (pin == null) {
            throw A2AException.taskNotFound(key.taskId());
        }
        return pin;
    }

    /** Tasks as the log holds them. */
    private final class FromLog implements LiveTasks.Loader {
        @Override
        public @Nullable LiveTask load(TaskKey key) {
            Folded folded = folded(key).orElse(null);
            if (folded == null) {
                return null;
            }
            var live = new LiveTask(key, folded.task(), folded.sequence(), recovery.holds(key), surroundings);
            if (webhooks != null) {
                webhooks.of(key).forEach(present -> live.watchedBy(Webhooks.id(present), Integer.MAX_VALUE));
            }
            return live;
        }

        @Override
        public boolean exists(TaskKey key) {
            return log.find(key).isPresent();
        }
    }

    private record Folded(Task task, long sequence) {}

    private static Folded fold(TaskLog log, TaskKey key) {
        Task task = null;
        long sequence = 0;
        List<LoggedEvent> events;
        do {
            events = log.read(key, sequence, LiveTask.MAX_PENDING);
            for (LoggedEvent event : events) {
                task = event.event().applyTo(task);
                sequence = event.sequence();
            }
        } while (events.size() >= LiveTask.MAX_PENDING);
        if (task == null || events.isEmpty() && log.find(key).isEmpty()) { // removed, maybe in the middle
            throw new DamagedTaskException(key.taskId(), "it has no events");
        }
        return new Folded(task, sequence);
    }

    /**
     * Reads a task, and keeps it in memory for the next time if there is room.
     *
     * @throws A2AException TASK_NOT_FOUND if there is no such task in the key's scope
     */
    Task read(TaskKey key) {
        LiveTask live = tasks.peek(key);
        if (live == null) {
            try (Pin pin = pinIfRoom(key)) {
                live = pin == null ? null : pin.task();
            }
        }
        Task task = live == null ? null : live.durable();
        return task != null ? task : find(key).orElseThrow(() -> A2AException.taskNotFound(key.taskId()));
    }

    /** Returns a task in memory, pinned; null if there is none, or it is large and there is no room for it. */
    private @Nullable Pin pinIfRoom(TaskKey key) {
        try {
            return tasks.pin(key);
        } catch (A2AException full) {
            if (full.error() != A2AError.UNAVAILABLE) {
                throw full;
            }
            return null;
        }
    }

    Optional<Task> find(TaskKey key) {
        LiveTask live = tasks.peek(key);
        Task task = live == null ? null : live.durable();
        if (task != null) {
            return Optional.of(task);
        }
        return folded(key).map(Folded::task);
    }

    /** Reads a task; empty if there is none, also if it is removed in the middle. */
    private Optional<Folded> folded(TaskKey key) {
        try {
            return Optional.of(fold(log, key));
        } catch (DamagedTaskException incomplete) { // or not there
            if (log.find(key).isEmpty()) {
                return Optional.empty();
            }
            throw incomplete;
        }
    }

    Duration patience(CallContext context) {
        Instant deadline = context.deadline();
        if (deadline == null) {
            return longestWait;
        }
        Duration left = Duration.between(clock.instant(), deadline);
        return left.compareTo(longestWait) < 0 ? left : longestWait;
    }

    Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.MILLIS);
    }

    boolean isOpen() {
        return open;
    }

    InstantSource clock() {
        return clock;
    }

    TaskLog log() {
        return log;
    }

    LiveTasks tasks() {
        return tasks;
    }

    Admissions admissions() {
        return admissions;
    }

    NamedTasks names() {
        return names;
    }

    TaskLimits taskLimits() {
        return taskLimits;
    }

    ContextTurns turns() {
        return turns;
    }

    Limits limits() {
        return limits;
    }

    String newId() {
        return threads.id(now());
    }

    Threads threads() {
        return threads;
    }

    Recovery recovery() {
        return recovery;
    }

    @Nullable
    Webhooks webhooks() {
        return webhooks;
    }
}
