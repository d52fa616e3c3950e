package dev.parley.dialect;

import static dev.parley.dialect.Codecs.TEXT;
import static dev.parley.dialect.V1Model.nonEmpty;
import static java.util.Objects.requireNonNullElse;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The AgentVault profile 0.2: sending answers with an id, and a stream attaches to a task that exists.
 *
 * <p>A stream names its events, does not wrap them, and shows late readers the state, the messages and the artifacts that
 * were before them.
 */
final class VaultDialect extends Dialect {
    static final String NAME = "agentvault";

    private static final Codec<SendResult> ID = Codecs.via(VaultModel.ID, task -> task, result -> (Task) result);
    private static final Codec<Task> CANCELED =
            Codecs.via(VaultModel.CANCELED, VaultModel.Canceled::task, task -> new VaultModel.Canceled(true, null));

    static final OperationTable OPERATIONS = new OperationTable(
            List.of(
                    WireOperation.of(
                            SendMessage.class,
                            "tasks/send",
                            "",
                            Shape.<SendMessage>of()
                                    .optional("id", TEXT, it -> it.message().taskId())
                                    .required("message", VaultModel.MESSAGE, SendMessage::message)
                                    .optional("webhookUrl", TEXT, VaultDialect::webhook)
                                    .as(v -> send(v.next(), v.next(), v.next())),
                            ID),
                    WireOperation.of(
                            GetTask.class,
                            "tasks/get",
                            "",
                            Shape.<GetTask>of()
                                    .required("id", TEXT, GetTask::id)
                                    .as(v -> GetTask.of(v.next())),
                            VaultModel.TASK),
                    WireOperation.of(
                            CancelTask.class,
                            "tasks/cancel",
                            "",
                            Shape.<CancelTask>of()
                                    .required("id", TEXT, CancelTask::id)
                                    .as(v -> CancelTask.of(v.next())),
                            CANCELED),
                    WireOperation.of(
                            SubscribeToTask.class,
                            "tasks/sendSubscribe",
                            "",
                            Shape.<SubscribeToTask>of()
                                    .required("id", TEXT, SubscribeToTask::id)
                                    .as(v -> SubscribeToTask.of(v.next())),
                            null)),
            Map.of("tasks/resubscribe", SubscribeToTask.class));

    static final VaultDialect INSTANCE = new VaultDialect();

    private VaultDialect() {
        super(NAME, OPERATIONS);
    }

    /** Where calls go, for an agent at {@code url}: servers made with AgentVault's own library answer only behind a slash. */
    static String address(String url) {
        return url.matches("[^?#]*/[^./?#]+") ? url + "/" : url;
    }

    private static @Nullable String webhook(SendMessage send) {
        PushConfig config = send.configuration().pushConfig();
        return config == null ? null : config.url();
    }

    private static SendMessage send(@Nullable String id, Message message, @Nullable String webhookUrl) {
        String url = nonEmpty(webhookUrl);
        PushConfig webhook = url == null ? null : new PushConfig(null, null, null, url, null, null);
        var configuration = new SendConfiguration(List.of(), webhook, null, true);
        return new SendMessage(null, message.in(null, nonEmpty(id)), configuration, Map.of());
    }

    @Override
    boolean wrapsFrames() {
        return false;
    }

    @Override
    boolean numbersFrames() {
        return false;
    }

    /** The profile names all three headers, section "Streaming"; over HTTP/2 the server leaves Connection out. */
    @Override
    Map<String, String> streamHeaders() {
        return Map.of("Cache-Control", "no-cache", "Connection", "keep-alive");
    }

    @Override
    int code(A2AError error) {
        return switch (error) {
            // The range -32000 to -32099 is for failures of the agent, and for credentials that are missing.
            case INVALID_AGENT_RESPONSE, UNAVAILABLE, RATE_LIMITED, UNAUTHENTICATED, PERMISSION_DENIED -> -32000;
            default -> error.code();
        };
    }

    @Override
    boolean tellFailure(A2AException problem, Sink out) {
        var failure = new LinkedHashMap<String, Object>();
        // One half of the peers looks for the one, the other for the other.
        failure.put("code", code(problem.error()));
        failure.put("error", "stream_error");
        failure.put("message", String.valueOf(problem.getMessage()));
        failure.put("details", Problem.details(problem));
        out.frame("error", Json.write(failure));
        return true;
    }

    @Override
    Telling telling() {
        return new VaultTelling();
    }

    private static final class VaultTelling implements Telling {
        private @Nullable TaskState last;
        private Instant at = Instant.EPOCH;

        @Override
        public void tell(LoggedEvent event, Sink out) {
            switch (event.event()) {
                case Message answer -> {
                    // callers of this dialect get tasks only
                }
                case Task task -> {
                    at = requireNonNullElse(task.status().timestamp(), at);
                    if (!task.state().isTerminal()) {
                        state(task.id(), task.status(), out);
                    }
                    for (Message message : VaultModel.messages(task)) {
                        out.frame("task_message", VaultModel.said(task.id(), message, at));
                    }
                    for (Artifact artifact : task.artifacts()) {
                        produced(
                                new TaskArtifactUpdateEvent(
                                        task.id(), task.contextId(), artifact, false, true, Map.of()),
                                out);
                    }
                    if (task.state().isTerminal()) {
                        state(task.id(), task.status(), out); // readers stop behind it
                    }
                }
                case TaskStatusUpdateEvent update -> {
                    at = requireNonNullElse(update.status().timestamp(), at);
                    Message said = update.status().message();
                    if (said != null) {
                        out.frame("task_message", VaultModel.said(update.taskId(), said, at));
                    }
                    state(update.taskId(), update.status(), out);
                }
                case TaskArtifactUpdateEvent update -> produced(update, out);
            }
        }

        /** An artifact has no time of its own; it came behind the last thing that has. */
        private void produced(TaskArtifactUpdateEvent update, Sink out) {
            VaultModel.produced(update, at).forEach(json -> out.frame("task_artifact", json));
        }

        /** From submitted there is no way to an end or a question but through work, and back to it there is none. */
        private void state(String taskId, TaskStatus told, Sink out) {
            boolean back = told.state() == TaskState.SUBMITTED && last != null && last != TaskState.SUBMITTED;
            var status = back ? new TaskStatus(TaskState.WORKING, told.message(), told.timestamp()) : told;
            boolean skipped = last == TaskState.SUBMITTED
                    && status.state() != TaskState.SUBMITTED
                    && status.state() != TaskState.WORKING
                    && status.state() != TaskState.CANCELED;
            if (skipped) {
                var between = new TaskStatus(TaskState.WORKING, null, status.timestamp());
                out.frame("task_status", VaultModel.status(taskId, between));
            }
            out.frame("task_status", VaultModel.status(taskId, status));
            last = status.state();
        }
    }
}
