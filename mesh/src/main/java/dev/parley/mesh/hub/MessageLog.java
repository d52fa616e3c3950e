package dev.parley.mesh.hub;

import static java.util.Objects.requireNonNullElse;

import dev.parley.engine.Request;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.mesh.Envelope;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.support.LruMap;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.audit.BoundedNotes;
import java.time.InstantSource;
import java.util.Map;
import java.util.TreeMap;

/**
 * Rows of the audit for messages that no answer and no task has a row of: callbacks, refused messages, and messages of A2A that are
 * answered without a task. {@link Events} reads them. Safe for any thread.
 */
final class MessageLog {
    private static final int MOST_RECENT = 10_000;

    private final AuditTrail audit;
    private final BoundedNotes notes;

    /** Callbacks that have a row already: each attempt of a delivery has the same id. */
    private final Map<String, Boolean> recent = new LruMap<>(MOST_RECENT);

    MessageLog(AuditTrail audit) {
        this.audit = audit;
        this.notes = new BoundedNotes(audit, InstantSource.system());
    }

    /** A callback is offered to its receiver. */
    void offered(TaskKey task, Envelope callback) {
        synchronized (recent) {
            if (recent.put(callback.messageId(), true) != null) {
                return;
            }
        }
        String group = task.scope().group();
        audit.note(new AuditEntry(
                group,
                "agent:" + callback.from().agentId(),
                Events.CALLBACK,
                taskId(task, callback),
                group + "/" + callback.to().agentId(),
                callback.message().type().word(),
                "",
                "",
                detail(callback.from().agentId(), callback)));
    }

    /** The task that a callback is about, which for one elsewhere has another id than the task of the hub that follows it. */
    private static String taskId(TaskKey task, Envelope callback) {
        return callback.message().content() instanceof Map<?, ?> content && content.get("taskId") instanceof String id
                ? id
                : task.taskId();
    }

    /** A message is refused. */
    void refused(String agent, Envelope envelope, A2AException problem, CallContext caller) {
        String group = caller.scope().group();
        notes.note(group, () -> {
            Map<String, Object> detail = detail(agent, envelope);
            detail.put("sourceAgentId", envelope.from().agentId());
            detail.put(
                    "messageType",
                    envelope.message().content() == null
                            ? "unknown"
                            : envelope.message().type().word());
            detail.put("reason", MeshErrors.content(problem).message());
            return new AuditEntry(
                    group,
                    caller.caller(),
                    Events.REFUSED,
                    agent,
                    "",
                    MeshErrors.content(problem).code(),
                    caller.address(),
                    requireNonNullElse(caller.traceparent(), ""),
                    detail);
        });
    }

    /** A message of A2A is answered by a message. */
    void answered(String agent, Request request) {
        String group = request.context().scope().group();
        notes.note(group, () -> {
            var detail = new TreeMap<String, Object>();
            detail.put("agent", agent);
            detail.put("messageId", request.message().messageId());
            detail.put("contextId", request.contextId());
            return new AuditEntry(
                    group,
                    request.context().caller(),
                    Events.ANSWERED,
                    agent,
                    "",
                    "ok",
                    request.context().address(),
                    requireNonNullElse(request.context().traceparent(), ""),
                    detail);
        });
    }

    private static Map<String, Object> detail(String agent, Envelope envelope) {
        var detail = new TreeMap<String, Object>();
        detail.put("agent", agent);
        detail.put("messageId", envelope.messageId());
        detail.put("correlationId", requireNonNullElse(envelope.correlationId(), ""));
        return detail;
    }
}
