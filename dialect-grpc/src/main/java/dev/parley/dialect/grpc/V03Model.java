package dev.parley.dialect.grpc;

import static dev.parley.dialect.grpc.Values.each;
import static dev.parley.dialect.grpc.Values.in;
import static dev.parley.dialect.grpc.Values.nonEmpty;
import static dev.parley.dialect.grpc.Values.optional;
import static dev.parley.dialect.grpc.Values.orEmpty;
import static dev.parley.dialect.grpc.Values.required;

import com.google.protobuf.Struct;
import dev.parley.dialect.grpc.v03.AuthenticationInfo;
import dev.parley.dialect.grpc.v03.DataPart;
import dev.parley.dialect.grpc.v03.FilePart;
import dev.parley.dialect.grpc.v03.PushNotificationConfig;
import dev.parley.dialect.grpc.v03.SendMessageResponse;
import dev.parley.dialect.grpc.v03.StreamResponse;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Ids;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Role;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How the data of the model look as messages of A2A 0.3, in both directions. That version knows no data but objects, and no
 * references to tasks; they are lost on the way there. Metadata of parts and names of files came after its first release,
 * whose readers pass over them.
 */
final class V03Model {
    private static final String BEARER = "Bearer";

    private V03Model() {}

    // --- content

    static Part read(dev.parley.dialect.grpc.v03.Part part) {
        Map<String, @Nullable Object> metadata = in("metadata", () -> Values.read(part.getMetadata()));
        return switch (part.getPartCase()) {
            case TEXT -> new Part.Text(part.getText(), null, null, metadata);
            case FILE -> in("file", () -> read(part.getFile(), metadata));
            case DATA ->
                new Part.Data(in("data", () -> Values.read(part.getData().getData())), null, null, metadata);
            case PART_NOT_SET -> throw InvalidField.of("", "expected: exactly one of text, file, data");
        };
    }

    private static Part read(FilePart file, Map<String, @Nullable Object> metadata) {
        String name = nonEmpty(file.getName());
        String mediaType = nonEmpty(file.getMimeType());
        return switch (file.getFileCase()) {
            case FILE_WITH_URI -> new Part.Url(file.getFileWithUri(), name, mediaType, metadata);
            case FILE_WITH_BYTES -> new Part.Raw(file.getFileWithBytes().toByteArray(), name, mediaType, metadata);
            case FILE_NOT_SET -> throw InvalidField.of("", "expected: exactly one of file_with_uri, file_with_bytes");
        };
    }

    static dev.parley.dialect.grpc.v03.Part write(Part part) {
        var written = dev.parley.dialect.grpc.v03.Part.newBuilder();
        if (!part.metadata().isEmpty()) {
            written.setMetadata(Values.write(part.metadata()));
        }
        var file = FilePart.newBuilder().setName(orEmpty(part.filename())).setMimeType(orEmpty(part.mediaType()));
        switch (part) {
            case Part.Text text -> written.setText(text.text());
            case Part.Raw raw -> written.setFile(file.setFileWithBytes(V1Model.bytes(raw)));
            case Part.Url url -> written.setFile(file.setFileWithUri(url.url()));
            case Part.Data data -> written.setData(data(data.data()));
        }
        return written.build();
    }

    private static DataPart data(@Nullable Object data) {
        var value = Values.write(data);
        var struct = value.hasStructValue()
                ? value.getStructValue()
                : Struct.newBuilder().putFields("value", value).build();
        return DataPart.newBuilder().setData(struct).build();
    }

    static Message read(dev.parley.dialect.grpc.v03.Message message) {
        return new Message(
                message.getMessageId().isEmpty() ? Ids.next(Instant.now()) : message.getMessageId(),
                switch (message.getRole()) {
                    case ROLE_USER -> Role.USER;
                    case ROLE_AGENT -> Role.AGENT;
                    case ROLE_UNSPECIFIED, UNRECOGNIZED ->
                        throw InvalidField.of("role", "expected: ROLE_USER or ROLE_AGENT");
                },
                each("content", message.getContentList(), V03Model::read),
                nonEmpty(message.getContextId()),
                nonEmpty(message.getTaskId()),
                in("metadata", () -> Values.read(message.getMetadata())),
                message.getExtensionsList(),
                List.of());
    }

    static dev.parley.dialect.grpc.v03.Message write(Message message) {
        var written = dev.parley.dialect.grpc.v03.Message.newBuilder()
                .setMessageId(message.messageId())
                .setContextId(orEmpty(message.contextId()))
                .setTaskId(orEmpty(message.taskId()))
                .setRole(
                        switch (message.role()) {
                            case USER -> dev.parley.dialect.grpc.v03.Role.ROLE_USER;
                            case AGENT -> dev.parley.dialect.grpc.v03.Role.ROLE_AGENT;
                        })
                .addAllExtensions(message.extensions());
        message.parts().forEach(part -> written.addContent(write(part)));
        if (!message.metadata().isEmpty()) {
            written.setMetadata(Values.write(message.metadata()));
        }
        return written.build();
    }

    private static Artifact read(dev.parley.dialect.grpc.v03.Artifact artifact) {
        return new Artifact(
                artifact.getArtifactId(),
                nonEmpty(artifact.getName()),
                nonEmpty(artifact.getDescription()),
                each("parts", artifact.getPartsList(), V03Model::read),
                in("metadata", () -> Values.read(artifact.getMetadata())),
                artifact.getExtensionsList());
    }

    private static dev.parley.dialect.grpc.v03.Artifact write(Artifact artifact) {
        var written = dev.parley.dialect.grpc.v03.Artifact.newBuilder()
                .setArtifactId(artifact.artifactId())
                .setName(orEmpty(artifact.name()))
                .setDescription(orEmpty(artifact.description()))
                .addAllExtensions(artifact.extensions());
        artifact.parts().forEach(part -> written.addParts(write(part)));
        if (!artifact.metadata().isEmpty()) {
            written.setMetadata(Values.write(artifact.metadata()));
        }
        return written.build();
    }

    // --- tasks; the states have the same numbers in both versions

    private static TaskStatus read(dev.parley.dialect.grpc.v03.TaskStatus status) {
        return new TaskStatus(
                in("state", () -> V1Model.state(status.getStateValue())),
                optional("message", status.hasUpdate(), () -> read(status.getUpdate())),
                optional("timestamp", status.hasTimestamp(), () -> Values.read(status.getTimestamp())));
    }

    private static dev.parley.dialect.grpc.v03.TaskStatus write(TaskStatus status) {
        var written = dev.parley.dialect.grpc.v03.TaskStatus.newBuilder().setStateValue(V1Model.number(status.state()));
        if (status.message() != null) {
            written.setUpdate(write(status.message()));
        }
        if (status.timestamp() != null) {
            written.setTimestamp(Values.write(status.timestamp()));
        }
        return written.build();
    }

    static Task read(dev.parley.dialect.grpc.v03.Task task) {
        return new Task(
                task.getId(),
                task.getContextId(),
                required("status", task.hasStatus(), () -> read(task.getStatus())),
                each("artifacts", task.getArtifactsList(), V03Model::read),
                each("history", task.getHistoryList(), V03Model::read),
                in("metadata", () -> Values.read(task.getMetadata())));
    }

    static dev.parley.dialect.grpc.v03.Task write(Task task) {
        var written = dev.parley.dialect.grpc.v03.Task.newBuilder()
                .setId(task.id())
                .setContextId(task.contextId())
                .setStatus(write(task.status()));
        task.artifacts().forEach(artifact -> written.addArtifacts(write(artifact)));
        task.history().forEach(message -> written.addHistory(write(message)));
        if (!task.metadata().isEmpty()) {
            written.setMetadata(Values.write(task.metadata()));
        }
        return written.build();
    }

    private static TaskStatusUpdateEvent read(dev.parley.dialect.grpc.v03.TaskStatusUpdateEvent update) {
        return new TaskStatusUpdateEvent(
                update.getTaskId(),
                update.getContextId(),
                required("status", update.hasStatus(), () -> read(update.getStatus())),
                in("metadata", () -> Values.read(update.getMetadata())));
    }

    private static dev.parley.dialect.grpc.v03.TaskStatusUpdateEvent write(TaskStatusUpdateEvent update) {
        var written = dev.parley.dialect.grpc.v03.TaskStatusUpdateEvent.newBuilder()
                .setTaskId(update.taskId())
                .setContextId(update.contextId())
                .setStatus(write(update.status()))
                .setFinal(UntilFinal.isFinal(update.status().state()));
        if (!update.metadata().isEmpty()) {
            written.setMetadata(Values.write(update.metadata()));
        }
        return written.build();
    }

    private static TaskArtifactUpdateEvent read(dev.parley.dialect.grpc.v03.TaskArtifactUpdateEvent update) {
        return new TaskArtifactUpdateEvent(
                update.getTaskId(),
                update.getContextId(),
                required("artifact", update.hasArtifact(), () -> read(update.getArtifact())),
                update.getAppend(),
                update.getLastChunk(),
                in("metadata", () -> Values.read(update.getMetadata())));
    }

    private static dev.parley.dialect.grpc.v03.TaskArtifactUpdateEvent write(TaskArtifactUpdateEvent update) {
        var written = dev.parley.dialect.grpc.v03.TaskArtifactUpdateEvent.newBuilder()
                .setTaskId(update.taskId())
                .setContextId(update.contextId())
                .setArtifact(write(update.artifact()))
                .setAppend(update.append())
                .setLastChunk(update.lastChunk());
        if (!update.metadata().isEmpty()) {
            written.setMetadata(Values.write(update.metadata()));
        }
        return written.build();
    }

    // --- answers

    static TaskEvent read(StreamResponse response) {
        return switch (response.getPayloadCase()) {
            case TASK -> in("task", () -> read(response.getTask()));
            case MSG -> in("message", () -> read(response.getMsg()));
            case STATUS_UPDATE -> in("statusUpdate", () -> read(response.getStatusUpdate()));
            case ARTIFACT_UPDATE -> in("artifactUpdate", () -> read(response.getArtifactUpdate()));
            case PAYLOAD_NOT_SET -> throw InvalidField.of("payload", "must not be missing");
        };
    }

    static StreamResponse write(TaskEvent event) {
        var written = StreamResponse.newBuilder();
        switch (event) {
            case Task task -> written.setTask(write(task));
            case Message message -> written.setMsg(write(message));
            case TaskStatusUpdateEvent update -> written.setStatusUpdate(write(update));
            case TaskArtifactUpdateEvent update -> written.setArtifactUpdate(write(update));
        }
        return written.build();
    }

    static SendResult read(SendMessageResponse response) {
        return switch (response.getPayloadCase()) {
            case TASK -> in("task", () -> read(response.getTask()));
            case MSG -> in("message", () -> read(response.getMsg()));
            case PAYLOAD_NOT_SET -> throw InvalidField.of("payload", "must not be missing");
        };
    }

    static SendMessageResponse write(SendResult result) {
        var written = SendMessageResponse.newBuilder();
        switch (result) {
            case Task task -> written.setTask(write(task));
            case Message message -> written.setMsg(write(message));
        }
        return written.build();
    }

    // --- webhooks

    static PushConfig read(PushNotificationConfig config, @Nullable String taskId) {
        return new PushConfig(
                null,
                nonEmpty(config.getId()),
                taskId,
                config.getUrl(),
                nonEmpty(config.getToken()),
                optional("authentication", config.hasAuthentication(), () -> read(config.getAuthentication())));
    }

    /** There may be several schemes, and the model has one. */
    private static PushConfig.Authentication read(AuthenticationInfo authentication) {
        var schemes = authentication.getSchemesList();
        if (schemes.isEmpty()) {
            throw InvalidField.of("schemes", "must have at least one scheme");
        }
        String scheme =
                schemes.stream().filter(BEARER::equalsIgnoreCase).findFirst().orElse(schemes.getFirst());
        return new PushConfig.Authentication(scheme, nonEmpty(authentication.getCredentials()));
    }

    static PushNotificationConfig write(PushConfig config) {
        var written = PushNotificationConfig.newBuilder()
                .setId(orEmpty(config.id()))
                .setUrl(config.url())
                .setToken(orEmpty(config.token()));
        if (config.authentication() != null) {
            written.setAuthentication(AuthenticationInfo.newBuilder()
                    .addSchemes(config.authentication().scheme())
                    .setCredentials(orEmpty(config.authentication().credentials())));
        }
        return written.build();
    }
}
