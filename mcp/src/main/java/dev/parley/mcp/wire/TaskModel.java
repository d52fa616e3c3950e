package dev.parley.mcp.wire;

import static dev.parley.mcp.wire.Lenient.NUMBER;
import static dev.parley.mcp.wire.Lenient.TEXT;

import dev.parley.mcp.McpTask;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.Shape;
import java.util.Map;

/** JSON of tasks, those of other programs too. */
public final class TaskModel {
    private TaskModel() {}

    public static final Codec<McpTask> TASK = Shape.<McpTask>of()
            .always("taskId", TEXT, "", McpTask::taskId)
            .always("status", TEXT, "", McpTask::status)
            .optional("statusMessage", TEXT, McpTask::statusMessage)
            .optional("createdAt", TEXT, McpTask::createdAt)
            .optional("lastUpdatedAt", TEXT, McpTask::lastUpdatedAt)
            .optional("pollIntervalMs", NUMBER, McpTask::pollIntervalMs)
            .always("ttlMs", Codecs.FREE, Codecs.NULL, task -> task.ttlMs() == null ? Codecs.NULL : task.ttlMs())
            .optional(
                    "result",
                    Codecs.via(Lenient.OBJECT, ResultModel::call, result -> Trees.of(ResultModel.CALL, result)),
                    McpTask::result)
            .optional("error", Envelope.ERROR, McpTask::error)
            .optional(
                    "inputRequests",
                    Codecs.via(Codecs.FREE, Trees::objects, requests -> requests),
                    Map.of(),
                    McpTask::inputRequests)
            .as(TaskModel::task);

    private static McpTask task(Shape.Values v) {
        return new McpTask(
                v.next(),
                v.next(),
                v.next(),
                v.next(),
                v.next(),
                v.next(),
                v.next() instanceof Number ttl ? (Long) ttl.longValue() : null,
                v.next(),
                v.next(),
                v.next());
    }
}
