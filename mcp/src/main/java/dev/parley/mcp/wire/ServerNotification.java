package dev.parley.mcp.wire;

import dev.parley.mcp.McpTask;
import dev.parley.mcp.wire.ServerResult.Nothing;
import dev.parley.mcp.wire.ServerResult.ResultMeta;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Notification of a server. Source: MCP 2026-07-28, ServerNotification. */
public sealed interface ServerNotification {
    /** Progress of a request, which has given the token. */
    record Progress(
            Object progressToken,
            Number progress,
            @Nullable Number total,
            @Nullable String message) implements ServerNotification {
        private static final Codec<Progress> CODEC = ObjectCodec.<Progress>of()
                .required("progressToken", Codecs.FREE, Progress::progressToken)
                .required("progress", Lenient.DECIMAL, Progress::progress)
                .optional("total", Lenient.DECIMAL, Progress::total)
                .optional("message", Lenient.TEXT, Progress::message)
                .as(v -> new Progress(v.next(), v.next(), v.next(), v.next()));
    }

    /** A log message: a text or an object. */
    record Logged(String level, Object data) implements ServerNotification {
        private static final Codec<Logged> CODEC = ObjectCodec.<Logged>of()
                .required("level", Codecs.TEXT, Logged::level)
                .required("data", Codecs.FREE, Logged::data)
                .as(v -> new Logged(v.next(), v.next()));
    }

    /**
     * Changes that a client subscribes to, or that a server has accepted to send.
     *
     * @param uris of resources; null for none
     * @param taskIds null for none
     */
    record Interests(
            boolean tools,
            boolean prompts,
            boolean resources,
            @Nullable List<String> uris,
            @Nullable List<String> taskIds) {
        private static final Codec<Interests> CODEC = ObjectCodec.<Interests>of()
                .optional("toolsListChanged", Lenient.BOOLEAN, false, Interests::tools)
                .optional("promptsListChanged", Lenient.BOOLEAN, false, Interests::prompts)
                .optional("resourcesListChanged", Lenient.BOOLEAN, false, Interests::resources)
                .optional("resourceSubscriptions", Lenient.TEXTS, Interests::uris)
                .optional("taskIds", Lenient.TEXTS, Interests::taskIds)
                .as(v -> new Interests(v.next(), v.next(), v.next(), v.next(), v.next()));

        /** Reads those of a request {@code subscriptions/listen}. */
        public static Interests of(McpMessage.Request request) {
            return RequestModel.read(CODEC, Trees.map(request.params(), "notifications"));
        }
    }

    /** The first notification of a subscription. */
    record Acknowledged(Interests notifications) implements ServerNotification {
        private static final Codec<Acknowledged> CODEC = ObjectCodec.<Acknowledged>of()
                .required("notifications", Interests.CODEC, Acknowledged::notifications)
                .as(v -> new Acknowledged(v.next()));
    }

    /** A change of a task. */
    record TaskChanged(McpTask task) implements ServerNotification {}

    /** A change of a resource. */
    record ResourceUpdated(String uri) implements ServerNotification {}

    /** @param kind {@code tools}, {@code prompts} or {@code resources} */
    record ListChanged(String kind) implements ServerNotification {}

    /** @param subscription id of the request that opened the subscription; null for none */
    default McpMessage message(@Nullable Object subscription) {
        return switch (this) {
            case Progress progress -> message("progress", Progress.CODEC, progress, subscription);
            case Logged logged -> message("message", Logged.CODEC, logged, subscription);
            case Acknowledged accepted ->
                message("subscriptions/acknowledged", Acknowledged.CODEC, accepted, subscription);
            case TaskChanged(var task) -> message("tasks", ResultModel.TASK, task, subscription);
            case ResourceUpdated(var uri) -> message("resources/updated", RequestModel.URI, uri, subscription);
            case ListChanged(var kind) -> message(kind + "/list_changed", Nothing.CODEC, new Nothing(), subscription);
        };
    }

    private static <T> McpMessage message(String name, Codec<T> codec, T content, @Nullable Object subscription) {
        Map<String, @Nullable Object> params = Trees.of(codec, content);
        if (subscription != null) {
            params.put("_meta", Trees.of(ResultMeta.CODEC, new ResultMeta(subscription, null)));
        }
        return new McpMessage.Notification("notifications/" + name, params);
    }
}
