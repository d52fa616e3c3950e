package dev.parley.mesh.workflow;

import dev.parley.mesh.workflow.Workflow.Step;
import dev.parley.mesh.workflow.WorkflowOperation.RunView;
import dev.parley.mesh.workflow.WorkflowOperation.StepState;
import dev.parley.mesh.workflow.WorkflowOperation.StepView;
import dev.parley.mesh.workflow.WorkflowRun.Happening;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/** Tasks of the agent {@code one}, and their events, as runs. */
final class RunViews {
    private RunViews() {}

    static RunView of(Task task, long sequence) {
        var result = new LinkedHashMap<String, @Nullable Object>();
        for (Artifact artifact : task.artifacts()) {
            result.put(artifact.artifactId(), StepMessage.value(artifact.parts()));
        }
        return new RunView(
                sequence,
                task.id(),
                task.state(),
                progress(task.metadata()),
                steps(task),
                text(task.status().message()),
                result,
                origin(task));
    }

    private static Map<String, @Nullable Object> origin(Task task) {
        var origin = new LinkedHashMap<String, @Nullable Object>();
        try {
            Message first = task.history().getFirst();
            Map<String, @Nullable Object> document = WorkflowDocument.members(first);
            for (String member : List.of("definition", "version", "inputs")) {
                put(origin, member, document.get(member));
            }
            put(origin, "resumes", first.metadata().get(WorkflowRun.RESUMES));
            put(origin, "repeats", first.metadata().get(WorkflowRun.REPEATS));
        } catch (InvalidField | NoSuchElementException rejected) {
            return Map.of();
        }
        return origin;
    }

    private static void put(Map<String, @Nullable Object> members, String name, @Nullable Object value) {
        if (value != null) {
            members.put(name, value);
        }
    }

    private static List<StepView> steps(Task task) {
        Workflow workflow;
        try {
            workflow = WorkflowDocument.of(task.history().getFirst()).checked();
        } catch (InvalidField | A2AException rejected) {
            return List.of();
        }
        Map<String, Choice> choices = Choice.of(task.metadata());
        workflow = workflow.chosen(choices);
        WorkflowRun run = WorkflowRun.of(workflow, Happening.of(workflow, task.metadata()));
        if (task.state() == TaskState.CANCELED) {
            run.cancel();
        }
        var steps = new ArrayList<StepView>();
        for (Step step : workflow.steps().values()) {
            steps.add(new StepView(
                    step.id(),
                    step.agent(),
                    step.task(),
                    step.depends(),
                    run.state(step.id()),
                    run.attempts(step.id()),
                    run.taskId(step.id()),
                    run.problem(step.id()),
                    json(choices.get(step.id()))));
        }
        return steps;
    }

    /** Steps of a workflow that has not begun. */
    static List<StepView> planned(Workflow workflow) {
        return workflow.steps().values().stream()
                .map(step -> new StepView(
                        step.id(),
                        step.agent(),
                        step.task(),
                        step.depends(),
                        StepState.WAITING,
                        0,
                        null,
                        null,
                        Map.of()))
                .toList();
    }

    /** Changes that an event brings. */
    static RunView of(String id, LoggedEvent logged) {
        return switch (logged.event()) {
            case Task task -> of(task, logged.sequence());
            case TaskStatusUpdateEvent update ->
                new RunView(
                        logged.sequence(),
                        id,
                        update.status().state(),
                        progress(update.metadata()),
                        changed(update.metadata()),
                        text(update.status().message()),
                        Map.of(),
                        Map.of());
            case TaskArtifactUpdateEvent update -> {
                var result = new LinkedHashMap<String, @Nullable Object>();
                result.put(
                        update.artifact().artifactId(),
                        StepMessage.value(update.artifact().parts()));
                yield new RunView(logged.sequence(), id, TaskState.WORKING, 100, List.of(), null, result, Map.of());
            }
            case Message received ->
                new RunView(logged.sequence(), id, TaskState.WORKING, 0, List.of(), null, Map.of(), Map.of());
        };
    }

    private static List<StepView> changed(Map<String, @Nullable Object> metadata) {
        var steps = new ArrayList<StepView>();
        Map<String, Choice> choices = Choice.of(metadata);
        metadata.forEach((key, value) -> {
            if (key.startsWith(WorkflowRun.KEY) && value instanceof Map<?, ?> record) {
                Happening happening = Happening.of(key.substring(WorkflowRun.KEY.length()), record);
                steps.add(new StepView(
                        happening.step(),
                        null,
                        null,
                        List.of(),
                        happening.state(),
                        happening.attempt(),
                        happening.taskId(),
                        happening.problem(),
                        json(choices.get(happening.step()))));
            }
        });
        return steps;
    }

    private static Map<String, @Nullable Object> json(@Nullable Choice choice) {
        return choice == null ? Map.of() : choice.record();
    }

    private static int progress(Map<String, @Nullable Object> metadata) {
        return metadata.get("progress") instanceof Number percent ? percent.intValue() : 0;
    }

    private static @Nullable String text(@Nullable Message message) {
        return message == null ? null : message.text();
    }
}
