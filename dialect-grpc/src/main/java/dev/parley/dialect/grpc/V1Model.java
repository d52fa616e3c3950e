package dev.parley.dialect.grpc;

import static dev.parley.dialect.grpc.Values.each;
import static dev.parley.dialect.grpc.Values.in;
import static dev.parley.dialect.grpc.Values.nonEmpty;
import static dev.parley.dialect.grpc.Values.optional;
import static dev.parley.dialect.grpc.Values.orEmpty;
import static dev.parley.dialect.grpc.Values.required;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import dev.parley.dialect.grpc.v1.AuthenticationInfo;
import dev.parley.dialect.grpc.v1.SendMessageConfiguration;
import dev.parley.dialect.grpc.v1.SendMessageResponse;
import dev.parley.dialect.grpc.v1.StreamResponse;
import dev.parley.dialect.grpc.v1.TaskPushNotificationConfig;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Message;
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
import java.util.List;

/** How the data of A2A 1.0 look as its messages, in both directions. */
final class V1Model {
    private static final List<TaskState> STATES = List.of(TaskState.values());

    private V1Model() {}

    // --- content

    static Part read(dev.parley.dialect.grpc.v1.Part part) {
        String filename = nonEmpty(part.getFilename());
        String mediaType = nonEmpty(part.getMediaType());
        var metadata = in("metadata", () -> Values.read(part.getMetadata()));
        return switch (part.getContentCase()) {
            case TEXT -> new Part.Text(part.getText(), filename, mediaType, metadata);
            case RAW -> new Part.Raw(part.getRaw().toByteArray(), filename, mediaType, metadata);
            case URL -> new Part.Url(part.getUrl(), filename, mediaType, metadata);
            case DATA -> new Part.Data(in("data", () -> Values.read(part.getData())), filename, mediaType, metadata);
            case CONTENT_NOT_SET -> throw InvalidField.of("", "expected: exactly one of text, raw, url, data");
        };
    }

    static dev.parley.dialect.grpc.v1.Part write(Part part) {
        var written = dev.parley.dialect.grpc.v1.Part.newBuilder()
                .setFilename(orEmpty(part.filename()))
                .setMediaType(orEmpty(part.mediaType()));
        if (!part.metadata().isEmpty()) {
            written.setMetadata(Values.write(part.metadata()));
        }
        switch (part) {
            case Part.Text text -> written.setText(text.text());
            case Part.Raw raw -> written.setRaw(bytes(raw));
            case Part.Url url -> written.setUrl(url.url());
            case Part.Data data -> written.setData(Values.write(data.data()));
        }
        return written.build();
    }

    /** Not copied, because the bytes of a part are never written. */
    static ByteString bytes(Part.Raw raw) {
        return UnsafeByteOperations.unsafeWrap(raw.raw());
    }

    static Message read(dev.parley.dialect.grpc.v1.Message message) {
        return new Message(
                message.getMessageId(),
                switch (message.getRole()) {
                    case ROLE_USER -> Role.USER;
                    case ROLE_AGENT -> Role.AGENT;
                    case ROLE_UNSPECIFIED, UNRECOGNIZED ->
                        throw InvalidField.of("role", "expected: ROLE_USER or ROLE_AGENT");
                },
                each("parts", message.getPartsList(), V1Model::read),
                nonEmpty(message.getContextId()),
                nonEmpty(message.getTaskId()),
                in("metadata", () -> Values.read(message.getMetadata())),
                message.getExtensionsList(),
                message.getReferenceTaskIdsList());
    }

    static dev.parley.dialect.grpc.v1.Message write(Message message) {
        var written = dev.parley.dialect.grpc.v1.Message.newBuilder()
                .setMessageId(message.messageId())
                .setContextId(orEmpty(message.contextId()))
                .setTaskId(orEmpty(message.taskId()))
                .setRole(
                        switch (message.role()) {
                            case USER -> dev.parley.dialect.grpc.v1.Role.ROLE_USER;
                            case AGENT -> dev.parley.dialect.grpc.v1.Role.ROLE_AGENT;
                        })
                .addAllExtensions(message.extensions())
                .addAllReferenceTaskIds(message.referenceTaskIds());
        message.parts().forEach(part -> written.addParts(write(part)));
        if (!message.metadata().isEmpty()) {
            written.setMetadata(Values.write(message.metadata()));
        }
        return written.build();
    }

    static Artifact read(dev.parley.dialect.grpc.v1.Artifact artifact) {
        return new Artifact(
                artifact.getArtifactId(),
                nonEmpty(artifact.getName()),
                nonEmpty(artifact.getDescription()),
                each("parts", artifact.getPartsList(), V1Model::read),
                in("metadata", () -> Values.read(artifact.getMetadata())),
                artifact.getExtensionsList());
    }

    static dev.parley.dialect.grpc.v1.Artifact write(Artifact artifact) {
        var written = dev.parley.dialect.grpc.v1.Artifact.newBuilder()
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

    // --- tasks

    /** Our states stand in the order of their numbers. */
    static TaskState state(int number) {
        if (number < 0 || number >= STATES.size()) {
            throw InvalidField.of("", number + " (expected: a number of TaskState)");
        }
        return STATES.get(number);
    }

    static int number(TaskState state) {
        return STATES.indexOf(state);
    }

    static TaskStatus read(dev.parley.dialect.grpc.v1.TaskStatus status) {
        return new TaskStatus(
                in("state", () -> state(status.getStateValue())),
                optional("message", status.hasMessage(), () -> read(status.getMessage())),
                optional("timestamp", status.hasTimestamp(), () -> Values.read(status.getTimestamp())));
    }

    static dev.parley.dialect.grpc.v1.TaskStatus write(TaskStatus status) {
        var written = dev.parley.dialect.grpc.v1.TaskStatus.newBuilder().setStateValue(number(status.state()));
        if (status.message() != null) {
            written.setMessage(write(status.message()));
        }
        if (status.timestamp() != null) {
            written.setTimestamp(Values.write(status.timestamp()));
        }
        return written.build();
    }

    static Task read(dev.parley.dialect.grpc.v1.Task task) {
        return new Task(
                task.getId(),
                task.getContextId(),
                required("status", task.hasStatus(), () -> read(task.getStatus())),
                each("artifacts", task.getArtifactsList(), V1Model::read),
                each("history", task.getHistoryList(), V1Model::read),
                in("metadata", () -> Values.read(task.getMetadata())));
    }

    static dev.parley.dialect.grpc.v1.Task write(Task task) {
        var written = dev.parley.dialect.grpc.v1.Task.newBuilder()
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

    private static TaskStatusUpdateEvent read(dev.parley.dialect.grpc.v1.TaskStatusUpdateEvent update) {
        return new TaskStatusUpdateEvent(
                update.getTaskId(),
                update.getContextId(),
                required("status", update.hasStatus(), () -> read(update.getStatus())),
                in("metadata", () -> Values.read(update.getMetadata())));
    }

    private static dev.parley.dialect.grpc.v1.TaskStatusUpdateEvent write(TaskStatusUpdateEvent update) {
        var written = dev.parley.dialect.grpc.v1.TaskStatusUpdateEvent.newBuilder()
                .setTaskId(update.taskId())
                .setContextId(update.contextId())
                .setStatus(write(update.status()));
        if (!update.metadata().isEmpty()) {
            written.setMetadata(Values.write(update.metadata()));
        }
        return written.build();
    }

    private static TaskArtifactUpdateEvent read(dev.parley.dialect.grpc.v1.TaskArtifactUpdateEvent update) {
        return new TaskArtifactUpdateEvent(
                update.getTaskId(),
                update.getContextId(),
                required("artifact", update.hasArtifact(), () -> read(update.getArtifact())),
                update.getAppend(),
                update.getLastChunk(),
                in("metadata", () -> Values.read(update.getMetadata())));
    }

    private static dev.parley.dialect.grpc.v1.TaskArtifactUpdateEvent write(TaskArtifactUpdateEvent update) {
        var written = dev.parley.dialect.grpc.v1.TaskArtifactUpdateEvent.newBuilder()
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
            case MESSAGE -> in("message", () -> read(response.getMessage()));
            case STATUS_UPDATE -> in("statusUpdate", () -> read(response.getStatusUpdate()));
            case ARTIFACT_UPDATE -> in("artifactUpdate", () -> read(response.getArtifactUpdate()));
            case PAYLOAD_NOT_SET -> throw InvalidField.of("payload", "must not be missing");
        };
    }

    static StreamResponse write(TaskEvent event) {
        var written = StreamResponse.newBuilder();
        switch (event) {
            case Task task -> written.setTask(write(task));
            case Message message -> written.setMessage(write(message));
            case TaskStatusUpdateEvent update -> written.setStatusUpdate(write(update));
            case TaskArtifactUpdateEvent update -> written.setArtifactUpdate(write(update));
        }
        return written.build();
    }

    static SendResult read(SendMessageResponse response) {
        return switch (response.getPayloadCase()) {
            case TASK -> in("task", () -> read(response.getTask()));
            case MESSAGE -> in("message", () -> read(response.getMessage()));
            case PAYLOAD_NOT_SET -> throw InvalidField.of("payload", "must not be missing");
        };
    }

    static SendMessageResponse write(SendResult result) {
        var written = SendMessageResponse.newBuilder();
        switch (result) {
            case Task task -> written.setTask(write(task));
            case Message message -> written.setMessage(write(message));
        }
        return written.build();
    }

    // --- settings of a call

    static SendConfiguration read(SendMessageConfiguration configuration) {
        return new SendConfiguration(
                configuration.getAcceptedOutputModesList(),
                optional(
                        "taskPushNotificationConfig",
                        configuration.hasTaskPushNotificationConfig(),
                        () -> read(configuration.getTaskPushNotificationConfig())),
                configuration.hasHistoryLength() ? configuration.getHistoryLength() : null,
                configuration.getReturnImmediately());
    }

    static SendMessageConfiguration write(SendConfiguration configuration) {
        var written = SendMessageConfiguration.newBuilder()
                .addAllAcceptedOutputModes(configuration.acceptedOutputModes())
                .setReturnImmediately(configuration.returnImmediately());
        if (configuration.pushConfig() != null) {
            written.setTaskPushNotificationConfig(write(configuration.pushConfig()));
        }
        if (configuration.historyLength() != null) {
            written.setHistoryLength(configuration.historyLength());
        }
        return written.build();
    }

    static PushConfig read(TaskPushNotificationConfig config) {
        return new PushConfig(
                nonEmpty(config.getTenant()),
                nonEmpty(config.getId()),
                nonEmpty(config.getTaskId()),
                config.getUrl(),
                nonEmpty(config.getToken()),
                optional("authentication", config.hasAuthentication(), () -> read(config.getAuthentication())));
    }

    static TaskPushNotificationConfig write(PushConfig config) {
        var written = TaskPushNotificationConfig.newBuilder()
                .setTenant(orEmpty(config.tenant()))
                .setId(orEmpty(config.id()))
                .setTaskId(orEmpty(config.taskId()))
                .setUrl(config.url())
                .setToken(orEmpty(config.token()));
        if (config.authentication() != null) {
            written.setAuthentication(AuthenticationInfo.newBuilder()
                    .setScheme(config.authentication().scheme())
                    .setCredentials(orEmpty(config.authentication().credentials())));
        }
        return written.build();
    }

    private static PushConfig.Authentication read(AuthenticationInfo authentication) {
        if (authentication.getScheme().isEmpty()) {
            throw InvalidField.of("scheme", "must not be empty");
        }
        return new PushConfig.Authentication(authentication.getScheme(), nonEmpty(authentication.getCredentials()));
    }
}
