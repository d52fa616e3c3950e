package dev.parley.engine;

import static java.util.Objects.requireNonNull;

import dev.parley.engine.scheduling.Threads;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.UnreadableTask;
import dev.parley.engine.tasks.LiveTask;
import dev.parley.engine.tasks.Pin;
import dev.parley.engine.tasks.Tasks;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.retry.Backoff;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Resumes tasks that were interrupted by a crash, or because the log refused their events, and those of engines that have ended.
 *
 * <p>A message to such a task waits until it is taken up. Only a few tasks of an agent are taken up before their turns have
 * begun, so that a start with thousands of them needs no memory for all. A task that cannot be read is set aside, so that
 * others do not wait for it, and tried again periodically. Safe for any thread.
 */
final class Recovery {
    private static final Logger LOG = System.getLogger("dev.parley.engine");

    /** Resumed tasks of an agent, before their turns begin. */
    private static final int MOST_AHEAD = 64;

    private static final int TAKEN_OVER_AT_ONCE = 100;

    /** Pauses after refusals by a log, and after failures to read a task. */
    private static final Backoff WRITES = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(64));

    private static final Backoff READS = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(1_024));

    /** Pause before another look at a task that a run goes on with. */
    private static final Duration RUNS = Duration.ofSeconds(1);

    /** A task that is to be taken up. */
    private static final class Entry {
        final Head head;
        /** The task object of which the log refused events; null after a crash. */
        final @Nullable LiveTask refused;

        volatile @Nullable UnreadableTask problem;
        final AtomicInteger attempts = new AtomicInteger();

        Entry(Head head, @Nullable LiveTask refused) {
            this.head = head;
            this.refused = refused;
        }
    }

    /** The entries of one agent. */
    private static final class Line {
        final Queue<Entry> entries = new ConcurrentLinkedQueue<>();
        final AtomicInteger ahead = new AtomicInteger();
        final AtomicBoolean busy = new AtomicBoolean();
        final AtomicReference<@Nullable Runner> runner = new AtomicReference<>();
    }

    private final TaskLog log;
    private final Tasks tasks;
    private final Runs runs;
    private final Threads threads;
    private final ScheduledExecutorService timer;
    private final ConcurrentHashMap<TaskKey, Entry> waiting = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<String, Line> lines = new ConcurrentHashMap<>();
    /** Number of successive refusals of events of a resumed task by the log. */
    private final AtomicInteger refusals = new AtomicInteger();

    /** Whether this engine may own tasks that it knows nothing of, because a takeover has failed, or a commit has no known outcome. */
    private volatile boolean isUncertain;

    /** Whether the latest takeover has failed: it is logged once. */
    private boolean hasFailed;

    Recovery(TaskLog log, Tasks tasks, Runs runs, Threads threads, ScheduledExecutorService timer) {
        this.log = log;
        this.tasks = tasks;
        this.runs = runs;
        this.threads = threads;
        this.timer = timer;
        add(log.interrupted());
    }

    private void add(List<Head> heads) {
        for (Head head : heads) {
            var entry = new Entry(head, null);
            if (waiting.putIfAbsent(head.key(), entry) == null) {
                line(head.key()).entries.add(entry);
            }
        }
    }

    private void takeUp(List<Head> heads, Set<String> hosted, Function<String, Runner> unhosted) {
        add(heads);
        heads.stream().map(head -> line(head.key())).distinct().forEach(this::work);
        heads.stream()
                .map(head -> head.key().agent())
                .filter(agent -> !hosted.contains(agent))
                .distinct()
                .forEach(agent -> standIn(agent, unhosted.apply(agent)));
    }

    /**
     * Takes over tasks of engines that have ended, some at once, so that other engines may take over the next ones meanwhile. Called on one thread.
     *
     * @param hosted the agents that this engine hosts
     * @param unhosted ends the tasks of an agent that no engine hosts
     * @return whether there may be more
     */
    boolean takeOver(Set<String> hosted, Function<String, Runner> unhosted) {
        try {
            if (!runs.isOpen()) {
                return false;
            }
            if (isUncertain) {
                isUncertain = false; // before the look: what becomes uncertain after it is for the next one
                takeUp(log.interrupted(), hosted, unhosted);
            }
            List<Head> taken = log.takeOver(hosted, TAKEN_OVER_AT_ONCE);
            takeUp(taken, hosted, unhosted);
            hasFailed = false;
            return taken.size() == TAKEN_OVER_AT_ONCE;
        } catch (RuntimeException | Error failure) { // otherwise the timer would not run it again
            if (!hasFailed) {
                LOG.log(
                        Level.WARNING,
                        "tasks of engines that have ended cannot be taken over; it is tried each second",
                        failure);
            }
            hasFailed = true;
            isUncertain = true;
            return false;
        }
    }

    private Line line(TaskKey key) {
        return lines.computeIfAbsent(key.agent(), agent -> new Line());
    }

    /** Takes up the tasks of an agent, from now on. */
    void host(String agent, Runner runner) {
        Line line = lines.computeIfAbsent(agent, name -> new Line());
        line.runner.set(runner);
        if (!line.entries.isEmpty()) {
            LOG.log(Level.INFO, "agent {0}: {1} tasks were interrupted", agent, line.entries.size());
            work(line);
        }
    }

    /** Takes up the tasks of an agent that is not hosted, unless it is hosted meanwhile. */
    private void standIn(String agent, Runner runner) {
        Line line = lines.computeIfAbsent(agent, name -> new Line());
        if (line.runner.compareAndSet(null, runner)) {
            work(line);
        }
    }

    /** True if the task has not been recovered yet: messages to it wait. */
    boolean holds(TaskKey key) {
        return waiting.containsKey(key);
    }

    /** Tasks that could not be read when they were to be taken up, by their ids. */
    List<UnreadableTask> unreadable() {
        return waiting.values().stream()
                .map(entry -> entry.problem)
                .filter(Objects::nonNull)
                .sorted(Comparator.comparing(UnreadableTask::taskId))
                .toList();
    }

    /** Called when the log has refused events of a task, before any other thread can see that. */
    void refuses(LiveTask live, Head head) {
        waiting.put(live.key(), new Entry(head, live));
    }

    /** Called when a commit with events of a foreign task has failed: if it has landed all the same, the task is this engine's. */
    void mayOwn() {
        isUncertain = true;
    }

    /** Notes that a task with refused events has no running turn any more. */
    void rests(LiveTask live) {
        Entry entry = waiting.get(live.key());
        if (entry != null && entry.refused == live && live.runs().current() == null) {
            later(entry, WRITES.bound(refusals.get() + 1));
        }
    }

    /** Says that the log has removed tasks. */
    void forget(Set<TaskKey> gone) {
        waiting.keySet().removeAll(gone);
    }

    /** Says that the turn of a task that was taken up begins. */
    void begun(TaskKey key) {
        Line line = line(key);
        line.ahead.decrementAndGet();
        work(line);
    }

    private void later(Entry entry, Duration pause) {
        Line line = line(entry.head.key());
        var unused = timer.schedule(
                () -> {
                    line.entries.add(entry);
                    work(line);
                },
                pause.toMillis(),
                TimeUnit.MILLISECONDS);
    }

    private void work(Line line) {
        if (line.runner.get() != null && hasWork(line) && line.busy.compareAndSet(false, true)) {
            try {
                threads.start("recovery", () -> {
                    try {
                        workOff(line);
                    } finally {
                        line.busy.set(false);
                    }
                    work(line); // for what came in the moment in which this looked for the last time
                });
            } catch (RuntimeException | Error notStarted) {
                line.busy.set(false);
                LOG.log(Level.ERROR, "no thread takes up unfinished tasks; it is tried again", notStarted);
                var unused = timer.schedule(() -> work(line), RUNS.toMillis(), TimeUnit.MILLISECONDS);
            }
        }
    }

    private boolean hasWork(Line line) {
        return runs.isOpen() && line.ahead.get() < MOST_AHEAD && !line.entries.isEmpty();
    }

    private void workOff(Line line) {
        while (hasWork(line)) {
            Runner runner = requireNonNull(line.runner.get()); // another one once the agent is hosted
            Entry entry = line.entries.poll();
            if (entry != null && waiting.get(entry.head.key()) == entry) {
                takeUp(line, runner, entry);
            }
        }
    }

    private void takeUp(Line line, Runner runner, Entry entry) {
        TaskKey key = entry.head.key();
        Pin pin;
        try {
            pin = tasks.live().pin(key);
        } catch (RuntimeException | Error unreadable) { // an Error, too: messages to the task wait for it
            setAside(entry, unreadable);
            return;
        }
        if (pin != null && !pin.task().hold()) {
            boolean isOwn = entry.refused == null && !pin.task().isForeign();
            pin.close();
            if (isOwn) { // this engine runs it, and has said so on disk
                waiting.remove(key, entry);
            } else { // a message has met it after its engine had ended
                later(entry, RUNS);
            }
            return;
        }
        Cause cause;
        try {
            cause = log.cause(key).orElse(new Cause(key.scope().owner(), "", null, CallChain.NONE));
        } catch (RuntimeException | Error unreadable) {
            if (pin != null) {
                pin.close();
            }
            setAside(entry, unreadable);
            return;
        }
        // Only now: an object that is loaded after this is not held, and while this one is pinned there is no other.
        waiting.remove(key, entry);
        if (pin == null) {
            return; // removed meanwhile, or nothing of it was ever written
        }
        try (pin) {
            resume(line, runner, entry, pin.task(), cause);
        }
    }

    /** Lets a pinned task go on, or end. */
    private void resume(Line line, Runner runner, Entry entry, LiveTask live, Cause cause) {
        boolean crash = entry.refused == null;
        boolean begins = false;
        line.ahead.incrementAndGet();
        try {
            begins = runner.recover(live, requireNonNull(live.durable()), cause, crash);
            if (!crash) {
                if (live.isBroken()) {
                    refusals.incrementAndGet();
                } else {
                    refusals.set(0);
                }
            }
        } catch (RuntimeException | Error failure) {
            holdAgain(entry, live, failure);
        } finally {
            if (!begins) {
                line.ahead.decrementAndGet();
            }
        }
    }

    /** Has a pinned task that could not be resumed wait for the next attempt, as its messages do. */
    private void holdAgain(Entry entry, LiveTask live, Throwable failure) {
        int attempt = entry.attempts.incrementAndGet();
        LOG.log(
                attempt > 1 || !runs.isOpen() ? Level.DEBUG : Level.ERROR,
                "task " + live.key().taskId() + " of agent " + live.key().agent() + " could not be resumed",
                failure);
        live.runs().holdAgain();
        if (waiting.putIfAbsent(live.key(), entry) == null) {
            later(entry, WRITES.bound(attempt));
        } else {
            rests(live); // the log has refused its events meanwhile
        }
    }

    private void setAside(Entry entry, Throwable unreadable) {
        TaskKey key = entry.head.key();
        UnreadableTask before = entry.problem;
        Instant since = before == null ? tasks.now() : before.since();
        entry.problem = UnreadableTask.of(key, since, unreadable);
        LOG.log(
                before == null ? Level.ERROR : Level.DEBUG,
                "task " + key.taskId() + " of agent " + key.agent() + " cannot be read and is set aside",
                unreadable);
        later(entry, READS.bound(entry.attempts.incrementAndGet()));
    }
}
