package dev.parley.dialect.operations;

import static dev.parley.dialect.v1.V1Model.nonEmpty;
import static dev.parley.protocol.json.Codecs.BOOLEAN;
import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.INT;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TIMESTAMP;

import dev.parley.dialect.v1.V1Card;
import dev.parley.dialect.v1.V1Model;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.CreatePushConfig;
import dev.parley.protocol.Operation.DeletePushConfig;
import dev.parley.protocol.Operation.GetExtendedAgentCard;
import dev.parley.protocol.Operation.GetPushConfig;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.ListPushConfigs;
import dev.parley.protocol.Operation.ListTasks;
import dev.parley.protocol.Operation.Send;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SendStreamingMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Operation.TaskPage;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.ObjectCodec;
import java.util.Map;

/**
 * The operations of A2A 1.0 on the wire: the table of server and client, for JSON-RPC and REST.
 *
 * <p>Source: A2A specification 1.0, sections 5.3, 9.4 and 11.3.
 */
public final class V1Operations {
    private V1Operations() {}

    public static final OperationTable TABLE = table(V1Model.MESSAGE);

    /** The table of a server that previews A2A 1.1. */
    public static final OperationTable PREVIEW = preview(V1Model.MESSAGE);

    /** The table of a server that reads messages by another codec. */
    public static OperationTable table(Codec<Message> message) {
        return table(message, new Answers(V1Model.SEND_RESULT, V1Model.TASK, V1Model.TASK_PAGE), false);
    }

    /** {@link #table(Codec)} of a server that previews A2A 1.1. */
    public static OperationTable preview(Codec<Message> message) {
        var answers = new Answers(V1Model.NUMBERED_SEND_RESULT, V1Model.NUMBERED_TASK, V1Model.NUMBERED_TASK_PAGE);
        return table(message, answers, true).previewing();
    }

    /** How answers with tasks look. */
    private record Answers(Codec<SendResult> sent, Codec<Task> task, Codec<TaskPage> page) {}

    private static OperationTable table(Codec<Message> message, Answers answers, boolean hasCursor) {
        Rows tasks = new Rows(WireOperation::fields)
                .row(SendMessage.class, "SendMessage", "POST /message:send", answers.sent())
                .asking(it -> send(it, message, SendMessage::new))
                .row(SendStreamingMessage.class, "SendStreamingMessage", "POST /message:stream", null)
                .asking(it -> send(it, message, SendStreamingMessage::new))
                .row(GetTask.class, "GetTask", "GET /tasks/{id}", answers.task())
                .asking(it -> it.required("id", TEXT, GetTask::id)
                        .optional("historyLength", INT, GetTask::historyLength)
                        .as(v -> new GetTask(nonEmpty(v.next()), v.next(), v.next())))
                .row(ListTasks.class, "ListTasks", "GET /tasks", answers.page())
                .asking(it -> it.optional("contextId", TEXT, ListTasks::contextId)
                        .optional("status", V1Model.STATE, ListTasks::status)
                        .optional("pageSize", INT, ListTasks::pageSize)
                        .optional("pageToken", TEXT, ListTasks::pageToken)
                        .optional("historyLength", INT, ListTasks::historyLength)
                        .optional("statusTimestampAfter", TIMESTAMP, ListTasks::statusTimestampAfter)
                        .optional("includeArtifacts", BOOLEAN, false, ListTasks::includeArtifacts)
                        .as(v -> new ListTasks(
                                nonEmpty(v.next()),
                                nonEmpty(v.next()),
                                v.next(),
                                v.next(),
                                nonEmpty(v.next()),
                                v.next(),
                                v.next(),
                                v.next())))
                .row(CancelTask.class, "CancelTask", "POST /tasks/{id}:cancel", answers.task())
                .asking(it -> it.required("id", TEXT, CancelTask::id)
                        .optional("metadata", STRUCT, Map.of(), CancelTask::metadata)
                        .as(v -> new CancelTask(nonEmpty(v.next()), v.next(), v.next())))
                .row(SubscribeToTask.class, "SubscribeToTask", "POST,GET /tasks/{id}:subscribe", null)
                .asking(it -> hasCursor
                        ? subscription(it)
                        : it.required("id", TEXT, SubscribeToTask::id)
                                .as(v -> new SubscribeToTask(nonEmpty(v.next()), v.next(), null)));
        return webhooks(tasks)
                .row(GetExtendedAgentCard.class, "GetExtendedAgentCard", "GET /extendedAgentCard", V1Card.CARD)
                .asking(it -> it.as(v -> new GetExtendedAgentCard(nonEmpty(v.next()))))
                // Release candidates of 1.0 had it in the singular.
                .table(Map.of("ListTaskPushNotificationConfig", ListPushConfigs.class));
    }

    /** A subscription after the event of which the caller has the number. */
    private static ObjectCodec<SubscribeToTask> subscription(ObjectCodec.Builder<SubscribeToTask> shape) {
        return shape.required("id", TEXT, SubscribeToTask::id)
                .optional("currentGeneration", COUNT, SubscribeToTask::after)
                .as(v -> new SubscribeToTask(nonEmpty(v.next()), v.next(), v.next()));
    }

    private static Rows webhooks(Rows rows) {
        return rows.row(
                        CreatePushConfig.class,
                        "CreateTaskPushNotificationConfig",
                        "POST /tasks/{taskId}/pushNotificationConfigs",
                        V1Model.PUSH_CONFIG)
                .asking(it -> V1Model.PUSH_CONFIG.around(
                        config -> new CreatePushConfig(config.tenant(), config), CreatePushConfig::config))
                .row(
                        GetPushConfig.class,
                        "GetTaskPushNotificationConfig",
                        "GET /tasks/{taskId}/pushNotificationConfigs/{id}",
                        V1Model.PUSH_CONFIG)
                .asking(it -> it.required("taskId", TEXT, GetPushConfig::taskId)
                        .required("id", TEXT, GetPushConfig::id)
                        .as(v -> new GetPushConfig(nonEmpty(v.next()), v.next(), v.next())))
                .row(
                        ListPushConfigs.class,
                        "ListTaskPushNotificationConfigs",
                        "GET /tasks/{taskId}/pushNotificationConfigs",
                        V1Model.PUSH_CONFIG_PAGE)
                .asking(it -> it.required("taskId", TEXT, ListPushConfigs::taskId)
                        .optional("pageSize", INT, 0, ListPushConfigs::pageSize)
                        .optional("pageToken", TEXT, ListPushConfigs::pageToken)
                        .as(v -> new ListPushConfigs(nonEmpty(v.next()), v.next(), v.next(), nonEmpty(v.next()))))
                .row(
                        DeletePushConfig.class,
                        "DeleteTaskPushNotificationConfig",
                        "DELETE /tasks/{taskId}/pushNotificationConfigs/{id}",
                        V1Model.EMPTY)
                .asking(it -> it.required("taskId", TEXT, DeletePushConfig::taskId)
                        .required("id", TEXT, DeletePushConfig::id)
                        .as(v -> new DeletePushConfig(nonEmpty(v.next()), v.next(), v.next())));
    }

    private static <O extends Operation & Send> ObjectCodec<O> send(
            ObjectCodec.Builder<O> shape, Codec<Message> message, Send.Constructor<O> constructor) {
        return shape.required("message", message, Send::message)
                .optional("configuration", V1Model.CONFIGURATION, SendConfiguration.DEFAULTS, Send::configuration)
                .optional("metadata", STRUCT, Map.of(), Send::metadata)
                .as(v -> constructor.of(nonEmpty(v.next()), v.next(), v.next(), v.next()));
    }
}
