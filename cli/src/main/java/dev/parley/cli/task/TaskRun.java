package dev.parley.cli.task;

import dev.parley.cli.command.Invocation;
import dev.parley.cli.connection.AgentConnection;
import dev.parley.dialect.Json;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Part;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A task from its message to its end, with the exit status of AgentVault: 0 completed, 1 failed, 2 canceled or waiting for its caller.
 *
 * <p>Source: AgentVault 1.0.0, command {@code run}.
 */
public final class TaskRun {
    private static final int LARGE = 1_024;
    private static final int SHOWN = 1_000;
    private static final Set<TaskState> UNFINISHED =
            Set.of(TaskState.CANCELED, TaskState.INPUT_REQUIRED, TaskState.AUTH_REQUIRED);

    private TaskRun() {}

    public static int run(Invocation call, AgentConnection agent, Message message) throws InterruptedException {
        var request =
                new Operation.SendMessage(null, message, new SendConfiguration(List.of(), null, null, true), Map.of());
        SendResult result = new TaskWait(agent, call, event -> {}).send(request);
        if (!(result instanceof Task task)) {
            new TaskReport(call).sent(result);
            return 0;
        }
        Map<String, Path> saved = save(call, task);
        saved.values().forEach(file -> call.output().note("Saved: " + file));
        call.output().result(() -> Json.write(task), page -> {
            TextView.identity(page, task);
            Message reason = task.status().message();
            page.field("Message", reason == null ? null : reason.text());
            for (Message answer : TextView.answers(task)) {
                page.block("Message", answer.text());
            }
            for (Artifact artifact : task.artifacts()) {
                for (int i = 0; i < artifact.parts().size(); i++) {
                    Path file = saved.get(artifact.artifactId() + i);
                    if (file == null) {
                        page.block(
                                "Artifact " + artifact.artifactId(),
                                shown(artifact.parts().get(i)));
                    } else {
                        page.field("Artifact " + artifact.artifactId(), file);
                    }
                }
            }
        });
        new TaskReport(call).next(task);
        return task.state() == TaskState.COMPLETED ? 0 : UNFINISHED.contains(task.state()) ? 2 : 1;
    }

    /** Saves the large parts of artifacts; files by artifact and part. */
    private static Map<String, Path> save(Invocation call, Task task) {
        var saved = new TreeMap<String, Path>();
        String directory = call.option("--output-artifacts");
        if (directory == null) {
            return saved;
        }
        var folder = new DownloadFolder(call.path(directory), false);
        for (Artifact artifact : task.artifacts()) {
            for (int i = 0; i < artifact.parts().size(); i++) {
                Part part = artifact.parts().get(i);
                byte[] bytes = TaskDownloadCommand.bytes(part);
                if (bytes != null && bytes.length > LARGE) {
                    String name = artifact.artifactId().replaceAll("[^A-Za-z0-9._-]", "_")
                            + (artifact.parts().size() == 1 ? "" : "-" + i)
                            + TaskDownloadCommand.extension(part);
                    saved.put(artifact.artifactId() + i, folder.save(null, name, bytes));
                }
            }
        }
        return saved;
    }

    private static String shown(Part part) {
        byte[] bytes = TaskDownloadCommand.bytes(part);
        if (bytes == null || part instanceof Part.Raw) {
            return bytes == null ? ((Part.Url) part).url() : bytes.length + " bytes";
        }
        String text = new String(bytes, StandardCharsets.UTF_8);
        return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "…";
    }
}
