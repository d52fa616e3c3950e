package dev.parley.engine.spi;

import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.TaskState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Ordered, durable log of the events of all tasks.
 *
 * <p>Writing is asynchronous and batched; reads return written events only. Safe for any thread.
 */
public interface TaskLog extends AutoCloseable {
    /** Identifies a task: its scope, its agent and its id. */
    record TaskKey(Scope scope, String agent, String taskId) {}

    /** Says that {@code messageId} from this scope to this agent has been taken, and led to {@code taskId}. */
    record MessageKey(Scope scope, String agent, String messageId) {}

    /** Name that callers of a scope have given to one of their tasks of an agent. */
    record TaskName(Scope scope, String agent, String name) {}

    /**
     * Says that a task gets a name.
     *
     * @param before the task that has it so far, which has ended or is gone; null for none
     */
    record Naming(TaskName name, @Nullable String before) {}

    /**
     * Summary of a task, available without reading its events.
     *
     * @param lastSequence number of its newest event
     * @param statusTime when its status was recorded, to the millisecond
     */
    record Head(TaskKey key, String contextId, TaskState state, Instant statusTime, long lastSequence) {}

    /**
     * Origin of a change of a task: the caller of the newest message or cancellation. The agent acts for that caller, under
     * that trace.
     *
     * @param address from where it called; empty if that is not known
     * @param chain the agents through which it called
     */
    record Cause(String caller, String address, @Nullable String traceparent, CallChain chain) {}

    /**
     * Events of one task that go to the log together, as one row.
     *
     * @param head the task as it stands after them
     * @param events numbered without gaps; the last one is {@code head.lastSequence()}
     * @param messages messages that the events answer for; written in the same transaction
     * @param naming what callers call the task from now on, and no other any more; null for nothing new
     * @param cause caller or agent that changed the task
     * @param webhooks those that came with the messages; saved in the same transaction
     * @param before state of the task before them; null if it begins
     */
    record Segment(
            Head head,
            List<LoggedEvent> events,
            List<MessageKey> messages,
            @Nullable Naming naming,
            Cause cause,
            List<Subscription> webhooks,
            @Nullable TaskState before) {
        /** A segment with which a task begins. */
        public Segment(
                Head head,
                List<LoggedEvent> events,
                List<MessageKey> messages,
                @Nullable Naming naming,
                Cause cause,
                List<Subscription> webhooks) {
            this(head, events, messages, naming, cause, webhooks, null);
        }

        /** A segment without webhooks with which a task begins. */
        public Segment(
                Head head, List<LoggedEvent> events, List<MessageKey> messages, @Nullable Naming naming, Cause cause) {
            this(head, events, messages, naming, cause, List.of(), null);
        }
    }

    /** A task that has something to write. */
    interface Writer {
        /** The group of the task; a log that shares its time does so by group. Empty for none. */
        default String group() {
            return "";
        }

        /**
         * Returns everything that waits to be written; null if nothing does any more, because an earlier segment of the task
         * failed. Called once for each {@link TaskLog#submit}, by the log.
         */
        @Nullable
        Segment take();

        /** The segment is on disk. Called by the log, in the order of the takes; must not block. */
        void written(Segment segment);

        /**
         * The segment could not be written and is not in the log. Called by the log; must not block.
         *
         * @param cause a {@link KeyTakenException} if a message or the name leads to another task, an {@link OtherOwnerException} if another
         *     engine runs this one or has written to it
         */
        void failed(Segment segment, Exception cause);
    }

    /**
     * Queues a task for writing. What its writer gives when its turn comes is written in one transaction with what other
     * tasks have to write then.
     */
    void submit(Writer writer);

    /** When this log makes sure that a message leads to one task. */
    default Once once() {
        return Once.INDEX;
    }

    /**
     * The messages and the name that are to lead to a task which is about to begin.
     *
     * @param naming the name that the task gets; null for none
     */
    record Claim(
            MessageKey message, String taskId, @Nullable Naming naming) {}

    /**
     * Has a message lead to a task that is about to begin, before anything of the task is written; for a log of {@link Once#CLAIM}. Done when
     * the claim is on disk. The task's first segment then says the same, or the claim is {@linkplain #release released}; the claim of an
     * engine that has ended since can be taken over.
     *
     * @return fails with a {@link KeyTakenException} if the message leads to another task, or the name does; then nothing is claimed
     */
    default CompletableFuture<@Nullable Void> claim(Claim claim) {
        return CompletableFuture.completedFuture(null);
    }

    /** Gives up a claim: the task does not begin. Queued like a segment; harmless if the claim does not exist. */
    default void release(Claim claim) {}

    /** False if no message of this key is in the log, as far as that is known without looking it up. */
    default boolean mayHave(MessageKey key) {
        return true;
    }

    /**
     * Returns those of some tasks that other engines have written to, or removed: all whose newest event has not the number that is known.
     *
     * @param known numbers of the newest events that the caller knows
     */
    default List<TaskKey> changed(Map<TaskKey, Long> known) {
        return known.entrySet().stream()
                .filter(task -> !find(task.getKey()).map(Head::lastSequence).equals(Optional.of(task.getValue())))
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Says that this engine waits for events of a task that another one may write to; for the next half minute. Does not block. */
    default void follow(TaskKey task) {}

    /**
     * Has a listener told of tasks of {@link #follow} when another engine has written to them. A hint may get lost, or be given for nothing.
     *
     * @param listener receives ids of tasks, on a thread that it must not block
     */
    default void onHint(Consumer<Set<String>> listener) {}

    /** A look-up of tasks. */
    @FunctionalInterface
    interface Existing {
        /** Returns the numbers of the newest events of those tasks that exist, by their ids. */
        Map<String, Long> of(Set<String> ids);
    }

    /**
     * Tells an engine what others do, for a log of {@link Once#CLAIM}.
     *
     * @param ended called when another engine has ended, whose tasks may be taken over; must not block. May be missed
     * @param erased called when another one has erased tasks, before its call of {@link #erase} returns, and with each new connection, which
     *     may lead to an earlier state of the database; with a look-up of tasks. May block, and fails if it cannot forget them
     */
    default void onOthers(Runnable ended, Consumer<Existing> erased) {}

    /** Calls that engines hand to the owners of tasks. */
    default TaskMail mail() {
        return TaskMail.NONE;
    }

    /** The space that a group has for its tasks. */
    default Space space(String group) {
        return Space.UNLIMITED;
    }

    /** Returns the head of a task, or empty if the log does not hold it. */
    Optional<Head> find(TaskKey key);

    /** Returns the head of a task of any agent and owner in a group, or empty if the log does not hold it. */
    Optional<Head> find(String group, String taskId);

    /**
     * Returns at most {@code limit} events of a task after {@code after}, in order; empty if there are none.
     *
     * @throws DamagedTaskException if they cannot be read
     */
    List<LoggedEvent> read(TaskKey key, long after, int limit);

    /**
     * As {@link #read(TaskKey, long, int)}, but ends after the segment with which the events have so many bytes in the log. Returns an event
     * at least if there is one.
     */
    default List<LoggedEvent> read(TaskKey key, long after, int limit, int bytes) {
        return read(key, after, limit);
    }

    /**
     * Returns when the events of a task were written: times by the number of the first event that was written then, from the one with {@code
     * sequence} on. Times that are not known are left out, such as those of a task that was written once, with its end.
     */
    NavigableMap<Long, Instant> times(TaskKey key, long sequence, int limit);

    /** Returns the caller that began a task, or empty if the log does not hold it. Its address is not kept. */
    Optional<Cause> cause(TaskKey key);

    /**
     * Returns tasks that began in a W3C trace, the oldest first.
     *
     * @param group whose tasks they are; null for all groups
     * @param trace id of the trace, of 32 hexadecimal digits
     */
    List<Head> inTrace(@Nullable String group, String trace, int limit);

    /** Returns the task that a message led to, if it was written less than 24 hours ago. */
    Optional<String> taskOf(MessageKey key);

    /** Returns how many messages the tasks of a context answer for, of one scope and agent. */
    int turns(Scope scope, String agent, String contextId);

    /** Returns the task that callers call so. */
    Optional<String> taskNamed(TaskName name);

    /**
     * Filter of {@link #list}. Null means any.
     *
     * @param owner of the tasks within the group; {@link Scope#owner}
     * @param before position of the last row of a page, after which the list continues
     */
    record Query(
            String group,
            @Nullable String owner,
            String agent,
            @Nullable String contextId,
            @Nullable TaskState state,
            @Nullable Instant statusSince,
            @Nullable Position before,
            int limit) {
        /** Returns this query for the entries after {@code position}. */
        public Query after(Position position) {
            return new Query(group, owner, agent, contextId, state, statusSince, position, limit);
        }
    }

    /** A place in the order of a list: newest status first, then the greater task id. */
    record Position(Instant statusTime, String taskId) {}

    /** Rows of a list, and how many there are altogether, without regard to {@code before} and {@code limit}. */
    record Page(List<Head> heads, int total) {}

    /** Lists tasks, newest status first. */
    Page list(Query query);

    /**
     * Selection of tasks of all agents. Null, and an empty collection, mean any.
     *
     * @param owners of the tasks within a group; {@link Scope#owner}
     * @param since earliest time of the status
     * @param until latest time of the status
     * @param before position after which the list continues
     */
    record Selection(
            @Nullable String group,
            Set<String> owners,
            @Nullable String agent,
            Set<TaskState> states,
            @Nullable String contextId,
            @Nullable Instant since,
            @Nullable Instant until,
            @Nullable Position before) {
        public Selection {
            owners = Set.copyOf(owners);
            states = Set.copyOf(states);
        }

        /** Returns this selection for the entries after {@code position}. */
        public Selection after(Position position) {
            return new Selection(group, owners, agent, states, contextId, since, until, position);
        }
    }

    /** A task of a list over all agents, with the principal that began it. */
    record Listed(Head head, String caller) {}

    /**
     * Visits tasks of all agents, newest status first, until {@code visitor} returns false.
     *
     * @param lanes whether tasks of a scope and an agent are visited; called once for each that has any
     */
    void walk(Selection selection, BiPredicate<Scope, String> lanes, Predicate<Listed> visitor);

    /** Number of tasks of an owner and an agent in a state. */
    record Count(Scope scope, String agent, TaskState state, long tasks) {}

    /**
     * Counts tasks by owner, agent and state, without those that are 0.
     *
     * @param group null for all groups
     * @param owners empty for all owners
     * @param agent null for all agents
     * @param limit counts at most; those of the largest numbers are returned
     */
    List<Count> counts(@Nullable String group, Set<String> owners, @Nullable String agent, int limit);

    /** All tasks that have not ended and do not wait for their caller: what a crash interrupted. In no order. */
    List<Head> unfinished();

    /**
     * The unfinished tasks that this engine is to take up: all of them when it starts. In a log of {@link Once#CLAIM} those that it owns, also
     * by earlier segments whose commits have failed without a known outcome, which are on disk or refused by then.
     */
    default List<Head> interrupted() {
        return unfinished();
    }

    /** Shortest time for which no engine has begun or ended before tasks are taken over whose agent no engine hosts. */
    Duration LONGEST_UNHOSTED = Duration.ofMinutes(5);

    /**
     * Makes this engine the owner of unfinished tasks of engines that have ended; each task gets one new owner. For a log of {@link Once#CLAIM}.
     * Waits for the disk.
     *
     * @param agents that this engine hosts; tasks of agents that no engine hosts wait for {@link #LONGEST_UNHOSTED}
     * @return tasks that the caller is to take up or, if it does not host their agent, to end; at most {@code limit}
     */
    default List<Head> takeOver(Set<String> agents, int limit) {
        return List.of();
    }

    /** Returns the time of the newest event that was written before this log was opened; empty if that is not known. */
    default Optional<Instant> newest() {
        return Optional.empty();
    }

    /**
     * Removes tasks that have ended before {@code before}, oldest first, with all that belongs to them.
     *
     * @return how many were removed, at most {@code limit}
     */
    int removeEnded(Instant before, int limit);

    /**
     * Selection of tasks of a group: those that a principal owns or has begun, those of a context, or both.
     * Null means any.
     */
    record Subject(
            String group,
            @Nullable String principal,
            @Nullable String contextId) {}

    /** Lists the tasks of all agents that are about a subject, by their ids, after {@code after}; null for the first. */
    List<Head> about(Subject subject, @Nullable String after, int limit);

    /**
     * Removes tasks with all that belongs to them, whatever their state, so that what was said in them is nowhere in the
     * log's files either. Nothing may be written to them any more.
     */
    void erase(List<TaskKey> tasks);

    /**
     * Removes the name of a principal, and the message ids, task names and webhooks that it left behind, from the log's
     * files. To be called when its tasks are erased: rows that belong to a task stay.
     */
    void forget(String group, String principal);

    /** Writes all submitted events, then releases everything. Idempotent. */
    @Override
    void close();
}
