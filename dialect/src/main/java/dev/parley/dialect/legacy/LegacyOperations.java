package dev.parley.dialect.legacy;

import static dev.parley.dialect.v1.V1Model.nonEmpty;
import static dev.parley.protocol.json.Codecs.BOOLEAN;
import static dev.parley.protocol.json.Codecs.INT;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TEXTS;

import dev.parley.dialect.operations.OperationTable;
import dev.parley.dialect.operations.Rows;
import dev.parley.dialect.operations.V1Operations;
import dev.parley.dialect.v1.V1Model;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
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
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The operations of the versions before 1.0, and of the Agentic Kernel.
 *
 * <p>Source: A2A specifications 0.1.0, 0.2.6 and 0.3.0.
 */
public final class LegacyOperations {
    /** 0.3 and 0.2 over JSON-RPC, and over REST as some peers speak it. */
    public static final OperationTable KIND = second(LegacyModel.KIND);

    /** The same, answered so that clients of 0.1 can read it too. */
    static final OperationTable MERGED = second(LegacyModel.MERGED);

    /** 0.3 over REST as most peers speak it. */
    public static final OperationTable PROTO = second(LegacyModel.PROTO);

    public static final OperationTable TYPE = first(LegacyModel.TYPE);
    public static final OperationTable KERNEL = first(LegacyModel.KERNEL);

    /** Length of the history in requests of a client that wants all messages, in versions whose default is none. */
    private static final int ALL_HISTORY = 1_000_000;

    /** The operations of 1.0 for a server that also reads messages as 0.3 spells them. */
    public static final OperationTable LENIENT = V1Operations.table(LegacyModel.KIND.message);

    /** The same for a server that previews A2A 1.1. */
    public static final OperationTable LENIENT_PREVIEW = V1Operations.preview(LegacyModel.KIND.message);

    private LegacyOperations() {}

    // ---- 0.2 and 0.3

    private static OperationTable second(LegacyModel model) {
        boolean proto = model.equals(LegacyModel.PROTO);
        Codec<Operation.Empty> nothing = Codecs.via(Codecs.FREE, none -> new Empty(), empty -> Codecs.NULL);
        return new Rows(model::shape)
                .row(SendMessage.class, "message/send", "POST /message:send", model.sendResult)
                .asking(it -> send(it, model, SendMessage::new))
                .row(SendStreamingMessage.class, "message/stream", "POST /message:stream", null)
                .asking(it -> send(it, model, SendStreamingMessage::new))
                .row(GetTask.class, "tasks/get", "GET /tasks/{id}", model.task)
                .asking(it -> it.required("id", TEXT, GetTask::id)
                        .optional("historyLength", INT, GetTask::historyLength)
                        .as(v -> new GetTask(null, v.next(), positive(v.next()))))
                // JSON-RPC had no such method; offering it is harmless.
                .row(ListTasks.class, "tasks/list", "GET /tasks", tasks(model))
                .asking(it -> it.optional("contextId", TEXT, ListTasks::contextId)
                        .as(v -> new ListTasks(null, nonEmpty(v.next()), null, null, null, null, null, true)))
                .row(CancelTask.class, "tasks/cancel", "POST /tasks/{id}:cancel", model.task)
                .asking(LegacyOperations::cancel)
                .row(SubscribeToTask.class, "tasks/resubscribe", "POST,GET /tasks/{id}:subscribe", null)
                .asking(LegacyOperations::subscribe)
                .row(
                        CreatePushConfig.class,
                        "tasks/pushNotificationConfig/set",
                        "POST /tasks/{taskId}/pushNotificationConfigs",
                        model.taskPush)
                .asking(it -> create(model))
                .row(
                        GetPushConfig.class,
                        "tasks/pushNotificationConfig/get",
                        "GET /tasks/{id}/pushNotificationConfigs/{pushNotificationConfigId}",
                        model.taskPush)
                .asking(it -> it.required("id", TEXT, GetPushConfig::taskId)
                        .optional("pushNotificationConfigId", TEXT, GetPushConfig::id)
                        .as(v -> get(v.next(), v.next())))
                .row(
                        ListPushConfigs.class,
                        "tasks/pushNotificationConfig/list",
                        "GET /tasks/{id}/pushNotificationConfigs",
                        proto ? page(model.taskPush) : array(model.taskPush))
                .asking(it -> it.required("id", TEXT, ListPushConfigs::taskId)
                        .as(v -> new ListPushConfigs(null, v.next(), 0, null)))
                .row(
                        DeletePushConfig.class,
                        "tasks/pushNotificationConfig/delete",
                        "DELETE /tasks/{id}/pushNotificationConfigs/{pushNotificationConfigId}",
                        proto ? V1Model.EMPTY : nothing)
                .asking(it -> it.required("id", TEXT, DeletePushConfig::taskId)
                        .required("pushNotificationConfigId", TEXT, DeletePushConfig::id)
                        .as(v -> new DeletePushConfig(null, v.next(), v.next())))
                .row(GetExtendedAgentCard.class, "agent/getAuthenticatedExtendedCard", "GET /card", LegacyCard.V03)
                .asking(it -> it.as(v -> new GetExtendedAgentCard(null)))
                .table();
    }

    private static Codec<TaskPage> tasks(LegacyModel model) {
        return Codecs.via(
                Codecs.list(model.task),
                tasks -> new TaskPage(tasks, "", tasks.size(), tasks.size(), true),
                TaskPage::tasks);
    }

    private static <O extends Operation & Send> ObjectCodec<O> send(
            ObjectCodec.Builder<O> shape, LegacyModel model, Send.Constructor<O> constructor) {
        Codec<SendConfiguration> configuration = configuration(model);
        return shape.optional("message", model.message, Send::message)
                .readOnly("request", model.message) // until 0.2.6, in ProtoJSON
                .optional("configuration", configuration, it -> it.configuration())
                .optional("metadata", STRUCT, Map.of(), Send::metadata)
                .as(v -> send(constructor, v.next(), v.next(), v.next(), v.next()));
    }

    private static <O> O send(
            Send.Constructor<O> constructor,
            @Nullable Message message,
            @Nullable Message request,
            @Nullable SendConfiguration configuration,
            Map<String, @Nullable Object> metadata) {
        Message sent = message == null ? request : message;
        if (sent == null) {
            throw InvalidField.of("message", "missing (expected: an object)");
        }
        return constructor.of(
                null, continuing(sent), configuration == null ? SendConfiguration.DEFAULTS : configuration, metadata);
    }

    /** Older versions do not forbid that a message names another context than its task's; the task knows better. */
    private static Message continuing(Message message) {
        return message.taskId() == null || message.contextId() == null ? message : message.in(null, message.taskId());
    }

    private static Codec<SendConfiguration> configuration(LegacyModel model) {
        boolean proto = model.equals(LegacyModel.PROTO);
        return model.<SendConfiguration>shape()
                // Before 0.3 a configuration had to have them, be it none.
                .always("acceptedOutputModes", TEXTS, List.of(), SendConfiguration::acceptedOutputModes)
                .optional("historyLength", INT, SendConfiguration::historyLength)
                .optional(
                        proto ? "pushNotification" : "pushNotificationConfig",
                        model.push,
                        SendConfiguration::pushConfig)
                .optional("blocking", BOOLEAN, it -> !it.returnImmediately())
                .as(v -> configuration(proto, v.next(), v.next(), v.next(), v.next()));
    }

    /** ProtoJSON omits {@code false}, so it equals an absent member. */
    private static SendConfiguration configuration(
            boolean proto,
            List<String> acceptedOutputModes,
            @Nullable Integer historyLength,
            @Nullable PushConfig pushConfig,
            @Nullable Boolean blocking) {
        boolean immediately = blocking == null ? proto : !blocking;
        return new SendConfiguration(acceptedOutputModes, pushConfig, positive(historyLength), immediately);
    }

    /** Clients of 0.3 say 0 where they want to say nothing. */
    private static @Nullable Integer positive(@Nullable Integer historyLength) {
        return historyLength == null || historyLength == 0 ? null : historyLength;
    }

    private static GetPushConfig get(String taskId, @Nullable String id) {
        return new GetPushConfig(null, taskId, id == null || id.isEmpty() ? taskId : id);
    }

    private static Codec<PushConfigPage> array(Codec<PushConfig> config) {
        return Codecs.via(Codecs.list(config), all -> new PushConfigPage(all, ""), PushConfigPage::configs);
    }

    private static Codec<PushConfigPage> page(Codec<PushConfig> config) {
        return ObjectCodec.<PushConfigPage>of()
                .always("configs", Codecs.list(config), List.of(), PushConfigPage::configs)
                .optional("nextPageToken", TEXT, "", PushConfigPage::nextPageToken)
                .as(v -> new PushConfigPage(v.next(), v.next()));
    }

    // ---- Shared forms

    private static ObjectCodec<CancelTask> cancel(ObjectCodec.Builder<CancelTask> shape) {
        return shape.required("id", TEXT, CancelTask::id)
                .optional("metadata", STRUCT, Map.of(), CancelTask::metadata)
                .as(v -> new CancelTask(null, v.next(), v.next()));
    }

    private static ObjectCodec<SubscribeToTask> subscribe(ObjectCodec.Builder<SubscribeToTask> shape) {
        return shape.required("id", TEXT, SubscribeToTask::id).as(v -> SubscribeToTask.of(v.next()));
    }

    private static ObjectCodec<CreatePushConfig> create(LegacyModel model) {
        return model.askedPush.around(config -> new CreatePushConfig(null, config), CreatePushConfig::config);
    }

    // ---- 0.1 and the Agentic Kernel

    private static OperationTable first(LegacyModel model) {
        Function<SendResult, Task> task =
                result -> (Task) result; // a message without a task has become a task, see NamedTasks
        Codec<SendResult> result = Codecs.via(model.task, sent -> sent, task);
        return new Rows(model::shape)
                .row(SendMessage.class, "tasks/send", "", result)
                .asking(it -> sendNamed(it, model, SendMessage::new))
                .row(SendStreamingMessage.class, "tasks/sendSubscribe", "", null)
                .asking(it -> sendNamed(it, model, SendStreamingMessage::new))
                .row(GetTask.class, "tasks/get", "", model.task)
                .asking(it -> it.required("id", TEXT, GetTask::id)
                        .optional("historyLength", INT, get -> history(get.historyLength()))
                        .as(v -> new GetTask(null, v.next(), orNone(v.next()))))
                .row(CancelTask.class, "tasks/cancel", "", model.task)
                .asking(LegacyOperations::cancel)
                .row(SubscribeToTask.class, "tasks/resubscribe", "", null)
                .asking(LegacyOperations::subscribe)
                .row(CreatePushConfig.class, "tasks/pushNotification/set", "", model.taskPush)
                .asking(it -> create(model))
                .row(GetPushConfig.class, "tasks/pushNotification/get", "", model.taskPush)
                .asking(it -> it.required("id", TEXT, GetPushConfig::taskId).as(v -> get(v.next(), null)))
                .table();
    }

    private static <O extends Operation & Send> ObjectCodec<O> sendNamed(
            ObjectCodec.Builder<O> shape, LegacyModel model, Send.Constructor<O> constructor) {
        return shape.optional("id", TEXT, it -> nameOf(it.message()))
                .optional("sessionId", TEXT, it -> it.message().contextId())
                .required("message", model.message, Send::message)
                .optional(
                        "acceptedOutputModes",
                        TEXTS,
                        List.of(),
                        it -> it.configuration().acceptedOutputModes())
                .optional(
                        "pushNotification", model.push, it -> it.configuration().pushConfig())
                .optional("historyLength", INT, it -> history(it.configuration().historyLength()))
                .optional("metadata", STRUCT, Map.of(), Send::metadata)
                .as(v -> sendNamed(constructor, v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));
    }

    private static <O> O sendNamed(
            Send.Constructor<O> constructor,
            @Nullable String id,
            @Nullable String sessionId,
            Message message,
            List<String> acceptedOutputModes,
            @Nullable PushConfig pushConfig,
            @Nullable Integer historyLength,
            Map<String, @Nullable Object> metadata) {
        var configuration = new SendConfiguration(
                acceptedOutputModes.stream().map(LegacyOperations::mode).toList(),
                pushConfig,
                orNone(historyLength),
                false);
        return constructor.of(null, message.in(nonEmpty(sessionId), nonEmpty(id)), configuration, metadata);
    }

    /** The first clients named their output modes by kinds of parts. */
    private static String mode(String mode) {
        return switch (mode) {
            case "text" -> "text/plain";
            case "data" -> "application/json";
            case "file" -> "*/*";
            default -> mode;
        };
    }

    /** The client names the task; a message that begins one has an id that serves. */
    private static String nameOf(Message message) {
        return message.taskId() == null ? message.messageId() : message.taskId();
    }

    private static int orNone(@Nullable Integer historyLength) {
        return historyLength == null ? 0 : historyLength;
    }

    private static int history(@Nullable Integer historyLength) {
        return historyLength == null ? ALL_HISTORY : historyLength;
    }
}
