package dev.parley.dialect.legacy;

import static dev.parley.dialect.v1.V1Model.nonEmpty;
import static dev.parley.protocol.json.Codecs.BOOLEAN;
import static dev.parley.protocol.json.Codecs.BYTES;
import static dev.parley.protocol.json.Codecs.FREE;
import static dev.parley.protocol.json.Codecs.INT;
import static dev.parley.protocol.json.Codecs.OLD_TIMESTAMP;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TEXTS;
import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.v1.V1Model;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Message;
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
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.protocol.json.OneOf;
import dev.parley.protocol.support.Base64Text;
import dev.parley.protocol.support.Ids;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * JSON form of the data in the versions before 1.0, and in the Agentic Kernel, which descends from the first of them.
 *
 * <p>What an older form cannot express is put where it does no harm, see {@code docs/dialects.md}. Whatever is read may
 * also leave out what an older client cannot know, such as the id of a message.
 *
 * <p>Source: A2A specifications 0.1.0, 0.2.6 and 0.3.0.
 */
public final class LegacyModel {
    /** The families of older forms. */
    enum Spelling {
        /** JSON of 0.2 and 0.3: every object says its {@code kind}. */
        KIND,
        /** KIND, and beside it the member of 0.1 in its place: for callers that may be of either. */
        MERGED,
        /** ProtoJSON of the 0.3 proto. */
        PROTO,
        /** JSON of 0.1: parts have a {@code type}, artifacts an index. */
        TYPE,
        /** As 0.1, with names in snake_case. */
        KERNEL;

        /** True for 0.1 and its descendant, which know neither contexts nor ids of messages and artifacts. */
        boolean isFirst() {
            return this == TYPE || this == KERNEL;
        }
    }

    public static final LegacyModel KIND = new LegacyModel(Spelling.KIND);
    static final LegacyModel MERGED = new LegacyModel(Spelling.MERGED);
    public static final LegacyModel PROTO = new LegacyModel(Spelling.PROTO);
    public static final LegacyModel TYPE = new LegacyModel(Spelling.TYPE);
    public static final LegacyModel KERNEL = new LegacyModel(Spelling.KERNEL);

    /** Marks data that was not an object, which older forms require, and was put into one. */
    private static final String WRAPPED = "a2a_wrapped";

    private static final String ARTIFACT_ID = "a2a_artifactId";
    private static final String STATE = "a2a_state";

    /** An artifact of 0.1, which carries its place in the task and what 1.0 says in the event. */
    record Indexed(Artifact artifact, int index, boolean append, boolean lastChunk) {}

    private final Spelling spelling;
    private final boolean merged;
    private final boolean kinds;
    final Codec<TaskState> state;
    final Codec<Message> message;
    final Codec<Artifact> artifact;
    public final Codec<Task> task;
    public final Codec<TaskStatusUpdateEvent> statusUpdate;
    final Codec<TaskArtifactUpdateEvent> artifactUpdate;
    public final Codec<IndexedUpdate> indexedUpdate;
    public final Codec<TaskEvent> event;
    final Codec<SendResult> sendResult;
    final ObjectCodec<PushConfig> push;

    /** The webhook of a task, together with the task. */
    final ObjectCodec<PushConfig> taskPush;

    /** The same, as clients ask for it. */
    final ObjectCodec<PushConfig> askedPush;

    private final Codec<Part> part;
    private final Codec<Role> role;
    private final Codec<TaskStatus> status;
    private final Codec<Indexed> indexed;

    private LegacyModel(Spelling spelling) {
        this.spelling = spelling;
        this.merged = spelling == Spelling.MERGED;
        this.kinds = merged || spelling == Spelling.KIND;
        this.state = states();
        this.role = roles();
        this.part = part();
        this.message = message();
        this.artifact = artifact();
        this.indexed = indexed();
        this.status = this.<TaskStatus>shape()
                .required("state", state, TaskStatus::state)
                .optional("message", message, TaskStatus::message)
                .readOnly("update", message) // until 0.2.5, in ProtoJSON
                .optional("timestamp", OLD_TIMESTAMP, TaskStatus::timestamp)
                .as(v -> status(v.next(), v.next(), v.next(), v.next()));
        this.task = task();
        this.statusUpdate = statusUpdate();
        this.indexedUpdate = indexedUpdate();
        this.artifactUpdate = spelling.isFirst()
                ? Codecs.via(indexedUpdate, IndexedUpdate::update, update -> new IndexedUpdate(update, 0))
                : artifactUpdate();
        this.event = spelling == Spelling.PROTO
                ? wrappedEvent()
                : V1Model.bare(this::codec, task, message, statusUpdate, artifactUpdate, "final");
        this.sendResult = Codecs.via(event, LegacyModel::result, result -> (TaskEvent) result);
        this.push = push();
        this.taskPush = taskPush(false);
        this.askedPush = taskPush(true);
    }

    <T> ObjectCodec.Builder<T> shape() {
        return spelling == Spelling.KERNEL ? ObjectCodec.inSnakeCase() : ObjectCodec.of();
    }

    private <T> ObjectCodec.Builder<T> kind(String kind) {
        return this.<T>shape().optional("kind", TEXT, value -> kinds ? kind : null);
    }

    // ---- Words

    private Codec<TaskState> states() {
        if (spelling == Spelling.PROTO) {
            var names = new EnumMap<TaskState, String>(TaskState.class);
            for (TaskState state : TaskState.values()) {
                names.put(state, "TASK_STATE_" + state);
            }
            names.put(TaskState.CANCELED, "TASK_STATE_CANCELLED");
            return Codecs.words(names, Map.of("TASK_STATE_CANCELED", TaskState.CANCELED));
        }
        return states(TaskState::word, "unknown", spelling.isFirst(), Map.of("cancelled", TaskState.CANCELED));
    }

    /**
     * States by their words.
     *
     * @param unspecified the word that says nothing
     * @param few whether there are no words for questions of credentials and for rejections
     * @param more words that are understood as well
     */
    public static Codec<TaskState> states(
            Function<TaskState, String> word, String unspecified, boolean few, Map<String, TaskState> more) {
        var words = new EnumMap<TaskState, String>(TaskState.class);
        var back = new HashMap<>(more);
        for (TaskState state : TaskState.values()) {
            words.put(state, word.apply(state));
            back.put(word.apply(state), state);
        }
        back.remove(word.apply(TaskState.UNSPECIFIED));
        words.put(TaskState.UNSPECIFIED, unspecified);
        if (few) {
            words.put(TaskState.AUTH_REQUIRED, word.apply(TaskState.INPUT_REQUIRED));
            words.put(TaskState.REJECTED, word.apply(TaskState.FAILED));
        }
        return Codecs.words(words, back);
    }

    private Codec<Role> roles() {
        boolean proto = spelling == Spelling.PROTO;
        return Codecs.words(
                Map.of(Role.USER, proto ? "ROLE_USER" : "user", Role.AGENT, proto ? "ROLE_AGENT" : "agent"),
                Map.of("user", Role.USER, "agent", Role.AGENT, "ROLE_USER", Role.USER, "ROLE_AGENT", Role.AGENT));
    }

    // ---- Parts

    private Codec<Part> part() {
        boolean proto = spelling == Spelling.PROTO;
        return this.<Part>shape()
                .optional("kind", TEXT, one -> kinds ? kindOf(one) : null)
                .optional("type", TEXT, one -> merged || spelling.isFirst() ? kindOf(one) : null)
                .optional("text", TEXT, one -> one instanceof Part.Text text ? text.text() : null)
                .optional("file", file(), one -> one instanceof Part.Raw || one instanceof Part.Url ? one : null)
                .optional("data", proto ? protoData() : FREE, one -> one instanceof Part.Data data ? shown(data) : null)
                .metadata(one -> proto ? Map.of() : metadata(one))
                // As 1.0 has them.
                .readOnly("raw", BYTES)
                .readOnly("url", TEXT)
                .readOnly("filename", TEXT)
                .readOnly("mediaType", TEXT)
                .as(v -> part(
                        v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(),
                        v.next()));
    }

    public static String kindOf(Part part) {
        return switch (part) {
            case Part.Text text -> "text";
            case Part.Raw raw -> "file";
            case Part.Url url -> "file";
            case Part.Data data -> "data";
        };
    }

    private Codec<Part> file() {
        boolean proto = spelling == Spelling.PROTO;
        return this.<Part>shape()
                .optional("name", TEXT, one -> proto ? null : one.filename())
                .optional("mimeType", TEXT, Part::mediaType)
                .optional(
                        proto ? "fileWithBytes" : "bytes", BYTES, one -> one instanceof Part.Raw raw ? raw.raw() : null)
                .optional(proto ? "fileWithUri" : "uri", TEXT, one -> one instanceof Part.Url url ? url.url() : null)
                .as(v -> proto
                        ? protoFile(nonEmpty(v.next()), nonEmpty(v.next()), v.next(), v.next())
                        : file(nonEmpty(v.next()), nonEmpty(v.next()), v.next(), v.next()));
    }

    private static Part protoFile(
            @Nullable String name, @Nullable String mediaType, byte @Nullable [] bytes, @Nullable String uri) {
        return file(name, mediaType, bytes == null ? null : Base64Text.decoded(bytes, mediaType), uri);
    }

    private static Part file(
            @Nullable String name, @Nullable String mediaType, byte @Nullable [] bytes, @Nullable String uri) {
        if (bytes != null && uri == null) {
            return new Part.Raw(bytes, name, mediaType, Map.of());
        }
        if (uri != null && bytes == null) {
            return new Part.Url(uri, name, mediaType, Map.of());
        }
        throw InvalidField.of("", "expected: exactly one of bytes and uri");
    }

    /** ProtoJSON has the message DataPart around the data. */
    private static Codec<Object> protoData() {
        return ObjectCodec.of().required("data", FREE, data -> data).as(v -> v.next());
    }

    private boolean isWrapped(Part.Data data) {
        return !(data.data() instanceof Map) && !(spelling == Spelling.TYPE && data.data() instanceof List);
    }

    private Object shown(Part.Data data) {
        Object value = data.data();
        return value != null && !isWrapped(data) ? value : Codecs.wrapped(value);
    }

    private Map<String, @Nullable Object> metadata(Part part) {
        return part instanceof Part.Data data && isWrapped(data)
                ? TaskEvent.merge(part.metadata(), Map.of(WRAPPED, true))
                : part.metadata();
    }

    private static Part part(
            @Nullable String kind,
            @Nullable String type,
            @Nullable String text,
            @Nullable Part nested,
            @Nullable Object data,
            Map<String, @Nullable Object> metadata,
            byte @Nullable [] raw,
            @Nullable String url,
            @Nullable String filename,
            @Nullable String mediaType) {
        boolean flat = raw != null || url != null;
        Part file = flat && nested == null ? file(filename, mediaType, raw, url) : nested;
        boolean isData = data != null && (text == null && file == null || !Codecs.NULL.equals(data)); // null: not set
        int members = (text == null ? 0 : 1) + (file == null ? 0 : 1) + (isData ? 1 : 0);
        String said = kind == null ? type : kind;
        String found = text != null ? "text" : file != null ? "file" : "data";
        if (members == 0 && said != null && Set.of("text", "file", "data").contains(said)) {
            throw InvalidField.of(said, "missing (expected in a part of kind \"" + said + "\")");
        }
        if (members != 1 || flat && nested != null || said != null && !said.equals(found)) {
            String which = said == null ? "exactly one of text, file, data" : "a part of kind text, file or data, with";
            throw InvalidField.of(
                    "", "expected: " + which + (said == null ? "" : " only that member, not " + '"' + said + '"'));
        }
        if (text != null) {
            return new Part.Text(text, filename, mediaType, metadata);
        }
        if (isData) {
            Object value = Codecs.NULL.equals(data) ? null : data;
            if (Boolean.TRUE.equals(metadata.get(WRAPPED)) && value instanceof Map<?, ?> wrapped) {
                value = wrapped.get("value");
            }
            return new Part.Data(value, filename, mediaType, metadata);
        }
        return switch (file) {
            case Part.Raw bytes -> new Part.Raw(bytes.raw(), bytes.filename(), bytes.mediaType(), metadata);
            case Part.Url link -> new Part.Url(link.url(), link.filename(), link.mediaType(), metadata);
            case null, default -> throw new IllegalStateException("a file is bytes or an address");
        };
    }

    // ---- Messages, artifacts, tasks

    private Codec<Message> message() {
        ObjectCodec.Builder<Message> shape = kind("message");
        String parts = spelling == Spelling.PROTO ? "content" : "parts";
        boolean first = spelling.isFirst();
        return shape.required("role", role, Message::role)
                .required(parts, Codecs.list(part), Message::parts)
                .optional("messageId", TEXT, it -> first ? null : it.messageId())
                .optional("taskId", TEXT, it -> first ? null : it.taskId())
                .optional("contextId", TEXT, it -> first ? null : it.contextId())
                .metadata(Message::metadata)
                .optional("extensions", TEXTS, List.of(), it -> first ? List.of() : it.extensions())
                .optional("referenceTaskIds", TEXTS, List.of(), it -> kinds ? it.referenceTaskIds() : List.of())
                .as(v -> message(
                        v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));
    }

    private static Message message(
            @Nullable String kind,
            Role role,
            List<Part> parts,
            @Nullable String messageId,
            @Nullable String taskId,
            @Nullable String contextId,
            Map<String, @Nullable Object> metadata,
            List<String> extensions,
            List<String> referenceTaskIds) {
        if (kind != null && !kind.equals("message")) {
            throw InvalidField.of("kind", '"' + kind + "\" (expected: message)");
        }
        String id = nonEmpty(messageId);
        return new Message(
                id == null ? Ids.next(Instant.now()) : id,
                role,
                parts,
                nonEmpty(contextId),
                nonEmpty(taskId),
                metadata,
                extensions,
                referenceTaskIds);
    }

    private Codec<Artifact> artifact() {
        return this.<Artifact>shape()
                .required("artifactId", TEXT, Artifact::artifactId)
                .optional("name", TEXT, Artifact::name)
                .optional("description", TEXT, Artifact::description)
                .required("parts", Codecs.list(part), Artifact::parts)
                .metadata(Artifact::metadata, "index", "append", "lastChunk") // which 0.1 has here
                .optional("extensions", TEXTS, List.of(), Artifact::extensions)
                .as(v -> new Artifact(v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));
    }

    private Codec<Indexed> indexed() {
        return this.<Indexed>shape()
                .optional("artifactId", TEXT, it -> merged ? it.artifact().artifactId() : null)
                .optional("name", TEXT, it -> it.artifact().name())
                .optional("description", TEXT, it -> it.artifact().description())
                .required("parts", Codecs.list(part), it -> it.artifact().parts())
                .always("index", INT, 0, Indexed::index)
                .optional("append", BOOLEAN, false, Indexed::append)
                .optional("lastChunk", BOOLEAN, false, Indexed::lastChunk)
                .metadata(LegacyModel::metadata)
                .as(v -> indexed(v.skip().next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));
    }

    private static Map<String, @Nullable Object> metadata(Indexed indexed) {
        String id = indexed.artifact().artifactId();
        return id.equals(idOf(indexed.index()))
                ? indexed.artifact().metadata()
                : TaskEvent.merge(indexed.artifact().metadata(), Map.of(ARTIFACT_ID, id));
    }

    private static String idOf(int index) {
        return "artifact-" + index;
    }

    private static Indexed indexed(
            @Nullable String name,
            @Nullable String description,
            List<Part> parts,
            int index,
            boolean append,
            boolean lastChunk,
            Map<String, @Nullable Object> metadata) {
        String id = metadata.get(ARTIFACT_ID) instanceof String named ? named : idOf(index);
        return new Indexed(new Artifact(id, name, description, parts, metadata, List.of()), index, append, lastChunk);
    }

    private static List<Indexed> indexed(List<Artifact> artifacts) {
        var all = new ArrayList<Indexed>(artifacts.size());
        for (Artifact one : artifacts) {
            all.add(new Indexed(one, all.size(), false, false));
        }
        return all;
    }

    private static TaskStatus status(
            TaskState state, @Nullable Message message, @Nullable Message update, @Nullable Instant timestamp) {
        return new TaskStatus(state, message == null ? update : message, timestamp);
    }

    private Codec<Task> task() {
        boolean first = spelling.isFirst();
        Codec<List<Artifact>> artifacts = first || merged
                ? Codecs.via(
                        Codecs.list(indexed),
                        all -> all.stream().map(Indexed::artifact).toList(),
                        LegacyModel::indexed)
                : Codecs.list(artifact);
        return this.<Task>kind("task")
                .required("id", TEXT, Task::id)
                .optional(first ? "contextId" : "sessionId", TEXT, it -> merged ? it.contextId() : null)
                .always(first ? "sessionId" : "contextId", TEXT, "", Task::contextId)
                .required("status", status, Task::status)
                .optional("history", Codecs.list(message), List.of(), Task::history)
                .optional("artifacts", artifacts, List.of(), Task::artifacts)
                .metadata(this::metadata)
                .as(v -> task(v.skip().next(), v.skip().next(), v.next(), v.next(), v.next(), v.next()));
    }

    /** In 0.1 a rejected task has the state failed; its metadata has the real state. */
    private Map<String, @Nullable Object> metadata(Task task) {
        return spelling.isFirst() && task.state() == TaskState.REJECTED
                ? TaskEvent.merge(task.metadata(), Map.of(STATE, TaskState.REJECTED.word()))
                : task.metadata();
    }

    private static Task task(
            String id,
            String contextId,
            TaskStatus status,
            List<Message> history,
            List<Artifact> artifacts,
            Map<String, @Nullable Object> metadata) {
        boolean rejected =
                status.state() == TaskState.FAILED && TaskState.REJECTED.word().equals(metadata.get(STATE));
        TaskStatus really =
                rejected ? new TaskStatus(TaskState.REJECTED, status.message(), status.timestamp()) : status;
        return new Task(id, contextId, really, artifacts, history, metadata);
    }

    // ---- Events

    /** True if the event of an older version marks the end of the stream. */
    boolean isFinal(TaskState state) {
        if (spelling == Spelling.KERNEL) {
            return state.isTerminal();
        }
        // 0.1 has no word for it but input-required; 0.3 has, and its streams show how the task goes on.
        boolean question = state == TaskState.INPUT_REQUIRED || spelling.isFirst() && state == TaskState.AUTH_REQUIRED;
        return state.isTerminal() || question;
    }

    private Codec<TaskStatusUpdateEvent> statusUpdate() {
        boolean first = spelling.isFirst();
        return this.<TaskStatusUpdateEvent>kind("status-update")
                .optional(first ? "taskId" : "id", TEXT, it -> merged ? it.taskId() : null)
                .optional(first ? "id" : "taskId", TEXT, "", TaskStatusUpdateEvent::taskId)
                .optional("contextId", TEXT, "", it -> first ? "" : it.contextId())
                .required("status", status, TaskStatusUpdateEvent::status)
                .optional("final", BOOLEAN, it -> isFinal(it.status().state()))
                .metadata(TaskStatusUpdateEvent::metadata)
                .as(v -> statusUpdate(
                        v.skip().skip().next(), v.next(), v.next(), v.skip().next()));
    }

    private static TaskStatusUpdateEvent statusUpdate(
            String taskId, String contextId, TaskStatus status, Map<String, @Nullable Object> metadata) {
        return new TaskStatusUpdateEvent(taskId, contextId, status, metadata);
    }

    private Codec<TaskArtifactUpdateEvent> artifactUpdate() {
        return this.<TaskArtifactUpdateEvent>kind("artifact-update")
                .optional("taskId", TEXT, "", TaskArtifactUpdateEvent::taskId)
                .optional("contextId", TEXT, "", TaskArtifactUpdateEvent::contextId)
                .required("artifact", artifact, TaskArtifactUpdateEvent::artifact)
                .optional("append", BOOLEAN, false, TaskArtifactUpdateEvent::append)
                .optional("lastChunk", BOOLEAN, false, TaskArtifactUpdateEvent::lastChunk)
                .metadata(TaskArtifactUpdateEvent::metadata, "id")
                .as(v -> artifactUpdate(v.skip().next(), v.next(), v.next(), v.next(), v.next(), v.next()));
    }

    private static TaskArtifactUpdateEvent artifactUpdate(
            String taskId,
            String contextId,
            Artifact artifact,
            boolean append,
            boolean lastChunk,
            Map<String, @Nullable Object> metadata) {
        return new TaskArtifactUpdateEvent(taskId, contextId, artifact, append, lastChunk, metadata);
    }

    /** An artifact event of 0.1; {@code update} is the one that it stands for. */
    public record IndexedUpdate(TaskArtifactUpdateEvent update, int index) {}

    private Codec<IndexedUpdate> indexedUpdate() {
        return this.<IndexedUpdate>kind("artifact-update")
                .optional("id", TEXT, "", it -> it.update().taskId())
                .optional("taskId", TEXT, it -> merged ? it.update().taskId() : null)
                .optional("contextId", TEXT, it -> merged ? it.update().contextId() : null)
                .required("artifact", indexed, LegacyModel::indexed)
                .optional("append", BOOLEAN, it -> merged ? it.update().append() : null)
                .optional("lastChunk", BOOLEAN, it -> merged ? it.update().lastChunk() : null)
                .metadata(it -> it.update().metadata())
                .as(v -> indexedUpdate(
                        v.skip().next(), v.skip().skip().next(), v.skip().skip().next()));
    }

    private static Indexed indexed(IndexedUpdate indexed) {
        TaskArtifactUpdateEvent update = indexed.update();
        return new Indexed(update.artifact(), indexed.index(), update.append(), update.lastChunk());
    }

    private static IndexedUpdate indexedUpdate(String taskId, Indexed indexed, Map<String, @Nullable Object> metadata) {
        var update = new TaskArtifactUpdateEvent(
                taskId, "", indexed.artifact(), indexed.append(), indexed.lastChunk(), metadata);
        return new IndexedUpdate(update, indexed.index());
    }

    private Codec<TaskEvent> codec(TaskEvent event) {
        return V1Model.as(
                switch (event) {
                    case Task one -> task;
                    case Message one -> message;
                    case TaskStatusUpdateEvent one -> statusUpdate;
                    case TaskArtifactUpdateEvent one -> artifactUpdate;
                });
    }

    private Codec<TaskEvent> wrappedEvent() {
        return new OneOf<TaskEvent>()
                .or("task", Task.class, task)
                .or("message", Message.class, message)
                .or("msg", Message.class, message) // until 0.2.5
                .or("statusUpdate", TaskStatusUpdateEvent.class, statusUpdate)
                .or("artifactUpdate", TaskArtifactUpdateEvent.class, artifactUpdate);
    }

    private static SendResult result(TaskEvent event) {
        if (event instanceof SendResult result) {
            return result;
        }
        throw InvalidField.of("", "an event (expected: a task or a message)");
    }

    // ---- Webhooks

    private ObjectCodec<PushConfig> push() {
        Codec<PushConfig.Authentication> authentication = this.<PushConfig.Authentication>shape()
                .optional("schemes", TEXTS, List.of(), it -> List.of(it.scheme()))
                .optional("credentials", TEXT, PushConfig.Authentication::credentials)
                .as(v -> authentication(v.next(), v.next()));
        return this.<PushConfig>shape()
                .optional("id", TEXT, PushConfig::id)
                .required("url", TEXT, PushConfig::url)
                .optional("token", TEXT, PushConfig::token)
                .optional("authentication", authentication, PushConfig::authentication)
                .as(v -> new PushConfig(null, nonEmpty(v.next()), null, v.next(), nonEmpty(v.next()), known(v.next())));
    }

    /** Of several schemes the one that is most often meant. */
    private static PushConfig.Authentication authentication(List<String> schemes, @Nullable String credentials) {
        String scheme = schemes.stream()
                .filter("Bearer"::equalsIgnoreCase)
                .findFirst()
                .orElse(schemes.isEmpty() ? "" : schemes.getFirst());
        return new PushConfig.Authentication(scheme, nonEmpty(credentials));
    }

    private static PushConfig.@Nullable Authentication known(PushConfig.@Nullable Authentication authentication) {
        return authentication == null || authentication.scheme().isEmpty() ? null : authentication;
    }

    /** @param asked whether it is written to ask for a webhook; the proto has another message for that */
    private ObjectCodec<PushConfig> taskPush(boolean asked) {
        boolean proto = spelling == Spelling.PROTO;
        boolean nestedTwice = proto && asked;
        ObjectCodec<PushConfig> inner = this.<PushConfig>shape()
                .optional("name", TEXT, LegacyModel::resource)
                .required("pushNotificationConfig", push, it -> it)
                .as(v -> named(v.next(), v.next()));
        String nested = spelling == Spelling.KERNEL ? "pushNotification" : "pushNotificationConfig";
        return this.<PushConfig>shape()
                .optional(spelling.isFirst() ? "id" : "taskId", TEXT, it -> proto && !asked ? null : it.taskId())
                .optional(
                        spelling.isFirst() ? "taskId" : "parent", TEXT, it -> nestedTwice ? TASKS + it.taskId() : null)
                .optional("name", TEXT, it -> proto && !asked ? resource(it) : null)
                .optional("configId", TEXT, it -> nestedTwice ? idOf(it) : null)
                .optional("config", inner, it -> nestedTwice ? it : null)
                .optional(nested, push, it -> nestedTwice ? null : it)
                .readOnly(nested.equals("pushNotification") ? "pushNotificationConfig" : "pushNotification", push)
                .as(v -> taskPush(v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));
    }

    private static final String TASKS = "tasks/";
    private static final String CONFIGS = "/pushNotificationConfigs/";

    private static String resource(PushConfig config) {
        return TASKS + config.taskId() + CONFIGS + idOf(config);
    }

    private static String idOf(PushConfig config) {
        return requireNonNullElse(config.id(), requireNonNullElse(config.taskId(), ""));
    }

    private static PushConfig named(@Nullable String name, PushConfig config) {
        return taskPush(null, null, name, null, null, config, null);
    }

    /** The config, its task and its own id, from wherever clients have put them. */
    private static PushConfig taskPush(
            @Nullable String taskId,
            @Nullable String parent,
            @Nullable String name,
            @Nullable String configId,
            @Nullable PushConfig wrapped,
            @Nullable PushConfig nested,
            @Nullable PushConfig otherwiseNested) {
        PushConfig config = wrapped != null ? wrapped : nested != null ? nested : otherwiseNested;
        if (config == null) {
            throw InvalidField.of("pushNotificationConfig", "missing (expected: an object)");
        }
        int end = name == null ? -1 : name.indexOf(CONFIGS);
        String ofName = name == null ? null : (end < 0 ? name : name.substring(0, end)).replaceFirst("^tasks/", "");
        String ofParent = parent == null ? null : parent.replaceFirst("^tasks/", "");
        String task = first(taskId, ofParent, ofName, config.taskId());
        String id = first(
                config.id(),
                configId,
                end < 0 ? null : requireNonNullElse(name, "").substring(end + CONFIGS.length()));
        return new PushConfig(null, id, task, config.url(), config.token(), config.authentication());
    }

    private static @Nullable String first(@Nullable String... texts) {
        for (String text : texts) {
            if (text != null && !text.isEmpty()) {
                return text;
            }
        }
        return null;
    }
}
