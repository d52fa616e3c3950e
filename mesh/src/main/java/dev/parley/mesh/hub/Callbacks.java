package dev.parley.mesh.hub;

import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.spi.Headers;
import dev.parley.dialect.spi.Notification;
import dev.parley.mesh.Envelope;
import dev.parley.mesh.Envelope.Handling;
import dev.parley.mesh.Envelope.Party;
import dev.parley.mesh.EnvelopeModel;
import dev.parley.mesh.MeshContent;
import dev.parley.mesh.MeshProtocol;
import dev.parley.mesh.Reports;
import dev.parley.mesh.RetryPolicy;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.support.Sha256;
import java.time.Instant;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Messages about tasks to the addresses that delegations name. */
final class Callbacks {
    private static final int DONE = 100;

    private Callbacks() {}

    /**
     * The webhook of a callback.
     *
     * @param agentUrl address of the agent that sends the messages; its place is the tenant, as no other member names the interface
     * @param receiver agent id of the receiver
     */
    static PushConfig config(String agentUrl, @Nullable String taskId, String receiver, String callback) {
        return new PushConfig(agentUrl, receiver, taskId, callback, null, null);
    }

    /** The message about an event of a task; null if it says nothing new. */
    static @Nullable Notification notification(PushConfig config, LoggedEvent event, Supplier<Task> history) {
        if (event.event() instanceof Message) {
            return null;
        }
        Task task = history.get();
        if (task.state() == TaskState.SUBMITTED) {
            return null; // which its acceptance said
        }
        String id = task.id() + "\n" + event.sequence();
        if (event.event() instanceof TaskArtifactUpdateEvent update) {
            return notification(config, task, id, Reports.piece(task.id(), update.artifact()));
        }
        Notification last = notification(config, task, id, Reports.of(task, 0));
        return task.state() == TaskState.COMPLETED
                ? last.after(notification(
                        config, task, id + "\nprogress", new MeshContent.Status(task.id(), DONE, null, null, null)))
                : last;
    }

    private static Notification notification(PushConfig config, Task task, String id, MeshContent content) {
        EnvelopeMembers terms = EnvelopeMembers.of(task);
        String sender = requireNonNullElse(config.tenant(), "");
        var envelope = new Envelope(
                "one-" + Sha256.hex(id).substring(0, 32), // the same for each attempt
                requireNonNullElse(terms.correlationId(), task.contextId()),
                requireNonNullElse(task.status().timestamp(), Instant.now()),
                Party.of(name(sender), sender + MeshProtocol.SUFFIX),
                Party.of(requireNonNullElse(config.id(), "unknown"), config.url()),
                EnvelopeModel.body(content),
                Handling.DEFAULT);
        envelope = terms.key() == null ? envelope : envelope.encrypted(terms.key()::encrypt);
        var notification =
                new Notification(Headers.JSON, envelope.headers(), JsonText.write(EnvelopeModel.ENVELOPE, envelope));
        RetryPolicy retries = terms.retries();
        return retries == null ? notification : notification.retrying(retries.maxRetries(), retries.pauses());
    }

    private static String name(String agentUrl) {
        String name = agentUrl.substring(agentUrl.lastIndexOf('/') + 1);
        return name.isEmpty() ? "unknown" : name;
    }
}
