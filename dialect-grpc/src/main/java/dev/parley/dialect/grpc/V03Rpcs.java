package dev.parley.dialect.grpc;

import static dev.parley.dialect.grpc.Values.in;
import static dev.parley.dialect.grpc.Values.nonEmpty;
import static dev.parley.dialect.grpc.Values.optional;
import static dev.parley.dialect.grpc.Values.orEmpty;
import static dev.parley.dialect.grpc.Values.required;
import static java.util.Objects.requireNonNull;

import dev.parley.dialect.grpc.v03.A2AServiceGrpc;
import dev.parley.dialect.grpc.v03.CancelTaskRequest;
import dev.parley.dialect.grpc.v03.CreateTaskPushNotificationConfigRequest;
import dev.parley.dialect.grpc.v03.DeleteTaskPushNotificationConfigRequest;
import dev.parley.dialect.grpc.v03.GetAgentCardRequest;
import dev.parley.dialect.grpc.v03.GetTaskPushNotificationConfigRequest;
import dev.parley.dialect.grpc.v03.GetTaskRequest;
import dev.parley.dialect.grpc.v03.ListTaskPushNotificationConfigRequest;
import dev.parley.dialect.grpc.v03.ListTaskPushNotificationConfigResponse;
import dev.parley.dialect.grpc.v03.SendMessageConfiguration;
import dev.parley.dialect.grpc.v03.SendMessageRequest;
import dev.parley.dialect.grpc.v03.TaskPushNotificationConfig;
import dev.parley.dialect.grpc.v03.TaskSubscriptionRequest;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.CreatePushConfig;
import dev.parley.protocol.Operation.DeletePushConfig;
import dev.parley.protocol.Operation.Empty;
import dev.parley.protocol.Operation.GetExtendedAgentCard;
import dev.parley.protocol.Operation.GetPushConfig;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.ListPushConfigs;
import dev.parley.protocol.Operation.PushConfigPage;
import dev.parley.protocol.Operation.Send;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SendStreamingMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.PushConfig;
import io.grpc.Status.Code;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The operations of {@code a2a.v1.A2AService}: A2A 0.3, and 0.2 since 0.2.2.
 *
 * <p>Source: A2A specification 0.3.0, section 7.
 */
final class V03Rpcs {
    private V03Rpcs() {}

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
                    V03Rpcs::send,
                    V03Model::write,
                    V03Model::read),
            Rpc.watch(
                    SendStreamingMessage.class,
                    A2AServiceGrpc.getSendStreamingMessageMethod(),
                    asked -> send(asked, SendStreamingMessage::new),
                    V03Rpcs::send,
                    V03Model::write,
                    V03Model::read),
            Rpc.call(
                    GetTask.class,
                    A2AServiceGrpc.getGetTaskMethod(),
                    asked -> new GetTask(null, taskId("name", asked.getName()), length(asked.getHistoryLength())),
                    operation -> GetTaskRequest.newBuilder()
                            .setName(name(operation.id()))
                            .setHistoryLength(length(operation.historyLength()))
                            .build(),
                    V03Model::write,
                    V03Model::read),
            Rpc.call(
                    CancelTask.class,
                    A2AServiceGrpc.getCancelTaskMethod(),
                    asked -> new CancelTask(null, taskId("name", asked.getName()), Map.of()),
                    operation -> CancelTaskRequest.newBuilder()
                            .setName(name(operation.id()))
                            .build(),
                    V03Model::write,
                    V03Model::read),
            Rpc.watch(
                    SubscribeToTask.class,
                    A2AServiceGrpc.getTaskSubscriptionMethod(),
                    asked -> new SubscribeToTask(null, taskId("name", asked.getName()), null),
                    operation -> TaskSubscriptionRequest.newBuilder()
                            .setName(name(operation.id()))
                            .build(),
                    V03Model::write,
                    V03Model::read),
            Rpc.call(
                    CreatePushConfig.class,
                    A2AServiceGrpc.getCreateTaskPushNotificationConfigMethod(),
                    V03Rpcs::create,
                    V03Rpcs::create,
                    V03Rpcs::config,
                    V03Rpcs::config),
            Rpc.call(
                    GetPushConfig.class,
                    A2AServiceGrpc.getGetTaskPushNotificationConfigMethod(),
                    asked -> {
                        var name = ConfigName.of("name", asked.getName());
                        return new GetPushConfig(null, name.taskId(), name.idOrDefault());
                    },
                    operation -> GetTaskPushNotificationConfigRequest.newBuilder()
                            .setName(new ConfigName(operation.taskId(), operation.id()).toString())
                            .build(),
                    V03Rpcs::config,
                    V03Rpcs::config),
            Rpc.call(
                    ListPushConfigs.class,
                    A2AServiceGrpc.getListTaskPushNotificationConfigMethod(),
                    asked -> new ListPushConfigs(
                            null,
                            ConfigName.of("parent", asked.getParent()).taskId(),
                            asked.getPageSize(),
                            nonEmpty(asked.getPageToken())),
                    operation -> ListTaskPushNotificationConfigRequest.newBuilder()
                            .setParent(name(operation.taskId()))
                            .setPageSize(operation.pageSize())
                            .setPageToken(orEmpty(operation.pageToken()))
                            .build(),
                    V03Rpcs::page,
                    V03Rpcs::page),
            Rpc.call(
                    DeletePushConfig.class,
                    A2AServiceGrpc.getDeleteTaskPushNotificationConfigMethod(),
                    asked -> {
                        var name = ConfigName.of("name", asked.getName());
                        return new DeletePushConfig(null, name.taskId(), name.idOrDefault());
                    },
                    operation -> DeleteTaskPushNotificationConfigRequest.newBuilder()
                            .setName(new ConfigName(operation.taskId(), operation.id()).toString())
                            .build(),
                    (Empty done) -> com.google.protobuf.Empty.getDefaultInstance(),
                    done -> new Empty()),
            Rpc.call(
                    GetExtendedAgentCard.class,
                    A2AServiceGrpc.getGetAgentCardMethod(),
                    asked -> new GetExtendedAgentCard(null),
                    operation -> GetAgentCardRequest.getDefaultInstance(),
                    Cards::v03,
                    Cards::v03));

    /** Names of three methods in 0.2.2 to 0.2.4. */
    static final Map<String, String> FORMER_NAMES = Map.of(
            "CreateTaskPushNotification", "CreateTaskPushNotificationConfig",
            "GetTaskPushNotification", "GetTaskPushNotificationConfig",
            "ListTaskPushNotification", "ListTaskPushNotificationConfig");

    static final Service SERVICE =
            new Service("0.3", List.of("0.3", "0.2"), "x-a2a-extensions", ALL, V03Rpcs::code, UntilFinal::new);

    /** That version has no table of its own; this is what its official servers answered. */
    private static Code code(A2AError error) {
        return switch (error) {
            case TASK_NOT_CANCELABLE,
                    PUSH_NOTIFICATION_NOT_SUPPORTED,
                    UNSUPPORTED_OPERATION,
                    CONTENT_TYPE_NOT_SUPPORTED,
                    EXTENDED_AGENT_CARD_NOT_CONFIGURED -> Code.UNIMPLEMENTED;
            case EXTENSION_SUPPORT_REQUIRED -> Code.INVALID_ARGUMENT;
            default -> V1Rpcs.code(error);
        };
    }

    // --- names: tasks/T and tasks/T/pushNotificationConfigs/C

    private static String name(String taskId) {
        return "tasks/" + taskId;
    }

    /** Release candidates of 1.0 used the same service and sent bare ids; their other fields mean something else. */
    private static String taskId(String field, String name) {
        String[] parts = name.split("/", -1);
        if (parts.length != 2 || !parts[0].equals("tasks")) {
            throw InvalidField.of(
                    field, "expected: tasks/{id}, as A2A 0.3 has it; 1.0 is served as lf.a2a.v1.A2AService");
        }
        return parts[1];
    }

    private record ConfigName(String taskId, @Nullable String id) {
        static ConfigName of(String field, String name) {
            String[] parts = name.split("/", -1);
            if (parts.length < 2 || parts.length > 4 || !parts[0].equals("tasks")) {
                throw InvalidField.of(field, "expected: tasks/{id}/pushNotificationConfigs/{id}");
            }
            return new ConfigName(parts[1], parts.length < 4 ? null : nonEmpty(parts[3]));
        }

        /** A webhook that was registered without an id has that of its task. */
        String idOrDefault() {
            return id == null ? taskId : id;
        }

        @Override
        public String toString() {
            return name(taskId) + "/pushNotificationConfigs" + (id == null ? "" : "/" + id);
        }
    }

    // --- sends

    private static <O> O send(SendMessageRequest asked, SendConstructor<O> constructor) {
        Message message = required("message", asked.hasRequest(), () -> V03Model.read(asked.getRequest()));
        // This version does not forbid that the context is not the task's; the task knows better.
        Message known = message.taskId() == null ? message : message.in(null, message.taskId());
        return constructor.of(
                null,
                known,
                asked.hasConfiguration()
                        ? in("configuration", () -> configuration(asked.getConfiguration()))
                        : SendConfiguration.DEFAULTS,
                in("metadata", () -> Values.read(asked.getMetadata())));
    }

    /** On this wire a missing {@code blocking} equals false, so requests with settings have to set it. */
    private static SendConfiguration configuration(SendMessageConfiguration configuration) {
        return new SendConfiguration(
                configuration.getAcceptedOutputModesList(),
                optional(
                        "pushNotification",
                        configuration.hasPushNotification(),
                        () -> V03Model.read(configuration.getPushNotification(), null)),
                length(configuration.getHistoryLength()),
                !configuration.getBlocking());
    }

    private static SendMessageRequest send(Send operation) {
        SendConfiguration wanted = operation.configuration();
        var configuration = SendMessageConfiguration.newBuilder()
                .addAllAcceptedOutputModes(wanted.acceptedOutputModes())
                .setHistoryLength(length(wanted.historyLength()))
                .setBlocking(!wanted.returnImmediately());
        if (wanted.pushConfig() != null) {
            configuration.setPushNotification(V03Model.write(wanted.pushConfig()));
        }
        var asked = SendMessageRequest.newBuilder()
                .setRequest(V03Model.write(operation.message()))
                .setConfiguration(configuration);
        if (!operation.metadata().isEmpty()) {
            asked.setMetadata(Values.write(operation.metadata()));
        }
        return asked.build();
    }

    /** On this wire, 0 stands for a missing value. */
    private static @Nullable Integer length(int historyLength) {
        return historyLength == 0 ? null : historyLength;
    }

    private static int length(@Nullable Integer historyLength) {
        return historyLength == null ? 0 : historyLength;
    }

    // --- webhooks

    private static CreatePushConfig create(CreateTaskPushNotificationConfigRequest asked) {
        var parent = asked.getParent().isEmpty()
                ? ConfigName.of("config.name", asked.getConfig().getName())
                : ConfigName.of("parent", asked.getParent());
        PushConfig config =
                in("config", () -> V03Model.read(asked.getConfig().getPushNotificationConfig(), parent.taskId()));
        String id = asked.getConfigId().isEmpty() ? config.id() : asked.getConfigId();
        return new CreatePushConfig(null, config.of(parent.taskId(), id == null ? parent.idOrDefault() : id));
    }

    private static CreateTaskPushNotificationConfigRequest create(CreatePushConfig operation) {
        PushConfig config = operation.config();
        return CreateTaskPushNotificationConfigRequest.newBuilder()
                .setParent(name(requireNonNull(config.taskId())))
                .setConfigId(orEmpty(config.id()))
                .setConfig(config(config)) // with its name, for some read nothing else
                .build();
    }

    private static TaskPushNotificationConfig config(PushConfig config) {
        return TaskPushNotificationConfig.newBuilder()
                .setName(new ConfigName(requireNonNull(config.taskId()), config.id()).toString())
                .setPushNotificationConfig(V03Model.write(config))
                .build();
    }

    private static PushConfig config(TaskPushNotificationConfig answer) {
        var name = ConfigName.of("name", answer.getName());
        return V03Model.read(answer.getPushNotificationConfig(), name.taskId()).of(name.taskId(), name.idOrDefault());
    }

    private static ListTaskPushNotificationConfigResponse page(PushConfigPage page) {
        var answer = ListTaskPushNotificationConfigResponse.newBuilder().setNextPageToken(page.nextPageToken());
        page.configs().forEach(config -> answer.addConfigs(config(config)));
        return answer.build();
    }

    private static PushConfigPage page(ListTaskPushNotificationConfigResponse answer) {
        return new PushConfigPage(
                Values.each("configs", answer.getConfigsList(), V03Rpcs::config), answer.getNextPageToken());
    }
}
