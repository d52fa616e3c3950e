package dev.parley.mesh.workflow;

import dev.parley.protocol.Operation;
import dev.parley.protocol.TaskState;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Operations on the runs of workflows, which the agent {@code one} answers. */
public interface WorkflowOperation {
    /** State of a step. */
    enum StepState {
        /** Not begun, or to be repeated. */
        WAITING,
        RUNNING,
        /** Its task waits for an answer of the caller. */
        INPUT_REQUIRED,
        COMPLETED,
        FAILED,
        /** Not run, because a step on which it depends failed. */
        SKIPPED,
        CANCELED;

        /** True if nothing happens to the step any more. */
        public boolean isEnd() {
            return compareTo(COMPLETED) >= 0;
        }

        /** The word on the wire. */
        public String word() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }

        /** Returns the state of a word on the wire. */
        static StepState of(String word) {
            return valueOf(word.toUpperCase(Locale.ROOT).replace('-', '_'));
        }
    }

    /**
     * A step of a run.
     *
     * @param choice of the agent for a need, with its score and reasons; empty for other steps
     */
    record StepView(
            String id,
            @Nullable String agent,
            @Nullable String task,
            List<String> depends,
            StepState state,
            int attempts,
            @Nullable String taskId,
            @Nullable String problem,
            Map<String, @Nullable Object> choice) {}

    /**
     * A run.
     *
     * @param sequence number of the event after which the run is as shown; 0 if that is not known
     * @param state of the run's task
     * @param steps all steps; in a stream, after its first element, those that have changed
     * @param message a question of a step, or the reason of a failure; null for none
     * @param result results by steps on which no other depends; empty unless the run has completed
     * @param origin definition, version and inputs, and the run that this one resumes or repeats; empty for none
     */
    record RunView(
            long sequence,
            String workflowId,
            TaskState state,
            int progress,
            List<StepView> steps,
            @Nullable String message,
            Map<String, @Nullable Object> result,
            Map<String, @Nullable Object> origin) {}

    /**
     * Checks a document, a definition, or the inputs of a stored definition, without starting anything: as {@code one/workflows/run} does.
     *
     * @param document of a run, or a definition with its {@code name}
     */
    record Check(Map<String, @Nullable Object> document) implements Operation.ExtensionCall<CheckView> {
        @Override
        public String name() {
            return "one/workflows/check";
        }
    }

    /**
     * Result of a check.
     *
     * @param problems the first one that was found; empty for a document that can be run or stored
     * @param steps in the order in which they may run; empty if the document has none that could be read
     */
    record CheckView(boolean valid, List<Problem> problems, List<StepView> steps) {}

    /** @param location in the document, such as {@code workflow.steps[2].agent}; empty if it is not known */
    record Problem(String location, String message) {}

    /** A page of runs, the newest first. */
    record RunPage(List<RunView> workflows, String nextPageToken) {}

    /** An operation that starts a task; if it is sent again, another one. */
    interface Start<R> extends Operation.ExtensionCall<R> {
        @Override
        default boolean runsAgent() {
            return true;
        }

        @Override
        default boolean isRepeatable() {
            return false;
        }
    }

    /** An operation on a run. */
    interface OfRun extends Operation.ExtensionCall<RunView> {
        String workflowId();

        @Override
        default String relatedTask() {
            return workflowId();
        }
    }

    /** An operation on a vote. */
    interface OfVote extends Operation.ExtensionCall<VoteView> {
        String voteId();

        @Override
        default String relatedTask() {
            return voteId();
        }
    }

    /**
     * Starts a run.
     *
     * @param document a coordination document: as it is, in its short form with a {@code type}, or in an envelope
     */
    record Run(Map<String, @Nullable Object> document) implements Start<RunView> {
        @Override
        public String name() {
            return "one/workflows/run";
        }
    }

    /**
     * Starts a run with the document of one that failed or was canceled, which keeps the results of the steps that completed.
     *
     * @param workflowId the run that ended
     */
    record Resume(String workflowId) implements Start<RunView>, OfRun {
        @Override
        public String name() {
            return "one/workflows/resume";
        }
    }

    /** Starts a run with the document and the inputs of another. */
    record Repeat(String workflowId) implements Start<RunView>, OfRun {
        @Override
        public String name() {
            return "one/workflows/repeat";
        }
    }

    /**
     * A version of a stored definition.
     *
     * @param versions numbers of all versions
     * @param steps number of the steps
     * @param document empty in lists
     */
    record DefinitionView(
            String name,
            int version,
            @Nullable String description,
            List<Integer> versions,
            Instant savedAt,
            String savedBy,
            int steps,
            Map<String, @Nullable Object> document) {
        /** This version with another document. */
        DefinitionView withDocument(Map<String, @Nullable Object> other) {
            return new DefinitionView(name, version, description, versions, savedAt, savedBy, steps, other);
        }
    }

    /** A page of definitions, by name. */
    record DefinitionPage(List<DefinitionView> definitions, String nextPageToken) {}

    /**
     * Stores a definition as the next version of its name.
     *
     * @param document with {@code name}, and a JSON Schema as {@code inputs}
     */
    record SaveDefinition(Map<String, @Nullable Object> document) implements Operation.ExtensionCall<DefinitionView> {
        @Override
        public String name() {
            return "one/definitions/save";
        }
    }

    /**
     * Reads a definition.
     *
     * @param version null for the newest
     */
    record GetDefinition(String definition, @Nullable Integer version)
            implements Operation.ExtensionCall<DefinitionView> {
        @Override
        public String name() {
            return "one/definitions/get";
        }
    }

    /** Lists the definitions of the group. */
    record ListDefinitions(
            @Nullable Integer pageSize, @Nullable String pageToken) implements Operation.ExtensionCall<DefinitionPage> {
        @Override
        public String name() {
            return "one/definitions/list";
        }
    }

    /**
     * Deletes a definition. Its runs go on.
     *
     * @param version null for all versions
     */
    record DeleteDefinition(String definition, @Nullable Integer version)
            implements Operation.ExtensionCall<DefinitionView> {
        @Override
        public String name() {
            return "one/definitions/delete";
        }

        @Override
        public boolean isRepeatable() {
            return false;
        }
    }

    /** Reads a run. */
    record Get(String workflowId) implements OfRun {
        @Override
        public String name() {
            return "one/workflows/get";
        }
    }

    /** Cancels a run and its steps. */
    record Cancel(String workflowId) implements OfRun {
        @Override
        public String name() {
            return "one/workflows/cancel";
        }

        @Override
        public boolean isRepeatable() {
            return false;
        }
    }

    /**
     * Lists runs.
     *
     * @param state null for runs in any state
     * @param pageSize 1 to 100; null for 50
     */
    record ListRuns(
            @Nullable TaskState state,
            @Nullable Integer pageSize,
            @Nullable String pageToken) implements Operation.ExtensionCall<RunPage> {
        @Override
        public String name() {
            return "one/workflows/list";
        }
    }

    /**
     * A vote.
     *
     * @param state of its task: input-required while ballots count, then completed or canceled
     * @param voted voters who have cast their ballots
     * @param outcome null before the vote has ended
     */
    record VoteView(String voteId, TaskState state, Vote vote, List<String> voted, Vote.@Nullable Outcome outcome) {}

    /**
     * Starts a vote.
     *
     * @param document with the member {@code vote}
     */
    record StartVote(Map<String, @Nullable Object> document) implements Start<VoteView> {
        @Override
        public String name() {
            return "one/votes/start";
        }
    }

    /** Reads a vote, as the principal that began it or a voter. */
    record GetVote(String voteId) implements OfVote {
        @Override
        public String name() {
            return "one/votes/get";
        }
    }

    /**
     * Lists votes that the caller began or in which it votes, the newest status first.
     *
     * @param waiting whether only open votes are listed that miss the caller's ballot; null for no
     * @param pageSize 1 to 100; null for 50
     * @param pageToken of the page before; null for the first page
     */
    record ListVotes(
            @Nullable Boolean waiting,
            @Nullable Integer pageSize,
            @Nullable String pageToken) implements Operation.ExtensionCall<VotePage> {
        @Override
        public String name() {
            return "one/votes/list";
        }
    }

    /** @param nextPageToken null for the last page; a page may have fewer votes than its size, or none, and be followed by others */
    record VotePage(List<VoteView> votes, @Nullable String nextPageToken) {}

    /**
     * Casts the ballot of the caller. The same again changes nothing, another is refused.
     *
     * @param voter only for callers without authentication, whose name is not known; null for others
     */
    record Cast(String voteId, String option, @Nullable String voter) implements OfVote {
        @Override
        public String name() {
            return "one/votes/cast";
        }

        @Override
        public boolean runsAgent() {
            return true;
        }
    }

    /**
     * Streams the changes of a run until its end.
     *
     * @param after number of the last event that the caller has received; null to begin with the run as it stands
     */
    record Watch(String workflowId, @Nullable Long after) implements Operation.ExtensionWatch<RunView> {
        @Override
        public String name() {
            return "one/workflows/watch";
        }

        @Override
        public String relatedTask() {
            return workflowId;
        }
    }
}
