package dev.parley.dialect.vault;

import static dev.parley.dialect.json.Codecs.TEXT;
import static dev.parley.dialect.v1.V1Model.nonEmpty;
import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.answers.Dialect;
import dev.parley.dialect.answers.Problem;
import dev.parley.dialect.json.Codecs;
import dev.parley.dialect.json.Shape;
import dev.parley.dialect.operations.OperationTable;
import dev.parley.dialect.operations.WireOperation;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Instant;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The AgentVault profile 0.2: sending answers with an id, and a stream attaches to a task that exists.
 *
 * <p>A stream names its events, does not wrap them, and shows late readers the state, the messages and the artifacts that
 * were before them.
 */
public final class VaultDialect extends Dialect {
    public static final String NAME = "agentvault";

    private static final Shape<SendMessage> SEND = Shape.<SendMessage>of()
            .optional("id", TEXT, it -> it.message().taskId())
            .required("message", VaultModel.MESSAGE, SendMessage::message)
            .optional("webhookUrl", TEXT, VaultDialect::webhook)
            .as(v -> send(v.next(), v.next(), v.next()));

    public static final OperationTable OPERATIONS = new OperationTable(
            List.of(
                    WireOperation.of(SendMessage.class, "tasks/send", "", SEND, VaultModel.ID),
                    WireOperation.ofId(GetTask.class, "tasks/get", "", GetTask::id, GetTask::of, VaultModel.TASK),
                    WireOperation.ofId(
                            CancelTask.class, "tasks/cancel", "", CancelTask::id, CancelTask::of, VaultModel.CANCELED),
                    WireOperation.ofId(
                            SubscribeToTask.class,
                            "tasks/sendSubscribe",
                            "",
                            SubscribeToTask::id,
                            SubscribeToTask::of,
                            null)),
            Map.of("tasks/resubscribe", SubscribeToTask.class));

    static final VaultDialect INSTANCE = new VaultDialect();

    private VaultDialect() {
        super(NAME, Set.of());
    }

    /** Where calls go, for an agent at {@code url}: servers made with AgentVault's own library answer only behind a slash. */
    public static String address(String url) {
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

    /** The profile names all three headers, section "Streaming"; over HTTP/2 the server leaves Connection out. */
    @Override
    public Map<String, String> streamHeaders() {
        return Map.of("Cache-Control", "no-cache", "Connection", "keep-alive");
    }

    @Override
    public int code(ErrorKind error) {
        return switch (error) {
            // The range -32000 to -32099 is for failures of the agent, and for credentials that are missing.
            case A2AError.INVALID_AGENT_RESPONSE,
                    A2AError.UNAVAILABLE,
                    A2AError.RATE_LIMITED,
                    A2AError.UNAUTHENTICATED,
                    A2AError.PERMISSION_DENIED -> -32000;
            default -> error.code();
        };
    }

    @Override
    public boolean tellFailure(A2AException problem, Sink out) {
        var failure = new LinkedHashMap<String, Object>();
        // One half of the peers reads the code, the other the name.
        failure.put("code", code(problem.error()));
        failure.put("error", "stream_error");
        failure.put("message", String.valueOf(problem.getMessage()));
        failure.put("details", Problem.details(problem));
        out.frame("error", Codecs.FREE, failure);
        return true;
    }

    @Override
    public Telling telling() {
        return new VaultTelling();
    }

    private static final class VaultTelling extends Retelling {
        /** States to which a submitted task moves without work. */
        private static final Set<TaskState> DIRECT =
                EnumSet.of(TaskState.SUBMITTED, TaskState.WORKING, TaskState.CANCELED);

        private @Nullable TaskState last;

        /** Time of the newest status; messages and artifacts have none of their own. */
        private Instant at = Instant.EPOCH;

        @Override
        public void conversation(Task task, Sink out) {
            at = requireNonNullElse(task.status().timestamp(), at);
            VaultModel.messages(task).forEach(message -> said(task.id(), message, out));
        }

        @Override
        public void moved(TaskStatusUpdateEvent update, Sink out) {
            at = requireNonNullElse(update.status().timestamp(), at);
            if (update.status().message() != null) {
                said(update.taskId(), update.status().message(), out);
            }
            status(update, out);
        }

        private void said(String taskId, Message message, Sink out) {
            out.frame("task_message", VaultModel.SAID, VaultModel.spoken(taskId, message, at));
        }

        @Override
        public void produced(TaskArtifactUpdateEvent update, Sink out) {
            VaultModel.produced(update, at).forEach(json -> out.frame("task_artifact", json));
        }

        /** From submitted there is no way to an end or a question but through work, and back to it there is none. */
        @Override
        public void status(TaskStatusUpdateEvent update, Sink out) {
            TaskStatus told = update.status();
            boolean back = told.state() == TaskState.SUBMITTED && last != null && last != TaskState.SUBMITTED;
            TaskState state = back ? TaskState.WORKING : told.state();
            if (last == TaskState.SUBMITTED && !DIRECT.contains(state)) {
                frame(update.taskId(), new TaskStatus(TaskState.WORKING, null, told.timestamp()), out);
            }
            frame(update.taskId(), new TaskStatus(state, told.message(), told.timestamp()), out);
            last = state;
        }

        private static void frame(String taskId, TaskStatus status, Sink out) {
            out.frame("task_status", VaultModel.status(taskId, status));
        }
    }
}
