package dev.parley.dialect.vault;

import static dev.parley.dialect.v1.V1Model.nonEmpty;
import static dev.parley.protocol.TaskEvent.merge;
import static dev.parley.protocol.json.Codecs.BOOLEAN;
import static dev.parley.protocol.json.Codecs.FREE;
import static dev.parley.protocol.json.Codecs.OLD_TIMESTAMP;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.answers.Dialect;
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
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.protocol.support.Ids;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * JSON form of the data of the AgentVault profile 0.2.
 *
 * <p>Tasks are flat, an artifact has one content, and bytes do not travel: {@link Vault} has put addresses in
 * their place.
 */
public final class VaultModel {
    private static final String ROLE = "agentvault_role";
    private static final Set<String> ROLES = Set.of("user", "assistant", "system", "tool");
    private static final String APPEND = "append";

    private VaultModel() {}

    private static final Codec<TaskState> STATE =
            LegacyModel.states(TaskState::name, "WORKING", true, Map.of("UNKNOWN", TaskState.UNSPECIFIED));

    private static final Codec<Part> PART = ObjectCodec.<Part>of()
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
        if (part instanceof Part.Data data) {
            return data.data() instanceof Map<?, ?> ? data.data() : Codecs.wrapped(data.data());
        }
        return part instanceof Part.Text text ? text.text() : null;
    }

    private static @Nullable String url(Part part) {
        return part instanceof Part.Url url ? url.url() : null;
    }

    private static @Nullable String mediaType(Part part) {
        return part instanceof Part.Data ? "application/json" : part.mediaType();
    }

    static final Codec<Message> MESSAGE = ObjectCodec.<Message>of()
            .required("role", TEXT, it -> it.metadata().get(ROLE) instanceof String role ? role : word(it.role()))
            .required("parts", Codecs.list(PART), Message::parts)
            .optional("metadata", STRUCT, Map.of(), Message::metadata)
            .as(v -> message(v.next(), v.next(), v.next()));

    private static Message message(String role, List<Part> parts, Map<String, @Nullable Object> metadata) {
        if (!ROLES.contains(role)) {
            throw InvalidField.of("role", '"' + role + "\" (expected: user, assistant, system or tool)");
        }
        Role known = role.equals("assistant") ? Role.AGENT : Role.USER;
        var kept = role.equals(word(known)) ? metadata : merge(metadata, Map.of(ROLE, role));
        return new Message(Ids.next(Instant.now()), known, parts, null, null, kept, List.of(), List.of());
    }

    private static String word(Role role) {
        return role == Role.AGENT ? "assistant" : "user";
    }

    /** An artifact of one part. */
    private static final Codec<Artifact> ARTIFACT = ObjectCodec.<Artifact>of()
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

    static final Codec<Task> TASK = ObjectCodec.<Task>of()
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
    static final Codec<SendResult> ID = ObjectCodec.<SendResult>of()
            .required("id", TEXT, result -> ((Task) result).id())
            .as(v -> bare(v.next(), TaskState.SUBMITTED));

    /** Answer of {@code tasks/cancel}, of which a client reads a task without an id. */
    static final Codec<Task> CANCELED = ObjectCodec.<Task>of()
            .always("success", BOOLEAN, true, task -> true)
            .readOnly("message", TEXT)
            .as(v -> canceled(v.next(), v.next()));

    /** The same of a task that cannot be canceled. */
    static final Codec<A2AException> REFUSAL = ObjectCodec.<A2AException>of()
            .required("success", BOOLEAN, refused -> false)
            .optional("message", TEXT, A2AException::getMessage)
            .as(v -> A2AException.of(A2AError.TASK_NOT_CANCELABLE));

    private static Task canceled(boolean success, @Nullable String message) {
        if (success) {
            return bare("", TaskState.CANCELED);
        }
        A2AError error = A2AError.TASK_NOT_CANCELABLE;
        throw A2AException.of(error, requireNonNullElse(message, error.defaultMessage()));
    }

    private static Task bare(String id, TaskState state) {
        return new Task(id, "", new TaskStatus(state, null, null), List.of(), List.of(), Map.of());
    }

    private static final Codec<TaskStatusUpdateEvent> STATUS = ObjectCodec.<TaskStatusUpdateEvent>of()
            .required("taskId", TEXT, TaskStatusUpdateEvent::taskId)
            .required("state", STATE, update -> update.status().state())
            .optional("timestamp", OLD_TIMESTAMP, update -> update.status().timestamp())
            .optional("message", TEXT, update -> note(update.status().message()))
            .as(v -> update(v.next(), noted(v.next(), v.next(), v.next())));

    /** An event with a message or an artifact, which have no time of their own. */
    record Timed<T>(String taskId, T content, @Nullable Instant at) {}

    static final Codec<Timed<Message>> SAID = timed("message", MESSAGE);
    private static final Codec<Timed<Artifact>> PRODUCED = timed("artifact", ARTIFACT);

    private static <T> Codec<Timed<T>> timed(String member, Codec<T> codec) {
        return ObjectCodec.<Timed<T>>of()
                .required("taskId", TEXT, Timed::taskId)
                .required(member, codec, Timed::content)
                .optional("timestamp", OLD_TIMESTAMP, Timed::at)
                .as(v -> new Timed<>(v.next(), v.next(), v.next()));
    }

    /** For clients: the members of an event decide which of the three it is. A message is a note of a working agent. */
    public static final Codec<TaskEvent> EVENT = Codecs.kinds(
            event -> V1Model.as(STATUS),
            members -> members.containsKey("state")
                    ? V1Model.as(STATUS)
                    : members.containsKey("artifact")
                            ? Codecs.reading(PRODUCED, it -> update(it.taskId(), it.content()))
                            : Codecs.reading(
                                    SAID,
                                    it -> update(
                                            it.taskId(), new TaskStatus(TaskState.WORKING, it.content(), it.at()))));

    private static TaskStatusUpdateEvent update(String taskId, TaskStatus status) {
        return new TaskStatusUpdateEvent(taskId, "", status, Map.of());
    }

    private static TaskArtifactUpdateEvent update(String taskId, Artifact artifact) {
        boolean append = Boolean.TRUE.equals(artifact.metadata().get(APPEND));
        return new TaskArtifactUpdateEvent(taskId, "", artifact, append, !append, Map.of());
    }

    private static @Nullable String note(@Nullable Message message) {
        return message == null ? null : nonEmpty(message.text());
    }

    private static TaskStatus noted(TaskState state, @Nullable Instant at, @Nullable String note) {
        return new TaskStatus(state, note == null ? null : Message.agent(Part.text(note)), at);
    }

    public static byte[] status(String taskId, TaskStatus status) {
        return JsonText.write(STATUS, update(taskId, status));
    }

    static final class Telling extends Dialect.Retelling {
        /** States to which a submitted task moves without work. */
        private static final Set<TaskState> DIRECT =
                EnumSet.of(TaskState.SUBMITTED, TaskState.WORKING, TaskState.CANCELED);

        private @Nullable TaskState last;

        /** Time of the newest status; messages and artifacts have none of their own. */
        private Instant at = Instant.EPOCH;

        @Override
        public void conversation(Task task, Dialect.Sink out) {
            at = requireNonNullElse(task.status().timestamp(), at);
            for (Message message : messages(task)) {
                out.frame("task_message", SAID, new Timed<>(task.id(), message, at));
            }
        }

        @Override
        public void moved(TaskStatusUpdateEvent update, Dialect.Sink out) {
            at = requireNonNullElse(update.status().timestamp(), at);
            if (update.status().message() != null) {
                out.frame(
                        "task_message",
                        SAID,
                        new Timed<>(update.taskId(), update.status().message(), at));
            }
            status(update, out);
        }

        /** Pieces of an artifact in the making say so: this profile knows only whole ones. */
        @Override
        public void produced(TaskArtifactUpdateEvent update, Dialect.Sink out) {
            split(update.artifact(), update.append() ? Map.of(APPEND, true) : Map.of())
                    .forEach(one -> out.frame("task_artifact", PRODUCED, new Timed<>(update.taskId(), one, at)));
        }

        /** A submitted task ends or asks only after it has been working, and never returns to submitted. */
        @Override
        public void status(TaskStatusUpdateEvent update, Dialect.Sink out) {
            TaskStatus told = update.status();
            boolean back = told.state() == TaskState.SUBMITTED && last != null && last != TaskState.SUBMITTED;
            TaskState state = back ? TaskState.WORKING : told.state();
            if (last == TaskState.SUBMITTED && !DIRECT.contains(state)) {
                var between = new TaskStatus(TaskState.WORKING, null, told.timestamp());
                out.frame("task_status", STATUS, update(update.taskId(), between));
            }
            var shown = new TaskStatus(state, told.message(), told.timestamp());
            out.frame("task_status", STATUS, update(update.taskId(), shown));
            last = state;
        }
    }
}
