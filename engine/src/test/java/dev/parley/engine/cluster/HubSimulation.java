package dev.parley.engine.cluster;

import static java.util.Objects.requireNonNull;

import dev.parley.engine.SimulatedThreads;
import dev.parley.engine.cluster.History.Violation;
import dev.parley.engine.cluster.HubLog.Luck;
import dev.parley.engine.cluster.SimulatedDatabase.Mutant;
import dev.parley.engine.cluster.SimulatedDatabase.TaskRow;
import dev.parley.engine.spi.DamagedTaskException;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Simulation of hubs that share a database, and of callers that use any hub. A seed decides the order of steps and the faults: kills,
 * pauses, lost answers and hints, outages of the database, and failovers that lose its newest commits. A time without faults follows,
 * after which the invariants are checked.
 */
final class HubSimulation {
    private static final Duration CHAOS = Duration.ofMinutes(2);
    private static final Duration QUIET = Duration.ofMinutes(50);
    private static final Duration LOOK = Duration.ofSeconds(10);
    private static final Luck NO_FAULTS = new Luck(0, 0, 0);

    /**
     * Result of a simulation.
     *
     * @param trace hash of the order of steps
     * @param lost number of acknowledged messages that a failover has lost
     */
    record Result(long trace, int hubs, int runs, int streams, int lost) {}

    final Random random;
    final SimulatedThreads threads;
    final History history;
    final SimulatedDatabase database;
    final Runs runs;
    final boolean isResumable;
    final int concurrency;
    final List<Hub> hubs = new ArrayList<>();
    final List<HubLog> logs = new ArrayList<>();
    private final SimulatedThreads.Machine outside;
    private final List<HubCaller> callers = new ArrayList<>();
    private final Luck faults;
    private final boolean losesCommits;
    private Luck luck;
    private @Nullable Throwable failure;
    private int begun;

    HubSimulation(long seed, @Nullable Mutant mutant, boolean isTold) {
        this.random = new Random(seed * 0x9e3779b97f4a7c15L + 1);
        this.threads = new SimulatedThreads(random);
        this.history = new History(threads::now, isTold);
        this.database = new SimulatedDatabase(threads, history, mutant, this::fail);
        database.isConnected = stream -> logs.stream().anyMatch(log -> log.stream() == stream && log.isConnected());
        this.runs = new Runs(database, this::fail);
        this.isResumable = random.nextInt(3) > 0;
        this.concurrency = 1 + random.nextInt(4);
        this.faults = new Luck(random.nextInt(2) * random.nextInt(60), random.nextInt(500), random.nextInt(200));
        this.losesCommits = random.nextInt(6) == 0 || mutant == Mutant.NO_COMPARISON;
        this.luck = faults;
        this.outside = threads.process();
        int count = 2 + random.nextInt(3);
        for (int slot = 0; slot < count; slot++) {
            hubs.add(new Hub(this, slot));
            begun++;
        }
        int senders = 1 + random.nextInt(3);
        for (int i = 0; i < senders; i++) {
            callers.add(new HubCaller(this, outside, i));
        }
    }

    Luck luck() {
        return luck;
    }

    boolean isQuiet() {
        return luck.equals(NO_FAULTS);
    }

    void fail(Throwable problem) {
        if (failure == null) {
            failure = problem;
            history.add(() -> "VIOLATION: " + problem.getMessage());
        }
    }

    /** Starts a new hub in the slot of one that has ended. */
    void restart(int slot) {
        outside.start("start", () -> {
            sleep(300 + random.nextInt(2_700));
            while (database.isDown()) {
                sleep(500);
            }
            hubs.set(slot, new Hub(this, slot));
            begun++;
        });
    }

    void sleep(int millis) {
        try {
            threads.sleep(outside, Duration.ofMillis(millis));
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    Result run() {
        callers.forEach(caller -> outside.start("caller", () -> {
            try {
                caller.callAll();
            } catch (Throwable problem) {
                fail(problem);
            }
        }));
        int disasters = random.nextInt(5);
        for (int i = 0; i < disasters; i++) {
            go(Duration.ofMillis(random.nextInt(4_000)), this::areDone);
            disaster();
        }
        go(CHAOS, this::areDone);
        luck = NO_FAULTS;
        rest();
        require(areDone(), "every caller is answered: " + callers);
        check();
        return new Result(
                threads.trace(),
                begun,
                runs.begun(),
                callers.stream().mapToInt(HubCaller::streams).sum(),
                callers.stream().mapToInt(HubCaller::lost).sum());
    }

    private void disaster() {
        Hub hub = threads.any(hubs);
        switch (random.nextInt(7)) {
            case 0, 1 -> hub.end("is killed");
            case 2, 3, 4 -> pause(hub);
            case 5 -> database.down(Duration.ofMillis(random.nextInt(20_000)));
            default -> {
                if (losesCommits) {
                    database.down(Duration.ofMillis(random.nextInt(2_000)));
                    database.failOver(random.nextInt(25));
                } else {
                    hub.end("is killed");
                }
            }
        }
    }

    private void pause(Hub hub) {
        if (hub.isAlive()) {
            int millis = random.nextInt(18_000);
            history.add(() -> "hub " + hub.log.stream() + " pauses for " + millis + " ms");
            hub.process.pause();
            outside.start("resume", () -> {
                sleep(millis);
                history.add(() -> "hub " + hub.log.stream() + " goes on");
                hub.process.resume();
            });
        }
    }

    private void go(Duration time, BooleanSupplier done) {
        threads.run(Duration.ofNanos(threads.now()).plus(time), () -> failure != null || done.getAsBoolean());
        if (failure != null) {
            throw failure instanceof Violation violation ? violation : new AssertionError(failure);
        }
    }

    private boolean areDone() {
        return callers.stream().allMatch(HubCaller::isDone);
    }

    private void rest() {
        long end = threads.now() + QUIET.toNanos();
        go(Duration.ofSeconds(30), () -> false); // pauses end, and hubs begin
        while (threads.now() < end && !(areDone() && areSettled())) {
            go(LOOK, () -> false);
        }
        go(LOOK, () -> false);
    }

    private boolean areSettled() {
        return database.allTasks().stream().allMatch(this::isSettled);
    }

    private boolean isSettled(TaskRow row) {
        return row.head().state().isSettled();
    }

    static void require(boolean holds, String expected) {
        if (!holds) {
            throw new Violation("expected: " + expected);
        }
    }

    // ---- What holds in the end

    private void check() {
        for (TaskRow row : database.allTasks()) {
            String id = row.head().key().taskId();
            require(isSettled(row), "task " + id + " has ended or waits, and is not " + row.head());
            long number = 0;
            for (LoggedEvent event : row.events()) {
                require(event.sequence() == ++number, "events of task " + id + " are numbered without gaps");
            }
        }
        callers.forEach(HubCaller::check);
        hubs.forEach(this::checkMemory);
    }

    /** Checks that a hub shows each task as the database has it, and no erased task. */
    private void checkMemory(Hub hub) {
        boolean[] isDone = new boolean[1];
        hub.process.start("check", () -> {
            try {
                database.allTasks().forEach(row -> checkMemory(hub, row));
                callers.forEach(caller -> caller.erased().forEach(task -> checkErased(hub, caller.context(), task)));
                isDone[0] = true;
            } catch (Throwable problem) {
                fail(problem);
            }
        });
        go(Duration.ofMinutes(1), () -> isDone[0]);
        require(isDone[0], "hub " + hub.log.stream() + " answers");
    }

    private void checkMemory(Hub hub, TaskRow row) {
        TaskKey key = row.head().key();
        Task shown;
        try {
            shown = hub.agent.call(
                    GetTask.of(key.taskId()), CallContext.of(key.scope().owner(), key.scope()));
        } catch (DamagedTaskException unreadable) {
            shown = null;
        }
        if (!fold(row.events()).equals(shown)) {
            fail(new Violation("hub " + hub.log.stream() + " shows task " + key.taskId() + " as " + shown
                    + ", and not as it is in the database: " + fold(row.events())));
        }
    }

    private void checkErased(Hub hub, CallContext caller, String task) {
        try {
            Task shown = hub.agent.call(GetTask.of(task), caller);
            fail(new Violation("hub " + hub.log.stream() + " shows task " + task + ", which is erased: " + shown));
        } catch (A2AException refusal) {
            if (refusal.error() != A2AError.TASK_NOT_FOUND) {
                fail(refusal);
            }
        }
    }

    /** A task after some events. */
    static Task fold(List<LoggedEvent> events) {
        Task task = null;
        for (LoggedEvent event : events) {
            task = event.event().applyTo(task);
        }
        return requireNonNull(task);
    }
}
