package dev.parley.mesh.workflow;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.client.spi.ClientException;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.mesh.Reports;
import dev.parley.mesh.workflow.StepCall.Progress;
import dev.parley.mesh.workflow.Workflow.Need;
import dev.parley.mesh.workflow.Workflow.Step;
import dev.parley.mesh.workflow.WorkflowOperation.StepState;
import dev.parley.mesh.workflow.WorkflowRun.Happening;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One turn of a run: begins the steps that are ready, and writes what happens to them as events of the run's task, until the run has
 * ended or only questions are left. Runs on the thread of the agent; calls of steps have threads of their own.
 */
final class RunTurn {
    /** Member of the metadata with the id of the last answer that a step got. */
    private static final String ANSWERED = "one/answered";

    /** Member of the metadata that says that the results of the resumed run are kept. */
    private static final String KEPT = "one/kept";

    /** Member of the metadata with the bytes of results that steps have got. */
    private static final String BYTES = "one/bytes";

    /** Member of the metadata that each run has which has begun: the share of its steps that have ended, in percent. */
    static final String PROGRESS = "progress";

    private static final Duration LONGEST = Duration.ofHours(1);

    private final Request request;
    private final Reply reply;
    private Workflow workflow;
    private final WorkflowRun run;
    private final StepInputs inputs;
    private final StepAgents agents;
    private final InstantSource clock;
    private final BlockingQueue<Progress> progress = new LinkedBlockingQueue<>();
    private final Map<String, StepCall> calls = new LinkedHashMap<>();
    private final Map<String, Instant> repeats = new HashMap<>();
    /** Attempts for which an agent was chosen, by steps with needs. */
    private final Map<String, Integer> chosen = new HashMap<>();

    private final Map<String, List<Part>> results = new HashMap<>();
    /** Metadata of the next event. */
    private Map<String, @Nullable Object> news = new LinkedHashMap<>();

    RunTurn(Request request, Reply reply, Workflow workflow, StepAgents agents, InstantSource clock) {
        this.request = request;
        this.reply = reply;
        this.workflow = workflow.chosen(Choice.of(metadata(request)));
        this.agents = agents;
        this.clock = clock;
        this.run = WorkflowRun.of(workflow, Happening.of(workflow, metadata(request)));
        long used = metadata(request).get(BYTES) instanceof Number bytes ? bytes.longValue() : 0;
        this.inputs = new StepInputs(this.workflow, run, this::results, allowance(request), used);
    }

    /** Bytes that the steps of a run may get, which a run of which it is a step limits. */
    private static long allowance(Request request) {
        Message first = request.task()
                .filter(task -> !task.history().isEmpty())
                .map(task -> task.history().getFirst())
                .orElse(request.message());
        return first.metadata().get(StepMessage.ALLOWANCE) instanceof Number bytes
                ? Math.max(0, bytes.longValue())
                : StepInputs.MOST_OF_RUN;
    }

    private static Map<String, @Nullable Object> metadata(Request request) {
        return request.task().map(Task::metadata).orElse(Map.of());
    }

    /** Takes over the results of the steps of another run that completed, once. */
    void keep(Task ended) {
        if (metadata(request).containsKey(KEPT)) {
            return;
        }
        Map<String, Choice> choices = Choice.of(ended.metadata());
        for (Happening happening : Happening.of(workflow, ended.metadata())) {
            String id = happening.step();
            if (happening.state() == StepState.COMPLETED && run.state(id) == StepState.WAITING) {
                var unused = run.apply(happening);
                news.put(WorkflowRun.KEY + id, happening.record());
                Choice choice = choices.get(id);
                if (choice != null) {
                    news.put(Choice.KEY + id, choice.record());
                    workflow = workflow.chosen(Map.of(id, choice));
                }
            }
        }
        news.put(KEPT, true);
    }

    void go() throws InterruptedException {
        try {
            if (request.task().isEmpty() || !news.isEmpty()) {
                write();
            }
            resume();
            List<Step> ready = run.ready();
            while (true) {
                ready.forEach(this::begin);
                if (calls.isEmpty() && repeats.isEmpty() && progress.isEmpty()) {
                    break;
                }
                if (!news.isEmpty()) {
                    write();
                }
                ready = awaitNext();
            }
            end();
        } finally {
            calls.values().forEach(request.isCanceled() ? StepCall::cancel : StepCall::stop);
        }
    }

    /** Goes on with the steps that had begun, and gives an answer of the caller to the step that asked. */
    private void resume() {
        boolean answer = request.isFollowUp()
                && !request.message().messageId().equals(metadata(request).get(ANSWERED));
        for (Step step : workflow.steps().values()) {
            String taskId = run.taskId(step.id());
            switch (run.state(step.id())) {
                case RUNNING -> call(step, run.attempts(step.id()), null, taskId);
                case INPUT_REQUIRED -> {
                    if (answer && taskId != null) {
                        answer = false;
                        answer(step, taskId);
                    }
                }
                case COMPLETED, WAITING, FAILED, SKIPPED, CANCELED -> {}
            }
        }
    }

    private void answer(Step step, String taskId) {
        news.put(ANSWERED, request.message().messageId());
        int attempt = run.attempts(step.id());
        happened(new Progress(Happening.begun(step.id(), attempt, taskId), List.of()));
        Function<AgentCard, Message> message =
                card -> StepMessage.answer(request.taskId(), step, taskId, request.message(), card);
        call(step, attempt, message, taskId);
    }

    private void begin(Step ready) {
        int attempt = run.attempts(ready.id()) + 1;
        try {
            Step step = performed(requireNonNull(workflow.steps().get(ready.id())), attempt);
            Vote vote = step.counted();
            if (vote != null) {
                progress.add(counted(step, vote, attempt));
                return;
            }
            StepInputs.Inputs of = inputs.of(step);
            news.put(BYTES, inputs.used());
            call(
                    step,
                    attempt,
                    card -> {
                        if (!step.isBallot()) {
                            StepAgents.requireSkill("task", step.agent(), step.task(), card);
                        }
                        return StepMessage.of(request.taskId(), step, attempt, of, inputs.ofInnerRun(), card);
                    },
                    null);
        } catch (A2AException | ClientException | InvalidField refused) {
            progress.add(failed(ready, attempt, requireNonNullElse(refused.getMessage(), "refused")));
        }
    }

    /** The step with an agent. One that is chosen is written before it is called, so that a restart calls the same. */
    private Step performed(Step step, int attempt) {
        Need need = step.need();
        if (need == null || chosenFor(step) == attempt) {
            return step;
        }
        Choice choice = agents.choose(step, need, workflow.participants(), attempt);
        workflow = workflow.chosen(Map.of(step.id(), choice));
        news.put(Choice.KEY + step.id(), choice.record());
        write();
        chosen.put(step.id(), attempt);
        return requireNonNull(workflow.steps().get(step.id()));
    }

    private int chosenFor(Step step) {
        Choice kept = Choice.of(metadata(request)).get(step.id());
        return chosen.getOrDefault(step.id(), kept == null ? 0 : kept.attempt());
    }

    private Progress counted(Step step, Vote vote, int attempt) {
        var ballots = new LinkedHashMap<String, String>();
        for (String ballot : run.completed(step)) {
            String voter = requireNonNull(workflow.steps().get(ballot)).agent();
            vote.option(StepMessage.value(results(ballot))).ifPresent(option -> ballots.put(voter, option));
        }
        Vote.Outcome outcome = vote.outcome(ballots);
        if (outcome.winner() == null) {
            return failed(step, attempt, outcome.toString());
        }
        Object result = Vote.Outcome.CODEC.toJson(outcome);
        return new Progress(
                new Happening(step.id(), StepState.COMPLETED, attempt, null, result, null), List.of(Part.data(result)));
    }

    private static Progress failed(Step step, int attempt, String problem) {
        return new Progress(new Happening(step.id(), StepState.FAILED, attempt, null, null, problem), List.of());
    }

    /** @param message by the card of the agent; null to wait for the end of the task */
    private void call(Step step, int attempt, @Nullable Function<AgentCard, Message> message, @Nullable String taskId) {
        StepCall call;
        try {
            call = new StepCall(
                    step,
                    attempt,
                    message,
                    taskId,
                    new StepCall.Target(agents.get(step.agent()), agents.toward(step.agent())),
                    clock,
                    progress::add);
        } catch (A2AException unknown) {
            progress.add(failed(step, attempt, requireNonNullElse(unknown.getMessage(), "refused")));
            return;
        }
        calls.put(step.id(), call);
        Thread.ofVirtual().name("step").start(call);
    }

    /** Result of a step that completed; after a restart of its task. */
    private List<Part> results(String id) {
        List<Part> known = results.get(id);
        if (known == null) {
            String taskId = run.taskId(id);
            Step step = requireNonNull(workflow.steps().get(id));
            if (taskId != null) {
                known = Reports.parts(read(step, taskId));
            } else {
                known = switch (run.result(id)) {
                    case null -> List.of();
                    case String text -> List.of(Part.text(text));
                    case Object data -> List.of(Part.data(data));
                };
            }
            results.put(id, known);
        }
        return known;
    }

    /** The task of a step. Read again while that may succeed: a run that is taken up by another hub often meets a busy database. */
    private Task read(Step step, String taskId) {
        for (int failures = 1; ; failures++) {
            try {
                return agents.get(step.agent()).endpoint().call(GetTask.of(taskId), agents.toward(step.agent()));
            } catch (RuntimeException unread) {
                if (!StepCall.isPassing(unread) || failures >= StepCall.MOST_TRIES) {
                    throw unread;
                }
                LockSupport.parkNanos(StepCall.PAUSES.bound(failures).toNanos());
                if (Thread.currentThread().isInterrupted()) {
                    throw unread;
                }
            }
        }
    }

    /** Waits for news of the steps, and returns those that can begin because of them. */
    private List<Step> awaitNext() throws InterruptedException {
        Instant next = repeats.values().stream().min(Instant::compareTo).orElse(Instant.MAX);
        Duration left = next.equals(Instant.MAX) ? LONGEST : Duration.between(clock.instant(), next);
        var all = new ArrayList<Progress>();
        Progress first = progress.poll(Math.max(0, left.toMillis()), TimeUnit.MILLISECONDS);
        if (first != null) {
            all.add(first);
            progress.drainTo(all);
        }
        var ready = new ArrayList<Step>();
        all.forEach(one -> ready.addAll(happened(one)));
        Instant now = clock.instant();
        repeats.entrySet().removeIf(repeat -> {
            boolean isDue = !repeat.getValue().isAfter(now);
            if (isDue) {
                ready.add(requireNonNull(workflow.steps().get(repeat.getKey())));
            }
            return isDue;
        });
        return ready;
    }

    private List<Step> happened(Progress one) {
        Happening happening = one.happening();
        String id = happening.step();
        List<Step> ready = run.apply(happening);
        StepState state = run.state(id);
        if (state == StepState.RUNNING) {
            news.put(WorkflowRun.KEY + id, happening.record());
            return ready;
        }
        calls.remove(id);
        if (state == StepState.COMPLETED) {
            results.put(id, one.parts());
        }
        if (state == StepState.WAITING) {
            Step step = requireNonNull(workflow.steps().get(id));
            repeats.put(id, clock.instant().plus(step.retryPolicy().pauses().after(happening.attempt(), null)));
        }
        news.put(WorkflowRun.KEY + id, happening.record());
        return ready;
    }

    private void write() {
        Map<String, @Nullable Object> written = news;
        news = new LinkedHashMap<>();
        written.put(PROGRESS, run.percent());
        reply.move(TaskState.WORKING, null, written);
    }

    private void end() throws InterruptedException {
        TaskState state = run.state();
        news.put(PROGRESS, run.percent());
        switch (state) {
            case COMPLETED -> {
                try {
                    writeResults();
                } catch (A2AException | ClientException unread) {
                    if (Thread.interrupted()) {
                        throw new InterruptedException();
                    }
                    Part reason = Part.text("A result cannot be read: " + unread.getMessage());
                    reply.move(TaskState.FAILED, Message.agent(reason), news);
                    return;
                }
                reply.move(state, null, news);
            }
            case INPUT_REQUIRED ->
                reply.move(state, Message.agent(Part.text(problems(StepState.INPUT_REQUIRED))), news);
            default ->
                reply.move(state, Message.agent(Part.text(problems(StepState.FAILED, StepState.CANCELED))), news);
        }
    }

    private void writeResults() {
        for (Step step : workflow.steps().values()) {
            if (workflow.isLast(step.id()) && run.state(step.id()) == StepState.COMPLETED) {
                List<Part> parts = results(step.id());
                if (!parts.isEmpty()) {
                    reply.artifact(Artifact.named(step.id(), step.id(), parts.toArray(new Part[0])));
                }
            }
        }
    }

    private String problems(StepState... states) {
        var lines = new ArrayList<String>();
        for (Step step : workflow.steps().values()) {
            String problem = run.problem(step.id());
            if (List.of(states).contains(run.state(step.id())) && problem != null) {
                lines.add(step.id() + ": " + problem);
            }
        }
        return lines.isEmpty() ? "The run has ended" : String.join("\n", lines);
    }
}
