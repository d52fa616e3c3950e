package dev.parley.cli.task;

import dev.parley.cli.command.Invocation;
import dev.parley.dialect.Json;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;

/** Output about a task: the result, and the command to go on with. */
public final class TaskReport {
    private final Invocation call;
    private final TaskState expected;
    private boolean lastNamedTask;

    TaskReport(Invocation call) {
        this(call, TaskState.COMPLETED);
    }

    /** @param expected the end state that needs no warning */
    TaskReport(Invocation call, TaskState expected) {
        this.call = call;
        this.expected = expected;
    }

    /** A task as the whole result of a command. */
    public void task(Task task) {
        boolean history = call.has("--history") || call.reports().verbose();
        call.output().result(() -> Json.write(task), page -> {
            TextView.of(call).task(page, task, !history);
            if (history) {
                TextView.of(call).history(page, task);
            }
        });
        next(task);
    }

    /** Prints the answer to a message. */
    public void sent(SendResult result) {
        switch (result) {
            case Task task -> {
                call.output()
                        .result(
                                () -> Json.writeEvent(task),
                                page -> TextView.of(call).task(page, task));
                next(task);
            }
            case Message message -> event(message);
        }
    }

    /** One event of a stream. */
    public void event(TaskEvent event) {
        lastNamedTask = !(event instanceof TaskArtifactUpdateEvent);
        if (event instanceof TaskArtifactUpdateEvent produced && isText(produced.artifact())) {
            grow(produced);
            return;
        }
        call.output().result(() -> Json.writeEvent(event), page -> {
            TextView.of(call).event(page, event);
            page.gap();
        });
    }

    private boolean isText(Artifact artifact) {
        return !call.output().isJson()
                && !call.reports().verbose()
                && !artifact.parts().isEmpty()
                && artifact.parts().stream().allMatch(part -> part instanceof Part.Text && part.filename() == null);
    }

    /** Shows the pieces of an artifact as one text that grows. */
    private void grow(TaskArtifactUpdateEvent produced) {
        Artifact artifact = produced.artifact();
        if (!produced.append()) {
            call.output().endBlock();
        }
        for (Part part : artifact.parts()) {
            call.output()
                    .grow(
                            artifact.artifactId(),
                            page -> TextView.identity(page, artifact),
                            "Text",
                            ((Part.Text) part).text());
        }
        if (produced.lastChunk()) {
            call.output().endBlock();
        }
    }

    /** Prints the end of a stream: the state, which the last event may not have shown. */
    public void streamed(SendResult result) {
        if (result instanceof Task task) {
            if (!call.output().isJson() && !lastNamedTask) {
                identity(task);
            }
            next(task);
        }
    }

    /** Writes the ids and the state of a task as text. */
    void identity(Task task) {
        call.output().result(() -> new byte[0], page -> TextView.identity(page, task));
    }

    /** Names an outcome that is not a success, and the command to go on with. */
    public void next(Task task) {
        TaskState state = task.state();
        String id = Invocation.quoted(task.id());
        if (state.isInterrupted()) {
            call.output().aside("Resume", call.command("send", "--task-id", id, "\"<reply>\""));
        } else if (!state.isTerminal()) {
            call.output().aside("Poll", call.command("task", "get", "--wait", id));
        }
        if (state.isSettled() && state != expected) {
            Message reason = task.status().message();
            String why = reason == null || reason.text().isEmpty() ? "" : ": " + reason.text();
            call.output().warn("the task is in " + TextView.name(state) + why);
        }
    }
}
