package dev.parley.dialect.vault;

import static dev.parley.dialect.v1.V1Model.nonEmpty;
import static dev.parley.protocol.json.Codecs.TEXT;

import dev.parley.dialect.answers.Dialect;
import dev.parley.dialect.answers.Problem;
import dev.parley.dialect.legacy.DialectErrorsAgent;
import dev.parley.dialect.operations.OperationTable;
import dev.parley.dialect.operations.Rows;
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
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
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

    public static final OperationTable OPERATIONS = new Rows(ObjectCodec::of)
            .row(SendMessage.class, "tasks/send", "", VaultModel.ID)
            .asking(it -> it.optional("id", TEXT, send -> send.message().taskId())
                    .required("message", VaultModel.MESSAGE, SendMessage::message)
                    .optional(
                            "webhookUrl", TEXT, send -> url(send.configuration().pushConfig()))
                    .as(v -> send(v.next(), v.next(), v.next())))
            .row(GetTask.class, "tasks/get", "", VaultModel.TASK)
            .asking(it -> it.required("id", TEXT, GetTask::id).as(v -> GetTask.of(v.next())))
            .row(CancelTask.class, "tasks/cancel", "", VaultModel.CANCELED)
            .asking(it -> it.required("id", TEXT, CancelTask::id).as(v -> CancelTask.of(v.next())))
            .row(SubscribeToTask.class, "tasks/sendSubscribe", "", null)
            .asking(it -> it.required("id", TEXT, SubscribeToTask::id).as(v -> SubscribeToTask.of(v.next())))
            .table(Map.of("tasks/resubscribe", SubscribeToTask.class));

    /** Types of the events of a stream, section "Streaming" of the profile. */
    public static final Set<String> EVENTS = Set.of("task_status", "task_message", "task_artifact", "error");

    static final VaultDialect INSTANCE = new VaultDialect();

    private VaultDialect() {
        super(NAME, Set.of());
    }

    /** Where calls go, for an agent at {@code url}: servers made with AgentVault's own library answer only after a slash. */
    public static String address(String url) {
        return url.matches("[^?#]*/[^./?#]+") ? url + "/" : url;
    }

    private static @Nullable String url(@Nullable PushConfig webhook) {
        return webhook == null ? null : webhook.url();
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

    /** The range -32000 to -32099 is for failures of the agent, and for credentials that are missing. */
    @Override
    public int code(ErrorKind error) {
        boolean ofHttp = Problem.HTTP_ERRORS.contains(error) && error.code() == A2AError.INTERNAL.code();
        return ofHttp || error == A2AError.INVALID_AGENT_RESPONSE ? -32000 : error.code();
    }

    @Override
    public A2AException shown(A2AException problem) {
        return problem.inWords(VaultDialect::field, DialectErrorsAgent::withoutTaskId);
    }

    /** The name that a field of 1.0 has here. */
    private static String field(String field) {
        return switch (field) {
            case "url", "configuration.taskPushNotificationConfig.url" -> "webhookUrl";
            case "message.taskId", "taskId" -> "id";
            default -> field;
        };
    }

    @Override
    public boolean tellFailure(A2AException problem, Sink out) {
        var failure = new LinkedHashMap<String, Object>();
        // One half of the peers reads the code, the other the name.
        failure.put("code", code(problem.error()));
        failure.put("error", "stream_error");
        A2AException shown = shown(problem);
        failure.put("message", String.valueOf(shown.getMessage()));
        failure.put("details", Problem.details(shown));
        out.frame("error", Codecs.FREE, failure);
        return true;
    }

    @Override
    public Telling telling() {
        return new VaultModel.Telling();
    }
}
