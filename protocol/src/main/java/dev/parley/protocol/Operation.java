package dev.parley.protocol;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.support.Lists;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An operation of an agent with the fields of its request: one of the eleven of A2A, or one of an {@link Extension}.
 *
 * <p>{@code tenant} routes a request among several agents or groups behind one address; null if the interface names
 * none.
 *
 * <p>Source: A2A specification 1.0, section 3.1 "Core Operations".
 */
public sealed interface Operation {
    /** Maximum length of an id that a caller chooses, in characters. */
    int LONGEST_ID = 256;

    /** The names of the operations of A2A, as {@link #name} returns them. */
    List<String> NAMES = List.of(
            "SendMessage",
            "SendStreamingMessage",
            "GetTask",
            "ListTasks",
            "CancelTask",
            "SubscribeToTask",
            "CreateTaskPushNotificationConfig",
            "GetTaskPushNotificationConfig",
            "ListTaskPushNotificationConfigs",
            "DeleteTaskPushNotificationConfig",
            "GetExtendedAgentCard");

    /** The routing string of the interface, or null. */
    @Nullable
    String tenant();

    /**
     * Name of the operation in the specification, in every dialect. Policies, metrics, traces and the audit use it, so it does
     * not depend on the names of classes.
     *
     * <p>Source: A2A specification 1.0, section 5.3 "Method Mapping Reference".
     */
    default String name() {
        return switch (this) {
            case SendMessage send -> "SendMessage";
            case SendStreamingMessage send -> "SendStreamingMessage";
            case GetTask get -> "GetTask";
            case ListTasks list -> "ListTasks";
            case CancelTask cancel -> "CancelTask";
            case SubscribeToTask subscribe -> "SubscribeToTask";
            case CreatePushConfig create -> "CreateTaskPushNotificationConfig";
            case GetPushConfig get -> "GetTaskPushNotificationConfig";
            case ListPushConfigs list -> "ListTaskPushNotificationConfigs";
            case DeletePushConfig delete -> "DeleteTaskPushNotificationConfig";
            case GetExtendedAgentCard get -> "GetExtendedAgentCard";
            case Extension extension -> extension.name();
        };
    }

    /** The id of the task that it is about; null for none, or if that is not known before it is answered. */
    default @Nullable String aboutTask() {
        return switch (this) {
            case Send send -> send.message().taskId();
            case GetTask get -> get.id();
            case CancelTask cancel -> cancel.id();
            case SubscribeToTask subscribe -> subscribe.id();
            case CreatePushConfig create -> create.config().taskId();
            case GetPushConfig get -> get.taskId();
            case ListPushConfigs list -> list.taskId();
            case DeletePushConfig delete -> delete.taskId();
            case ListTasks list -> null;
            case GetExtendedAgentCard get -> null;
            case Extension extension -> null;
        };
    }

    /**
     * The id of the task that logs, traces and the audit show beside the operation: the one that it is {@linkplain #aboutTask() about}, or
     * another that an operation of an extension names; null for none.
     */
    default @Nullable String relatedTask() {
        return aboutTask();
    }

    /**
     * Refuses ids that are too long, before any use. Ids are kept longer than their task: in logs, in the count of turns, and in
     * the audit log, which has no retention.
     *
     * @throws A2AException INVALID_PARAMS if an id has more than {@value #LONGEST_ID} characters
     */
    default void requireShortIds() {
        requireShort("tenant", tenant());
        switch (this) {
            case Send send -> {
                Message message = send.message();
                requireShort("message.messageId", message.messageId());
                requireShort("message.contextId", message.contextId());
                requireShort("message.taskId", message.taskId());
                PushConfig webhook = send.configuration().pushConfig();
                if (webhook != null) {
                    requireShortIds("configuration.taskPushNotificationConfig.", webhook);
                }
            }
            case GetTask get -> requireShort("id", get.id());
            case CancelTask cancel -> requireShort("id", cancel.id());
            case SubscribeToTask subscribe -> requireShort("id", subscribe.id());
            case CreatePushConfig create -> requireShortIds("", create.config());
            case GetPushConfig get -> {
                requireShort("taskId", get.taskId());
                requireShort("id", get.id());
            }
            case ListPushConfigs list -> requireShort("taskId", list.taskId());
            case DeletePushConfig delete -> {
                requireShort("taskId", delete.taskId());
                requireShort("id", delete.id());
            }
            case ListTasks list -> requireShort("contextId", list.contextId());
            case GetExtendedAgentCard get -> {}
            case Extension extension -> {}
        }
    }

    /** True if asking twice does no more than asking once, so that a lost answer can simply be asked for again. */
    default boolean isRepeatable() {
        return true;
    }

    /** An operation with one answer of type {@code R}. */
    sealed interface Call<R> extends Operation {}

    /** An operation with a stream of {@code E} as its answer; those of A2A stream {@link LoggedEvent}s. */
    sealed interface Watch<E> extends Operation {}

    /** An operation of A2A that streams the events of a task. */
    sealed interface TaskWatch extends Watch<LoggedEvent> {}

    /**
     * An operation that an extension adds to those of A2A. Authorization, limits, metrics, traces and audit treat it like any other,
     * by its {@link #name}.
     */
    sealed interface Extension extends Operation {
        /** The method name that the extension's specification gives it, in every dialect. */
        @Override
        String name();

        @Override
        default @Nullable String tenant() {
            return null;
        }

        /** The error that the specification of the extension has for a caller without permission. */
        default A2AException denied(A2AException refusal) {
            return refusal;
        }

        /** Whether it runs an agent, which may call others: then the number of agents that a call goes through is bounded. */
        default boolean runsAgent() {
            return false;
        }
    }

    /** An operation of an extension with one answer of type {@code R}. */
    non-sealed interface ExtensionCall<R> extends Extension, Call<R> {}

    /** An operation of an extension with a stream of {@code E} as its answer. */
    non-sealed interface ExtensionWatch<E> extends Extension, Watch<E> {}

    /** The request that {@link SendMessage} and {@link SendStreamingMessage} share. */
    sealed interface Send extends Operation {
        Message message();

        SendConfiguration configuration();

        Map<String, @Nullable Object> metadata();

        /** This, with another message. */
        Send with(Message message);

        /** Makes a send of its parts. */
        @FunctionalInterface
        interface Constructor<O> {
            O of(
                    @Nullable String tenant,
                    Message message,
                    SendConfiguration configuration,
                    Map<String, @Nullable Object> metadata);
        }

        /** Returns false, because only some servers recognise a repeated message by its id. */
        @Override
        default boolean isRepeatable() {
            return false;
        }
    }

    /** Sends a message and waits for its outcome. */
    record SendMessage(
            @Nullable String tenant,
            Message message,
            SendConfiguration configuration,
            Map<String, @Nullable Object> metadata)
            implements Call<SendResult>, Send {
        public SendMessage {
            requireNonNull(message, "message");
            requireNonNull(configuration, "configuration");
            metadata = Lists.copy(metadata);
        }

        @Override
        public SendMessage with(Message other) {
            return new SendMessage(tenant, other, configuration, metadata);
        }

        public static SendMessage of(Message message) {
            return new SendMessage(null, message, SendConfiguration.DEFAULTS, Map.of());
        }
    }

    /** Sends a message and watches what happens. */
    record SendStreamingMessage(
            @Nullable String tenant,
            Message message,
            SendConfiguration configuration,
            Map<String, @Nullable Object> metadata)
            implements TaskWatch, Send {
        public SendStreamingMessage {
            requireNonNull(message, "message");
            requireNonNull(configuration, "configuration");
            metadata = Lists.copy(metadata);
        }

        @Override
        public SendStreamingMessage with(Message other) {
            return new SendStreamingMessage(tenant, other, configuration, metadata);
        }

        public static SendStreamingMessage of(Message message) {
            return new SendStreamingMessage(null, message, SendConfiguration.DEFAULTS, Map.of());
        }
    }

    /** Reads a task. {@code historyLength}: at most so many of the newest messages, null for all. */
    record GetTask(
            @Nullable String tenant, String id, @Nullable Integer historyLength) implements Call<Task> {
        public GetTask {
            requireId(id, "id");
            requireLength(historyLength);
        }

        public static GetTask of(String id) {
            return new GetTask(null, id, null);
        }
    }

    /**
     * Lists tasks, those with the newest status first.
     *
     * @param status null or unspecified for tasks in any state
     * @param pageSize 1 to 100; null means 50
     * @param statusTimestampAfter only tasks whose status is as new as this or newer
     */
    record ListTasks(
            @Nullable String tenant,
            @Nullable String contextId,
            @Nullable TaskState status,
            @Nullable Integer pageSize,
            @Nullable String pageToken,
            @Nullable Integer historyLength,
            @Nullable Instant statusTimestampAfter,
            boolean includeArtifacts)
            implements Call<TaskPage> {
        public static final int DEFAULT_PAGE_SIZE = 50;
        public static final int MAX_PAGE_SIZE = 100;

        public ListTasks {
            if (pageSize != null && (pageSize < 1 || pageSize > MAX_PAGE_SIZE)) {
                throw InvalidField.of("pageSize", pageSize + " (expected: 1 to " + MAX_PAGE_SIZE + ")");
            }
            requireLength(historyLength);
            status = status == TaskState.UNSPECIFIED ? null : status; // which is how the wire says none
        }

        public static ListTasks all() {
            return new ListTasks(null, null, null, null, null, null, null, false);
        }

        /** Returns this list, from the page that {@code pageToken} stands for. */
        public ListTasks from(String pageToken) {
            return new ListTasks(
                    tenant,
                    contextId,
                    status,
                    pageSize,
                    pageToken,
                    historyLength,
                    statusTimestampAfter,
                    includeArtifacts);
        }
    }

    /** Asks for a task to be ended. */
    record CancelTask(@Nullable String tenant, String id, Map<String, @Nullable Object> metadata)
            implements Call<Task> {
        public CancelTask {
            requireId(id, "id");
            metadata = Lists.copy(metadata);
        }

        public static CancelTask of(String id) {
            return new CancelTask(null, id, Map.of());
        }

        /** The second time it is refused, because the task has ended. */
        @Override
        public boolean isRepeatable() {
            return false;
        }
    }

    /**
     * Watches a task that exists already.
     *
     * @param after beyond the protocol: the sequence number of the last event seen. The stream then begins after it,
     *     without the snapshot that it begins with otherwise.
     */
    record SubscribeToTask(
            @Nullable String tenant, String id, @Nullable Long after) implements TaskWatch {
        public SubscribeToTask {
            requireId(id, "id");
        }

        public static SubscribeToTask of(String id) {
            return new SubscribeToTask(null, id, null);
        }
    }

    /** Registers a webhook for a task, or replaces the one with the same id. */
    record CreatePushConfig(@Nullable String tenant, PushConfig config) implements Call<PushConfig> {
        public CreatePushConfig {
            requireNonNull(config, "config");
            requireId(config.taskId(), "taskId");
        }

        /** Without an id there would be two. */
        @Override
        public boolean isRepeatable() {
            return config.id() != null;
        }
    }

    /** Reads a webhook. */
    record GetPushConfig(@Nullable String tenant, String taskId, String id) implements Call<PushConfig> {
        public GetPushConfig {
            requireId(taskId, "taskId");
            requireId(id, "id");
        }
    }

    /** Lists the webhooks of a task. {@code pageSize} 0 means the server's choice. */
    record ListPushConfigs(
            @Nullable String tenant,
            String taskId,
            int pageSize,
            @Nullable String pageToken) implements Call<PushConfigPage> {
        public ListPushConfigs {
            requireId(taskId, "taskId");
            if (pageSize < 0) {
                throw InvalidField.of("pageSize", pageSize + " (expected: >= 0)");
            }
        }
    }

    /** Removes a webhook; also succeeds if there is none. */
    record DeletePushConfig(@Nullable String tenant, String taskId, String id) implements Call<Empty> {
        public DeletePushConfig {
            requireId(taskId, "taskId");
            requireId(id, "id");
        }
    }

    /** Reads the card that only authenticated callers see. */
    record GetExtendedAgentCard(@Nullable String tenant) implements Call<AgentCard> {}

    /** An answer that says nothing but that it was done. */
    record Empty() {}

    /**
     * Settings of a send.
     *
     * @param acceptedOutputModes media types that the caller can read; empty if it did not say
     * @param pushConfig a webhook for the task that the message creates or continues
     * @param historyLength at most so many of the newest messages in the answer; null for all
     * @param returnImmediately answer as soon as the task exists, instead of when it ends or needs its caller
     */
    record SendConfiguration(
            List<String> acceptedOutputModes,
            @Nullable PushConfig pushConfig,
            @Nullable Integer historyLength,
            boolean returnImmediately) {
        public static final SendConfiguration DEFAULTS = new SendConfiguration(List.of(), null, null, false);

        public SendConfiguration {
            acceptedOutputModes = Lists.copy(acceptedOutputModes);
            requireLength(historyLength);
        }
    }

    /**
     * One page of tasks.
     *
     * @param nextPageToken empty on the last page
     * @param pageSize the page size that was applied
     * @param totalSize how many tasks match, on all pages
     * @param withArtifacts whether the tasks show their artifacts
     */
    record TaskPage(List<Task> tasks, String nextPageToken, int pageSize, int totalSize, boolean withArtifacts) {
        public TaskPage {
            tasks = Lists.copy(tasks);
            requireNonNull(nextPageToken, "nextPageToken");
        }
    }

    /** One page of webhooks; {@code nextPageToken} is empty on the last one. */
    record PushConfigPage(List<PushConfig> configs, String nextPageToken) {
        public PushConfigPage {
            configs = Lists.copy(configs);
            requireNonNull(nextPageToken, "nextPageToken");
        }
    }

    private static void requireId(@Nullable String id, String field) {
        if (id == null || id.isEmpty()) {
            throw InvalidField.of(field, "must not be empty");
        }
    }

    private static void requireShortIds(String path, PushConfig webhook) {
        requireShort(path + "tenant", webhook.tenant());
        requireShort(path + "id", webhook.id());
        requireShort(path + "taskId", webhook.taskId());
    }

    private static void requireShort(String field, @Nullable String id) {
        if (id != null && id.length() > LONGEST_ID) {
            throw A2AException.invalidParams(field, id.length() + " characters (expected: at most " + LONGEST_ID + ")");
        }
    }

    private static void requireLength(@Nullable Integer historyLength) {
        if (historyLength != null && historyLength < 0) {
            throw InvalidField.of("historyLength", historyLength + " (expected: >= 0)");
        }
    }
}
