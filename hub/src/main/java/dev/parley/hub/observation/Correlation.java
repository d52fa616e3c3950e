package dev.parley.hub.observation;

import dev.parley.engine.Request;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Task;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextKey;
import org.jspecify.annotations.Nullable;

/**
 * Correlation ids of the log lines of a thread. Kept in OpenTelemetry's context, so that code that carries the span into another
 * thread carries both.
 *
 * @param task the id of the task
 * @param context the id of the conversation
 * @param message the id of the message that is worked at
 */
public record Correlation(
        @Nullable String task,
        @Nullable String context,
        @Nullable String message) {
    private static final ContextKey<Correlation> KEY = ContextKey.named("parley.correlation");
    private static final Correlation NONE = new Correlation(null, null, null);

    /** Correlation of the calling thread; empty if it works on no request. */
    public static Correlation current() {
        Correlation current = Context.current().get(KEY);
        return current == null ? NONE : current;
    }

    static Correlation of(Request request) {
        return new Correlation(
                request.taskId(), request.contextId(), request.message().messageId());
    }

    /** @param answer null if there is none yet, or none that tells more */
    static Correlation of(Operation operation, @Nullable Object answer) {
        Message sent = operation instanceof Operation.Send send ? send.message() : null;
        String message = sent == null ? null : sent.messageId();
        return switch (answer) {
            case Task task -> new Correlation(task.id(), task.contextId(), message);
            case Message reply -> new Correlation(reply.taskId(), reply.contextId(), message);
            case null, default ->
                new Correlation(operation.relatedTask(), sent == null ? null : sent.contextId(), message);
        };
    }

    Context in(Context context) {
        return context.with(KEY, this);
    }
}
