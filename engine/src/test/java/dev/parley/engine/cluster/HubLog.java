package dev.parley.engine.cluster;

import dev.parley.engine.SimulatedThreads;
import dev.parley.engine.cluster.SimulatedDatabase.Change;
import dev.parley.engine.cluster.SimulatedDatabase.Fault;
import dev.parley.engine.cluster.SimulatedDatabase.Mutant;
import dev.parley.engine.cluster.SimulatedDatabase.StreamRow;
import dev.parley.engine.cluster.SimulatedDatabase.TaskRow;
import dev.parley.engine.spi.KeyTakenException;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.TaskMail;
import dev.parley.protocol.LoggedEvent;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Log of one hub: reads, hints that are late or lost, and a writer that commits in groups. If the answer of a commit is lost, the writer
 * looks up the outcome.
 */
final class HubLog extends WritableLog {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    /** Outage that is longer than a change waits for its commit. */
    private static final Duration SILENCE = Duration.ofSeconds(12);

    private static final Duration FOLLOWED = Duration.ofSeconds(30);

    /** Change that waits for the writer. */
    private interface Work extends Change {
        /** Collects the change before the transaction begins. Other threads may run in between. */
        default void prepare() {}

        void told(@Nullable RuntimeException refusal);

        void failed(Exception cause);
    }

    /** Rates of faults per thousand. */
    record Luck(int cuts, int lostHints, int staleReads) {}

    private final SimulatedDatabase database;
    /** Those of all hubs, also of hubs that have ended. */
    private final List<HubLog> logs;

    private final SimulatedThreads simulation;
    private final SimulatedThreads.Machine process;
    private final Random random;
    private final Supplier<Luck> luck;
    /** Ends the hub; does not return to the thread that calls it. */
    private final Consumer<String> ended;

    private final long stream;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final ArrayDeque<Work> queue = new ArrayDeque<>();
    /** Tasks that are yet to begin, by the messages that lead to them. */
    private final Map<MessageKey, String> inProgress = new HashMap<>();

    private final Map<String, Long> followed = new HashMap<>();
    private final HubMail mail;
    private Consumer<Set<String>> hints = ids -> {};
    private Runnable othersEnded = () -> {};
    private Consumer<Existing> erased = existing -> {};
    private long group;
    private long timeline;

    HubLog(
            SimulatedDatabase database,
            List<HubLog> logs,
            SimulatedThreads simulation,
            SimulatedThreads.Machine process,
            Random random,
            Supplier<Luck> luck,
            Consumer<String> ended) {
        this.database = database;
        this.logs = logs;
        this.simulation = simulation;
        this.process = process;
        this.random = random;
        this.luck = luck;
        this.ended = ended;
        this.stream = database.begin();
        this.timeline = database.timeline();
        this.mail = new HubMail(this, database);
        logs.add(this);
        process.start("writer", this::writeAll);
    }

    long stream() {
        return stream;
    }

    /** The log of another hub; null if there is none. */
    @Nullable
    HubLog of(long number) {
        return logs.stream().filter(log -> log.stream == number).findFirst().orElse(null);
    }

    boolean isConnected() {
        return process.isAlive();
    }

    // ---- Writing

    private void writeAll() {
        while (true) {
            List<Work> works;
            lock.lock();
            try {
                while (queue.isEmpty()) {
                    changed.awaitUninterruptibly();
                }
                works = List.copyOf(queue);
                queue.clear();
            } finally {
                lock.unlock();
            }
            write(works);
        }
    }

    private void add(Work work) {
        simulation.mayYield();
        lock.lock();
        try {
            queue.add(work);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Writes changes in one transaction; repeats it until the outcome is known. */
    private void write(List<Work> works) {
        long begun = simulation.now();
        works.forEach(Work::prepare);
        while (true) {
            sleep(random.nextInt(15));
            if (simulation.now() - begun > PATIENCE.toNanos()) {
                works.forEach(work -> work.failed(new Fault("the database does not answer")));
                return;
            }
            if (database.isDown()) {
                sleep(200);
                continue;
            }
            requireStream();
            boolean isCut = random.nextInt(1_000) < luck.get().cuts();
            if (isCut && random.nextBoolean()) {
                sleep(random.nextInt(300)); // before the commit
                continue;
            }
            List<@Nullable RuntimeException> refusals = database.commit(stream, group + 1, works);
            if (refusals == null) {
                stop("was ended by another hub");
                return;
            }
            if (!isCut) {
                group++;
                sleep(random.nextInt(5)); // others may read it before this hub hears of it
                tell(works, refusals);
                return;
            }
            if (random.nextInt(5) == 0) {
                sleep((int) SILENCE.toMillis());
                works.forEach(work -> work.failed(new Fault("the outcome of the commit is unknown")));
                requireStream();
                return;
            }
            sleep(random.nextInt(300));
            long before = group;
            requireStream();
            if (group > before) { // it has landed
                tell(works, refusals);
                return;
            }
        }
    }

    /** Compares the last known group with the database, as each new connection does. */
    private void requireStream() {
        StreamRow row = database.stream(stream);
        if (row == null || row.group() < group) {
            stop("finds that the database went back in time");
        } else if (row.isEnded() && !database.mutants.contains(Mutant.NO_FENCE)) {
            stop("was ended by another hub");
        } else {
            group = row.group();
            timeline = database.timeline();
        }
    }

    private void stop(String reason) {
        ended.accept(reason);
        while (true) {
            LockSupport.park(this); // the process has ended
        }
    }

    private void tell(List<Work> works, List<@Nullable RuntimeException> refusals) {
        for (int i = 0; i < works.size(); i++) {
            simulation.mayYield();
            works.get(i).told(refusals.get(i));
        }
    }

    /** Writes a change and waits for its commit. */
    <T> T written(Function<Long, T> change) {
        var done = new CompletableFuture<T>();
        add(new Work() {
            private @Nullable T result;

            @Override
            public @Nullable RuntimeException apply(long commit) {
                result = change.apply(commit);
                return null;
            }

            @Override
            public void told(@Nullable RuntimeException refusal) {
                done.complete(result);
            }

            @Override
            public void failed(Exception cause) {
                done.completeExceptionally(cause);
            }
        });
        try {
            return done.join();
        } catch (java.util.concurrent.CompletionException failure) {
            throw failure.getCause() instanceof RuntimeException same ? same : failure;
        }
    }

    /** Writes a change without waiting for its commit. */
    void later(Consumer<Long> change, Runnable written, Consumer<Exception> lost) {
        add(new Work() {
            @Override
            public @Nullable RuntimeException apply(long commit) {
                change.accept(commit);
                return null;
            }

            @Override
            public void told(@Nullable RuntimeException refusal) {
                written.run();
            }

            @Override
            public void failed(Exception cause) {
                lost.accept(cause);
            }
        });
    }

    @Override
    public void submit(Writer writer) {
        add(new SegmentWork(writer));
    }

    private final class SegmentWork implements Work {
        private final Writer writer;
        private @Nullable Segment segment;

        SegmentWork(Writer writer) {
            this.writer = writer;
        }

        @Override
        public void prepare() {
            segment = writer.take();
        }

        @Override
        public @Nullable RuntimeException apply(long commit) {
            Segment toWrite = segment;
            if (toWrite == null) {
                return null;
            }
            String task = toWrite.head().key().taskId();
            for (MessageKey message : toWrite.messages()) {
                if (!inProgress.getOrDefault(message, task).equals(task)
                        && !database.mutants.contains(Mutant.NO_CLAIM)) {
                    return new KeyTakenException(message.messageId(), true);
                }
            }
            return database.append(commit, stream, toWrite);
        }

        @Override
        public void told(@Nullable RuntimeException refusal) {
            Segment told = segment;
            if (told != null && refusal != null) {
                lose(told, refusal);
            } else if (told != null) {
                String task = told.head().key().taskId();
                told.messages().forEach(message -> inProgress.remove(message, task));
                hint(task);
                writer.written(told);
                database.unconfirmed.remove(told.head().key());
            }
        }

        @Override
        public void failed(Exception cause) {
            Segment lost = segment;
            if (lost != null) {
                database.unwritten.add(lost.head().key().taskId());
                lose(lost, cause);
            }
        }

        private void lose(Segment lost, Exception cause) {
            database.history.add(() -> "hub " + stream + " has not written event "
                    + lost.head().lastSequence() + ": " + cause.getMessage());
            String task = lost.head().key().taskId();
            for (MessageKey message : lost.messages()) {
                if (task.equals(inProgress.get(message))) {
                    release(new Claim(message, task, null));
                }
            }
            writer.failed(lost, cause);
        }
    }

    @Override
    public Once once() {
        return Once.CLAIM;
    }

    @Override
    public CompletableFuture<@Nullable Void> claim(Claim claim) {
        var done = new CompletableFuture<@Nullable Void>();
        add(new Work() {
            @Override
            public @Nullable RuntimeException apply(long commit) {
                String other = inProgress.putIfAbsent(claim.message(), claim.taskId());
                if (other != null && !other.equals(claim.taskId()) && !database.mutants.contains(Mutant.NO_CLAIM)) {
                    return new KeyTakenException(claim.message().messageId(), true);
                }
                return database.claim(commit, stream, claim.message(), claim.taskId());
            }

            @Override
            public void told(@Nullable RuntimeException refusal) {
                if (refusal == null) {
                    done.complete(null);
                } else {
                    failed(refusal);
                }
            }

            @Override
            public void failed(Exception cause) {
                inProgress.remove(claim.message(), claim.taskId());
                done.completeExceptionally(cause);
            }
        });
        return done;
    }

    @Override
    public void release(Claim claim) {
        later(
                commit -> {
                    database.release(commit, claim.message(), claim.taskId());
                    inProgress.remove(claim.message(), claim.taskId());
                },
                () -> {},
                failure -> inProgress.remove(claim.message(), claim.taskId()));
    }

    // ---- Hints

    @Override
    public void follow(TaskKey task) {
        followed.put(task.taskId(), simulation.now() + FOLLOWED.toNanos());
    }

    @Override
    public void onHint(Consumer<Set<String>> listener) {
        hints = listener;
    }

    @Override
    public void onOthers(Runnable ended, Consumer<Existing> erased) {
        this.othersEnded = ended;
        this.erased = erased;
    }

    private void hint(String task) {
        logs.stream()
                .filter(log -> !log.equals(this) && log.followed.getOrDefault(task, 0L) > simulation.now())
                .forEach(log -> log.hear(() -> log.hints.accept(Set.of(task))));
    }

    /** Passes a hint on to this hub, now or later, or loses it. */
    void hear(Runnable hint) {
        if (process.isAlive() && random.nextInt(1_000) >= luck.get().lostHints()) {
            process.start("hint", () -> {
                sleep(random.nextInt(4) == 0 ? random.nextInt(2_000) : random.nextInt(5));
                hint.run();
            });
        }
    }

    /** Tells this hub that others have ended. */
    void hearOfEnd() {
        hear(() -> othersEnded.run());
    }

    // ---- Reading

    /** Before and after each look into the database other threads may run. The look may meet a standby. */
    <T> T read(Function<Long, T> answer) {
        simulation.mayYield();
        if (database.isDown()) {
            throw new Fault("could not read");
        }
        if (timeline != database.timeline()) {
            requireStream();
        }
        long at = database.newest();
        if (random.nextInt(1_000) < luck.get().staleReads()) {
            if (database.mutants.contains(Mutant.STALE_COPY)) {
                at = Math.max(0, at - 1 - random.nextInt(12));
            } else {
                simulation.mayYield(); // it says that it is a standby, and the server that is written is asked
            }
        }
        T found = answer.apply(Math.min(at, database.newest()));
        simulation.mayYield();
        return found;
    }

    @Override
    public Optional<Head> find(TaskKey key) {
        return read(at -> Optional.ofNullable(database.tasks.get(key, at)).map(TaskRow::head));
    }

    @Override
    public List<LoggedEvent> read(TaskKey key, long after, int limit) {
        return read(at -> {
            TaskRow row = database.tasks.get(key, at);
            return row == null
                    ? List.of()
                    : row.events().stream()
                            .filter(event -> event.sequence() > after)
                            .limit(limit)
                            .toList();
        });
    }

    @Override
    public List<TaskKey> changed(Map<TaskKey, Long> known) {
        return read(at -> known.entrySet().stream()
                .filter(task -> {
                    TaskRow row = database.tasks.get(task.getKey(), at);
                    return row == null || row.head().lastSequence() != task.getValue();
                })
                .map(Map.Entry::getKey)
                .toList());
    }

    @Override
    public Optional<Head> find(String group, String taskId) {
        return read(at -> database.tasks
                .values(at)
                .map(TaskRow::head)
                .filter(head -> head.key().taskId().equals(taskId)
                        && head.key().scope().group().equals(group))
                .findFirst());
    }

    @Override
    public Optional<Cause> cause(TaskKey key) {
        return read(at -> Optional.ofNullable(database.tasks.get(key, at)).map(TaskRow::cause));
    }

    @Override
    public Optional<String> taskOf(MessageKey key) {
        return read(at -> Optional.ofNullable(database.messages.get(key, at))
                .map(SimulatedDatabase.MessageRow::taskId)
                .filter(id -> database.tasks.get(new TaskKey(key.scope(), key.agent(), id), at) != null));
    }

    @Override
    public TaskMail mail() {
        return mail;
    }

    // ---- Takeover

    @Override
    public List<Head> unfinished() {
        return database.allTasks().stream()
                .map(TaskRow::head)
                .filter(head -> !head.state().isSettled())
                .toList();
    }

    @Override
    public List<Head> interrupted() {
        return database.allTasks().stream()
                .filter(row -> row.owner() == stream)
                .map(TaskRow::head)
                .toList();
    }

    @Override
    public List<Head> takeOver(Set<String> agents, int limit) {
        if (read(at -> database.left(agents).findAny()).isEmpty()) {
            return List.of();
        }
        return written(commit -> database.takeOver(commit, stream, agents, limit));
    }

    // ---- Erasure

    @Override
    public List<Head> about(Subject subject, @Nullable String after, int limit) {
        return read(at -> database.tasks
                .values(at)
                .map(TaskRow::head)
                .filter(head -> head.key().scope().group().equals(subject.group())
                        && head.key().scope().owner().equals(subject.principal()))
                .filter(head -> after == null || head.key().taskId().compareTo(after) > 0)
                .limit(limit)
                .toList());
    }

    @Override
    public void erase(List<TaskKey> tasks) {
        var unused = written(commit -> {
            tasks.forEach(task -> database.tasks.put(task, commit, null));
            return tasks;
        });
        if (!database.mutants.contains(Mutant.NO_BARRIER)) {
            logs.stream().filter(log -> !log.equals(this)).toList().forEach(this::awaitForgotten);
        }
    }

    /** Waits until another hub has forgotten the tasks that are erased, or has ended. */
    private void awaitForgotten(HubLog other) {
        boolean[] isDone = new boolean[1];
        while (!isDone[0] && database.isAlive(other.stream)) {
            if (other.process.isAlive()) {
                other.process.start("forget", () -> {
                    try {
                        other.erased.accept(other::existing);
                        isDone[0] = true;
                    } catch (RuntimeException again) {
                        simulation.mayYield();
                    }
                });
            }
            sleep(1_000);
        }
    }

    /** Has the engine compare its copies of tasks with the database. */
    void compare() {
        erased.accept(this::existing);
    }

    private Map<String, Long> existing(Set<String> ids) {
        return read(at -> database.tasks
                .values(at)
                .map(TaskRow::head)
                .filter(head -> ids.contains(head.key().taskId()))
                .collect(Collectors.toMap(head -> head.key().taskId(), Head::lastSequence)));
    }

    void sleep(int millis) {
        try {
            simulation.sleep(process, Duration.ofMillis(millis));
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    int chance(int bound) {
        return random.nextInt(bound);
    }
}
