package dev.parley.mesh.workflow;

import dev.parley.mesh.workflow.Workflow.OnError;
import dev.parley.mesh.workflow.Workflow.Step;
import dev.parley.mesh.workflow.WorkflowOperation.StepState;
import dev.parley.protocol.TaskState;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * State of a run: the fold of what has happened to its steps, in order. The same happenings lead to the same state, so that a run
 * goes on after a restart where it was. Not safe for several threads.
 */
public final class WorkflowRun {
    /** Beginning of the members of a run's metadata that keep the newest happening of a step; the id of the step stands after it. */
    public static final String KEY = "one/step/";

    /** Members of the metadata of the first message of a run: the run that it resumes, or repeats. */
    static final String RESUMES = "one/resumes";

    static final String REPEATS = "one/repeats";

    /**
     * State and result of a step.
     *
     * @param attempt from 1
     * @param taskId task of the step; null if it has none
     * @param result of a step that completed; null if there is none
     * @param problem of a step that failed; null otherwise
     */
    public record Happening(
            String step,
            StepState state,
            int attempt,
            @Nullable String taskId,
            @Nullable Object result,
            @Nullable String problem) {
        /** A step that begins. */
        public static Happening begun(String step, int attempt, String taskId) {
            return new Happening(step, StepState.RUNNING, attempt, taskId, null, null);
        }

        /** Content of an event of the run. A result is kept in the task of its step; without such a task, in the event. */
        public Map<String, @Nullable Object> record() {
            var record = new LinkedHashMap<String, @Nullable Object>();
            record.put("state", state.word());
            record.put("attempt", attempt);
            if (taskId != null) {
                record.put("taskId", taskId);
            } else if (result != null) {
                record.put("result", result);
            }
            if (problem != null) {
                record.put("problem", problem);
            }
            return record;
        }

        /** The newest happenings of the steps of a run, of the metadata of its task. */
        public static List<Happening> of(Workflow workflow, Map<String, @Nullable Object> metadata) {
            var happenings = new ArrayList<Happening>();
            for (String step : workflow.steps().keySet()) {
                if (metadata.get(KEY + step) instanceof Map<?, ?> record) {
                    happenings.add(of(step, record));
                }
            }
            return happenings;
        }

        /** A happening of what is kept of it. */
        public static Happening of(String step, Map<?, ?> record) {
            return new Happening(
                    step,
                    StepState.of(String.valueOf(record.get("state"))),
                    record.get("attempt") instanceof Number attempt ? attempt.intValue() : 1,
                    record.get("taskId") instanceof String taskId ? taskId : null,
                    record.get("result"),
                    record.get("problem") instanceof String problem ? problem : null);
        }
    }

    private static final class Progress {
        private StepState state = StepState.WAITING;
        private int attempts;
        private int missing;
        private @Nullable String taskId;
        private @Nullable Object result;
        private @Nullable String problem;

        private Progress(int missing) {
            this.missing = missing;
        }
    }

    private final Workflow workflow;
    private final Map<String, Progress> steps = new LinkedHashMap<>();
    private final Map<String, List<String>> dependants = new HashMap<>();

    /** A run of which no step has begun. */
    public WorkflowRun(Workflow workflow) {
        this.workflow = workflow;
        workflow.steps().forEach((id, step) -> {
            steps.put(id, new Progress(step.depends().size()));
            step.depends()
                    .forEach(before -> dependants
                            .computeIfAbsent(before, name -> new ArrayList<>())
                            .add(id));
        });
    }

    /** A run after all that has happened. */
    public static WorkflowRun of(Workflow workflow, Collection<Happening> happenings) {
        var run = new WorkflowRun(workflow);
        happenings.forEach(run::apply);
        return run;
    }

    /**
     * Changes the state of a step, and skips those that cannot run any more. A happening of a step that has ended, or of an attempt
     * that is over, changes nothing.
     *
     * @return the steps that can begin now, because this one has ended
     */
    public List<Step> apply(Happening happening) {
        Progress progress = of(happening.step());
        if (progress.state.isEnd() || happening.attempt() < progress.attempts) {
            return List.of();
        }
        progress.attempts = happening.attempt();
        progress.taskId = happening.taskId();
        progress.state = happening.state();
        progress.result = happening.result();
        progress.problem = happening.problem();
        Step step = step(happening.step());
        if (progress.state == StepState.FAILED && isRepeated(step, progress.attempts)) {
            progress.state = StepState.WAITING;
            return List.of();
        }
        return switch (progress.state) {
            case COMPLETED -> released(step.id());
            case FAILED -> {
                if (step.onError() == OnError.CONTINUE) {
                    yield released(step.id());
                }
                skipDependants(step.id());
                yield List.of();
            }
            case CANCELED -> {
                skipDependants(step.id());
                yield List.of();
            }
            case WAITING, RUNNING, INPUT_REQUIRED, SKIPPED -> List.of();
        };
    }

    private List<Step> released(String ended) {
        var ready = new ArrayList<Step>();
        for (String next : dependants.getOrDefault(ended, List.of())) {
            Progress progress = of(next);
            progress.missing--;
            if (progress.missing == 0 && progress.state == StepState.WAITING) {
                ready.add(step(next));
            }
        }
        return ready;
    }

    private void skipDependants(String failed) {
        var queue = new ArrayDeque<>(dependants.getOrDefault(failed, List.of()));
        for (String next = queue.poll(); next != null; next = queue.poll()) {
            Progress progress = of(next);
            if (progress.state == StepState.WAITING) {
                progress.state = StepState.SKIPPED;
                queue.addAll(dependants.getOrDefault(next, List.of()));
            }
        }
    }

    private static boolean isRepeated(Step step, int attempts) {
        return step.onError() == OnError.RETRY && attempts <= step.retryPolicy().maxRetries();
    }

    /** Steps that can begin now: those that wait for no other. After a restart, these are to be begun or repeated. */
    public List<Step> ready() {
        return workflow.steps().values().stream()
                .filter(step -> {
                    Progress progress = of(step.id());
                    return progress.state == StepState.WAITING && progress.missing == 0;
                })
                .toList();
    }

    /** Ends a run: steps that have not ended are canceled. */
    public void cancel() {
        steps.values().stream()
                .filter(progress -> !progress.state.isEnd())
                .forEach(progress -> progress.state = StepState.CANCELED);
    }

    /** The steps before a step that have completed. */
    public List<String> completed(Step step) {
        return step.depends().stream()
                .filter(before -> of(before).state == StepState.COMPLETED)
                .toList();
    }

    /** The state of the run as a task of A2A: it waits for its caller when a step does and no other can go on. */
    public TaskState state() {
        boolean failed = false;
        boolean canceled = false;
        boolean asks = false;
        boolean goesOn = false;
        for (Map.Entry<String, Progress> entry : steps.entrySet()) {
            StepState state = entry.getValue().state;
            failed |= state == StepState.FAILED && step(entry.getKey()).onError() != OnError.CONTINUE;
            canceled |= state == StepState.CANCELED;
            asks |= state == StepState.INPUT_REQUIRED;
            goesOn |= state == StepState.RUNNING || state == StepState.WAITING && entry.getValue().missing == 0;
        }
        if (goesOn) {
            return TaskState.WORKING;
        }
        if (asks) {
            return TaskState.INPUT_REQUIRED;
        }
        return failed ? TaskState.FAILED : canceled ? TaskState.CANCELED : TaskState.COMPLETED;
    }

    /** State of a step. */
    public StepState state(String step) {
        return of(step).state;
    }

    /** Attempts of a step that have begun. */
    public int attempts(String step) {
        return of(step).attempts;
    }

    /** Task of the last attempt of a step; null if none has begun. */
    public @Nullable String taskId(String step) {
        return of(step).taskId;
    }

    /** Result of a step that completed; null otherwise. */
    public @Nullable Object result(String step) {
        return of(step).result;
    }

    /** Share of the steps that have ended, in percent. */
    public int percent() {
        long ended = steps.values().stream()
                .filter(progress -> progress.state.isEnd())
                .count();
        return (int) (100 * ended / steps.size());
    }

    /** Problem of a step that failed; null otherwise. */
    public @Nullable String problem(String step) {
        return of(step).problem;
    }

    private Progress of(String step) {
        Progress progress = steps.get(step);
        if (progress == null) {
            throw new IllegalArgumentException("no step \"" + step + '"');
        }
        return progress;
    }

    private Step step(String id) {
        Step step = workflow.steps().get(id);
        if (step == null) {
            throw new IllegalArgumentException("no step \"" + id + '"');
        }
        return step;
    }
}
