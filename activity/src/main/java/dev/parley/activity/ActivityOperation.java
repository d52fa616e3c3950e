package dev.parley.activity;

import dev.parley.protocol.Operation;
import dev.parley.protocol.TaskState;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
     * @param after {@link TaskPage#next} of the page before
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
            states = Set.copyOf(states);
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
     */
    record TaskCounts(Map<String, Long> states, List<AgentCounts> agents) {}

    /** Numbers of tasks of an agent, by the name of the state. */
    record AgentCounts(String agent, Map<String, Long> states) {}
}
