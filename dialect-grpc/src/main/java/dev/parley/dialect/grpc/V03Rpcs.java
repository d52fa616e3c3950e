package dev.parley.dialect.grpc;

import static dev.parley.dialect.grpc.Kind.NUMBER;
import static dev.parley.dialect.grpc.Kind.TEXT;
import static dev.parley.dialect.grpc.Values.in;
import static dev.parley.dialect.grpc.Values.nonEmpty;
import static dev.parley.dialect.grpc.Values.orEmpty;
import static java.util.Objects.requireNonNull;

import dev.parley.dialect.grpc.v03.A2AServiceGrpc;
import dev.parley.dialect.grpc.v03.CreateTaskPushNotificationConfigRequest;
import dev.parley.dialect.grpc.v03.GetAgentCardRequest;
import dev.parley.dialect.grpc.v03.TaskPushNotificationConfig;
import dev.parley.dialect.wire.UntilFinal;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.CreatePushConfig;
import dev.parley.protocol.Operation.DeletePushConfig;
import dev.parley.protocol.Operation.GetExtendedAgentCard;
import dev.parley.protocol.Operation.GetPushConfig;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.ListPushConfigs;
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

    private static final Model MODEL = Model.V03;

    /** The name of a task. */
    private static final Kind<String> TASK = Kind.of(String.class, V03Rpcs::taskId, V03Rpcs::name);

    /** The name of a task, or of a webhook of it. */
    private static final Kind<String> PARENT =
            Kind.of(String.class, name -> ConfigName.of(name).taskId(), V03Rpcs::name);

    private static final Kind<ConfigName> CONFIG = Kind.of(String.class, ConfigName::of, ConfigName::toString);

    /** A webhook under its name, which has the ids. */
    private static final Fields<PushConfig> NAMED_CONFIG = MODEL.<PushConfig>of("TaskPushNotificationConfig")
            .plain("name", CONFIG, ConfigName::of)
            .required("push_notification_config", MODEL.pushConfig, config -> config)
            .as(v -> named(v.next(), v.next()));

    static final List<Rpc<?, ?, ?, ?>> ALL = List.of(
            Rpc.call(
                    SendMessage.class,
                    A2AServiceGrpc.getSendMessageMethod(),
                    MODEL.send((tenant, message, configuration, metadata) ->
                            new SendMessage(tenant, known(message), configuration, metadata)),
                    MODEL.result),
            Rpc.watch(
                    SendStreamingMessage.class,
                    A2AServiceGrpc.getSendStreamingMessageMethod(),
                    MODEL.send((tenant, message, configuration, metadata) ->
                            new SendStreamingMessage(tenant, known(message), configuration, metadata)),
                    MODEL.event),
            Rpc.call(
                    GetTask.class,
                    A2AServiceGrpc.getGetTaskMethod(),
                    MODEL.<GetTask>of("GetTaskRequest")
                            .plain("name", TASK, GetTask::id)
                            .optional("history_length", NUMBER, GetTask::historyLength)
                            .as(v -> new GetTask(null, v.next(), v.next())),
                    MODEL.task),
            Rpc.call(
                    CancelTask.class,
                    A2AServiceGrpc.getCancelTaskMethod(),
                    MODEL.<CancelTask>of("CancelTaskRequest")
                            .plain("name", TASK, CancelTask::id)
                            .as(v -> CancelTask.of(v.next())),
                    MODEL.task),
            Rpc.watch(
                    SubscribeToTask.class,
                    A2AServiceGrpc.getTaskSubscriptionMethod(),
                    MODEL.<SubscribeToTask>of("TaskSubscriptionRequest")
                            .plain("name", TASK, SubscribeToTask::id)
                            .as(v -> SubscribeToTask.of(v.next())),
                    MODEL.event),
            Rpc.call(
                    CreatePushConfig.class,
                    A2AServiceGrpc.getCreateTaskPushNotificationConfigMethod(),
                    V03Rpcs::create,
                    V03Rpcs::create,
                    V03Rpcs::config,
                    NAMED_CONFIG::read),
            Rpc.call(
                    GetPushConfig.class,
                    A2AServiceGrpc.getGetTaskPushNotificationConfigMethod(),
                    MODEL.<GetPushConfig>of("GetTaskPushNotificationConfigRequest")
                            .plain("name", CONFIG, get -> new ConfigName(get.taskId(), get.id()))
                            .as(v -> v.<ConfigName>next().with(GetPushConfig::new)),
                    NAMED_CONFIG),
            Rpc.call(
                    ListPushConfigs.class,
                    A2AServiceGrpc.getListTaskPushNotificationConfigMethod(),
                    MODEL.<ListPushConfigs>of("ListTaskPushNotificationConfigRequest")
                            .plain("parent", PARENT, ListPushConfigs::taskId)
                            .plain("page_size", NUMBER, ListPushConfigs::pageSize)
                            .optional("page_token", TEXT, ListPushConfigs::pageToken)
                            .as(v -> new ListPushConfigs(null, v.next(), v.<Integer>next(), v.next())),
                    MODEL.pushPage("ListTaskPushNotificationConfigResponse", NAMED_CONFIG)),
            Rpc.call(
                    DeletePushConfig.class,
                    A2AServiceGrpc.getDeleteTaskPushNotificationConfigMethod(),
                    MODEL.<DeletePushConfig>of("DeleteTaskPushNotificationConfigRequest")
                            .plain("name", CONFIG, delete -> new ConfigName(delete.taskId(), delete.id()))
                            .as(v -> v.<ConfigName>next().with(DeletePushConfig::new)),
                    Model.DONE),
            Rpc.call(
                    GetExtendedAgentCard.class,
                    A2AServiceGrpc.getGetAgentCardMethod(),
                    request -> new GetExtendedAgentCard(null),
                    operation -> GetAgentCardRequest.getDefaultInstance(),
                    CardMessages::v03,
                    CardMessages::v03));

    /** Names of three methods in 0.2.2 to 0.2.4. */
    static final Map<String, String> FORMER_NAMES = Map.of(
            "CreateTaskPushNotification", "CreateTaskPushNotificationConfig",
            "GetTaskPushNotification", "GetTaskPushNotificationConfig",
            "ListTaskPushNotification", "ListTaskPushNotificationConfig");

    static final Service SERVICE = new Service(
            "0.3",
            List.of("0.3", "0.2"),
            "x-a2a-extensions",
            ALL,
            V03Rpcs::code,
            (events, watch) -> new UntilFinal(events, watch, Model::isFinal, true));

    /** Status codes of the official servers of 0.3, whose specification has no table. */
    private static Code code(ErrorKind error) {
        return switch (error) {
            case A2AError.TASK_NOT_CANCELABLE,
                    A2AError.PUSH_NOTIFICATION_NOT_SUPPORTED,
                    A2AError.UNSUPPORTED_OPERATION,
                    A2AError.CONTENT_TYPE_NOT_SUPPORTED,
                    A2AError.EXTENDED_AGENT_CARD_NOT_CONFIGURED -> Code.UNIMPLEMENTED;
            case A2AError.EXTENSION_SUPPORT_REQUIRED -> Code.INVALID_ARGUMENT;
            default -> V1Rpcs.code(error);
        };
    }

    // --- names: tasks/T and tasks/T/pushNotificationConfigs/C

    private static String name(String taskId) {
        return "tasks/" + taskId;
    }

    /** Release candidates of 1.0 used the same service and sent bare ids; their other fields mean something else. */
    private static String taskId(String name) {
        String[] parts = name.split("/", -1);
        if (parts.length != 2 || !parts[0].equals("tasks")) {
            throw InvalidField.of("", "expected: tasks/{id}, as A2A 0.3 has it; 1.0 is served as lf.a2a.v1.A2AService");
        }
        return parts[1];
    }

    private interface ConfigConstructor<O> {
        O of(@Nullable String tenant, String taskId, String id);
    }

    private record ConfigName(String taskId, @Nullable String id) {
        static ConfigName of(String name) {
            String[] parts = name.split("/", -1);
            if (parts.length < 2 || parts.length > 4 || !parts[0].equals("tasks")) {
                throw InvalidField.of("", "expected: tasks/{id}/pushNotificationConfigs/{id}");
            }
            return new ConfigName(parts[1], parts.length < 4 ? null : nonEmpty(parts[3]));
        }

        static ConfigName of(PushConfig config) {
            return new ConfigName(requireNonNull(config.taskId()), config.id());
        }

        /** A webhook that was registered without an id has that of its task. */
        String idOrDefault() {
            return id == null ? taskId : id;
        }

        <O> O with(ConfigConstructor<O> constructor) {
            return constructor.of(null, taskId, idOrDefault());
        }

        @Override
        public String toString() {
            return name(taskId) + "/pushNotificationConfigs" + (id == null ? "" : "/" + id);
        }
    }

    /** This version does not forbid that the context is not the task's; the task knows better. */
    private static Message known(Message message) {
        return message.taskId() == null ? message : message.in(null, message.taskId());
    }

    // --- webhooks

    private static PushConfig named(ConfigName name, PushConfig config) {
        return config.of(name.taskId(), name.idOrDefault());
    }

    private static CreatePushConfig create(CreateTaskPushNotificationConfigRequest request) {
        var parent = request.getParent().isEmpty()
                ? in("config.name", () -> ConfigName.of(request.getConfig().getName()))
                : in("parent", () -> ConfigName.of(request.getParent()));
        PushConfig config =
                in("config", () -> MODEL.pushConfig.read(request.getConfig().getPushNotificationConfig()));
        String id = request.getConfigId().isEmpty() ? config.id() : request.getConfigId();
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
        return (TaskPushNotificationConfig) NAMED_CONFIG.write(config, TaskPushNotificationConfig.newBuilder());
    }
}
