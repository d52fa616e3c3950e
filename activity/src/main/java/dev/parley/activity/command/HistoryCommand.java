package dev.parley.activity.command;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.activity.ActivityOperation.EventView;
import dev.parley.activity.ActivityOperation.History;
import dev.parley.activity.ActivityOperation.Reach;
import dev.parley.activity.ActivityOperation.ReadHistory;
import dev.parley.activity.ActivityProtocol;
import dev.parley.command.CommandCall;
import dev.parley.command.Parameters;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley task history}. */
final class HistoryCommand extends HubCommand {
    private static final int DEFAULT_MOST = 1_000;

    @Override
    public void describe(CommandSpec spec) {
        spec.addPositional(Parameters.argument(0, true, "TASK-ID", "The task."));
        spec.addOption(Parameters.option("--after", "NUMBER", "Begin after the event of this number."));
        spec.addOption(Parameters.option("--most", "N", "Limit of events; default: 1000."));
        spec.addOption(Parameters.option("--group", "GROUP", "Group of the task; for operators."));
    }

    @Override
    public int run(CommandCall call) throws InterruptedException {
        Integer most = call.number("--most", 1, Integer.MAX_VALUE);
        Integer after = call.number("--after", 0, Integer.MAX_VALUE);
        var reach = new Reach(call.option("--group"), null);
        return connect(call, hub -> {
            int left = most == null ? DEFAULT_MOST : most;
            Long place = after == null ? 0L : (Long) after.longValue();
            while (place != null && left > 0) {
                var read = new ReadHistory(
                        call.requiredArgument(0), place, Math.min(left, ActivityProtocol.MAX_EVENTS), reach);
                History history = read(hub, read, "Task not found: " + read.taskId());
                history.events().forEach(event -> show(call, event));
                left -= history.events().size();
                place = history.next();
            }
            return 0;
        });
    }

    private static void show(CommandCall call, EventView event) {
        if (call.output().isJson()) {
            call.output().print(new String(ActivityProtocol.json(event), UTF_8) + "\n");
        } else {
            call.output().line(event.number() + "  " + event.at() + "  " + text(event.event()));
        }
    }

    /** Returns an event as one line: its kind, its state or artifact, and its text. */
    private static String text(Map<String, @Nullable Object> event) {
        if (event.containsKey(EventView.DAMAGED)) {
            return "damaged";
        }
        if (event.get("statusUpdate") instanceof Map<?, ?> update) {
            return "status  " + status(update.get("status"));
        }
        if (event.get("artifactUpdate") instanceof Map<?, ?> update
                && update.get("artifact") instanceof Map<?, ?> artifact) {
            Object name = artifact.get("name") == null ? artifact.get("artifactId") : artifact.get("name");
            return "artifact  " + name + texts(artifact.get("parts"));
        }
        if (event.get("task") instanceof Map<?, ?> task) {
            String message = task.get("history") instanceof List<?> history && !history.isEmpty()
                    ? said(history.getFirst())
                    : "";
            return "task  " + status(task.get("status")) + message;
        }
        return "message" + said(event.get("message"));
    }

    private static String status(@Nullable Object status) {
        return status instanceof Map<?, ?> members
                ? TasksCommand.word(String.valueOf(members.get("state"))) + said(members.get("message"))
                : "";
    }

    private static String said(@Nullable Object message) {
        return message instanceof Map<?, ?> members ? texts(members.get("parts")) : "";
    }

    private static String texts(@Nullable Object parts) {
        var text = new StringBuilder();
        if (parts instanceof List<?> list) {
            for (Object part : list) {
                if (part instanceof Map<?, ?> members && members.get("text") != null) {
                    text.append("  ").append(members.get("text"));
                }
            }
        }
        return text.toString();
    }
}
