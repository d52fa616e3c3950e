package dev.parley.activity;

import dev.parley.protocol.Operation;
import dev.parley.protocol.TaskState;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Operations of the agent {@code activity}, and their answers. */
public interface ActivityOperation {
    /**
     * Tasks to be seen: by default the caller's own, and those that its group shares. Only the scope {@code admin} permits other ones.
     *
     * @param group another group, or {@code *} for all; null for that of the caller
     * @param owner principal whose tasks are meant; null for all of another group
     */
    record Reach(@Nullable String group, @Nullable String owner) {
        public static final Reach OWN = new Reach(null, null);

        /** Whether this is the default. */
        public boolean isOwn() {
            return group == null && owner == null;
        }
    }

    /**
     * Lists tasks over all agents, the newest status first. Null, and an empty set, mean any.
     *
     * @param caller principal that began the task
     * @param since earliest time of the status
     * @param until latest time of the status
     * @param words words that all have to occur in the title, the status, the agent or an id
     * @param after the {@code next} of the page before
     * @param pageSize 1 to 200; null for 50
     */
    record FindTasks(
            @Nullable String agent,
            @Nullable String contextId,
            Set<TaskState> states,
            @Nullable String caller,
            @Nullable Instant since,
            @Nullable Instant until,
            @Nullable String words,
            @Nullable String after,
            @Nullable Integer pageSize,
            Reach reach)
            implements Operation.ExtensionCall<TaskPage> {
        public FindTasks {
            // Sorted, since tokens of pages depend on their text.
            states = Collections.unmodifiableSet(new TreeSet<>(states));
        }

        /** The newest tasks of an agent; of all agents for null. */
        public static FindTasks of(@Nullable String agent) {
            return new FindTasks(agent, null, Set.of(), null, null, null, null, null, null, Reach.OWN);
        }

        /** A page of these tasks. */
        public FindTasks page(@Nullable String after, int pageSize) {
            return new FindTasks(agent, contextId, states, caller, since, until, words, after, pageSize, reach);
        }

        @Override
        public String name() {
            return "activity/tasks";
        }
    }

    /**
     * A task in a list.
     *
     * @param updated time of its status
     * @param created null if that is not known
     * @param caller principal that began it
     * @param group null in lists of one group
     * @param title beginning of its first message
     * @param status beginning of the text of its newest status
     * @param progress in percent
     * @param events number of its events
     * @param artifacts null if it has many events
     */
    record TaskView(
            String taskId,
            String agent,
            String contextId,
            TaskState state,
            Instant updated,
            @Nullable Instant created,
            String caller,
            @Nullable String group,
            @Nullable String title,
            @Nullable String status,
            @Nullable Integer progress,
            long events,
            @Nullable Integer artifacts) {}

    /**
     * A page of tasks. A page may have no tasks although there are more: it ends after a quarter of a second.
     *
     * @param next for {@link FindTasks#after} of the next page; null at the end
     */
    record TaskPage(List<TaskView> tasks, @Nullable String next) {}

    /**
     * Reads a task and its events, the oldest first.
     *
     * @param after number of the last event of the page before; 0 for the first page
     * @param limit 1 to 500; null for 100
     */
    record ReadHistory(String taskId, long after, @Nullable Integer limit, Reach reach)
            implements Operation.ExtensionCall<History> {
        /** The first events of a task. */
        public static ReadHistory of(String taskId) {
            return new ReadHistory(taskId, 0, null, Reach.OWN);
        }

        @Override
        public String name() {
            return "activity/task";
        }

        @Override
        public String relatedTask() {
            return taskId;
        }
    }

    /**
     * A page of the history of a task.
     *
     * @param next number for {@link ReadHistory#after} of the next page; null at the end
     */
    record History(
            TaskView task, List<EventView> events, @Nullable Long next) {}

    /**
     * An event.
     *
     * @param number from 1 without gaps
     * @param at when it was written, or the time of its status if that is not known
     * @param event a StreamResponse of A2A 1.0; only {@value #DAMAGED}, which is true, for events from this one on that cannot be read
     */
    record EventView(long number, Instant at, Map<String, @Nullable Object> event) {
        public static final String DAMAGED = "damaged";
    }

    /**
     * Counts tasks by state.
     *
     * @param agent null for all agents
     */
    record CountTasks(@Nullable String agent, Reach reach) implements Operation.ExtensionCall<TaskCounts> {
        @Override
        public String name() {
            return "activity/counts";
        }
    }

    /**
     * Numbers of tasks.
     *
     * @param states by the name of the state
     * @param agents those with the most tasks, by name; at most 1,000
     * @param place up to which all changes are counted; a reader of the changes adds those after it only
     */
    record TaskCounts(Map<String, Long> states, List<AgentCounts> agents, String place) {}

    /**
     * Watches the changes of tasks, and of the agents of the hub.
     *
     * @param agent only changes of this agent and its tasks; null for all
     * @param taskId only changes of this task; null for all
     * @param after place of the last change that the caller has: its {@link Change#position}; 0 for none, null for new ones only
     */
    record WatchChanges(
            @Nullable String agent,
            @Nullable String taskId,
            @Nullable String after,
            Reach reach) implements Operation.ExtensionWatch<Change> {
        /** New changes of an agent; of all agents for null. */
        public static WatchChanges of(@Nullable String agent) {
            return new WatchChanges(agent, null, null, Reach.OWN);
        }

        @Override
        public String name() {
            return "activity/changes";
        }
    }

    /**
     * A change. Changes of kind {@link Kind#TASK} are kept, and have a number, and a place after which a stream can be resumed; the others are
     * shown to those that watch at the time.
     *
     * @param number of the audit; 0 for none. Numbers are in the order of the changes if one hub makes them, otherwise those of each task at a
     *     time at one hub
     * @param place of the stream after the change, if hubs work at the same time; null if that is the number, and for none
     * @param before state before; null for a task that begins, and if that is not known
     * @param caller principal that began, continued or canceled the task, or for which its agent works
     * @param trace W3C trace context of its call
     * @param group null in streams of one group
     * @param text of the agent with its progress
     * @param change of an agent
     */
    record Change(
            long number,
            @Nullable String place,
            Instant at,
            Change.Kind kind,
            @Nullable String taskId,
            @Nullable String agent,
            @Nullable String contextId,
            @Nullable TaskState state,
            @Nullable TaskState before,
            @Nullable String caller,
            @Nullable String trace,
            @Nullable String group,
            @Nullable String text,
            @Nullable Hosting change) {
        /** Kind of a change. */
        public enum Kind {
            /** A task has another state. */
            TASK,
            /** A task has events that leave its state as it was. */
            PROGRESS,
            /** An agent is hosted, or no longer. */
            AGENT,
            /** The audit log has new rows. */
            AUDIT,
            /** Agents of the hub were called. */
            CALLS,
            /** The hub refuses new tasks or changes, or accepts them again. */
            HUB,
            /** Changes were left out here. */
            GAP,
            /** The caller has all changes up to the number. */
            POSITION
        }

        /** Change of an agent. */
        public enum Hosting {
            HOSTED,
            REMOVED
        }

        /** The caller has all changes up to this place; those that it does not see are left out. */
        public static Change position(String place, Instant at) {
            return of(at, Kind.POSITION, null, null, null, null, null).before(place);
        }

        /** Changes without numbers were left out. */
        public static Change gap(Instant at) {
            return of(at, Kind.GAP, null, null, null, null, null);
        }

        /** A task has events that leave its state as it was. */
        public static Change progress(Instant at, String taskId, String agent, String group, @Nullable String text) {
            return of(at, Kind.PROGRESS, taskId, agent, group, text, null);
        }

        /** An agent is hosted, or no longer. */
        public static Change ofAgent(Instant at, String agent, boolean isHosted) {
            Hosting change = isHosted ? Hosting.HOSTED : Hosting.REMOVED;
            return of(at, Kind.AGENT, null, agent, null, null, change);
        }

        /** The audit log has new rows. */
        public static Change ofAudit(Instant at) {
            return of(at, Kind.AUDIT, null, null, null, null, null);
        }

        /** Agents of the hub were called: its measures have changed. */
        public static Change ofCalls(Instant at) {
            return of(at, Kind.CALLS, null, null, null, null, null);
        }

        /** The hub began to refuse new tasks or changes, or to accept them again. */
        public static Change ofHub(Instant at) {
            return of(at, Kind.HUB, null, null, null, null, null);
        }

        /** A change without a number. */
        private static Change of(
                Instant at,
                Kind kind,
                @Nullable String taskId,
                @Nullable String agent,
                @Nullable String group,
                @Nullable String text,
                @Nullable Hosting change) {
            return new Change(0, null, at, kind, taskId, agent, null, null, null, null, null, group, text, change);
        }

        /** The place after which a stream goes on behind this change; null if it has none. */
        public @Nullable String position() {
            return place == null && number > 0 ? Long.toString(number) : place;
        }

        /** This change with a place of the stream after it. */
        public Change before(String next) {
            boolean isOnly = kind == Kind.POSITION && next.indexOf('.') < 0;
            long own = isOnly ? Long.parseLong(next) : number;
            return new Change(
                    own,
                    own > 0 && next.equals(Long.toString(own)) ? null : next,
                    at,
                    kind,
                    taskId,
                    agent,
                    contextId,
                    state,
                    before,
                    caller,
                    trace,
                    group,
                    text,
                    change);
        }

        /** This change in a stream of one group. */
        public Change withoutGroup() {
            return group == null
                    ? this
                    : new Change(
                            number, place, at, kind, taskId, agent, contextId, state, before, caller, trace, null, text,
                            change);
        }
    }

    /**
     * Reads the tasks of a trace as spans.
     *
     * @param trace id of a W3C trace, or of a task, which stands for the trace in which it began
     */
    record ReadTrace(String trace, Reach reach) implements Operation.ExtensionCall<Trace> {
        /** The trace of an id, as the caller sees it. */
        public static ReadTrace of(String trace) {
            return new ReadTrace(trace, Reach.OWN);
        }

        @Override
        public String name() {
            return "activity/trace";
        }
    }

    /**
     * A trace.
     *
     * @param trace id of the W3C trace; null for the tasks below a task that began in none
     * @param spans the oldest first
     * @param hasMore whether spans were left out
     * @param link page of a tracing backend; null if the hub is not configured for one
     */
    record Trace(
            @Nullable String trace,
            List<Span> spans,
            boolean hasMore,
            @Nullable String link) {}

    /**
     * A task of a trace, or a row of the audit log.
     *
     * @param id of the task
     * @param parent id of the span within which it began; null for none, and for one that the caller does not see
     * @param agent that works on the task; target of a row
     * @param caller principal of the call
     * @param name beginning of the first message of a task; action of a row
     * @param ended null while a task is running
     * @param state of a task, such as {@code TASK_STATE_WORKING}; outcome of a row, which may be the name of an error
     * @param error beginning of the text with which a task failed
     */
    record Span(
            String id,
            @Nullable String parent,
            Span.Kind kind,
            String agent,
            String caller,
            String name,
            Instant started,
            @Nullable Instant ended,
            String state,
            @Nullable String error,
            List<SpanEvent> events) {
        /** Kind of a span. */
        public enum Kind {
            TASK,
            AUDIT
        }

        /** This span within another one. */
        public Span within(@Nullable String span) {
            return new Span(id, span, kind, agent, caller, name, started, ended, state, error, events);
        }
    }

    /**
     * An event of a task.
     *
     * @param state of a status
     * @param text beginning of its text, or name of the artifact
     */
    record SpanEvent(
            Instant at,
            SpanEvent.Kind kind,
            @Nullable TaskState state,
            @Nullable String text) {
        /** Kind of an event. */
        public enum Kind {
            STATUS,
            ARTIFACT,
            MESSAGE
        }
    }

    /** Numbers of tasks of an agent, by the name of the state. */
    record AgentCounts(String agent, Map<String, Long> states) {}
}
