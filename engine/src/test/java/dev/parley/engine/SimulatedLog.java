package dev.parley.engine;

import static java.util.Objects.requireNonNull;

import dev.parley.engine.spi.KeyTakenException;
import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.OtherOwnerException;
import dev.parley.engine.spi.PushStore;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskMail;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A log with a writer that commits in groups, as the database does: commits take time, fail now and then, and all at once
 * while the disk is full. What is not committed when its process crashes is lost.
 */
final class SimulatedLog implements TaskLog {
    /** An injected failure of the log. */
    static final class Fault extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Fault(String problem) {
            super(problem);
        }
    }

    /** Name of the artifact that an agent emits after its question. */
    static final String LATE = "late";

    /** Faults of a log that a simulation has to find. */
    enum LogFault {
        /** Claims are granted without a look. */
        IGNORES_CLAIMS,
        /** A process goes on to find the head of a task that it has found first. */
        SHOWS_OLD_HEADS,
        /** Tasks of a process that has ended are given to each process that asks for them. */
        SHARES_TAKEOVERS,
        /** Claims of queues of webhooks are granted without a look. */
        IGNORES_SENDERS
    }

    /** The part that survives a crash. */
    static final class Disk {
        final MemoryTaskLog log;
        /** The tasks in the order of their first commits. */
        private final Map<TaskKey, Integer> order = new HashMap<>();
        /** Tasks that were removed because they ended long ago, by their ids. */
        final Set<String> removed = new HashSet<>();
        /** Whether no commit succeeds. */
        boolean full;
        /** How often of a thousand times a commit, or a read, fails nevertheless. */
        int faults;

        /** When a message gets its task: by a claim if there are several processes. */
        Once once = Once.INDEX;

        @Nullable
        LogFault fault;

        final SimulatedMail.Box mail = new SimulatedMail.Box();

        /** Messages of tasks that are yet to be written. */
        private final Map<MessageKey, Claimed> claims = new HashMap<>();
        /** The processes that write to tasks. */
        private final Map<TaskKey, SimulatedThreads.Machine> owners = new HashMap<>();

        /** The processes that have written the events of tasks. */
        private final Map<TaskKey, List<SimulatedThreads.Machine>> authors = new HashMap<>();
        /** The processes that have got tasks of ended ones, for a log with a fault. */
        private final Map<TaskKey, Set<SimulatedThreads.Machine>> left = new HashMap<>();

        /** Processes that send the events of webhooks. */
        private final Map<PushStore.Queue, Sender> senders = new HashMap<>();
        /** Processes after whose end all webhooks have to be looked at. */
        private final Set<SimulatedThreads.Machine> announcing = new HashSet<>();

        private record Claimed(String taskId, SimulatedThreads.Machine process) {}

        /** @param process null if it has left the queue to others */
        private record Sender(SimulatedThreads.@Nullable Machine process, boolean isMarked) {}

        Disk(SimulatedThreads simulation) {
            this.log = new MemoryTaskLog(simulation);
        }

        /** Returns why a message does not lead to a task; null if it does from now on. */
        private @Nullable KeyTakenException claim(Claim claim, SimulatedThreads.Machine process) {
            KeyTakenException taken = fault == LogFault.IGNORES_CLAIMS ? null : taken(claim.message(), claim.taskId());
            if (taken == null) {
                claims.put(claim.message(), new Claimed(claim.taskId(), process));
            }
            return taken;
        }

        private @Nullable KeyTakenException taken(MessageKey message, String taskId) {
            Claimed claimed = claims.get(message);
            if (claimed != null && !claimed.taskId.equals(taskId) && claimed.process.isAlive()) {
                return new KeyTakenException(message.messageId(), true);
            }
            return log.taskOf(message).orElse(taskId).equals(taskId)
                    ? null
                    : new KeyTakenException(message.messageId(), false);
        }

        private void release(MessageKey message, String taskId) {
            claims.computeIfPresent(message, (key, claimed) -> claimed.taskId.equals(taskId) ? null : claimed);
        }

        private void release(Segment segment) {
            segment.messages()
                    .forEach(message -> release(message, segment.head().key().taskId()));
        }

        private PushStore.ClaimResult claim(PushStore.Queue queue, SimulatedThreads.Machine process) {
            Sender before = senders.get(queue);
            if (before == null || process.equals(before.process) || fault == LogFault.IGNORES_SENDERS) {
                senders.put(queue, new Sender(process, false));
                return PushStore.ClaimResult.GRANTED;
            }
            senders.put(queue, new Sender(before.process, true));
            return PushStore.ClaimResult.TAKEN;
        }

        private boolean release(PushStore.Queue queue, SimulatedThreads.Machine process) {
            return senders.remove(queue, new Sender(process, false)) || fault == LogFault.IGNORES_SENDERS;
        }

        private void abandon(Collection<PushStore.Queue> queues, SimulatedThreads.Machine process) {
            queues.forEach(queue -> senders.computeIfPresent(
                    queue, (key, sender) -> process.equals(sender.process) ? new Sender(null, true) : sender));
        }

        private Set<PushStore.Queue> marked(Set<PushStore.Queue> queues, SimulatedThreads.Machine process) {
            return queues.stream()
                    .filter(queue -> new Sender(process, true).equals(senders.get(queue)))
                    .collect(Collectors.toCollection(LinkedHashSet::new));
        }

        private boolean releaseEnded() {
            boolean hasEnded = announcing.removeIf(process -> !process.isAlive());
            return senders.values().removeIf(sender -> sender.process == null || !sender.process.isAlive()) || hasEnded;
        }

        List<LoggedEvent> events(TaskKey key) {
            return log.read(key, 0, Integer.MAX_VALUE);
        }

        List<TaskKey> tasks() {
            return order.keySet().stream()
                    .filter(key -> log.find(key).isPresent())
                    .sorted(Comparator.comparing(order::get))
                    .toList();
        }

        /** Whether the process of a task has ended; with a fault also whether it had, unless this process has asked before. */
        private boolean isLeft(TaskKey key, SimulatedThreads.Machine process) {
            boolean isLeft = !requireNonNull(owners.get(key)).isAlive();
            if (fault == LogFault.SHARES_TAKEOVERS && (isLeft || left.containsKey(key))) {
                return left.computeIfAbsent(key, any -> new HashSet<>()).add(process);
            }
            return isLeft;
        }

        /** The process that runs a task; null if none does. */
        SimulatedThreads.@Nullable Machine runner(TaskKey key) {
            return log.find(key).filter(head -> !head.state().isSettled()).isPresent() ? owners.get(key) : null;
        }

        private boolean isOfAnother(Segment segment, SimulatedThreads.Machine process) {
            Head before = log.find(segment.head().key()).orElse(null);
            long last = before == null ? 0 : before.lastSequence();
            return segment.events().getFirst().sequence() != last + 1
                    || before != null
                            && !before.state().isSettled()
                            && fault != LogFault.SHARES_TAKEOVERS
                            && !process.equals(owners.get(segment.head().key()));
        }

        /** What an agent emits after its question is stored only as long as no other process has written to the task. */
        private void requireNotSuperseded(Segment segment, SimulatedThreads.Machine process) {
            TaskKey key = segment.head().key();
            List<LoggedEvent> before = events(key);
            List<SimulatedThreads.Machine> by = authors.getOrDefault(key, List.of());
            int question = before.size() - 1;
            while (question >= 0
                    && !(process.equals(by.get(question))
                            && before.get(question).event() instanceof TaskStatusUpdateEvent moved
                            && moved.status().state().isInterrupted())) {
                question--;
            }
            if (segment.events().stream().anyMatch(event -> isLate(event.event())) && question >= 0) {
                Simulation.require(
                        Invariant.ONE_LIVE_TASK,
                        by.subList(question, by.size()).stream().allMatch(process::equals),
                        "a handler of task %s writes nothing after another process",
                        key.taskId());
            }
        }

        private static boolean isLate(TaskEvent event) {
            return event instanceof TaskArtifactUpdateEvent update
                    && LATE.equals(update.artifact().name());
        }

        /** Returns why a segment was refused; null if it is stored. */
        private @Nullable RuntimeException store(Segment segment, SimulatedThreads.Machine process) {
            TaskKey key = segment.head().key();
            if (once == Once.CLAIM && isOfAnother(segment, process)) {
                release(segment);
                return new OtherOwnerException(key.taskId());
            }
            KeyTakenException taken = segment.messages().stream()
                    .map(message -> fault == LogFault.IGNORES_CLAIMS
                                    && claims.get(message) != null
                                    && log.taskOf(message).isEmpty()
                            ? null
                            : taken(message, key.taskId()))
                    .filter(Objects::nonNull)
                    .findFirst()
                    .orElse(null);
            release(segment);
            if (taken != null) {
                return taken;
            }
            requireNotSuperseded(segment, process);
            segment.events()
                    .forEach(event -> authors.computeIfAbsent(key, any -> new ArrayList<>())
                            .add(process));
            owners.put(key, process);
            order.putIfAbsent(key, order.size());
            List<LoggedEvent> before = events(key);
            Simulation.require(
                    Invariant.NUMBERED,
                    segment.events().getFirst().sequence() == before.size() + 1L,
                    "events of task %s are numbered without gaps: %s after %s",
                    key.taskId(),
                    segment.events().getFirst().sequence(),
                    before.size());
            Task task = null;
            for (LoggedEvent event : before) {
                task = event.event().applyTo(task);
            }
            for (LoggedEvent event : segment.events()) {
                task = event.event().applyTo(task);
            }
            log.submit(new Writer() {
                @Override
                public Segment take() {
                    return segment;
                }

                @Override
                public void written(Segment stored) {}

                @Override
                public void failed(Segment lost, Exception cause) {
                    throw new AssertionError(cause);
                }
            });
            return null;
        }
    }

    private record Work(Writer writer, Segment segment) {}

    /** A claim on its way to the disk; a release of it without a result. */
    private record ClaimWork(Claim claim, @Nullable CompletableFuture<@Nullable Void> done) {}

    private final Disk disk;
    private final SimulatedThreads simulation;
    private final SimulatedThreads.Machine process;
    private final Random random;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final ArrayDeque<Writer> queue = new ArrayDeque<>();
    private final ArrayDeque<ClaimWork> claims = new ArrayDeque<>();
    private final TaskMail mail;
    private boolean closing;
    private boolean closed;

    /** For a log with a fault. */
    private final Map<TaskKey, Head> oldHeads = new HashMap<>();

    SimulatedLog(Disk disk, SimulatedThreads simulation, SimulatedThreads.Machine process, Random random) {
        this.disk = disk;
        this.simulation = simulation;
        this.process = process;
        this.random = random;
        this.mail = disk.once == Once.CLAIM ? new SimulatedMail(disk, simulation, process, random) : TaskMail.NONE;
        disk.announcing.add(process);
        process.start("writer", this::writeAll);
    }

    boolean isClosed() {
        return closed;
    }

    private void writeAll() {
        while (true) {
            var group = new ArrayList<Work>();
            lock.lock();
            try {
                while (queue.isEmpty() && claims.isEmpty() && !closing) {
                    changed.awaitUninterruptibly();
                }
                if (queue.isEmpty() && claims.isEmpty()) {
                    closed = true;
                    changed.signalAll();
                    return;
                }
            } finally {
                lock.unlock();
            }
            List<ClaimWork> claimed = drainClaims();
            for (Writer next : drain()) {
                Segment segment = next.take();
                if (segment != null) {
                    group.add(new Work(next, segment));
                }
            }
            if (!claimed.isEmpty()) {
                commitClaims(claimed);
            }
            if (!commit(group)) {
                // As the database does: each gets a transaction of its own.
                group.forEach(work -> commit(List.of(work)));
            }
        }
    }

    private List<ClaimWork> drainClaims() {
        lock.lock();
        try {
            var all = List.copyOf(claims);
            claims.clear();
            return all;
        } finally {
            lock.unlock();
        }
    }

    private void commitClaims(List<ClaimWork> works) {
        sleep(Duration.ofMillis(random.nextInt(20)));
        boolean isRefused = disk.full || random.nextInt(1_000) < disk.faults;
        for (ClaimWork work : works) {
            if (work.done == null) {
                disk.release(work.claim.message(), work.claim.taskId());
                continue;
            }
            Exception refusal = isRefused ? new Fault("disk full") : disk.claim(work.claim, process);
            tell(() -> {
                if (refusal == null) {
                    work.done.complete(null);
                } else {
                    work.done.completeExceptionally(refusal);
                }
            });
        }
    }

    @Override
    public Once once() {
        return disk.once;
    }

    @Override
    public TaskMail mail() {
        return mail;
    }

    @Override
    public CompletableFuture<@Nullable Void> claim(Claim claim) {
        var done = new CompletableFuture<@Nullable Void>();
        if (!add(new ClaimWork(claim, done))) {
            done.completeExceptionally(new Fault("the log is closed"));
        }
        return done;
    }

    @Override
    public void release(Claim claim) {
        add(new ClaimWork(claim, null));
    }

    private boolean add(ClaimWork work) {
        simulation.mayYield();
        lock.lock();
        try {
            if (!closing) {
                claims.add(work);
                changed.signalAll();
            }
            return !closing;
        } finally {
            lock.unlock();
        }
    }

    private List<Writer> drain() {
        lock.lock();
        try {
            var all = List.copyOf(queue);
            queue.clear();
            return all;
        } finally {
            lock.unlock();
        }
    }

    private boolean commit(List<Work> group) {
        sleep(Duration.ofMillis(random.nextInt(20)));
        boolean gone = group.stream()
                .anyMatch(work -> work.segment().events().getFirst().sequence() > 1
                        && disk.log.find(work.segment().head().key()).isEmpty());
        if (gone || disk.full || random.nextInt(1_000) < disk.faults) {
            if (group.size() == 1) {
                disk.release(group.getFirst().segment());
                tell(() -> group.getFirst().writer().failed(group.getFirst().segment(), new Fault("disk full")));
            }
            return group.size() <= 1;
        }
        var taken = new HashMap<Work, RuntimeException>();
        for (Work work : group) {
            RuntimeException refusal = disk.store(work.segment(), process);
            if (refusal != null) {
                taken.put(work, refusal);
            }
        }
        for (Work work : group) {
            simulation.mayYield();
            RuntimeException refusal = taken.get(work);
            tell(() -> {
                if (refusal == null) {
                    work.writer().written(work.segment());
                } else {
                    work.writer().failed(work.segment(), refusal);
                }
            });
        }
        return true;
    }

    private void tell(Runnable news) {
        simulation.writerIsBusy(true);
        try {
            news.run();
        } catch (RuntimeException fault) {
            throw new AssertionError("the writer survives everything", fault);
        } finally {
            simulation.writerIsBusy(false);
        }
    }

    private void sleep(Duration time) {
        try {
            simulation.sleep(process, time);
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    @Override
    public void submit(Writer writer) {
        simulation.mayYield();
        boolean late;
        lock.lock();
        try {
            late = closing;
            if (!late) {
                queue.add(writer);
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
        Segment segment = late ? writer.take() : null;
        if (segment != null) {
            writer.failed(segment, new Fault("the log is closed"));
        }
    }

    /** Before and after each look into the log other threads may run, and it may fail. */
    private <T> T read(java.util.function.Supplier<T> answer) {
        simulation.mayYield();
        if (closed || random.nextInt(4_000) < disk.faults) {
            throw new Fault("could not read");
        }
        T found = answer.get();
        simulation.mayYield();
        return found;
    }

    @Override
    public Optional<Head> find(TaskKey key) {
        Optional<Head> found = read(() -> disk.log.find(key));
        return disk.fault == LogFault.SHOWS_OLD_HEADS
                ? found.map(head -> oldHeads.computeIfAbsent(key, any -> head))
                : found;
    }

    @Override
    public List<LoggedEvent> read(TaskKey key, long after, int limit) {
        List<LoggedEvent> found = read(() -> disk.log.read(key, after, limit));
        if (random.nextInt(30) == 0) {
            sleepUnlessInterrupted();
        }
        return found;
    }

    private void sleepUnlessInterrupted() {
        try {
            simulation.sleep(process, Duration.ofSeconds(5));
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public Optional<Head> find(String group, String taskId) {
        return read(() -> disk.log.find(group, taskId));
    }

    @Override
    public List<Head> inTrace(@Nullable String group, String trace, int limit) {
        return read(() -> disk.log.inTrace(group, trace, limit));
    }

    @Override
    public Optional<Cause> cause(TaskKey key) {
        return read(() -> disk.log.cause(key));
    }

    @Override
    public Optional<String> taskOf(MessageKey key) {
        return read(() -> disk.log.taskOf(key));
    }

    @Override
    public int turns(Scope scope, String agent, String contextId) {
        return disk.log.turns(scope, agent, contextId);
    }

    @Override
    public Optional<String> taskNamed(TaskName name) {
        return read(() -> disk.log.taskNamed(name));
    }

    @Override
    public Page list(Query query) {
        return read(() -> disk.log.list(query));
    }

    @Override
    public NavigableMap<Long, Instant> times(TaskKey key, long sequence, int limit) {
        return disk.log.times(key, sequence, limit);
    }

    @Override
    public void walk(Selection selection, BiPredicate<Scope, String> lanes, Predicate<Listed> visitor) {
        disk.log.walk(selection, lanes, visitor);
    }

    @Override
    public List<Count> counts(@Nullable String group, Set<String> owners, @Nullable String agent, int limit) {
        return disk.log.counts(group, owners, agent, limit);
    }

    @Override
    public List<Head> unfinished() {
        return disk.log.unfinished().stream()
                .sorted(Comparator.comparing(head -> disk.order.get(head.key())))
                .toList();
    }

    @Override
    public List<Head> interrupted() {
        return disk.once == Once.INDEX
                ? unfinished()
                : unfinished().stream()
                        .filter(head -> process.equals(disk.owners.get(head.key())))
                        .toList();
    }

    @Override
    public List<Head> takeOver(Set<String> agents, int limit) {
        return read(() -> {
            List<Head> taken = unfinished().stream()
                    .filter(head -> agents.contains(head.key().agent()))
                    .filter(head -> disk.isLeft(head.key(), process))
                    .limit(limit)
                    .toList();
            taken.forEach(head -> disk.owners.put(head.key(), process));
            return taken;
        });
    }

    @Override
    public int removeEnded(Instant before, int limit) {
        return read(() -> {
            List<PushStore.Subscription> untold = disk.log.webhooks().pending().stream()
                    .filter(webhook ->
                            webhook.delivered() < disk.events(webhook.task()).size())
                    .toList();
            List<TaskKey> tasks = disk.tasks();
            int removed = disk.log.removeEnded(before, limit);
            tasks.stream().filter(key -> disk.log.find(key).isEmpty()).forEach(key -> disk.removed.add(key.taskId()));
            // All within a day, for which a webhook keeps its task.
            untold.forEach(webhook -> Simulation.require(
                    Invariant.ONE_READ,
                    !disk.removed.contains(webhook.task().taskId()),
                    "webhook %s is told of the end of task %s before it is removed",
                    webhook.config().url(),
                    webhook.task().taskId()));
            return removed;
        });
    }

    @Override
    public List<Head> about(Subject subject, @Nullable String after, int limit) {
        return read(() -> disk.log.about(subject, after, limit).stream()
                .sorted(Comparator.comparing(head -> disk.order.get(head.key())))
                .toList());
    }

    @Override
    public void erase(List<TaskKey> tasks) {
        read(() -> {
            disk.log.erase(tasks);
            return tasks;
        });
        if (random.nextInt(1_000) < disk.faults * 5) {
            throw new Fault("what was removed is still in the write-ahead log");
        }
    }

    @Override
    public void forget(String group, String principal) {
        disk.log.forget(group, principal);
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closing = true;
            changed.signalAll();
            while (!closed) {
                changed.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    /** The webhooks beside the log, which fail like it. */
    PushStore webhooks() {
        PushStore stored = disk.log.webhooks();
        return new PushStore() {
            @Override
            public void save(Subscription subscription, Cause cause) {
                read(() -> {
                    stored.save(subscription, cause);
                    return subscription;
                });
            }

            @Override
            public Recorded advance(Subscription subscription) {
                return disk.once == Once.CLAIM && random.nextInt(10) == 0
                        ? Recorded.BUSY
                        : read(() -> stored.advance(subscription));
            }

            @Override
            public ClaimResult claim(Queue queue) {
                if (disk.once == Once.INDEX) {
                    return ClaimResult.GRANTED;
                }
                return random.nextInt(10) == 0 ? ClaimResult.BUSY : read(() -> disk.claim(queue, process));
            }

            @Override
            public boolean release(Queue queue) {
                return disk.once == Once.INDEX || read(() -> disk.release(queue, process));
            }

            @Override
            public void abandon(Collection<Queue> queues) {
                disk.abandon(queues, process);
            }

            @Override
            public boolean releaseEnded() {
                return read(disk::releaseEnded);
            }

            @Override
            public Set<Queue> marked(Set<Queue> claimed) {
                return read(() -> disk.marked(claimed, process));
            }

            @Override
            public Optional<Subscription> find(TaskKey task, String configId) {
                return read(() -> stored.find(task, configId));
            }

            @Override
            public List<Subscription> of(TaskKey task) {
                return read(() -> stored.of(task));
            }

            @Override
            public boolean delete(TaskKey task, String configId, Cause cause) {
                return read(() -> stored.delete(task, configId, cause));
            }

            @Override
            public List<Subscription> pending() {
                return stored.pending(); // read when this process starts, and when another one has ended
            }

            @Override
            public List<Subscription> pending(String channel) {
                return read(() -> stored.pending(channel));
            }

            @Override
            public List<Subscription> dead(int limit) {
                return read(() -> stored.dead(limit));
            }
        };
    }
}
