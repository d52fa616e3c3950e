package dev.parley.cli.task;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.connection.AgentConnection;
import dev.parley.cli.output.PrettyJson;
import dev.parley.command.CommandException;
import dev.parley.dialect.Json;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code parley task download}: writes the parts of a task's artifacts below one directory, and nowhere else. */
public final class TaskDownloadCommand {
    private TaskDownloadCommand() {}

    public static Command command() {
        return Command.of(TaskDownloadCommand::run)
                .optional("TASK-ID", "The task.")
                .option("--dir", "DIR", "Directory to save in; default: the current one. Created if missing.")
                .option("--artifact", "ID", "Only this artifact.")
                .flag("--force", "Overwrite files instead of choosing another name.");
    }

    private static int run(Invocation call) throws InterruptedException {
        String id = call.taskId();
        String dir = call.option("--dir");
        Path directory = dir == null ? call.around().directory() : call.path(dir);
        return AgentConnection.open(call, agent -> {
            Task task = agent.client().call(Operation.GetTask.of(id), CallContext.anonymous());
            List<Artifact> artifacts = chosen(call, task);
            var saved = new ArrayList<Path>();
            var folder = new DownloadFolder(directory, call.has("--force"));
            for (Artifact artifact : artifacts) {
                save(call, folder, artifact, saved);
            }
            report(call, task, saved);
            return 0;
        });
    }

    private static List<Artifact> chosen(Invocation call, Task task) {
        String only = call.option("--artifact");
        if (only == null) {
            return task.artifacts();
        }
        List<Artifact> chosen = task.artifacts().stream()
                .filter(artifact -> artifact.artifactId().equals(only))
                .toList();
        if (chosen.isEmpty()) {
            List<String> ids =
                    task.artifacts().stream().map(Artifact::artifactId).toList();
            throw CommandException.usage(
                    "no artifact " + only + " (expected: one of " + String.join(", ", ids) + ")", null);
        }
        return chosen;
    }

    private static void save(Invocation call, DownloadFolder folder, Artifact artifact, List<Path> saved) {
        for (int i = 0; i < artifact.parts().size(); i++) {
            Part part = artifact.parts().get(i);
            String fallback = artifact.artifactId() + "-" + i + extension(part);
            byte[] bytes = bytes(part);
            if (bytes == null) {
                call.output().note("not fetched: " + ((Part.Url) part).url());
            } else {
                saved.add(folder.save(part.filename(), fallback, bytes));
            }
        }
    }

    static byte @Nullable [] bytes(Part part) {
        return switch (part) {
            case Part.Text text -> text.text().getBytes(StandardCharsets.UTF_8);
            case Part.Raw raw -> raw.raw();
            case Part.Data data -> (PrettyJson.of(data.data()) + "\n").getBytes(StandardCharsets.UTF_8);
            case Part.Url url -> null;
        };
    }

    static String extension(Part part) {
        String known = part.mediaType() == null ? null : MessageParts.extension(part.mediaType());
        if (known != null) {
            return known;
        }
        return switch (part) {
            case Part.Text text -> ".txt";
            case Part.Data data -> ".json";
            case Part.Raw raw -> ".bin";
            case Part.Url url -> "";
        };
    }

    private static void report(Invocation call, Task task, List<Path> saved) {
        if (saved.isEmpty()) {
            call.output().warn("nothing to save: the task has no artifacts with content");
        }
        if (call.output().isJson()) {
            saved.forEach(file -> call.output().note("Saved: " + file));
        }
        call.output().result(() -> Json.write(task), page -> {
            TextView.identity(page, task);
            saved.forEach(file -> page.field("Saved", file));
        });
    }
}
