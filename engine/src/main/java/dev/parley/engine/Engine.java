package dev.parley.engine;

import static java.util.Objects.requireNonNull;

import dev.parley.engine.mail.MailReceiver;
import dev.parley.engine.mail.OwnerMail;
import dev.parley.engine.scheduling.Threads;
import dev.parley.engine.scheduling.TimeLimits;
import dev.parley.engine.spi.KeyTakenException;
import dev.parley.engine.spi.Memories;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.OtherOwnerException;
import dev.parley.engine.spi.Priority;
import dev.parley.engine.spi.PushStore;
import dev.parley.engine.spi.SteadyClock;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.Segment;
import dev.parley.engine.spi.TaskLog.Subject;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.TaskLog.TaskName;
import dev.parley.engine.spi.Tools;
import dev.parley.engine.spi.UnreadableTask;
import dev.parley.engine.spi.WebhookTransport;
import dev.parley.engine.tasks.Admissions;
import dev.parley.engine.tasks.ContextTurns;
import dev.parley.engine.tasks.LiveTask;
import dev.parley.engine.tasks.NamedTasks;
import dev.parley.engine.tasks.Pin;
import dev.parley.engine.tasks.Retention;
import dev.parley.engine.tasks.RunQueue;
import dev.parley.engine.tasks.TaskListener;
import dev.parley.engine.tasks.TaskReader;
import dev.parley.engine.tasks.Tasks;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Task;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Runs agents and answers for them from the log.
 *
 * <p>An answer is sent to a caller after its events are in the log. Safe for any thread.
 */
public final class Engine implements AutoCloseable {
    private static final Logger LOG = System.getLogger("dev.parley.engine");
    private static final int REMOVE_BATCH = 500;

    /** Time that an erasure gives other engines to cancel tasks. */
    private static final Duration OTHERS = Duration.ofSeconds(10);

    private final Parts parts;
    private final Duration grace;
    private final ScheduledExecutorService timer;
    /** Separate from the timer, because its actions must not wait for the disk. */
    private final ScheduledExecutorService sweeper;
    /** The sweeper, unless other engines write to the log: a removal may take long. */
    private final ScheduledExecutorService follower;
    /** Whether the latest look at tasks of other engines has failed; of the follower. */
    private boolean isLost;

    private final SteadyClock steadyClock;
    private final Map<String, Runner> runners = new ConcurrentHashMap<>();
    private final Recovery recovery;
    private final MailReceiver receiver;
    private final AtomicBoolean closed = new AtomicBoolean();

    private Engine(Builder settings) {
        TaskLog log = settings.log;
        InstantSource clock = settings.clock;
        Threads threads = settings.threads;
        this.grace = settings.grace;
        this.timer = threads.timer("engine-timer");
        this.sweeper = threads.timer("engine-retention");
        this.follower = log.once() == Once.CLAIM ? threads.timer("engine-follower") : sweeper;
        Instant newest = log.newest().orElse(null);
        this.steadyClock = new SteadyClock(clock, threads::nanoTime, newest);
        SteadyClock.doubt(clock.instant(), newest).ifPresent(doubt -> LOG.log(Level.WARNING, doubt));
        var limits = new TimeLimits(threads, timer);
        var runs = new Runs(limits, threads.lock());
        var tasks = new Tasks(
                clock,
                settings.longestWait,
                settings.cacheBytes,
                new LiveTask.EngineParts(log, threads, limits, runs::isStopped, new Written(settings.written)),
                new Loaded());
        PushStore pushStore = settings.pushStore;
        this.parts = new Parts(
                log,
                new Parts.Time(clock, threads, limits),
                new Parts.Work(
                        tasks,
                        runs,
                        new Admissions(),
                        new NamedTasks(log, tasks),
                        new ContextTurns(log, settings.taskLimits.turns()),
                        new OwnerMail(log.mail(), threads, limits, runs::isStopped),
                        settings.taskLimits),
                new Parts.Services(Map.copyOf(settings.extensions), settings.tools, settings.memories),
                pushStore == null
                        ? null
                        : new Webhooks(pushStore, requireNonNull(settings.transport), log, clock, threads, timer),
                settings.observer,
                settings.intake);
        this.recovery = new Recovery(log, tasks, runs, threads, timer);
        this.receiver = new MailReceiver(log.mail(), threads, clock, runs::isOpen, follower);
        deliveries().ifPresent(Webhooks::start);
        if (log.once() == Once.CLAIM) {
            var unused = follower.scheduleWithFixedDelay(this::follow, 1, 1, TimeUnit.SECONDS);
            var unusedToo = follower.scheduleWithFixedDelay(this::takeOver, 0, 1, TimeUnit.SECONDS);
            log.onOthers(() -> follower.execute(this::takeOver), this::forgetErased);
            log.onHint(ids -> follower.execute(() -> tasks.hear(ids))); // one thread, however many hints
        }
        if (settings.retention != null) {
            var unused = sweeper.scheduleWithFixedDelay(
                    new Retention(log, tasks, settings.memories, steadyClock, settings.retention, runs::isOpen),
                    0,
                    60,
                    TimeUnit.SECONDS);
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
        private @Nullable BiFunction<Request, Reply, Tools> tools;
        private @Nullable Memories memories;
        private Duration grace = Duration.ofSeconds(5);
        private @Nullable Duration retention;
        private TaskLimits taskLimits = TaskLimits.DEFAULTS;
        private @Nullable PushStore pushStore;
        private @Nullable WebhookTransport transport;
        private final Map<String, Supplier<AgentEndpoint>> extensions = new HashMap<>();
        private RunObserver observer = (agent, request, work) -> work.run();
        private Consumer<Segment> written = segment -> {};
        private Runnable intake = () -> {};
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

        /** Tools for the handlers of agents; default: none. */
        public Builder tools(BiFunction<Request, Reply, Tools> tools) {
            this.tools = requireNonNull(tools, "tools");
            return this;
        }

        /** Memories of conversations, for the handlers of agents; default: none. */
        public Builder memories(Memories memories) {
            this.memories = requireNonNull(memories, "memories");
            return this;
        }

        /** Observer of the runs of agents; default: none. */
        public Builder observer(RunObserver observer) {
            this.observer = requireNonNull(observer, "observer");
            return this;
        }

        /** Receives events of tasks that are on disk, on the thread of the log, which it must not block; default: none. */
        public Builder written(Consumer<Segment> written) {
            this.written = requireNonNull(written, "written");
            return this;
        }

        /**
         * Called on the thread of a message that would begin a task; an A2AException refuses the message. Messages to tasks and
         * repetitions do not get here. Default: takes all.
         */
        public Builder intake(Runnable intake) {
            this.intake = requireNonNull(intake, "intake");
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
     * Hosts an agent: answers its calls, and resumes, or ends, its tasks that a crash interrupted. Those that cannot
     * be read are set aside ({@link #unreadable}).
     *
     * @return the agent as callers see it
     */
    public AgentEndpoint host(Agent agent) {
        var runner = new Runner(parts, recovery, agent);
        runners.put(agent.name(), runner);
        var hosted = new HostedAgent(parts, agent, runner);
        receiver.host(agent.name(), hosted);
        recovery.host(agent.name(), runner);
        return hosted;
    }

    /**
     * Returns a task manager for a hosted agent, with names of tasks that the caller chooses.
     *
     * @param endpoint what {@link #host} returned for the agent
     */
    public TaskManager tasks(Agent agent, AgentEndpoint endpoint, CallContext caller) {
        return new HostedTasks(parts, agent.name(), endpoint, caller);
    }

    /**
     * Reads a task as it stands and the events after that, also of an agent that does not stream to its callers. The caller is not
     * authorized: the key has to be one of its tasks.
     *
     * @throws A2AException TASK_NOT_FOUND if there is no such task
     */
    public Feed<LoggedEvent> follow(TaskKey key) {
        return tasks().pinned(key).into(pin -> TaskReader.fromSnapshot(pin, parts.log(), UnaryOperator.identity()));
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
            var unused = Tasks.fold(log, key);
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
        runners.forEach((agent, runner) ->
                load.put(agent, new Load(runner.load().taken(), runner.load().waiting())));
        return load;
    }

    /** Returns the numbers of tasks that wait for a slot by agent and priority, of agents with priorities that had any. */
    public Map<String, Map<Priority, Integer>> waiting() {
        var waiting = new TreeMap<String, Map<Priority, Integer>>();
        runners.forEach((agent, runner) -> waiting.put(agent, runner.waiting()));
        return waiting;
    }

    /** Webhooks and their fate; empty if the engine was built without. */
    public Optional<Webhooks> deliveries() {
        return Optional.ofNullable(parts.webhooks());
    }

    /**
     * Begins no more work, lets running handlers finish within {@code grace} and interrupts the others. Callers that wait
     * for a task or read one then get UNAVAILABLE with the message that the server is stopping; tasks on disk can still be
     * read. Takes a second
     * longer than {@code grace} at most. Idempotent.
     */
    public void drain(Duration grace) {
        drain(grace, () -> {});
    }

    /**
     * {@link #drain(Duration)} for handlers that wait for something else than their tasks.
     *
     * @param stopping wakes them, once an interruption leaves their tasks unfinished
     */
    public void drain(Duration grace, Runnable stopping) {
        parts.work().runs().stop(grace, stopping, this::wakeAll);
    }

    /**
     * Ends at once what runs, because the log can be used no more: interrupts handlers, refuses calls that wait for a task or read one
     * with UNAVAILABLE, and stops webhooks. Waits for nothing. Afterwards {@link #close} takes a second at most, besides the log.
     *
     * @param stopping as for {@link #drain(Duration, Runnable)}
     */
    public void halt(Runnable stopping) {
        deliveries().ifPresent(Webhooks::stop);
        parts.work().runs().halt(stopping, this::wakeAll);
    }

    private void wakeAll() {
        tasks().live().wakeAll();
        parts.work().mail().wakeAll();
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
        deliveries().ifPresent(Webhooks::stop);
        drain(parts.work().runs().isStopped() ? Duration.ZERO : grace);
        timer.shutdownNow();
        sweeper.shutdownNow();
        follower.shutdownNow();
        deliveries().ifPresent(Webhooks::close);
        parts.log().close();
    }

    /**
     * Hands a credential to a task that waits for one. The agent is called again, with the message that it has got already
     * and with {@link Request#credential}; the credential is kept nowhere.
     *
     * @throws A2AException TASK_NOT_FOUND if the caller has no such task, UNSUPPORTED_OPERATION if it waits for no credential
     */
    public Task authorize(String agent, String taskId, String credential, CallContext context) {
        TaskKey key = parts.work().names().key(context, agent, taskId);
        Runner runner = runners.get(agent);
        if (runner == null) {
            throw A2AException.taskNotFound(taskId);
        }
        try (Pin pin = tasks().pinned(key)) {
            return tasks().written(pin.task(), runner.authorize(pin.task(), credential, context), context);
        }
    }

    // ---- Personal data

    /** Tasks about a subject, by their ids, after {@code after}; null for the first. */
    public List<Task> about(Subject subject, @Nullable String after, int limit) {
        return parts.log().about(subject, after, limit).stream()
                .flatMap(head -> tasks().find(head.key()).stream())
                .toList();
    }

    /** Memories about a subject; see {@link Memories#about}. Empty if the engine has none. */
    public List<Memories.Memory> memories(Subject subject, Memories.@Nullable Key after, int limit) {
        Memories memories = parts.services().memories();
        return memories == null ? List.of() : memories.about(subject, after, limit);
    }

    /**
     * Removes the tasks about a subject for good, and returns how many there were. Those that run are canceled first, for
     * {@code by}; the engines that run them do so, for which this waits 10 s at most in all. A concurrent reader gets "task not found".
     *
     * @param links removes what elsewhere refers to tasks of these ids; they are gone when it was done
     */
    public int erase(Subject subject, CallContext by, Consumer<List<String>> links) {
        int erased = 0;
        CallContext patient = by.withDeadline(parts.time().clock().instant().plus(OTHERS));
        List<TaskKey> keys;
        do {
            List<Head> heads = parts.log().about(subject, null, REMOVE_BATCH);
            heads.stream().filter(head -> !head.state().isTerminal()).forEach(head -> end(head, patient));
            keys = heads.stream().map(Head::key).toList();
            links.accept(keys.stream().map(TaskKey::taskId).toList());
            Set<TaskKey> gone = Set.copyOf(keys);
            try {
                parts.log().erase(keys);
            } finally {
                // Also on failure: the tasks may be removed, and those that remain are read again on demand.
                tasks().live().removed(live -> gone.contains(live.key()));
                recovery.forget(gone);
                parts.work().turns().forget(heads);
            }
            erased += keys.size();
        } while (keys.size() == REMOVE_BATCH);
        tasks().forgetErased(); // erasures of an engine that ended before it could notify this one
        if (parts.services().memories() != null) {
            parts.services()
                    .memories()
                    .erase(subject); // requests that came before cannot write more; those that come later have tasks
            // that stay
        }
        if (subject.principal() != null && subject.contextId() == null) {
            parts.log().forget(subject.group(), subject.principal());
        }
        return erased;
    }

    /** Drops cached tasks that another engine has erased, and those whose events the log has lost. */
    private void forgetErased(TaskLog.Existing existing) {
        tasks().live().retain(existing);
    }

    private void end(Head head, CallContext by) {
        TaskKey key = head.key();
        // The engine that runs the task looks for it among those of the caller.
        var owner = new CallContext(by.principal(), key.scope(), by.wire(), by.trace(), by.deadline());
        try {
            var unused = HostedAgent.cancel(parts, key, CancelTask.of(key.taskId()), owner.withLiteralIds());
        } catch (A2AException refused) {
            LOG.log(Level.DEBUG, "a task that is erased has ended by itself, or its engine does not answer", refused);
        } catch (RuntimeException unreadable) {
            LOG.log(Level.WARNING, "task " + head.key().taskId() + " is erased although it cannot be read", unreadable);
        }
    }

    private void follow() {
        boolean isFollowed = isDone(tasks()::follow);
        isLost = !isDone(receiver::look) || !isFollowed;
    }

    private boolean isDone(Runnable look) {
        try {
            look.run();
            return true;
        } catch (RuntimeException | Error failure) { // otherwise the timer would not run it again
            if (!isLost) {
                LOG.log(
                        Level.WARNING,
                        "tasks of other engines cannot be followed, or calls not received; it is tried each second",
                        failure);
            }
            return false;
        }
    }

    private void takeOver() {
        if (recovery.takeOver(Set.copyOf(runners.keySet()), agent -> Runner.ofUnhosted(parts, recovery, agent))) {
            follower.execute(this::takeOver);
        }
        deliveries().ifPresent(Webhooks::takeOver);
    }

    /** Tasks in memory and in the log. */
    Tasks tasks() {
        return parts.work().tasks();
    }

    /** Continues the engine's work after a commit or a failed one. */
    private final class Written implements TaskListener {
        private final Consumer<Segment> observer;

        Written(Consumer<Segment> observer) {
            this.observer = observer;
        }

        @Override
        public void written(LiveTask live, Segment segment) {
            tasks().live().settled(live);
            parts.work().admissions().settled(segment.messages());
            parts.work().names().settled(live, segment.naming());
            Webhooks webhooks = parts.webhooks();
            // Another engine may have registered webhooks of which the copy in memory does not know.
            if (webhooks != null && (live.isWatched() || parts.log().once() == Once.CLAIM)) {
                webhooks.wake(live.key());
            }
            observer.accept(segment); // may throw: nothing of the engine may depend on it
        }

        @Override
        public void refuses(LiveTask live, Segment segment, Exception cause) {
            boolean isOthers = cause instanceof OtherOwnerException;
            if (isOthers || live.isForeign()) {
                // Nothing to take up, unless the commit has landed; but messages that were counted are not in the log.
                parts.work().turns().forget(List.of(segment.head()));
                if (!isOthers && !(cause instanceof KeyTakenException)) {
                    recovery.mayOwn();
                }
            } else {
                recovery.refuses(live, segment.head());
            }
        }

        @Override
        public void refused(LiveTask live, List<MessageKey> messages, List<TaskName> lost) {
            tasks().live().settled(live);
            parts.work().admissions().settled(messages);
            parts.work().names().settled(live, lost);
            RunQueue.Run running = live.runs().current();
            if (running != null) {
                running.interrupt(); // nothing that it emits can be written
            }
            recovery.rests(live);
        }
    }

    /** Services of the engine for a loaded task. */
    private final class Loaded implements Tasks.Origin {
        @Override
        public boolean holds(TaskKey key) {
            return recovery.holds(key);
        }

        @Override
        public List<String> webhooks(TaskKey key) {
            Webhooks webhooks = parts.webhooks();
            return webhooks == null
                    ? List.of()
                    : webhooks.store().of(key).stream().map(Webhooks::id).toList();
        }
    }
}
