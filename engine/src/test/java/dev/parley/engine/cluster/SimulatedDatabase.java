package dev.parley.engine.cluster;

import static java.util.Objects.requireNonNull;

import dev.parley.engine.SimulatedThreads;
import dev.parley.engine.cluster.History.Violation;
import dev.parley.engine.spi.KeyTakenException;
import dev.parley.engine.spi.OtherOwnerException;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.Segment;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.TaskMail;
import dev.parley.protocol.LoggedEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A database that several hubs write to, by the rules of the store on PostgreSQL: a transaction is applied as a whole in the moment of its
 * commit, and only for a stream that has not ended. It can be down, lose its newest commits and be read as it was.
 */
final class SimulatedDatabase {
    /** Time without a renewal after which a hub is ended by another one. */
    static final Duration LEASE = Duration.ofSeconds(9);

    /** The same for a hub whose connection has ended. */
    private static final Duration CONNECTION = Duration.ofMillis(1_500);

    /** Rules that a simulation can leave out, to show that it finds the fault. */
    enum Mutant {
        /** What a hub writes that was ended is accepted. */
        NO_FENCE,
        /** Claims of messages are granted without a look. */
        NO_CLAIM,
        /** A standby answers as if it had all commits. */
        STALE_COPY,
        /** An erasure does not wait for the other hubs. */
        NO_BARRIER,
        /** A hub answers although its lease may be over. */
        NO_LEASE,
        /** A claim is released although its task exists, since the hub has not heard of the commit. */
        NO_LOOK_AT_RELEASE,
        /** A hub keeps its copies of tasks when the database has lost commits. */
        NO_COMPARISON
    }

    /**
     * A task.
     *
     * @param owner stream that runs it; 0 for none
     * @param author stream that has written the newest events
     */
    record TaskRow(Head head, Cause cause, List<LoggedEvent> events, long owner, long author) {}

    /** A message that leads to a task, or is to lead to one that does not exist yet. */
    record MessageRow(String taskId, long stream) {}

    /** A writer. */
    record StreamRow(long number, long group, long leaseUntil, boolean isEnded) {}

    /** A call for the owner of a task. */
    record Letter(
            long number,
            long from,
            long to,
            TaskMail.Request request,
            boolean isTaken,
            TaskMail.@Nullable Answer answer) {}

    /** A change of a transaction. Returns why it is refused, which leaves the others of its transaction as they are. */
    interface Change {
        @Nullable
        RuntimeException apply(long commit);
    }

    final Set<Mutant> mutants;
    final Versions<TaskKey, TaskRow> tasks = new Versions<>();
    final Versions<MessageKey, MessageRow> messages = new Versions<>();
    final Versions<Long, StreamRow> streams = new Versions<>();
    final Versions<Long, Letter> letters = new Versions<>();
    /** Whether the process of a stream is connected, as far as the server can see. */
    LongPredicate isConnected = stream -> true;

    /** Tasks and messages whose newest commits were lost by a failover. */
    final Set<TaskKey> tasksThatWentBack = new HashSet<>();

    final Set<MessageKey> messagesThatWentBack = new HashSet<>();
    /** Tasks of which events were refused because the database could not be written: their agent may be called again. */
    final Set<String> unwritten = new HashSet<>();

    /** Tasks whose newest events their hub does not know to be committed, with its stream. */
    final Map<TaskKey, Long> unconfirmed = new HashMap<>();

    private final SimulatedThreads threads;
    final History history;
    private final Consumer<Violation> broken;
    private long newest;
    private long lastStream;
    private long lastLetter;
    private long timeline;
    private long availableSince;
    private long downUntil;

    SimulatedDatabase(SimulatedThreads threads, History history, @Nullable Mutant mutant, Consumer<Violation> broken) {
        this.threads = threads;
        this.history = history;
        this.mutants = mutant == null ? EnumSet.noneOf(Mutant.class) : EnumSet.of(mutant);
        this.broken = broken;
    }

    long newest() {
        return newest;
    }

    /** Number of the history of the database: another one after a failover. */
    long timeline() {
        return timeline;
    }

    boolean isDown() {
        return threads.now() < downUntil;
    }

    void down(Duration time) {
        downUntil = threads.now() + time.toNanos();
        availableSince = downUntil;
        history.add(() -> "the database is down for " + time.toMillis() + " ms");
    }

    /** A standby becomes the database that lacks the newest commits. Returns how many commits were lost. */
    int failOver(int lag) {
        long kept = Math.max(0, newest - lag);
        var wentBack = tasks.dropAfter(kept);
        tasksThatWentBack.addAll(wentBack);
        messagesThatWentBack.addAll(messages.dropAfter(kept));
        streams.dropAfter(kept);
        letters.dropAfter(kept);
        timeline++;
        int lost = (int) (newest - kept);
        availableSince = threads.now();
        history.add(() -> "failover: " + lost + " commits are lost, of tasks "
                + wentBack.stream().map(TaskKey::taskId).toList());
        return lost;
    }

    // ---- Streams

    /** Begins a stream. */
    long begin() {
        long number = ++lastStream;
        streams.put(number, ++newest, new StreamRow(number, 0, leaseEnd(), false));
        return number;
    }

    private long leaseEnd() {
        return threads.now() + LEASE.toNanos();
    }

    @Nullable
    StreamRow stream(long number) {
        return streams.get(number, newest);
    }

    boolean isAlive(long number) {
        StreamRow row = stream(number);
        return row != null && !row.isEnded;
    }

    /** Whether a hub was ended; a failover may forget that. */
    boolean isEnded(long number) {
        StreamRow row = stream(number);
        return row != null && row.isEnded;
    }

    /** Renews a lease; false if the hub was ended. */
    boolean renew(long number) {
        StreamRow row = stream(number);
        if (row == null || row.isEnded) {
            return false;
        }
        streams.put(number, ++newest, new StreamRow(number, row.group, leaseEnd(), false));
        return true;
    }

    /** Ends the streams of hubs whose lease is over, or whose process has ended. Returns whether there were some. */
    boolean judge(long by) {
        if (threads.now() - availableSince < LEASE.toNanos()) {
            return false; // others could not renew their leases either
        }
        List<StreamRow> ended = streams.values(newest)
                .filter(row -> !row.isEnded && row.number != by && isGone(row))
                .toList();
        for (StreamRow row : ended) {
            streams.put(row.number, ++newest, new StreamRow(row.number, row.group, row.leaseUntil, true));
            history.add(() -> "hub " + by + " ends hub " + row.number);
        }
        return !ended.isEmpty();
    }

    private boolean isGone(StreamRow row) {
        long left = row.leaseUntil - threads.now();
        return left < 0
                || !isConnected.test(row.number)
                        && left < LEASE.minus(CONNECTION).toNanos();
    }

    // ---- Transactions

    /**
     * Commits a transaction of a stream.
     *
     * @return for each change why it was refused, or null; null if the stream has ended
     */
    @Nullable
    List<@Nullable RuntimeException> commit(long stream, long group, List<? extends Change> changes) {
        StreamRow row = stream(stream);
        boolean isEnded = row == null || row.isEnded;
        if (isEnded && !mutants.contains(Mutant.NO_FENCE)) {
            return null;
        }
        long commit = ++newest;
        if (row != null) {
            streams.put(stream, commit, new StreamRow(stream, group, row.leaseUntil, row.isEnded));
        }
        var refusals = new ArrayList<@Nullable RuntimeException>();
        boolean isWritten = false;
        for (Change change : changes) {
            RuntimeException refusal = change.apply(commit);
            refusals.add(refusal);
            isWritten |= refusal == null;
        }
        if (isEnded && isWritten) {
            broken.accept(new Violation("hub " + stream + " has ended, and writes nothing after that"));
        }
        return refusals;
    }

    /** Has a message lead to a task that is about to begin. */
    @Nullable
    RuntimeException claim(long commit, long stream, MessageKey message, String taskId) {
        RuntimeException taken = mutants.contains(Mutant.NO_CLAIM) ? null : taken(commit, stream, message, taskId);
        if (taken == null) {
            messages.put(message, commit, new MessageRow(taskId, stream));
        }
        return taken;
    }

    private @Nullable RuntimeException taken(long commit, long stream, MessageKey message, String taskId) {
        MessageRow rival = messages.get(message, commit);
        if (rival == null || rival.taskId.equals(taskId)) {
            return null;
        }
        boolean hasTask = tasks.get(new TaskKey(message.scope(), message.agent(), rival.taskId), commit) != null;
        return hasTask || rival.stream != stream && isAlive(rival.stream)
                ? new KeyTakenException(message.messageId(), !hasTask)
                : null;
    }

    void release(long commit, MessageKey message, String taskId) {
        MessageRow row = messages.get(message, commit);
        boolean hasTask = tasks.get(new TaskKey(message.scope(), message.agent(), taskId), commit) != null;
        if (row != null && row.taskId.equals(taskId) && (!hasTask || mutants.contains(Mutant.NO_LOOK_AT_RELEASE))) {
            messages.put(message, commit, null);
        }
    }

    /** Appends events of a task; returns why not, or null. */
    @Nullable
    RuntimeException append(long commit, long stream, Segment segment) {
        TaskKey key = segment.head().key();
        TaskRow before = tasks.get(key, commit);
        long previous = segment.events().getFirst().sequence() - 1;
        if (before == null && previous > 0) {
            return new Fault("task " + key.taskId() + " is gone");
        }
        if (before != null && before.owner != stream && (before.owner != 0 || before.head.lastSequence() != previous)) {
            return new OtherOwnerException(key.taskId());
        }
        if (before != null && before.head.lastSequence() != previous) {
            return new Fault("task " + key.taskId() + " has other events");
        }
        for (MessageKey message : segment.messages()) {
            RuntimeException taken = taken(commit, stream, message, key.taskId());
            if (taken != null) {
                return taken;
            }
        }
        requireOneOwner(before, key, stream);
        unconfirmed.put(key, stream);
        history.add(() -> "hub " + stream + " writes events from " + (previous + 1) + " to "
                + segment.head().lastSequence() + " of task " + key.taskId() + ": "
                + segment.head().state());
        segment.messages().forEach(message -> messages.put(message, commit, new MessageRow(key.taskId(), stream)));
        var events = new ArrayList<>(before == null ? List.<LoggedEvent>of() : before.events);
        events.addAll(segment.events());
        tasks.put(
                key,
                commit,
                new TaskRow(
                        segment.head(),
                        before == null ? segment.cause() : before.cause,
                        List.copyOf(events),
                        segment.head().state().isSettled() ? 0 : stream,
                        stream));
        return null;
    }

    /** The events of a task that runs are all written by one hub, until that has ended. */
    private void requireOneOwner(@Nullable TaskRow before, TaskKey key, long stream) {
        if (before != null && !before.head.state().isSettled() && before.author != stream && isAlive(before.author)) {
            broken.accept(new Violation(
                    "hub " + stream + " writes to task " + key.taskId() + ", which hub " + before.author + " runs"));
        }
    }

    /** Makes a stream the owner of unfinished tasks whose owner has ended. */
    List<Head> takeOver(long commit, long stream, Set<String> agents, int limit) {
        List<TaskRow> left = left(agents).limit(limit).toList();
        for (TaskRow row : left) {
            tasks.put(row.head.key(), commit, new TaskRow(row.head, row.cause, row.events, stream, row.author));
            history.add(
                    () -> "hub " + stream + " takes over task " + row.head.key().taskId());
        }
        return left.stream().map(TaskRow::head).toList();
    }

    /** The tasks of hubs that have ended. */
    Stream<TaskRow> left(Set<String> agents) {
        return tasks.values(newest)
                .filter(row -> row.owner != 0 && !isAlive(row.owner))
                .filter(row -> agents.contains(row.head.key().agent()));
    }

    // ---- Mail

    long nextLetter() {
        return ++lastLetter;
    }

    Stream<Letter> letters() {
        return letters.values(newest);
    }

    /** Marks calls for a stream as taken, and returns them. */
    List<Letter> receive(long commit, long stream, int limit) {
        List<Letter> due =
                letters().filter(letter -> isDue(letter, stream)).limit(limit).toList();
        due.forEach(letter -> letters.put(
                letter.number, commit, new Letter(letter.number, letter.from, letter.to, letter.request, true, null)));
        return due;
    }

    boolean isDue(Letter letter, long stream) {
        return letter.to == stream && !letter.isTaken && isAlive(letter.from);
    }

    void answer(long commit, long number, TaskMail.Answer answer) {
        Letter letter = letters.get(number, commit);
        if (letter != null) {
            letters.put(number, commit, new Letter(number, letter.from, letter.to, letter.request, true, answer));
        }
    }

    // ---- What callers may expect

    /** Whether a hub that may answer shows a task without its newest events, since it does not know that they are committed. */
    boolean isUnconfirmed(TaskKey key) {
        Long stream = unconfirmed.get(key);
        return stream != null && isAlive(stream);
    }

    @Nullable
    TaskRow task(TaskKey key) {
        return tasks.get(key, newest);
    }

    List<TaskRow> allTasks() {
        return tasks.values(newest).toList();
    }

    List<LoggedEvent> events(TaskKey key) {
        TaskRow row = task(key);
        return row == null ? List.of() : requireNonNull(row).events;
    }

    /** A failure of the database. */
    static final class Fault extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Fault(String problem) {
            super(problem);
        }
    }
}
