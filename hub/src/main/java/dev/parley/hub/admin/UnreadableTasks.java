package dev.parley.hub.admin;

import dev.parley.engine.Engine;
import dev.parley.engine.UnreadableTask;
import dev.parley.extension.AdminHandler;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Handler that lists interrupted tasks which cannot be resumed because they cannot be read. */
final class UnreadableTasks {
    private final Engine engine;

    UnreadableTasks(Engine engine) {
        this.engine = engine;
    }

    Map<String, AdminHandler> handlers() {
        return Map.of(
                "tasks/unreadable",
                (given, by) -> Map.of(
                        "tasks",
                        engine.unreadable().stream().map(UnreadableTasks::shown).toList()));
    }

    private static Map<String, @Nullable Object> shown(UnreadableTask task) {
        var shown = new LinkedHashMap<String, @Nullable Object>();
        shown.put("taskId", task.taskId());
        shown.put("agent", task.agent());
        shown.put("group", task.group());
        shown.put("since", Objects.toString(task.since()));
        shown.put("reason", task.reason());
        return shown;
    }
}
