package dev.parley.dialect.grpc;

import static dev.parley.dialect.grpc.Kind.FLAG;
import static dev.parley.dialect.grpc.Kind.NUMBER;
import static dev.parley.dialect.grpc.Kind.TEXT;
import static dev.parley.dialect.grpc.Kind.TIME;
import static dev.parley.dialect.grpc.Values.nonEmpty;
import static dev.parley.dialect.grpc.Values.orEmpty;

import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.DialectSettings.Switch;
import dev.parley.dialect.grpc.v1.A2AServiceGrpc;
import dev.parley.dialect.grpc.v1.GetExtendedAgentCardRequest;
import dev.parley.dialect.grpc.v1.TaskPushNotificationConfig;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.CreatePushConfig;
import dev.parley.protocol.Operation.DeletePushConfig;
import dev.parley.protocol.Operation.GetExtendedAgentCard;
import dev.parley.protocol.Operation.GetPushConfig;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.ListPushConfigs;
import dev.parley.protocol.Operation.ListTasks;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SendStreamingMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Operation.TaskPage;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import io.grpc.Status.Code;
import java.util.List;

/**
 * The operations of {@code lf.a2a.v1.A2AService}.
 *
 * <p>Source: A2A specification 1.0, section 10.4.
 */
final class V1Rpcs {
    private V1Rpcs() {}

    private static final Model MODEL = Model.V1;

    static final List<Rpc<?, ?, ?, ?>> ALL = List.of(
            Rpc.call(
                    SendMessage.class,
                    A2AServiceGrpc.getSendMessageMethod(),
                    MODEL.send(SendMessage::new),
                    MODEL.result),
            Rpc.watch(
                    SendStreamingMessage.class,
                    A2AServiceGrpc.getSendStreamingMessageMethod(),
                    MODEL.send(SendStreamingMessage::new),
                    MODEL.event),
            Rpc.call(
                    GetTask.class,
                    A2AServiceGrpc.getGetTaskMethod(),
                    V1Rpcs.<GetTask>of("GetTaskRequest")
                            .plain("id", TEXT, GetTask::id)
                            .optional("history_length", NUMBER, GetTask::historyLength)
                            .as(v -> new GetTask(v.next(), v.next(), v.next())),
                    MODEL.task),
            Rpc.call(
                    ListTasks.class,
                    A2AServiceGrpc.getListTasksMethod(),
                    V1Rpcs.<ListTasks>of("ListTasksRequest")
                            .optional("context_id", TEXT, ListTasks::contextId)
                            .plain("status", Model.STATE, ListTasks::status)
                            .optional("page_size", NUMBER, ListTasks::pageSize)
                            .optional("page_token", TEXT, ListTasks::pageToken)
                            .optional("history_length", NUMBER, ListTasks::historyLength)
                            .optional("status_timestamp_after", TIME, ListTasks::statusTimestampAfter)
                            .optional("include_artifacts", FLAG, false, ListTasks::includeArtifacts)
                            .as(v -> new ListTasks(
                                    v.next(),
                                    v.next(),
                                    v.next(),
                                    v.next(),
                                    v.next(),
                                    v.next(),
                                    v.next(),
                                    v.<Boolean>next())),
                    MODEL.<TaskPage>of("ListTasksResponse")
                            .each("tasks", MODEL.task, TaskPage::tasks)
                            .plain("next_page_token", TEXT, TaskPage::nextPageToken)
                            .plain("page_size", NUMBER, TaskPage::pageSize)
                            .plain("total_size", NUMBER, TaskPage::totalSize)
                            .as(v -> page(v.next(), v.next(), v.<Integer>next(), v.<Integer>next()))),
            Rpc.call(
                    CancelTask.class,
                    A2AServiceGrpc.getCancelTaskMethod(),
                    V1Rpcs.<CancelTask>of("CancelTaskRequest")
                            .plain("id", TEXT, CancelTask::id)
                            .metadata(CancelTask::metadata)
                            .as(v -> new CancelTask(v.next(), v.next(), v.next())),
                    MODEL.task),
            Rpc.watch(
                    SubscribeToTask.class,
                    A2AServiceGrpc.getSubscribeToTaskMethod(),
                    V1Rpcs.<SubscribeToTask>of("SubscribeToTaskRequest")
                            .plain("id", TEXT, SubscribeToTask::id)
                            .as(v -> new SubscribeToTask(v.next(), v.next(), null)),
                    MODEL.event),
            Rpc.call(
                    CreatePushConfig.class,
                    A2AServiceGrpc.getCreateTaskPushNotificationConfigMethod(),
                    request -> new CreatePushConfig(nonEmpty(request.getTenant()), MODEL.pushConfig.read(request)),
                    operation -> config(operation.config()).toBuilder()
                            .setTenant(orEmpty(operation.tenant()))
                            .build(),
                    V1Rpcs::config,
                    MODEL.pushConfig::read),
            Rpc.call(
                    GetPushConfig.class,
                    A2AServiceGrpc.getGetTaskPushNotificationConfigMethod(),
                    V1Rpcs.<GetPushConfig>of("GetTaskPushNotificationConfigRequest")
                            .plain("task_id", TEXT, GetPushConfig::taskId)
                            .plain("id", TEXT, GetPushConfig::id)
                            .as(v -> new GetPushConfig(v.next(), v.next(), v.next())),
                    MODEL.pushConfig),
            Rpc.call(
                    ListPushConfigs.class,
                    A2AServiceGrpc.getListTaskPushNotificationConfigsMethod(),
                    V1Rpcs.<ListPushConfigs>of("ListTaskPushNotificationConfigsRequest")
                            .plain("task_id", TEXT, ListPushConfigs::taskId)
                            .plain("page_size", NUMBER, ListPushConfigs::pageSize)
                            .optional("page_token", TEXT, ListPushConfigs::pageToken)
                            .as(v -> new ListPushConfigs(v.next(), v.next(), v.<Integer>next(), v.next())),
                    MODEL.pushPage("ListTaskPushNotificationConfigsResponse", MODEL.pushConfig)),
            Rpc.call(
                    DeletePushConfig.class,
                    A2AServiceGrpc.getDeleteTaskPushNotificationConfigMethod(),
                    V1Rpcs.<DeletePushConfig>of("DeleteTaskPushNotificationConfigRequest")
                            .plain("task_id", TEXT, DeletePushConfig::taskId)
                            .plain("id", TEXT, DeletePushConfig::id)
                            .as(v -> new DeletePushConfig(v.next(), v.next(), v.next())),
                    Model.DONE),
            Rpc.call(
                    GetExtendedAgentCard.class,
                    A2AServiceGrpc.getGetExtendedAgentCardMethod(),
                    request -> new GetExtendedAgentCard(nonEmpty(request.getTenant())),
                    operation -> GetExtendedAgentCardRequest.newBuilder()
                            .setTenant(orEmpty(operation.tenant()))
                            .build(),
                    CardMessages::v1,
                    CardMessages::v1));

    /** A table that begins with the tenant, as all requests do. */
    private static <O extends Operation> Fields<O> of(String message) {
        return MODEL.<O>of(message).optional("tenant", TEXT, Operation::tenant);
    }

    private static TaskPushNotificationConfig config(PushConfig config) {
        return (TaskPushNotificationConfig) MODEL.pushConfig.write(config, TaskPushNotificationConfig.newBuilder());
    }

    private static TaskPage page(List<Task> tasks, String nextPageToken, int pageSize, int totalSize) {
        boolean withArtifacts =
                tasks.stream().anyMatch(task -> !task.artifacts().isEmpty());
        return new TaskPage(tasks, nextPageToken, pageSize, totalSize, withArtifacts);
    }

    static Service service(DialectSettings settings) {
        return new Service(
                CallContext.V1,
                List.of("1.0"),
                "a2a-extensions",
                ALL,
                settings.has(Switch.STATUSES_OF_100) ? V1Rpcs::codeOf100 : V1Rpcs::code,
                (events, watch) -> events);
    }

    static Code code(ErrorKind error) {
        // The specification does not speak of it, and gRPC itself says so.
        return error == A2AError.PAYLOAD_TOO_LARGE ? Code.RESOURCE_EXHAUSTED : Code.valueOf(error.grpcStatus());
    }

    /** Release 1.0.0, which negotiates as the same version, said otherwise of these. */
    private static Code codeOf100(ErrorKind error) {
        return switch (error) {
            case A2AError.PUSH_NOTIFICATION_NOT_SUPPORTED,
                    A2AError.UNSUPPORTED_OPERATION,
                    A2AError.VERSION_NOT_SUPPORTED -> Code.UNIMPLEMENTED;
            default -> code(error);
        };
    }
}
