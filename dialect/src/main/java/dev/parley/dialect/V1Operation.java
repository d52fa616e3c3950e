package dev.parley.dialect;

import static dev.parley.dialect.Codecs.BOOLEAN;
import static dev.parley.dialect.Codecs.INT;
import static dev.parley.dialect.Codecs.STRUCT;
import static dev.parley.dialect.Codecs.TEXT;
import static dev.parley.dialect.Codecs.TIMESTAMP;
import static dev.parley.dialect.V1Model.nonEmpty;
import static java.util.Objects.requireNonNull;

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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One operation on the wire of A2A 1.0. Server and client, JSON-RPC and REST all go by the table {@link #ALL}.
 *
 * <p>Source: A2A specification 1.0, sections 5.3, 9.4 and 11.3.
 *
 * @param method the JSON-RPC method
 * @param verbs the HTTP methods of the REST binding, the one a client uses first
 * @param request how its fields look as JSON, and as path and query
 * @param result how its answer looks; null if that is a stream of events
 */
record V1Operation(
        Class<? extends Operation> type,
        String method,
        List<String> verbs,
        PathTemplate path,
        Shape<Operation> request,
        @Nullable Codec<Object> result) {

    private interface SendConstructor<T> {
        T of(
                @Nullable String tenant,
                Message message,
                SendConfiguration configuration,
                Map<String, @Nullable Object> metadata);
    }

    static final List<V1Operation> ALL = List.of(
            of(SendMessage.class, "SendMessage", "POST /message:send", send(SendMessage::new), V1Model.SEND_RESULT),
            of(
                    SendStreamingMessage.class,
                    "SendStreamingMessage",
                    "POST /message:stream",
                    send(SendStreamingMessage::new),
                    null),
            of(
                    GetTask.class,
                    "GetTask",
                    "GET /tasks/{id}",
                    V1Operation.<GetTask>fields()
                            .required("id", TEXT, GetTask::id)
                            .optional("historyLength", INT, GetTask::historyLength)
                            .as(v -> new GetTask(nonEmpty(v.next()), v.next(), v.next())),
                    V1Model.TASK),
            of(
                    ListTasks.class,
                    "ListTasks",
                    "GET /tasks",
                    V1Operation.<ListTasks>fields()
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
            of(
                    CancelTask.class,
                    "CancelTask",
                    "POST /tasks/{id}:cancel",
                    V1Operation.<CancelTask>fields()
                            .required("id", TEXT, CancelTask::id)
                            .optional("metadata", STRUCT, Map.of(), CancelTask::metadata)
                            .as(v -> new CancelTask(nonEmpty(v.next()), v.next(), v.next())),
                    V1Model.TASK),
            of(
                    SubscribeToTask.class,
                    "SubscribeToTask",
                    "POST,GET /tasks/{id}:subscribe",
                    V1Operation.<SubscribeToTask>fields()
                            .required("id", TEXT, SubscribeToTask::id)
                            .as(v -> new SubscribeToTask(nonEmpty(v.next()), v.next(), null)),
                    null),
            of(
                    CreatePushConfig.class,
                    "CreateTaskPushNotificationConfig",
                    "POST /tasks/{taskId}/pushNotificationConfigs",
                    V1Model.PUSH_CONFIG.around(
                            config -> new CreatePushConfig(config.tenant(), config), CreatePushConfig::config),
                    V1Model.PUSH_CONFIG),
            of(
                    GetPushConfig.class,
                    "GetTaskPushNotificationConfig",
                    "GET /tasks/{taskId}/pushNotificationConfigs/{id}",
                    V1Operation.<GetPushConfig>fields()
                            .required("taskId", TEXT, GetPushConfig::taskId)
                            .required("id", TEXT, GetPushConfig::id)
                            .as(v -> new GetPushConfig(nonEmpty(v.next()), v.next(), v.next())),
                    V1Model.PUSH_CONFIG),
            of(
                    ListPushConfigs.class,
                    "ListTaskPushNotificationConfigs",
                    "GET /tasks/{taskId}/pushNotificationConfigs",
                    V1Operation.<ListPushConfigs>fields()
                            .required("taskId", TEXT, ListPushConfigs::taskId)
                            .optional("pageSize", INT, 0, ListPushConfigs::pageSize)
                            .optional("pageToken", TEXT, ListPushConfigs::pageToken)
                            .as(v -> new ListPushConfigs(nonEmpty(v.next()), v.next(), v.next(), nonEmpty(v.next()))),
                    V1Model.PUSH_CONFIG_PAGE),
            of(
                    DeletePushConfig.class,
                    "DeleteTaskPushNotificationConfig",
                    "DELETE /tasks/{taskId}/pushNotificationConfigs/{id}",
                    V1Operation.<DeletePushConfig>fields()
                            .required("taskId", TEXT, DeletePushConfig::taskId)
                            .required("id", TEXT, DeletePushConfig::id)
                            .as(v -> new DeletePushConfig(nonEmpty(v.next()), v.next(), v.next())),
                    V1Model.EMPTY),
            of(
                    GetExtendedAgentCard.class,
                    "GetExtendedAgentCard",
                    "GET /extendedAgentCard",
                    V1Operation.<GetExtendedAgentCard>fields().as(v -> new GetExtendedAgentCard(nonEmpty(v.next()))),
                    V1Card.CARD));

    private static final Map<String, V1Operation> BY_METHOD = new HashMap<>();
    private static final Map<Class<?>, V1Operation> BY_TYPE = new HashMap<>();

    static {
        for (V1Operation one : ALL) {
            BY_METHOD.put(one.method, one);
            BY_TYPE.put(one.type, one);
        }
        // Release candidates of 1.0 had it in the singular.
        BY_METHOD.put("ListTaskPushNotificationConfig", BY_TYPE.get(ListPushConfigs.class));
    }

    static @Nullable V1Operation named(String method) {
        return BY_METHOD.get(method);
    }

    static V1Operation of(Operation operation) {
        return requireNonNull(BY_TYPE.get(operation.getClass()));
    }

    /**
     * Returns the operation as told by the header {@code Last-Event-ID}: a subscription then begins behind that event.
     * An id that is none of ours says nothing, so the stream begins as ever.
     */
    static Operation resuming(Operation operation, @Nullable String lastEventId) {
        if (lastEventId != null && operation instanceof SubscribeToTask subscribe) {
            Long after = sequence(lastEventId);
            return new SubscribeToTask(subscribe.tenant(), subscribe.id(), after);
        }
        return operation;
    }

    /** Returns the header {@code Last-Event-ID} that an operation is to be sent with, or null. */
    static @Nullable String lastEventId(Operation operation) {
        return operation instanceof SubscribeToTask subscribe && subscribe.after() != null
                ? subscribe.after().toString()
                : null;
    }

    /** Returns the sequence number that an event id is; null if it is none. */
    static @Nullable Long sequence(String eventId) {
        try {
            long sequence = Long.parseLong(eventId.trim());
            return sequence < 0 ? null : (Long) sequence;
        } catch (NumberFormatException foreign) {
            return null;
        }
    }

    private static <O extends Operation> V1Operation of(
            Class<O> type, String method, String rest, Shape<O> request, @Nullable Codec<?> result) {
        int blank = rest.indexOf(' ');
        @SuppressWarnings("unchecked") // both meet only what belongs to this operation
        var row = new V1Operation(
                type,
                method,
                List.of(rest.substring(0, blank).split(",", -1)),
                PathTemplate.of(rest.substring(blank + 1)),
                (Shape<Operation>) (Shape<?>) request,
                (Codec<Object>) result);
        return row;
    }

    private static <O extends Operation> Shape.Builder<O> fields() {
        return Shape.<O>of().optional("tenant", TEXT, Operation::tenant);
    }

    private static <O extends Operation & Send> Shape<O> send(SendConstructor<O> constructor) {
        return V1Operation.<O>fields()
                .required("message", V1Model.MESSAGE, Send::message)
                .optional("configuration", V1Model.CONFIGURATION, SendConfiguration.DEFAULTS, Send::configuration)
                .optional("metadata", STRUCT, Map.of(), Send::metadata)
                .as(v -> constructor.of(nonEmpty(v.next()), v.next(), v.next(), v.next()));
    }
}
