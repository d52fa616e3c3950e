package dev.parley.dialect.v1;

import static dev.parley.protocol.json.Codecs.BOOLEAN;
import static dev.parley.protocol.json.Codecs.BYTES;
import static dev.parley.protocol.json.Codecs.FREE;
import static dev.parley.protocol.json.Codecs.INT;
import static dev.parley.protocol.json.Codecs.OLD_TIMESTAMP;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TEXTS;
import static dev.parley.protocol.json.Codecs.TIMESTAMP;
import static java.util.Map.entry;

import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Role;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.InstalledExtensions;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.protocol.json.OneOf;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;

/**
 * JSON form of the data of A2A 1.0.
 *
 * <p>Members stand in the order of the record's components. Lists and maps that the specification requires are always
 * written, but may be missing in received objects, because ProtoJSON writers leave empty ones out.
 *
 * <p>Source: A2A specification 1.0, sections 4.1 to 4.3.
 */
public final class V1Model {
    private V1Model() {}

    public static final Codec<TaskState> STATE = Codecs.enumeration("TASK_STATE_", TaskState.class);
    static final Codec<Role> ROLE = Codecs.enumeration("ROLE_", Role.class);

    public static final Codec<Part> PART = ObjectCodec.<Part>of()
            .optional("text", TEXT, part -> part instanceof Part.Text text ? text.text() : null)
            .optional("raw", BYTES, part -> part instanceof Part.Raw raw ? raw.raw() : null)
            .optional("url", TEXT, part -> part instanceof Part.Url url ? url.url() : null)
            .optional("data", FREE, part -> part instanceof Part.Data data ? orNull(data.data()) : null)
            .optional("filename", TEXT, Part::filename)
            .optional("mediaType", TEXT, Part::mediaType)
            .optional("metadata", STRUCT, Map.of(), Part::metadata)
            .as(v -> part(v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    private static final Codec<List<Part>> PARTS = Codecs.list(PART);

    public static final Codec<Message> MESSAGE = ObjectCodec.<Message>of()
            .required("messageId", TEXT, Message::messageId)
            .required("role", ROLE, Message::role)
            .required("parts", PARTS, Message::parts)
            .optional("contextId", TEXT, Message::contextId)
            .optional("taskId", TEXT, Message::taskId)
            .optional("metadata", STRUCT, Map.of(), Message::metadata)
            .optional("extensions", TEXTS, List.of(), Message::extensions)
            .optional("referenceTaskIds", TEXTS, List.of(), Message::referenceTaskIds)
            .as(v -> new Message(
                    v.next(),
                    v.next(),
                    v.next(),
                    nonEmpty(v.next()),
                    nonEmpty(v.next()),
                    v.next(),
                    v.next(),
                    v.next()));

    public static final Codec<Artifact> ARTIFACT = ObjectCodec.<Artifact>of()
            .required("artifactId", TEXT, Artifact::artifactId)
            .optional("name", TEXT, Artifact::name)
            .optional("description", TEXT, Artifact::description)
            .required("parts", PARTS, Artifact::parts)
            .optional("metadata", STRUCT, Map.of(), Artifact::metadata)
            .optional("extensions", TEXTS, List.of(), Artifact::extensions)
            .as(v -> new Artifact(v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    public static final Codec<TaskStatus> STATUS = ObjectCodec.<TaskStatus>of()
            .always("state", STATE, TaskState.UNSPECIFIED, TaskStatus::state) // ProtoJSON leaves that one out
            .optional("message", MESSAGE, TaskStatus::message)
            .optional("timestamp", OLD_TIMESTAMP, TaskStatus::timestamp) // some servers leave the zone out
            .as(v -> new TaskStatus(v.next(), v.next(), v.next()));

    public static final Codec<Task> TASK = task(false, false);

    /** A number as ProtoJSON writes 64 bits. */
    private static final Codec<Long> INT64 =
            Codecs.via(TEXT, text -> Codecs.POSITION.parse(List.of(text), Generations.MEMBER), String::valueOf);

    /** {@link #TASK} with the number of its newest event, for answers of a server. */
    public static final Codec<Task> NUMBERED_TASK = task(false, true);

    public static final Codec<TaskStatusUpdateEvent> STATUS_UPDATE = ObjectCodec.<TaskStatusUpdateEvent>of()
            .required("taskId", TEXT, TaskStatusUpdateEvent::taskId)
            .always("contextId", TEXT, "", TaskStatusUpdateEvent::contextId)
            .required("status", STATUS, TaskStatusUpdateEvent::status)
            .optional("metadata", STRUCT, Map.of(), TaskStatusUpdateEvent::metadata)
            .as(v -> new TaskStatusUpdateEvent(v.next(), v.next(), v.next(), v.next()));

    public static final Codec<TaskArtifactUpdateEvent> ARTIFACT_UPDATE = ObjectCodec.<TaskArtifactUpdateEvent>of()
            .required("taskId", TEXT, TaskArtifactUpdateEvent::taskId)
            .always("contextId", TEXT, "", TaskArtifactUpdateEvent::contextId)
            .required("artifact", ARTIFACT, TaskArtifactUpdateEvent::artifact)
            .optional("append", BOOLEAN, false, TaskArtifactUpdateEvent::append)
            .optional("lastChunk", BOOLEAN, false, TaskArtifactUpdateEvent::lastChunk)
            .optional("metadata", STRUCT, Map.of(), TaskArtifactUpdateEvent::metadata)
            .as(v -> new TaskArtifactUpdateEvent(v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    /** StreamResponse. */
    public static final Codec<TaskEvent> EVENT = new OneOf<TaskEvent>()
            .or("task", Task.class, TASK)
            .or("message", Message.class, MESSAGE)
            .or("statusUpdate", TaskStatusUpdateEvent.class, STATUS_UPDATE)
            .or("artifactUpdate", TaskArtifactUpdateEvent.class, ARTIFACT_UPDATE);

    /** An event without a wrapper, recognised by its {@code kind} or its members. For reading. */
    public static final Codec<TaskEvent> BARE_EVENT =
            bare(event -> EVENT, TASK, MESSAGE, STATUS_UPDATE, ARTIFACT_UPDATE, "taskId");

    /**
     * Events that their {@code kind} tells apart, or else their members.
     *
     * @param ofStatus member that tells a status update from a task
     */
    public static Codec<TaskEvent> bare(
            Function<TaskEvent, Codec<TaskEvent>> written,
            Codec<Task> task,
            Codec<Message> message,
            Codec<TaskStatusUpdateEvent> statusUpdate,
            Codec<TaskArtifactUpdateEvent> artifactUpdate,
            String ofStatus) {
        return Codecs.kinds(
                written,
                members -> as(
                        switch (String.valueOf(members.get("kind"))) {
                            case "task" -> task;
                            case "message" -> message;
                            case "status-update" -> statusUpdate;
                            case "artifact-update" -> artifactUpdate;
                            default ->
                                members.containsKey("artifact")
                                        ? artifactUpdate
                                        : members.containsKey("parts")
                                                ? message
                                                : members.containsKey(ofStatus) ? statusUpdate : task;
                        }));
    }

    /** A codec of one kind of event among those of others. */
    @SuppressWarnings("unchecked") // meets only events of its own kind
    public static Codec<TaskEvent> as(Codec<? extends TaskEvent> codec) {
        return (Codec<TaskEvent>) codec;
    }

    /** Returns the JSON of a StreamResponse. */
    public static byte[] write(TaskEvent event) {
        return JsonText.write(EVENT, event);
    }

    public static final Codec<List<TaskEvent>> EVENTS = Codecs.list(EVENT);

    /** SendMessageResponse. */
    public static final Codec<SendResult> SEND_RESULT = sendResult(TASK);

    /** {@link #SEND_RESULT} with the number of a task's newest event. */
    public static final Codec<SendResult> NUMBERED_SEND_RESULT = sendResult(NUMBERED_TASK);

    private static final Codec<PushConfig.Authentication> AUTHENTICATION = ObjectCodec.<PushConfig.Authentication>of()
            .required("scheme", TEXT, PushConfig.Authentication::scheme)
            .optional("credentials", TEXT, PushConfig.Authentication::credentials)
            .as(v -> new PushConfig.Authentication(v.next(), v.next()));

    public static final ObjectCodec<PushConfig> PUSH_CONFIG = ObjectCodec.<PushConfig>of()
            .optional("tenant", TEXT, PushConfig::tenant)
            .optional("id", TEXT, PushConfig::id)
            .optional("taskId", TEXT, PushConfig::taskId)
            .required("url", TEXT, PushConfig::url)
            .optional("token", TEXT, PushConfig::token)
            .optional("authentication", AUTHENTICATION, PushConfig::authentication)
            .as(v -> new PushConfig(
                    nonEmpty(v.next()),
                    nonEmpty(v.next()),
                    nonEmpty(v.next()),
                    v.next(),
                    nonEmpty(v.next()),
                    v.next()));

    /** SendMessageConfiguration. */
    public static final Codec<SendConfiguration> CONFIGURATION = ObjectCodec.<SendConfiguration>of()
            .optional("acceptedOutputModes", TEXTS, List.of(), SendConfiguration::acceptedOutputModes)
            .optional("taskPushNotificationConfig", PUSH_CONFIG, SendConfiguration::pushConfig)
            .optional("historyLength", INT, SendConfiguration::historyLength)
            .optional("returnImmediately", BOOLEAN, it -> it.returnImmediately() ? true : null)
            // So said release candidates of 1.0, and blocking meant the opposite.
            .readOnly("pushNotificationConfig", PUSH_CONFIG)
            .readOnly("blocking", BOOLEAN)
            .as(v -> configuration(v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    /** ListTasksResponse. */
    public static final Codec<Operation.TaskPage> TASK_PAGE = new Pages(TASK, task(true, false));

    /** {@link #TASK_PAGE} with the number of each task's newest event. */
    public static final Codec<Operation.TaskPage> NUMBERED_TASK_PAGE = new Pages(NUMBERED_TASK, task(true, true));

    /** Pages of tasks; if the caller asked for artifacts, even an empty list of them is shown. */
    private static final class Pages implements Codec<Operation.TaskPage> {
        private final Codec<Operation.TaskPage> with;
        private final Codec<Operation.TaskPage> without;

        Pages(Codec<Task> without, Codec<Task> with) {
            this.with = page(with);
            this.without = page(without);
        }

        @Override
        public String expected() {
            return with.expected();
        }

        @Override
        public Map<String, Object> schema(Function<Codec<?>, Map<String, Object>> others) {
            return with.schema(others);
        }

        @Override
        public Operation.@Nullable TaskPage read(JsonParser in) {
            return with.read(in);
        }

        @Override
        public void write(JsonGenerator out, Operation.TaskPage page) {
            (page.withArtifacts() ? with : without).write(out, page);
        }
    }

    /** ListTaskPushNotificationConfigsResponse. */
    public static final Codec<Operation.PushConfigPage> PUSH_CONFIG_PAGE = ObjectCodec.<Operation.PushConfigPage>of()
            .always("configs", Codecs.list(PUSH_CONFIG), List.of(), Operation.PushConfigPage::configs)
            .optional("nextPageToken", TEXT, "", Operation.PushConfigPage::nextPageToken)
            .as(v -> new Operation.PushConfigPage(v.next(), v.next()));

    public static final Codec<Operation.Empty> EMPTY =
            ObjectCodec.<Operation.Empty>of().as(v -> new Operation.Empty());

    private static Codec<SendResult> sendResult(Codec<Task> task) {
        return new OneOf<SendResult>().or("task", Task.class, task).or("message", Message.class, MESSAGE);
    }

    private static Codec<Task> task(boolean alwaysArtifacts, boolean numbered) {
        var shape = ObjectCodec.<Task>of()
                .required("id", TEXT, Task::id)
                .always("contextId", TEXT, "", Task::contextId)
                .required("status", STATUS, Task::status);
        shape = alwaysArtifacts
                ? shape.always("artifacts", Codecs.list(ARTIFACT), List.of(), Task::artifacts)
                : shape.optional("artifacts", Codecs.list(ARTIFACT), List.of(), Task::artifacts);
        shape = shape.optional("history", Codecs.list(MESSAGE), List.of(), Task::history)
                .optional("metadata", STRUCT, Map.of(), Task::metadata);
        shape = numbered
                ? shape.optional(Generations.MEMBER, INT64, 0L, Task::generation)
                : shape.readOnly(Generations.MEMBER, Codecs.POSITION);
        return shape.as(v -> task(v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));
    }

    private static Task task(
            String id,
            String contextId,
            TaskStatus status,
            List<Artifact> artifacts,
            List<Message> history,
            Map<String, @Nullable Object> metadata,
            @Nullable Long generation) {
        return new Task(id, contextId, status, artifacts, history, metadata, generation == null ? 0 : generation);
    }

    private static Codec<Operation.TaskPage> page(Codec<Task> task) {
        return ObjectCodec.<Operation.TaskPage>of()
                .always("tasks", Codecs.list(task), List.of(), Operation.TaskPage::tasks)
                .always("nextPageToken", TEXT, "", Operation.TaskPage::nextPageToken)
                .always("pageSize", INT, 0, Operation.TaskPage::pageSize)
                .always("totalSize", INT, 0, Operation.TaskPage::totalSize)
                .as(v -> page(v.next(), v.next(), v.next(), v.next()));
    }

    private static Operation.TaskPage page(List<Task> tasks, String nextPageToken, int pageSize, int totalSize) {
        boolean withArtifacts =
                tasks.stream().anyMatch(task -> !task.artifacts().isEmpty());
        return new Operation.TaskPage(tasks, nextPageToken, pageSize, totalSize, withArtifacts);
    }

    static final Map<Class<?>, Codec<?>> CODECS = Map.ofEntries(
            entry(Part.class, PART),
            entry(Message.class, MESSAGE),
            entry(Artifact.class, ARTIFACT),
            entry(TaskStatus.class, STATUS),
            entry(TaskState.class, STATE),
            entry(Task.class, TASK),
            entry(TaskStatusUpdateEvent.class, STATUS_UPDATE),
            entry(TaskArtifactUpdateEvent.class, ARTIFACT_UPDATE),
            entry(TaskEvent.class, EVENT),
            entry(SendResult.class, SEND_RESULT),
            entry(PushConfig.class, PUSH_CONFIG),
            entry(Operation.TaskPage.class, TASK_PAGE),
            entry(Operation.PushConfigPage.class, PUSH_CONFIG_PAGE),
            entry(Operation.Empty.class, EMPTY),
            entry(AgentCard.class, V1Card.CARD),
            entry(AgentCard.Signature.class, V1Card.SIGNATURE),
            entry(Instant.class, TIMESTAMP),
            entry(Map.class, STRUCT),
            entry(Object.class, FREE));

    /**
     * Returns the codec of a class of the model, or of an installed extension.
     *
     * @throws IllegalArgumentException if it has none
     */
    public static <T> Codec<T> codec(Class<? extends T> type) {
        Codec<?> codec = CODECS.get(Part.class.isAssignableFrom(type) ? Part.class : type);
        if (codec == null) {
            return InstalledExtensions.codec(type);
        }
        @SuppressWarnings("unchecked") // by the table
        var same = (Codec<T>) codec;
        return same;
    }

    private static SendConfiguration configuration(
            List<String> acceptedOutputModes,
            @Nullable PushConfig pushConfig,
            @Nullable Integer historyLength,
            @Nullable Boolean returnImmediately,
            @Nullable PushConfig pushConfigOfCandidate,
            @Nullable Boolean blockingOfCandidate) {
        return new SendConfiguration(
                acceptedOutputModes,
                pushConfig == null ? pushConfigOfCandidate : pushConfig,
                historyLength,
                returnImmediately == null ? Boolean.FALSE.equals(blockingOfCandidate) : returnImmediately);
    }

    private static Object orNull(@Nullable Object value) {
        return value == null ? Codecs.NULL : value;
    }

    /** In proto3 an empty string without explicit presence is an absent one. */
    public static @Nullable String nonEmpty(@Nullable String text) {
        return text == null || text.isEmpty() ? null : text;
    }

    private static Part part(
            @Nullable String text,
            byte @Nullable [] raw,
            @Nullable String url,
            @Nullable Object data,
            @Nullable String filename,
            @Nullable String mediaType,
            Map<String, @Nullable Object> metadata) {
        int kinds = (text == null ? 0 : 1) + (raw == null ? 0 : 1) + (url == null ? 0 : 1);
        // Generated clients write null for members that are not set; in a part of data it is the data.
        boolean isData = data != null && !(kinds == 1 && Codecs.NULL.equals(data));
        if (kinds + (isData ? 1 : 0) != 1) {
            throw InvalidField.of("", "expected: exactly one of text, raw, url, data");
        }
        if (text != null) {
            return new Part.Text(text, filename, mediaType, metadata);
        }
        if (raw != null) {
            return new Part.Raw(raw, filename, mediaType, metadata);
        }
        if (url != null) {
            return new Part.Url(url, filename, mediaType, metadata);
        }
        return new Part.Data(Codecs.NULL.equals(data) ? null : data, filename, mediaType, metadata);
    }
}
