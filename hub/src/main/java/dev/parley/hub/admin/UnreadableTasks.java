package dev.parley.hub.admin;

import static dev.parley.extension.AnswerSchema.answer;
import static dev.parley.hub.admin.AdminOperations.UNREADABLE_TASK;

import dev.parley.engine.Engine;
import dev.parley.engine.spi.UnreadableTask;
import dev.parley.extension.AdminHandler;
import java.util.Map;

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

    private static Map<String, Object> shown(UnreadableTask task) {
        return answer(UNREADABLE_TASK, task.taskId(), task.agent(), task.group(), task.since(), task.reason());
    }
}
