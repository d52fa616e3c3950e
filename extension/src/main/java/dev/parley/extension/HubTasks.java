package dev.parley.extension;

import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.Count;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.Listed;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.Page;
import dev.parley.engine.spi.TaskLog.Query;
import dev.parley.engine.spi.TaskLog.Selection;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import java.time.Instant;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Tasks of all agents of a hub, as they are on disk, for views of an extension. Reads are not authorized: the extension has to limit
 * them to the group of its caller, and within the group to tasks that the caller may see. For the tasks that a caller can list itself,
 * {@link HubAgents#endpoint} suffices. Safe for any thread.
 */
public interface HubTasks {
    /** Lists the tasks of an agent in a group, of one owner or of all, newest status first. */
    Page list(Query query);

    /**
     * Visits tasks of all agents, newest status first, until {@code visitor} returns false. Reads pages of a few rows: to be called within
     * {@link dev.parley.store.database.Database#scan}.
     *
     * @param lanes whether tasks of a scope and an agent are visited; called once for each that has any
     */
    void walk(Selection selection, BiPredicate<Scope, String> lanes, Predicate<Listed> visitor);

    /**
     * Counts tasks by owner, agent and state, without those that are 0.
     *
     * @param group null for all groups
     * @param owners empty for all owners
     * @param agent null for all agents
     * @param limit counts at most; those of the largest numbers are returned
     */
    List<Count> counts(@Nullable String group, Set<String> owners, @Nullable String agent, int limit);

    /**
     * Returns at most {@code limit} events of a task after {@code after}, in order; empty if there are none.
     *
     * @throws dev.parley.engine.spi.DamagedTaskException if they cannot be read
     */
    List<LoggedEvent> read(TaskKey key, long after, int limit);

    /** As {@link #read(TaskKey, long, int)}, but ends soon after the events have so many bytes. Returns an event at least if there is one. */
    List<LoggedEvent> read(TaskKey key, long after, int limit, int bytes);

    /**
     * Returns when the events of a task were written: times by the number of the first event that was written then, from the one with {@code
     * sequence} on. Times that are not known are left out, such as those of a task that was written once, with its end.
     */
    NavigableMap<Long, Instant> times(TaskKey key, long sequence, int limit);

    /** Returns a task of any agent and owner in a group. */
    Optional<Head> find(String group, String taskId);

    /** Returns the newest task of a name, which callers of 0.1 and the Agentic Kernel give to tasks of an agent. */
    Optional<String> named(Scope scope, String agent, String name);

    /** Returns the task that a message led to, if it was written less than 24 hours ago. */
    Optional<String> taskOf(MessageKey key);

    /** Names of agents {@linkplain HubAgents#host hosted by endpoints} that have a task of that id of any owner in a group. */
    List<String> remote(String group, String taskId);

    /**
     * Reads a task as it stands and the events after that, also of an agent that does not stream to its callers. Not for agents without
     * tasks of the hub.
     *
     * @throws dev.parley.protocol.A2AException TASK_NOT_FOUND if there is no such task
     */
    Feed<LoggedEvent> follow(TaskKey key);

    /**
     * Returns tasks that began in a W3C trace, the oldest first.
     *
     * @param group whose tasks they are; null for all groups
     * @param trace id of the trace, of 32 hexadecimal digits
     */
    List<Head> inTrace(@Nullable String group, String trace, int limit);

    /** Returns the principal that began a task, its trace, and the chain of agents; empty if the task does not exist. */
    Optional<Cause> cause(TaskKey key);
}
