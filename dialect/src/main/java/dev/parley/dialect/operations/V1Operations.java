package dev.parley.dialect.operations;

import static dev.parley.dialect.json.Codecs.BOOLEAN;
import static dev.parley.dialect.json.Codecs.INT;
import static dev.parley.dialect.json.Codecs.STRUCT;
import static dev.parley.dialect.json.Codecs.TEXT;
import static dev.parley.dialect.json.Codecs.TIMESTAMP;
import static dev.parley.dialect.v1.V1Model.nonEmpty;

import dev.parley.dialect.json.Codec;
import dev.parley.dialect.json.Shape;
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
import java.util.List;
import java.util.Map;

/**
 * The operations of A2A 1.0 on the wire: the table of server and client, for JSON-RPC and REST.
 *
 * <p>Source: A2A specification 1.0, sections 5.3, 9.4 and 11.3.
 */
public final class V1Operations {
    private V1Operations() {}

    public static final OperationTable TABLE = table(V1Model.MESSAGE);

    /** The table of a server that reads messages by another codec. */
    public static OperationTable table(Codec<Message> message) {
        return new OperationTable(
                List.of(
                        WireOperation.of(
                                SendMessage.class,
                                "SendMessage",
                                "POST /message:send",
                                send(message, SendMessage::new),
                                V1Model.SEND_RESULT),
                        WireOperation.of(
                                SendStreamingMessage.class,
                                "SendStreamingMessage",
                                "POST /message:stream",
                                send(message, SendStreamingMessage::new),
                                null),
                        WireOperation.of(
                                GetTask.class,
                                "GetTask",
                                "GET /tasks/{id}",
                                WireOperation.<GetTask>fields()
                                        .required("id", TEXT, GetTask::id)
                                        .optional("historyLength", INT, GetTask::historyLength)
                                        .as(v -> new GetTask(nonEmpty(v.next()), v.next(), v.next())),
                                V1Model.TASK),
                        WireOperation.of(
                                ListTasks.class,
                                "ListTasks",
                                "GET /tasks",
                                WireOperation.<ListTasks>fields()
                                        .optional("contextId", TEXT, ListTasks::contextId)
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
                                                v.next())),
                                V1Model.TASK_PAGE),
                        WireOperation.of(
                                CancelTask.class,
                                "CancelTask",
                                "POST /tasks/{id}:cancel",
                                WireOperation.<CancelTask>fields()
                                        .required("id", TEXT, CancelTask::id)
                                        .optional("metadata", STRUCT, Map.of(), CancelTask::metadata)
                                        .as(v -> new CancelTask(nonEmpty(v.next()), v.next(), v.next())),
                                V1Model.TASK),
                        WireOperation.of(
                                SubscribeToTask.class,
                                "SubscribeToTask",
                                "POST,GET /tasks/{id}:subscribe",
                                WireOperation.<SubscribeToTask>fields()
                                        .required("id", TEXT, SubscribeToTask::id)
                                        .as(v -> new SubscribeToTask(nonEmpty(v.next()), v.next(), null)),
                                null),
                        WireOperation.of(
                                CreatePushConfig.class,
                                "CreateTaskPushNotificationConfig",
                                "POST /tasks/{taskId}/pushNotificationConfigs",
                                V1Model.PUSH_CONFIG.around(
                                        config -> new CreatePushConfig(config.tenant(), config),
                                        CreatePushConfig::config),
                                V1Model.PUSH_CONFIG),
                        WireOperation.of(
                                GetPushConfig.class,
                                "GetTaskPushNotificationConfig",
                                "GET /tasks/{taskId}/pushNotificationConfigs/{id}",
                                WireOperation.<GetPushConfig>fields()
                                        .required("taskId", TEXT, GetPushConfig::taskId)
                                        .required("id", TEXT, GetPushConfig::id)
                                        .as(v -> new GetPushConfig(nonEmpty(v.next()), v.next(), v.next())),
                                V1Model.PUSH_CONFIG),
                        WireOperation.of(
                                ListPushConfigs.class,
                                "ListTaskPushNotificationConfigs",
                                "GET /tasks/{taskId}/pushNotificationConfigs",
                                WireOperation.<ListPushConfigs>fields()
                                        .required("taskId", TEXT, ListPushConfigs::taskId)
                                        .optional("pageSize", INT, 0, ListPushConfigs::pageSize)
                                        .optional("pageToken", TEXT, ListPushConfigs::pageToken)
                                        .as(v -> new ListPushConfigs(
                                                nonEmpty(v.next()), v.next(), v.next(), nonEmpty(v.next()))),
                                V1Model.PUSH_CONFIG_PAGE),
                        WireOperation.of(
                                DeletePushConfig.class,
                                "DeleteTaskPushNotificationConfig",
                                "DELETE /tasks/{taskId}/pushNotificationConfigs/{id}",
                                WireOperation.<DeletePushConfig>fields()
                                        .required("taskId", TEXT, DeletePushConfig::taskId)
                                        .required("id", TEXT, DeletePushConfig::id)
                                        .as(v -> new DeletePushConfig(nonEmpty(v.next()), v.next(), v.next())),
                                V1Model.EMPTY),
                        WireOperation.of(
                                GetExtendedAgentCard.class,
                                "GetExtendedAgentCard",
                                "GET /extendedAgentCard",
                                WireOperation.<GetExtendedAgentCard>fields()
                                        .as(v -> new GetExtendedAgentCard(nonEmpty(v.next()))),
                                V1Card.CARD)),
                // Release candidates of 1.0 had it in the singular.
                Map.of("ListTaskPushNotificationConfig", ListPushConfigs.class));
    }

    private static <O extends Operation & Send> Shape<O> send(Codec<Message> message, Send.Constructor<O> constructor) {
        return WireOperation.<O>fields()
                .required("message", message, Send::message)
                .optional("configuration", V1Model.CONFIGURATION, SendConfiguration.DEFAULTS, Send::configuration)
                .optional("metadata", STRUCT, Map.of(), Send::metadata)
                .as(v -> constructor.of(nonEmpty(v.next()), v.next(), v.next(), v.next()));
    }
}
