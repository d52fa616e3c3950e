package dev.parley.hub;

import dev.parley.dialect.WireAnswer;
import dev.parley.engine.Engine;
import dev.parley.engine.UnreadableTask;
import dev.parley.protocol.CallContext;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** For operators: interrupted tasks that cannot be taken up because they cannot be read. {@code GET /unreadable} lists them. */
final class UnreadableTasks implements AdminPages {
    private final Engine engine;

    UnreadableTasks(Engine engine) {
        this.engine = engine;
    }

    @Override
    public WireAnswer answer(AdminRequest request, CallContext operator) {
        if (request.steps() != 1 || !request.step(0).equals("unreadable")) {
            throw request.nothingHere();
        }
        request.requireGet();
        return AdminRequest.json(Map.of(
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
