package dev.parley.dialect.vault;

import static dev.parley.dialect.json.Codecs.BOOLEAN;
import static dev.parley.dialect.json.Codecs.FREE;
import static dev.parley.dialect.json.Codecs.OLD_TIMESTAMP;
import static dev.parley.dialect.json.Codecs.STRUCT;
import static dev.parley.dialect.json.Codecs.TEXT;
import static dev.parley.dialect.v1.V1Model.nonEmpty;
import static dev.parley.protocol.TaskEvent.merge;
import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.json.Codec;
import dev.parley.dialect.json.Codecs;
import dev.parley.dialect.json.JsonText;
import dev.parley.dialect.json.Shape;
import dev.parley.dialect.legacy.LegacyModel;
import dev.parley.dialect.v1.V1Model;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.protocol.support.Ids;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How the data of the AgentVault profile 0.2 look.
 *
 * <p>Tasks are flat, an artifact has one content, and bytes do not travel: {@link VaultEndpoint} has put addresses in
 * their place.
 */
public final class VaultModel {
    private static final String ROLE = "agentvault_role";
    private static final Set<String> ROLES = Set.of("user", "assistant", "system", "tool");
    private static final String APPEND = "append";

    private VaultModel() {}

    private static final Codec<TaskState> STATE =
            LegacyModel.states(TaskState::name, "WORKING", true, Map.of("UNKNOWN", TaskState.UNSPECIFIED));

    // ---- Messages

    private static final Codec<Part> PART = Shape.<Part>of()
            .required("type", TEXT, VaultModel::type)
            .optional("content", FREE, VaultModel::content)
            .optional("url", TEXT, VaultModel::url)
            .optional("mediaType", TEXT, part -> part instanceof Part.Text ? null : mediaType(part))
            .optional("filename", TEXT, part -> part instanceof Part.Url ? part.filename() : null)
            .optional("metadata", STRUCT, Map.of(), Part::metadata)
            .as(v -> part(v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    /** @param said type of the part; null if its content decides, as in an artifact */
    private static Part part(
            @Nullable String said,
            @Nullable Object content,
            @Nullable String url,
            @Nullable String mediaType,
            @Nullable String filename,
            Map<String, @Nullable Object> metadata) {
        String type = said != null ? said : url != null ? "file" : content instanceof String ? "text" : "data";
        if (type.equals("text") && content instanceof String text) {
            return new Part.Text(text, filename, mediaType, metadata);
        }
        if (type.equals("file") && url != null) {
            return new Part.Url(url, filename, mediaType, metadata);
        }
        return switch (type) {
            case "data" -> new Part.Data(content, filename, mediaType, metadata);
            case "text" -> throw InvalidField.of("content", "no string (expected: a string in a part of type text)");
            case "file" -> throw InvalidField.of("url", "missing (expected: the address of the file)");
            default -> throw InvalidField.of("type", '"' + type + "\" (expected: text, file or data)");
        };
    }

    private static String type(Part part) {
        if (part instanceof Part.Raw) {
            throw A2AException.of(
                    A2AError.CONTENT_TYPE_NOT_SUPPORTED,
                    "part with bytes (expected: a part with a URL, since messages of AgentVault carry no bytes)");
        }
        return LegacyModel.kindOf(part);
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
        Map<String, @Nullable Object> kept =
                agent || role.equals("user") ? metadata : merge(metadata, Map.of(ROLE, role));
        String id = Ids.next(Instant.now());
        return new Message(id, agent ? Role.AGENT : Role.USER, parts, null, null, kept, List.of(), List.of());
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
            .as(v -> {
                String id = v.next();
                Part part = part(null, v.skip().next(), v.next(), v.next(), null, Map.of());
                return new Artifact(id, null, null, List.of(part), v.next(), List.of());
            });

    /** An artifact has one content here, so one of several parts becomes several, numbered from the second on. */
    private static Stream<Artifact> split(Artifact artifact, Map<String, @Nullable Object> more) {
        Map<String, @Nullable Object> name = artifact.name() == null ? Map.of() : Map.of("name", artifact.name());
        return IntStream.range(0, artifact.parts().size()).mapToObj(at -> {
            Part part = artifact.parts().get(at);
            Part typed = part instanceof Part.Text text && text.mediaType() == null
                    ? new Part.Text(text.text(), null, "text/plain", Map.of())
                    : part;
            String id = artifact.artifactId() + (at == 0 ? "" : "." + (at + 1));
            var metadata = merge(merge(merge(name, artifact.metadata()), part.metadata()), more);
            return new Artifact(id, null, null, List.of(typed), metadata, List.of());
        });
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
            .as(v -> {
                String id = v.next();
                var status = new TaskStatus(v.next(), null, v.skip().next());
                List<Message> messages = v.next();
                return new Task(id, "", status, v.next(), messages, v.next());
            });

    private static Instant updatedAt(Task task) {
        return requireNonNullElse(task.status().timestamp(), Instant.EPOCH);
    }

    /** The messages of a task, including that of its status. */
    static List<Message> messages(Task task) {
        return Stream.concat(
                        task.history().stream(), Stream.ofNullable(task.status().message()))
                .toList();
    }

    private static List<Artifact> artifacts(Task task) {
        return task.artifacts().stream().flatMap(one -> split(one, Map.of())).toList();
    }

    /** Answer of {@code tasks/send}. */
    static final Codec<SendResult> ID = Shape.<SendResult>of()
            .required("id", TEXT, result -> ((Task) result).id())
            .as(v -> bare(v.next(), TaskState.SUBMITTED));

    /** Answer of {@code tasks/cancel}; a message says why the task cannot be canceled. */
    record Cancellation(boolean success, @Nullable String message) {
        Task task() {
            if (!success) {
                A2AError error = A2AError.TASK_NOT_CANCELABLE;
                throw A2AException.of(error, requireNonNullElse(message, error.defaultMessage()));
            }
            return bare("", TaskState.CANCELED);
        }
    }

    static final Codec<Cancellation> CANCELLATION = Shape.<Cancellation>of()
            .always("success", BOOLEAN, true, Cancellation::success)
            .optional("message", TEXT, Cancellation::message)
            .as(v -> new Cancellation(v.next(), v.next()));

    /** The same as a task, which has no id for a client. */
    static final Codec<Task> CANCELED =
            Codecs.via(CANCELLATION, Cancellation::task, task -> new Cancellation(true, null));

    private static Task bare(String id, TaskState state) {
        return new Task(id, "", new TaskStatus(state, null, null), List.of(), List.of(), Map.of());
    }

    // ---- Events

    private static final Codec<TaskStatusUpdateEvent> STATUS = Shape.<TaskStatusUpdateEvent>of()
            .required("taskId", TEXT, TaskStatusUpdateEvent::taskId)
            .required("state", STATE, update -> update.status().state())
            .optional("timestamp", OLD_TIMESTAMP, update -> update.status().timestamp())
            .optional("message", TEXT, update -> text(update.status().message()))
            .as(v -> update(v.next(), v.next(), v.next(), note(v.next())));

    /** A message of a working agent is a note on the status of its task. */
    static final Codec<TaskStatusUpdateEvent> SAID = Shape.<TaskStatusUpdateEvent>of()
            .required("taskId", TEXT, TaskStatusUpdateEvent::taskId)
            .required(
                    "message", MESSAGE, update -> requireNonNull(update.status().message()))
            .optional("timestamp", OLD_TIMESTAMP, update -> update.status().timestamp())
            .as(v -> spoken(v.next(), v.next(), v.next()));

    private record Produced(
            TaskArtifactUpdateEvent update, @Nullable Instant at) {}

    private static final Codec<Produced> PRODUCED = Shape.<Produced>of()
            .required("taskId", TEXT, it -> it.update().taskId())
            .required("artifact", ARTIFACT, it -> it.update().artifact())
            .optional("timestamp", OLD_TIMESTAMP, Produced::at)
            .as(v -> new Produced(update(v.next(), v.next()), v.next()));

    private static final Codec<TaskArtifactUpdateEvent> UPDATE =
            Codecs.via(PRODUCED, Produced::update, update -> new Produced(update, null));

    /** For clients: the members of an event decide which of the three it is. */
    public static final Codec<TaskEvent> EVENT = Codecs.kinds(
            event -> V1Model.as(event instanceof TaskArtifactUpdateEvent ? UPDATE : STATUS),
            members -> V1Model.as(
                    members.containsKey("state") ? STATUS : members.containsKey("artifact") ? UPDATE : SAID));

    private static TaskStatusUpdateEvent update(
            String taskId, TaskState state, @Nullable Instant at, @Nullable Message message) {
        return new TaskStatusUpdateEvent(taskId, "", new TaskStatus(state, message, at), Map.of());
    }

    static TaskStatusUpdateEvent spoken(String taskId, Message message, @Nullable Instant at) {
        return update(taskId, TaskState.WORKING, at, message);
    }

    private static @Nullable String text(@Nullable Message message) {
        return message == null ? null : nonEmpty(message.text());
    }

    private static @Nullable Message note(@Nullable String text) {
        return text == null ? null : Message.agent(Part.text(text));
    }

    public static byte[] status(String taskId, TaskStatus status) {
        return JsonText.write(STATUS, new TaskStatusUpdateEvent(taskId, "", status, Map.of()));
    }

    /** Pieces of an artifact in the making say so: this profile knows only whole ones. */
    static Stream<byte[]> produced(TaskArtifactUpdateEvent update, @Nullable Instant at) {
        return split(update.artifact(), update.append() ? Map.of(APPEND, true) : Map.of())
                .map(one -> JsonText.write(PRODUCED, new Produced(update(update.taskId(), one), at)));
    }

    private static TaskArtifactUpdateEvent update(String taskId, Artifact artifact) {
        boolean append = Boolean.TRUE.equals(artifact.metadata().get(APPEND));
        return new TaskArtifactUpdateEvent(taskId, "", artifact, append, !append, Map.of());
    }
}
