package dev.parley.dialect.grpc;

import static dev.parley.dialect.grpc.Values.in;
import static dev.parley.dialect.grpc.Values.nonEmpty;
import static dev.parley.dialect.grpc.Values.optional;
import static dev.parley.dialect.grpc.Values.orEmpty;
import static dev.parley.dialect.grpc.Values.required;

import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.DialectSettings.Switch;
import dev.parley.dialect.grpc.v1.A2AServiceGrpc;
import dev.parley.dialect.grpc.v1.CancelTaskRequest;
import dev.parley.dialect.grpc.v1.DeleteTaskPushNotificationConfigRequest;
import dev.parley.dialect.grpc.v1.GetExtendedAgentCardRequest;
import dev.parley.dialect.grpc.v1.GetTaskPushNotificationConfigRequest;
import dev.parley.dialect.grpc.v1.GetTaskRequest;
import dev.parley.dialect.grpc.v1.ListTaskPushNotificationConfigsRequest;
import dev.parley.dialect.grpc.v1.ListTaskPushNotificationConfigsResponse;
import dev.parley.dialect.grpc.v1.ListTasksRequest;
import dev.parley.dialect.grpc.v1.ListTasksResponse;
import dev.parley.dialect.grpc.v1.SendMessageRequest;
import dev.parley.dialect.grpc.v1.SubscribeToTaskRequest;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.CreatePushConfig;
import dev.parley.protocol.Operation.DeletePushConfig;
import dev.parley.protocol.Operation.Empty;
import dev.parley.protocol.Operation.GetExtendedAgentCard;
import dev.parley.protocol.Operation.GetPushConfig;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.ListPushConfigs;
import dev.parley.protocol.Operation.ListTasks;
import dev.parley.protocol.Operation.PushConfigPage;
import dev.parley.protocol.Operation.Send;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SendStreamingMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Operation.TaskPage;
import io.grpc.Status.Code;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The operations of {@code lf.a2a.v1.A2AService}.
 *
 * <p>Source: A2A specification 1.0, section 10.4.
 */
final class V1Rpcs {
    private V1Rpcs() {}

    private interface SendConstructor<O> {
        O of(
                @Nullable String tenant,
                Message message,
                SendConfiguration configuration,
                Map<String, @Nullable Object> metadata);
    }

    static final List<Rpc<?, ?, ?, ?>> ALL = List.of(
            Rpc.call(
                    SendMessage.class,
                    A2AServiceGrpc.getSendMessageMethod(),
                    asked -> send(asked, SendMessage::new),
                    V1Rpcs::send,
                    V1Model::write,
                    V1Model::read),
            Rpc.watch(
                    SendStreamingMessage.class,
                    A2AServiceGrpc.getSendStreamingMessageMethod(),
                    asked -> send(asked, SendStreamingMessage::new),
                    V1Rpcs::send,
                    V1Model::write,
                    V1Model::read),
            Rpc.call(
                    GetTask.class,
                    A2AServiceGrpc.getGetTaskMethod(),
                    asked -> new GetTask(
                            nonEmpty(asked.getTenant()),
                            asked.getId(),
                            asked.hasHistoryLength() ? asked.getHistoryLength() : null),
                    V1Rpcs::getTask,
                    V1Model::write,
                    V1Model::read),
            Rpc.call(
                    ListTasks.class,
                    A2AServiceGrpc.getListTasksMethod(),
                    V1Rpcs::listTasks,
                    V1Rpcs::listTasks,
                    V1Rpcs::page,
                    V1Rpcs::page),
            Rpc.call(
                    CancelTask.class,
                    A2AServiceGrpc.getCancelTaskMethod(),
                    asked -> new CancelTask(
                            nonEmpty(asked.getTenant()),
                            asked.getId(),
                            in("metadata", () -> Values.read(asked.getMetadata()))),
                    operation -> CancelTaskRequest.newBuilder()
                            .setTenant(orEmpty(operation.tenant()))
                            .setId(operation.id())
                            .setMetadata(Values.write(operation.metadata()))
                            .build(),
                    V1Model::write,
                    V1Model::read),
            Rpc.watch(
                    SubscribeToTask.class,
                    A2AServiceGrpc.getSubscribeToTaskMethod(),
                    asked -> new SubscribeToTask(nonEmpty(asked.getTenant()), asked.getId(), null),
                    operation -> SubscribeToTaskRequest.newBuilder()
                            .setTenant(orEmpty(operation.tenant()))
                            .setId(operation.id())
                            .build(),
                    V1Model::write,
                    V1Model::read),
            Rpc.call(
                    CreatePushConfig.class,
                    A2AServiceGrpc.getCreateTaskPushNotificationConfigMethod(),
                    asked -> new CreatePushConfig(nonEmpty(asked.getTenant()), V1Model.read(asked)),
                    operation -> V1Model.write(operation.config()).toBuilder()
                            .setTenant(orEmpty(operation.tenant()))
                            .build(),
                    V1Model::write,
                    V1Model::read),
            Rpc.call(
                    GetPushConfig.class,
                    A2AServiceGrpc.getGetTaskPushNotificationConfigMethod(),
                    asked -> new GetPushConfig(nonEmpty(asked.getTenant()), asked.getTaskId(), asked.getId()),
                    operation -> GetTaskPushNotificationConfigRequest.newBuilder()
                            .setTenant(orEmpty(operation.tenant()))
                            .setTaskId(operation.taskId())
                            .setId(operation.id())
                            .build(),
                    V1Model::write,
                    V1Model::read),
            Rpc.call(
                    ListPushConfigs.class,
                    A2AServiceGrpc.getListTaskPushNotificationConfigsMethod(),
                    asked -> new ListPushConfigs(
                            nonEmpty(asked.getTenant()),
                            asked.getTaskId(),
                            asked.getPageSize(),
                            nonEmpty(asked.getPageToken())),
                    operation -> ListTaskPushNotificationConfigsRequest.newBuilder()
                            .setTenant(orEmpty(operation.tenant()))
                            .setTaskId(operation.taskId())
                            .setPageSize(operation.pageSize())
                            .setPageToken(orEmpty(operation.pageToken()))
                            .build(),
                    V1Rpcs::pushPage,
                    V1Rpcs::pushPage),
            Rpc.call(
                    DeletePushConfig.class,
                    A2AServiceGrpc.getDeleteTaskPushNotificationConfigMethod(),
                    asked -> new DeletePushConfig(nonEmpty(asked.getTenant()), asked.getTaskId(), asked.getId()),
                    operation -> DeleteTaskPushNotificationConfigRequest.newBuilder()
                            .setTenant(orEmpty(operation.tenant()))
                            .setTaskId(operation.taskId())
                            .setId(operation.id())
                            .build(),
                    (Empty done) -> com.google.protobuf.Empty.getDefaultInstance(),
                    done -> new Empty()),
            Rpc.call(
                    GetExtendedAgentCard.class,
                    A2AServiceGrpc.getGetExtendedAgentCardMethod(),
                    asked -> new GetExtendedAgentCard(nonEmpty(asked.getTenant())),
                    operation -> GetExtendedAgentCardRequest.newBuilder()
                            .setTenant(orEmpty(operation.tenant()))
                            .build(),
                    Cards::v1,
                    Cards::v1));

    static Service service(DialectSettings settings) {
        return new Service(
                CallContext.V1,
                List.of("1.0"),
                "a2a-extensions",
                ALL,
                settings.has(Switch.STATUSES_OF_100) ? V1Rpcs::codeOf100 : V1Rpcs::code,
                UnaryOperator.identity());
    }

    static Code code(A2AError error) {
        // The specification does not speak of it, and gRPC itself says so.
        return error == A2AError.PAYLOAD_TOO_LARGE ? Code.RESOURCE_EXHAUSTED : Code.valueOf(error.grpcStatus());
    }

    /** Release 1.0.0, which negotiates as the same version, said otherwise of these. */
    private static Code codeOf100(A2AError error) {
        return switch (error) {
            case PUSH_NOTIFICATION_NOT_SUPPORTED, UNSUPPORTED_OPERATION, VERSION_NOT_SUPPORTED -> Code.UNIMPLEMENTED;
            default -> code(error);
        };
    }

    private static <O> O send(SendMessageRequest asked, SendConstructor<O> constructor) {
        return constructor.of(
                nonEmpty(asked.getTenant()),
                required("message", asked.hasMessage(), () -> V1Model.read(asked.getMessage())),
                in("configuration", () -> V1Model.read(asked.getConfiguration())),
                in("metadata", () -> Values.read(asked.getMetadata())));
    }

    private static SendMessageRequest send(Send operation) {
        var asked = SendMessageRequest.newBuilder()
                .setTenant(orEmpty(operation.tenant()))
                .setMessage(V1Model.write(operation.message()))
                .setConfiguration(V1Model.write(operation.configuration()));
        if (!operation.metadata().isEmpty()) {
            asked.setMetadata(Values.write(operation.metadata()));
        }
        return asked.build();
    }

    private static GetTaskRequest getTask(GetTask operation) {
        var asked = GetTaskRequest.newBuilder()
                .setTenant(orEmpty(operation.tenant()))
                .setId(operation.id());
        if (operation.historyLength() != null) {
            asked.setHistoryLength(operation.historyLength());
        }
        return asked.build();
    }

    private static ListTasks listTasks(ListTasksRequest asked) {
        return new ListTasks(
                nonEmpty(asked.getTenant()),
                nonEmpty(asked.getContextId()),
                in("status", () -> V1Model.state(asked.getStatusValue())),
                asked.hasPageSize() ? asked.getPageSize() : null,
                nonEmpty(asked.getPageToken()),
                asked.hasHistoryLength() ? asked.getHistoryLength() : null,
                optional(
                        "statusTimestampAfter",
                        asked.hasStatusTimestampAfter(),
                        () -> Values.read(asked.getStatusTimestampAfter())),
                asked.getIncludeArtifacts());
    }

    private static ListTasksRequest listTasks(ListTasks operation) {
        var asked = ListTasksRequest.newBuilder()
                .setTenant(orEmpty(operation.tenant()))
                .setContextId(orEmpty(operation.contextId()))
                .setPageToken(orEmpty(operation.pageToken()))
                .setIncludeArtifacts(operation.includeArtifacts());
        if (operation.status() != null) {
            asked.setStatusValue(V1Model.number(operation.status()));
        }
        if (operation.pageSize() != null) {
            asked.setPageSize(operation.pageSize());
        }
        if (operation.historyLength() != null) {
            asked.setHistoryLength(operation.historyLength());
        }
        if (operation.statusTimestampAfter() != null) {
            asked.setStatusTimestampAfter(Values.write(operation.statusTimestampAfter()));
        }
        return asked.build();
    }

    private static ListTasksResponse page(TaskPage page) {
        var answer = ListTasksResponse.newBuilder()
                .setNextPageToken(page.nextPageToken())
                .setPageSize(page.pageSize())
                .setTotalSize(page.totalSize());
        page.tasks().forEach(task -> answer.addTasks(V1Model.write(task)));
        return answer.build();
    }

    private static TaskPage page(ListTasksResponse answer) {
        var tasks = Values.each("tasks", answer.getTasksList(), V1Model::read);
        boolean withArtifacts =
                tasks.stream().anyMatch(task -> !task.artifacts().isEmpty());
        return new TaskPage(
                tasks, answer.getNextPageToken(), answer.getPageSize(), answer.getTotalSize(), withArtifacts);
    }

    private static ListTaskPushNotificationConfigsResponse pushPage(PushConfigPage page) {
        var answer = ListTaskPushNotificationConfigsResponse.newBuilder().setNextPageToken(page.nextPageToken());
        page.configs().forEach(config -> answer.addConfigs(V1Model.write(config)));
        return answer.build();
    }

    private static PushConfigPage pushPage(ListTaskPushNotificationConfigsResponse answer) {
        return new PushConfigPage(
                Values.each("configs", answer.getConfigsList(), V1Model::read), answer.getNextPageToken());
    }
}
