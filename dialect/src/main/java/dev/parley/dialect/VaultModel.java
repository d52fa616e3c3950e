package dev.parley.dialect;

import static dev.parley.dialect.Codecs.BOOLEAN;
import static dev.parley.dialect.Codecs.FREE;
import static dev.parley.dialect.Codecs.OLD_TIMESTAMP;
import static dev.parley.dialect.Codecs.STRUCT;
import static dev.parley.dialect.Codecs.TEXT;
import static dev.parley.dialect.V1Model.nonEmpty;
import static java.util.Objects.requireNonNullElse;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Ids;
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
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
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

    // ---- Words

    static final Codec<TaskState> STATE = states();

    private static Codec<TaskState> states() {
        var words = new EnumMap<TaskState, String>(TaskState.class);
        for (TaskState state : TaskState.values()) {
            words.put(state, state.name());
        }
        words.put(TaskState.UNSPECIFIED, TaskState.WORKING.name());
        words.put(TaskState.REJECTED, TaskState.FAILED.name());
        words.put(TaskState.AUTH_REQUIRED, TaskState.INPUT_REQUIRED.name());
        return Codecs.words(
                words,
                Map.of(
                        TaskState.WORKING.name(),
                        TaskState.WORKING,
                        TaskState.FAILED.name(),
                        TaskState.FAILED,
                        TaskState.INPUT_REQUIRED.name(),
                        TaskState.INPUT_REQUIRED,
                        "UNKNOWN",
                        TaskState.UNSPECIFIED));
    }

    // ---- Messages

    /** A part as this profile has it; {@code url} stands for bytes and addresses alike. */
    private record Piece(
            String type,
            @Nullable Object content,
            @Nullable String url,
            @Nullable String mediaType,
            @Nullable String filename,
            Map<String, @Nullable Object> metadata) {
        Part part() {
            return switch (type) {
                case "text" -> new Part.Text(text(), filename, mediaType, metadata);
                case "data" -> new Part.Data(content, filename, mediaType, metadata);
                case "file" -> new Part.Url(there(url), filename, mediaType, metadata);
                default -> throw InvalidField.of("type", '"' + type + "\" (expected: text, file or data)");
            };
        }

        private String text() {
            if (content instanceof String text) {
                return text;
            }
            throw InvalidField.of("content", "no string (expected: a string in a part of type text)");
        }

        private static String there(@Nullable String url) {
            if (url == null) {
                throw InvalidField.of("url", "missing (expected: the address of the file)");
            }
            return url;
        }

        static Piece of(Part part) {
            return switch (part) {
                case Part.Text text -> new Piece("text", text.text(), null, null, null, text.metadata());
                case Part.Data data ->
                    new Piece(
                            "data",
                            data.data() instanceof Map<?, ?> ? data.data() : Codecs.wrapped(data.data()),
                            null,
                            "application/json",
                            null,
                            data.metadata());
                case Part.Url url ->
                    new Piece("file", null, url.url(), url.mediaType(), url.filename(), url.metadata());
                case Part.Raw raw ->
                    throw A2AException.of(
                            A2AError.CONTENT_TYPE_NOT_SUPPORTED,
                            "part with bytes (expected: a part with a URL, since messages of AgentVault carry no bytes)");
            };
        }
    }

    private static final Codec<Piece> PIECE = Shape.<Piece>of()
            .required("type", TEXT, Piece::type)
            .optional("content", FREE, Piece::content)
            .optional("url", TEXT, Piece::url)
            .optional("mediaType", TEXT, Piece::mediaType)
            .optional("filename", TEXT, Piece::filename)
            .optional("metadata", STRUCT, Map.of(), Piece::metadata)
            .as(v -> checked(new Piece(v.next(), v.next(), v.next(), v.next(), v.next(), v.next())));

    /** Refuses invalid parts here, where their place is known. */
    private static Piece checked(Piece piece) {
        piece.part();
        return piece;
    }

    /** A message as it is shown, with the addresses of its files. */
    private record Said(String role, List<Piece> parts, Map<String, @Nullable Object> metadata) {
        Message message() {
            boolean agent = role.equals("assistant");
            var known = agent || role.equals("user");
            return new Message(
                    Ids.next(Instant.now()),
                    agent ? Role.AGENT : Role.USER,
                    parts.stream().map(Piece::part).toList(),
                    null,
                    null,
                    known ? metadata : TaskEvent.merge(metadata, Map.of(ROLE, role)),
                    List.of(),
                    List.of());
        }

        static Said of(Message message) {
            Object role = message.metadata().get(ROLE);
            String plain = message.role() == Role.AGENT ? "assistant" : "user";
            return new Said(
                    role instanceof String told ? told : plain,
                    message.parts().stream().map(Piece::of).toList(),
                    message.metadata());
        }
    }

    private static final Set<String> ROLES = Set.of("user", "assistant", "system", "tool");

    private static final Codec<String> SAID_ROLE = Codecs.via(TEXT, VaultModel::role, role -> role);

    private static String role(String role) {
        if (!ROLES.contains(role)) {
            throw InvalidField.of("", '"' + role + "\" (expected: user, assistant, system or tool)");
        }
        return role;
    }

    private static final Codec<Said> SAID = Shape.<Said>of()
            .required("role", SAID_ROLE, Said::role)
            .required("parts", Codecs.list(PIECE), Said::parts)
            .optional("metadata", STRUCT, Map.of(), Said::metadata)
            .as(v -> new Said(v.next(), v.next(), v.next()));

    static final Codec<Message> MESSAGE = Codecs.via(SAID, Said::message, Said::of);

    // ---- Artifacts

    private record Shown(
            String id,
            String type,
            @Nullable Object content,
            @Nullable String url,
            @Nullable String mediaType,
            Map<String, @Nullable Object> metadata) {
        Artifact artifact() {
            Part part = url != null
                    ? new Part.Url(url, null, mediaType, Map.of())
                    : content instanceof String text
                            ? new Part.Text(text, null, mediaType, Map.of())
                            : new Part.Data(content, null, mediaType, Map.of());
            return new Artifact(id, null, null, List.of(part), metadata, List.of());
        }
    }

    private static final Codec<Shown> SHOWN = Shape.<Shown>of()
            .required("id", TEXT, Shown::id)
            .always("type", TEXT, "file", Shown::type)
            .optional("content", FREE, Shown::content)
            .optional("url", TEXT, Shown::url)
            .optional("mediaType", TEXT, Shown::mediaType)
            .optional("metadata", STRUCT, Map.of(), Shown::metadata)
            .as(v -> new Shown(v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    /** An artifact has one content here, so one of several parts becomes several, numbered from the second on. */
    private static List<Shown> shown(Artifact artifact) {
        var all = new ArrayList<Shown>();
        for (Part part : artifact.parts()) {
            int index = all.size();
            Piece piece = Piece.of(part);
            String id = index == 0 ? artifact.artifactId() : artifact.artifactId() + "." + (index + 1);
            Map<String, @Nullable Object> metadata = TaskEvent.merge(artifact.metadata(), piece.metadata());
            if (artifact.name() != null) {
                metadata = TaskEvent.merge(Map.of("name", artifact.name()), metadata);
            }
            String mediaType =
                    part instanceof Part.Text ? requireNonNullElse(part.mediaType(), "text/plain") : piece.mediaType();
            all.add(new Shown(id, piece.type(), piece.content(), piece.url(), mediaType, metadata));
        }
        return all;
    }

    // ---- Tasks

    private record Flat(
            String id,
            TaskState state,
            Instant createdAt,
            Instant updatedAt,
            List<Said> messages,
            List<Shown> artifacts,
            Map<String, @Nullable Object> metadata) {
        Task task() {
            return new Task(
                    id,
                    "",
                    new TaskStatus(state, null, updatedAt),
                    artifacts.stream().map(Shown::artifact).toList(),
                    messages.stream().map(Said::message).toList(),
                    metadata);
        }

        static Flat of(Task task) {
            Instant updated = requireNonNullElse(task.status().timestamp(), Instant.EPOCH);
            var artifacts = new ArrayList<Shown>();
            task.artifacts().forEach(one -> artifacts.addAll(shown(one)));
            return new Flat(
                    task.id(),
                    task.state(),
                    requireNonNullElse(Ids.madeAt(task.id()), updated),
                    updated,
                    VaultModel.messages(task).stream().map(Said::of).toList(),
                    artifacts,
                    task.metadata());
        }
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

    private static final Codec<Flat> FLAT = Shape.<Flat>of()
            .required("id", TEXT, Flat::id)
            .required("state", STATE, Flat::state)
            .optional("createdAt", OLD_TIMESTAMP, Instant.EPOCH, Flat::createdAt)
            .optional("updatedAt", OLD_TIMESTAMP, Instant.EPOCH, Flat::updatedAt)
            .always("messages", Codecs.list(SAID), List.of(), Flat::messages)
            .always("artifacts", Codecs.list(SHOWN), List.of(), Flat::artifacts)
            .optional("metadata", STRUCT, Map.of(), Flat::metadata)
            .as(v -> new Flat(v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    static final Codec<Task> TASK = Codecs.via(FLAT, Flat::task, Flat::of);

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

    private record StatusEvent(
            String taskId,
            TaskState state,
            @Nullable Instant timestamp,
            @Nullable String message) {}

    private record MessageEvent(
            String taskId, Said message, @Nullable Instant timestamp) {}

    private record ArtifactEvent(
            String taskId, Shown artifact, @Nullable Instant timestamp) {}

    private static final Codec<StatusEvent> STATUS_EVENT = Shape.<StatusEvent>of()
            .required("taskId", TEXT, StatusEvent::taskId)
            .required("state", STATE, StatusEvent::state)
            .optional("timestamp", OLD_TIMESTAMP, StatusEvent::timestamp)
            .optional("message", TEXT, StatusEvent::message)
            .as(v -> new StatusEvent(v.next(), v.next(), v.next(), v.next()));

    private static final Codec<MessageEvent> MESSAGE_EVENT = Shape.<MessageEvent>of()
            .required("taskId", TEXT, MessageEvent::taskId)
            .required("message", SAID, MessageEvent::message)
            .optional("timestamp", OLD_TIMESTAMP, MessageEvent::timestamp)
            .as(v -> new MessageEvent(v.next(), v.next(), v.next()));

    private static final Codec<ArtifactEvent> ARTIFACT_EVENT = Shape.<ArtifactEvent>of()
            .required("taskId", TEXT, ArtifactEvent::taskId)
            .required("artifact", SHOWN, ArtifactEvent::artifact)
            .optional("timestamp", OLD_TIMESTAMP, ArtifactEvent::timestamp)
            .as(v -> new ArtifactEvent(v.next(), v.next(), v.next()));

    static byte[] status(String taskId, TaskStatus status) {
        Message message = status.message();
        String text = message == null ? null : nonEmpty(message.text());
        return json(STATUS_EVENT, new StatusEvent(taskId, status.state(), status.timestamp(), text));
    }

    static byte[] said(String taskId, Message message, @Nullable Instant at) {
        return json(MESSAGE_EVENT, new MessageEvent(taskId, Said.of(message), at));
    }

    /** Pieces of an artifact in the making say so: this profile knows only whole ones. */
    static List<byte[]> produced(TaskArtifactUpdateEvent update, @Nullable Instant at) {
        return shown(update.artifact()).stream()
                .map(one -> {
                    Map<String, @Nullable Object> metadata =
                            update.append() ? TaskEvent.merge(one.metadata(), Map.of(APPEND, true)) : one.metadata();
                    var whole = new Shown(one.id(), one.type(), one.content(), one.url(), one.mediaType(), metadata);
                    return json(ARTIFACT_EVENT, new ArtifactEvent(update.taskId(), whole, at));
                })
                .toList();
    }

    /** For clients: which of the events it is, tell its members. */
    static final Codec<TaskEvent> EVENT = Codecs.via(STRUCT, VaultModel::event, event -> {
        throw new UnsupportedOperationException("events are written by name");
    });

    private static TaskEvent event(Map<String, @Nullable Object> members) {
        byte[] json = Json.write(members);
        if (members.containsKey("state")) {
            StatusEvent event = Json.read(json, STATUS_EVENT);
            Message note = event.message() == null ? null : Message.agent(Part.text(event.message()));
            return new TaskStatusUpdateEvent(
                    event.taskId(), "", new TaskStatus(event.state(), note, event.timestamp()), Map.of());
        }
        if (members.containsKey("artifact")) {
            ArtifactEvent event = Json.read(json, ARTIFACT_EVENT);
            boolean append = Boolean.TRUE.equals(event.artifact().metadata().get(APPEND));
            return new TaskArtifactUpdateEvent(
                    event.taskId(), "", event.artifact().artifact(), append, !append, Map.of());
        }
        MessageEvent event = Json.read(json, MESSAGE_EVENT);
        // A message while the agent works is a note on its status.
        return new TaskStatusUpdateEvent(
                event.taskId(),
                "",
                new TaskStatus(TaskState.WORKING, event.message().message(), event.timestamp()),
                Map.of());
    }

    private static <T> byte[] json(Codec<T> codec, T value) {
        return Json.write(new byte[0], codec, value, new byte[0]);
    }
}
