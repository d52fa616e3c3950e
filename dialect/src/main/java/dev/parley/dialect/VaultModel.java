package dev.parley.dialect;

import static dev.parley.dialect.Codecs.BOOLEAN;
import static dev.parley.dialect.Codecs.FREE;
import static dev.parley.dialect.Codecs.OLD_TIMESTAMP;
import static dev.parley.dialect.Codecs.STRUCT;
import static dev.parley.dialect.Codecs.TEXT;
import static dev.parley.dialect.V1Model.nonEmpty;
import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.protocol.support.Ids;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How the data of the AgentVault profile 0.2 look.
 *
 * <p>Tasks are flat, an artifact has one content, and bytes do not travel: {@link VaultEndpoint} has put addresses in
 * their place.
 */
final class VaultModel {
    private static final String ROLE = "agentvault_role";
    private static final String APPEND = "append";

    private VaultModel() {}

    static final Codec<TaskState> STATE = states();

    private static Codec<TaskState> states() {
        var words = new EnumMap<TaskState, String>(TaskState.class);
        var back = new HashMap<String, TaskState>(Map.of("UNKNOWN", TaskState.UNSPECIFIED));
        for (TaskState state : TaskState.values()) {
            TaskState shown = switch (state) {
                case UNSPECIFIED -> TaskState.WORKING;
                case REJECTED -> TaskState.FAILED;
                case AUTH_REQUIRED -> TaskState.INPUT_REQUIRED;
                default -> state;
            };
            words.put(state, shown.name());
            back.put(shown.name(), shown);
        }
        return Codecs.words(words, back);
    }

    // ---- Messages

    private static final Codec<Part> PART = Shape.<Part>of()
            .required("type", TEXT, VaultModel::type)
            .optional("content", FREE, VaultModel::content)
            .optional("url", TEXT, VaultModel::url)
            .optional("mediaType", TEXT, part -> part instanceof Part.Text ? null : mediaType(part))
            .optional("filename", TEXT, part -> part instanceof Part.Url ? part.filename() : null)
            .optional("metadata", STRUCT, Map.of(), Part::metadata)
            .as(v -> part(v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    private static Part part(
            String type,
            @Nullable Object content,
            @Nullable String url,
            @Nullable String mediaType,
            @Nullable String filename,
            Map<String, @Nullable Object> metadata) {
        return switch (type) {
            case "text" -> {
                String text = content instanceof String string ? string : null;
                String problem = "no string (expected: a string in a part of type text)";
                yield new Part.Text(present(text, "content", problem), filename, mediaType, metadata);
            }
            case "data" -> new Part.Data(content, filename, mediaType, metadata);
            case "file" -> {
                String address = present(url, "url", "missing (expected: the address of the file)");
                yield new Part.Url(address, filename, mediaType, metadata);
            }
            default -> throw InvalidField.of("type", '"' + type + "\" (expected: text, file or data)");
        };
    }

    private static String present(@Nullable String value, String field, String problem) {
        if (value == null) {
            throw InvalidField.of(field, problem);
        }
        return value;
    }

    private static String type(Part part) {
        return switch (part) {
            case Part.Text text -> "text";
            case Part.Data data -> "data";
            case Part.Url url -> "file";
            case Part.Raw raw ->
                throw A2AException.of(
                        A2AError.CONTENT_TYPE_NOT_SUPPORTED,
                        "part with bytes (expected: a part with a URL, since messages of AgentVault carry no bytes)");
        };
    }

    private static @Nullable Object content(Part part) {
        return switch (part) {
            case Part.Text text -> text.text();
            case Part.Data data -> data.data() instanceof Map<?, ?> ? data.data() : Codecs.wrapped(data.data());
            case Part.Url url -> null;
            case Part.Raw raw -> null;
        };
    }

    private static @Nullable String url(Part part) {
        return part instanceof Part.Url url ? url.url() : null;
    }

    private static @Nullable String mediaType(Part part) {
        return part instanceof Part.Data ? "application/json" : part.mediaType();
    }

    private static final Set<String> ROLES = Set.of("user", "assistant", "system", "tool");

    static final Codec<Message> MESSAGE = Shape.<Message>of()
            .required("role", TEXT, VaultModel::role)
            .required("parts", Codecs.list(PART), Message::parts)
            .optional("metadata", STRUCT, Map.of(), Message::metadata)
            .as(v -> message(v.next(), v.next(), v.next()));

    private static Message message(String role, List<Part> parts, Map<String, @Nullable Object> metadata) {
        if (!ROLES.contains(role)) {
            throw InvalidField.of("role", '"' + role + "\" (expected: user, assistant, system or tool)");
        }
        boolean agent = role.equals("assistant");
        boolean known = agent || role.equals("user");
        return new Message(
                Ids.next(Instant.now()),
                agent ? Role.AGENT : Role.USER,
                parts,
                null,
                null,
                known ? metadata : TaskEvent.merge(metadata, Map.of(ROLE, role)),
                List.of(),
                List.of());
    }

    private static String role(Message message) {
        String plain = message.role() == Role.AGENT ? "assistant" : "user";
        return message.metadata().get(ROLE) instanceof String role ? role : plain;
    }

    // ---- Artifacts

    /** An artifact of one part. */
    private static final Codec<Artifact> ARTIFACT = Shape.<Artifact>of()
            .required("id", TEXT, Artifact::artifactId)
            .always("type", TEXT, "file", artifact -> type(artifact.parts().getFirst()))
            .optional("content", FREE, artifact -> content(artifact.parts().getFirst()))
            .optional("url", TEXT, artifact -> url(artifact.parts().getFirst()))
            .optional("mediaType", TEXT, artifact -> mediaType(artifact.parts().getFirst()))
            .optional("metadata", STRUCT, Map.of(), Artifact::metadata)
            .as(v -> artifact(v.next(), v.skip().next(), v.next(), v.next(), v.next()));

    private static Artifact artifact(
            String id,
            @Nullable Object content,
            @Nullable String url,
            @Nullable String mediaType,
            Map<String, @Nullable Object> metadata) {
        Part part = url != null
                ? new Part.Url(url, null, mediaType, Map.of())
                : content instanceof String text
                        ? new Part.Text(text, null, mediaType, Map.of())
                        : new Part.Data(content, null, mediaType, Map.of());
        return new Artifact(id, null, null, List.of(part), metadata, List.of());
    }

    /** An artifact has one content here, so one of several parts becomes several, numbered from the second on. */
    private static List<Artifact> split(Artifact artifact, Map<String, @Nullable Object> more) {
        var all = new ArrayList<Artifact>();
        for (Part part : artifact.parts()) {
            int index = all.size();
            String id = index == 0 ? artifact.artifactId() : artifact.artifactId() + "." + (index + 1);
            Map<String, @Nullable Object> metadata = TaskEvent.merge(artifact.metadata(), part.metadata());
            if (artifact.name() != null) {
                metadata = TaskEvent.merge(Map.of("name", artifact.name()), metadata);
            }
            Part typed = part instanceof Part.Text text && text.mediaType() == null
                    ? new Part.Text(text.text(), null, "text/plain", Map.of())
                    : part;
            all.add(new Artifact(id, null, null, List.of(typed), TaskEvent.merge(metadata, more), List.of()));
        }
        return all;
    }

    // ---- Tasks

    static final Codec<Task> TASK = Shape.<Task>of()
            .required("id", TEXT, Task::id)
            .required("state", STATE, Task::state)
            .optional("createdAt", OLD_TIMESTAMP, task -> requireNonNullElse(Ids.madeAt(task.id()), updatedAt(task)))
            .optional("updatedAt", OLD_TIMESTAMP, Instant.EPOCH, VaultModel::updatedAt)
            .always("messages", Codecs.list(MESSAGE), List.of(), VaultModel::messages)
            .always("artifacts", Codecs.list(ARTIFACT), List.of(), VaultModel::artifacts)
            .optional("metadata", STRUCT, Map.of(), Task::metadata)
            .as(v -> task(v.next(), v.next(), v.skip().next(), v.next(), v.next(), v.next()));

    private static Task task(
            String id,
            TaskState state,
            Instant updatedAt,
            List<Message> messages,
            List<Artifact> artifacts,
            Map<String, @Nullable Object> metadata) {
        return new Task(id, "", new TaskStatus(state, null, updatedAt), artifacts, messages, metadata);
    }

    private static Instant updatedAt(Task task) {
        return requireNonNullElse(task.status().timestamp(), Instant.EPOCH);
    }

    /** The messages of a task, including that of its status. */
    static List<Message> messages(Task task) {
        var messages = new ArrayList<>(task.history());
        Message last = task.status().message();
        if (last != null) {
            messages.add(last);
        }
        return messages;
    }

    private static List<Artifact> artifacts(Task task) {
        return task.artifacts().stream()
                .flatMap(one -> split(one, Map.of()).stream())
                .toList();
    }

    /** Answer of {@code tasks/send}. */
    static final Codec<Task> ID = Shape.<Task>of()
            .required("id", TEXT, Task::id)
            .as(v -> new Task(
                    v.next(), "", new TaskStatus(TaskState.SUBMITTED, null, null), List.of(), List.of(), Map.of()));

    /** Answer of {@code tasks/cancel}. */
    record Canceled(boolean success, @Nullable String message) {
        /** A task with only its id. */
        Task task() {
            if (!success) {
                throw A2AException.of(
                        A2AError.TASK_NOT_CANCELABLE,
                        requireNonNullElse(message, A2AError.TASK_NOT_CANCELABLE.defaultMessage()));
            }
            return new Task("", "", new TaskStatus(TaskState.CANCELED, null, null), List.of(), List.of(), Map.of());
        }
    }

    static final Codec<Canceled> CANCELED = Shape.<Canceled>of()
            .always("success", BOOLEAN, true, Canceled::success)
            .optional("message", TEXT, Canceled::message)
            .as(v -> new Canceled(v.next(), v.next()));

    // ---- Events

    private static final Codec<TaskStatusUpdateEvent> STATUS_EVENT = Shape.<TaskStatusUpdateEvent>of()
            .required("taskId", TEXT, TaskStatusUpdateEvent::taskId)
            .required("state", STATE, update -> update.status().state())
            .optional("timestamp", OLD_TIMESTAMP, update -> update.status().timestamp())
            .optional("message", TEXT, update -> text(update.status().message()))
            .as(v -> update(v.next(), v.next(), v.next(), note(v.next())));

    private static final Codec<TaskStatusUpdateEvent> MESSAGE_EVENT = Shape.<TaskStatusUpdateEvent>of()
            .required("taskId", TEXT, TaskStatusUpdateEvent::taskId)
            .required(
                    "message", MESSAGE, update -> requireNonNull(update.status().message()))
            .optional("timestamp", OLD_TIMESTAMP, update -> update.status().timestamp())
            .as(v -> spoken(v.next(), v.next(), v.next()));

    private record ArtifactEvent(
            String taskId, Artifact artifact, @Nullable Instant timestamp) {}

    private static final Codec<ArtifactEvent> ARTIFACT_EVENT = Shape.<ArtifactEvent>of()
            .required("taskId", TEXT, ArtifactEvent::taskId)
            .required("artifact", ARTIFACT, ArtifactEvent::artifact)
            .optional("timestamp", OLD_TIMESTAMP, ArtifactEvent::timestamp)
            .as(v -> new ArtifactEvent(v.next(), v.next(), v.next()));

    private static TaskStatusUpdateEvent update(
            String taskId, TaskState state, @Nullable Instant at, @Nullable Message message) {
        return new TaskStatusUpdateEvent(taskId, "", new TaskStatus(state, message, at), Map.of());
    }

    /** Returns the event for a message of a working agent: a note on its status. */
    private static TaskStatusUpdateEvent spoken(String taskId, Message message, @Nullable Instant at) {
        return update(taskId, TaskState.WORKING, at, message);
    }

    private static @Nullable String text(@Nullable Message message) {
        return message == null ? null : nonEmpty(message.text());
    }

    private static @Nullable Message note(@Nullable String text) {
        return text == null ? null : Message.agent(Part.text(text));
    }

    static byte[] status(String taskId, TaskStatus status) {
        return json(STATUS_EVENT, new TaskStatusUpdateEvent(taskId, "", status, Map.of()));
    }

    static byte[] said(String taskId, Message message, @Nullable Instant at) {
        return json(MESSAGE_EVENT, spoken(taskId, message, at));
    }

    /** Pieces of an artifact in the making say so: this profile knows only whole ones. */
    static List<byte[]> produced(TaskArtifactUpdateEvent update, @Nullable Instant at) {
        return split(update.artifact(), update.append() ? Map.of(APPEND, true) : Map.of()).stream()
                .map(one -> json(ARTIFACT_EVENT, new ArtifactEvent(update.taskId(), one, at)))
                .toList();
    }

    /** For clients: which of the events it is, tell its members. */
    static final Codec<TaskEvent> EVENT = Codecs.via(STRUCT, VaultModel::event, event -> {
        throw new UnsupportedOperationException("events are written by name");
    });

    private static TaskEvent event(Map<String, @Nullable Object> members) {
        byte[] json = Json.write(members);
        if (members.containsKey("state")) {
            return Json.read(json, STATUS_EVENT);
        }
        if (!members.containsKey("artifact")) {
            return Json.read(json, MESSAGE_EVENT);
        }
        ArtifactEvent event = Json.read(json, ARTIFACT_EVENT);
        boolean append = Boolean.TRUE.equals(event.artifact().metadata().get(APPEND));
        return new TaskArtifactUpdateEvent(event.taskId(), "", event.artifact(), append, !append, Map.of());
    }

    private static <T> byte[] json(Codec<T> codec, T value) {
        return Json.write(new byte[0], codec, value, new byte[0]);
    }
}
