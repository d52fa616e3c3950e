package dev.parley.dialect.grpc;

import static dev.parley.dialect.grpc.Kind.BYTES;
import static dev.parley.dialect.grpc.Kind.FLAG;
import static dev.parley.dialect.grpc.Kind.NUMBER;
import static dev.parley.dialect.grpc.Kind.STRUCT;
import static dev.parley.dialect.grpc.Kind.TEXT;
import static dev.parley.dialect.grpc.Kind.TIME;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Message.Builder;
import com.google.protobuf.UnsafeByteOperations;
import com.google.protobuf.Value;
import dev.parley.dialect.grpc.v03.A2aV03;
import dev.parley.dialect.grpc.v1.A2aV1;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.Empty;
import dev.parley.protocol.Operation.PushConfigPage;
import dev.parley.protocol.Operation.Send;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.PushConfig.Authentication;
import dev.parley.protocol.Role;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.protocol.support.Base64Text;
import dev.parley.protocol.support.Ids;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The data of A2A as messages of gRPC, in both versions. Version 0.3 knows no data but objects, and no references to tasks; they are
 * lost on the way there. Metadata of parts and names of files came after its first release, whose readers pass over them.
 */
final class Model {
    /** Free data, which may be null. */
    private record Free(@Nullable Object data) {}

    private static final String BEARER = "Bearer";

    static final Kind<TaskState> STATE = numbers(List.of(TaskState.values()), "a number of TaskState");
    private static final Kind<Role> ROLE =
            numbers(Arrays.asList(null, Role.USER, Role.AGENT), "ROLE_USER or ROLE_AGENT");
    private static final Kind<Free> FREE =
            Kind.of(Value.class, value -> new Free(Values.read(value)), free -> Values.write(free.data()));
    /** On this wire a missing {@code blocking} equals false, so requests with settings have to set it. */
    private static final Kind<Boolean> BLOCKING = Kind.of(Boolean.class, blocking -> !blocking, returns -> !returns);

    private static final Kind<String> GIVEN_ID =
            Kind.of(String.class, id -> id.isEmpty() ? Ids.next(Instant.now()) : id, id -> id);

    static final Fields<Empty> DONE =
            Fields.<Empty>of(com.google.protobuf.Empty.getDescriptor()).as(v -> new Empty());

    static final Model V1 = new Model(A2aV1.getDescriptor(), true);
    static final Model V03 = new Model(A2aV03.getDescriptor(), false);

    private final FileDescriptor file;
    private final Fields<Message> message;
    private final Fields<SendConfiguration> configuration;
    final Fields<PushConfig> pushConfig;
    final Fields<Task> task;
    final Fields<SendResult> result;
    final Fields<TaskEvent> event;

    private Model(FileDescriptor file, boolean current) {
        this.file = file;
        Fields<Part> part = current ? part() : olderPart();
        message = this.<Message>of("Message")
                .plain("message_id", current ? TEXT : GIVEN_ID, Message::messageId)
                .plain("role", ROLE, Message::role)
                .each("parts|content", part, Message::parts)
                .optional("context_id", TEXT, Message::contextId)
                .optional("task_id", TEXT, Message::taskId)
                .metadata(Message::metadata)
                .each("extensions", TEXT, Message::extensions)
                .each("reference_task_ids", TEXT, Message::referenceTaskIds)
                .as(v -> new Message(v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));
        Fields<Artifact> artifact = this.<Artifact>of("Artifact")
                .plain("artifact_id", TEXT, Artifact::artifactId)
                .optional("name", TEXT, Artifact::name)
                .optional("description", TEXT, Artifact::description)
                .each("parts", part, Artifact::parts)
                .metadata(Artifact::metadata)
                .each("extensions", TEXT, Artifact::extensions)
                .as(v -> new Artifact(v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));
        Fields<TaskStatus> status = this.<TaskStatus>of("TaskStatus")
                .plain("state", STATE, TaskStatus::state)
                .optional("message|update", message, TaskStatus::message)
                .optional("timestamp", TIME, TaskStatus::timestamp)
                .as(v -> new TaskStatus(v.next(), v.next(), v.next()));
        task = this.<Task>of("Task")
                .plain("id", TEXT, Task::id)
                .plain("context_id", TEXT, Task::contextId)
                .required("status", status, Task::status)
                .each("artifacts", artifact, Task::artifacts)
                .each("history", message, Task::history)
                .metadata(Task::metadata)
                .as(v -> new Task(v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));
        result = this.<SendResult>of("SendMessageResponse")
                .choice("task", task, Task.class)
                .choice("message|msg", message, Message.class)
                .as(v -> payload(v.<@Nullable SendResult>next(), v.next()));
        event = event(status, artifact);
        Fields<Authentication> authentication = current ? authentication() : olderAuthentication();
        pushConfig = this.<PushConfig>of(current ? "TaskPushNotificationConfig" : "PushNotificationConfig")
                .optional("tenant", TEXT, PushConfig::tenant)
                .optional("id", TEXT, PushConfig::id)
                .optional("task_id", TEXT, PushConfig::taskId)
                .plain("url", TEXT, PushConfig::url)
                .optional("token", TEXT, PushConfig::token)
                .optional("authentication", authentication, PushConfig::authentication)
                .as(v -> new PushConfig(v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));
        configuration = this.<SendConfiguration>of("SendMessageConfiguration")
                .each("accepted_output_modes", TEXT, SendConfiguration::acceptedOutputModes)
                .optional("task_push_notification_config|push_notification", pushConfig, SendConfiguration::pushConfig)
                .optional("history_length", NUMBER, SendConfiguration::historyLength)
                .plain("return_immediately|blocking", current ? FLAG : BLOCKING, SendConfiguration::returnImmediately)
                .as(v -> new SendConfiguration(v.next(), v.next(), v.next(), v.<Boolean>next()));
    }

    private Fields<TaskEvent> event(Fields<TaskStatus> status, Fields<Artifact> artifact) {
        Fields<TaskStatusUpdateEvent> statusUpdate = this.<TaskStatusUpdateEvent>of("TaskStatusUpdateEvent")
                .plain("task_id", TEXT, TaskStatusUpdateEvent::taskId)
                .plain("context_id", TEXT, TaskStatusUpdateEvent::contextId)
                .required("status", status, TaskStatusUpdateEvent::status)
                .metadata(TaskStatusUpdateEvent::metadata)
                .plain("final", FLAG, update -> isFinal(update.status().state()))
                .as(v -> new TaskStatusUpdateEvent(v.next(), v.next(), v.next(), v.next()));
        Fields<TaskArtifactUpdateEvent> artifactUpdate = this.<TaskArtifactUpdateEvent>of("TaskArtifactUpdateEvent")
                .plain("task_id", TEXT, TaskArtifactUpdateEvent::taskId)
                .plain("context_id", TEXT, TaskArtifactUpdateEvent::contextId)
                .required("artifact", artifact, TaskArtifactUpdateEvent::artifact)
                .plain("append", FLAG, TaskArtifactUpdateEvent::append)
                .plain("last_chunk", FLAG, TaskArtifactUpdateEvent::lastChunk)
                .metadata(TaskArtifactUpdateEvent::metadata)
                .as(v -> new TaskArtifactUpdateEvent(
                        v.next(), v.next(), v.next(), v.<Boolean>next(), v.<Boolean>next(), v.next()));
        return this.<TaskEvent>of("StreamResponse")
                .choice("task", task, Task.class)
                .choice("message|msg", message, Message.class)
                .choice("status_update", statusUpdate, TaskStatusUpdateEvent.class)
                .choice("artifact_update", artifactUpdate, TaskArtifactUpdateEvent.class)
                .as(v -> payload(v.<@Nullable TaskEvent>next(), v.next(), v.next(), v.next()));
    }

    /** True for a status that is the last of its stream in 0.3. */
    static boolean isFinal(TaskState state) {
        return state.isTerminal() || state == TaskState.INPUT_REQUIRED;
    }

    /** The request of either send. */
    <O extends Send> Fields<O> send(Send.Constructor<O> constructor) {
        return this.<O>of("SendMessageRequest")
                .optional("tenant", TEXT, Send::tenant)
                .required("message|request", message, Send::message)
                .optional("configuration", configuration, SendConfiguration.DEFAULTS, Send::configuration)
                .metadata(Send::metadata)
                .as(v -> constructor.of(v.next(), v.next(), v.next(), v.next()));
    }

    Fields<PushConfigPage> pushPage(String message, Fields<PushConfig> config) {
        return this.<PushConfigPage>of(message)
                .each("configs", config, PushConfigPage::configs)
                .plain("next_page_token", TEXT, PushConfigPage::nextPageToken)
                .as(v -> new PushConfigPage(v.next(), v.next()));
    }

    /** A table, yet to be filled, of a message of this version. */
    <T> Fields<T> of(String message) {
        Descriptor type = Objects.requireNonNull(file.findMessageTypeByName(message), message);
        return Fields.of(type);
    }

    // --- parts

    private Fields<Part> part() {
        return this.<Part>of("Part")
                .optional("text", TEXT, Model::text)
                .optional("raw", BYTES, Model::raw)
                .optional("url", TEXT, Model::url)
                .optional("data", FREE, Model::data)
                .optional("filename", TEXT, Part::filename)
                .optional("media_type", TEXT, Part::mediaType)
                .metadata(Part::metadata)
                .as(v -> part(
                        v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), "text, raw, url, data"));
    }

    private Fields<Part> olderPart() {
        Fields<Part> file = this.<Part>of("FilePart")
                .optional("file_with_uri", TEXT, Model::url)
                .optional("file_with_bytes", BYTES, Model::rawText)
                .optional("mime_type", TEXT, Part::mediaType)
                .optional("name", TEXT, Part::filename)
                .as(v -> olderFile(v.next(), v.next(), v.next(), v.next()));
        Fields<Free> data = this.<Free>of("DataPart")
                .optional("data", STRUCT, Map.of(), Model::object)
                .as(v -> new Free(v.next()));
        return this.<Part>of("Part")
                .optional("text", TEXT, Model::text)
                .optional("file", file, part -> part instanceof Part.Raw || part instanceof Part.Url ? part : null)
                .optional("data", data, Model::data)
                .metadata(Part::metadata)
                .as(v -> olderPart(v.next(), v.next(), v.next(), v.next()));
    }

    private static Part olderFile(
            @Nullable String url, @Nullable ByteString raw, @Nullable String mediaType, @Nullable String name) {
        ByteString file =
                raw == null ? null : UnsafeByteOperations.unsafeWrap(Base64Text.decoded(raw.toByteArray(), mediaType));
        return part(null, file, url, null, name, mediaType, Map.of(), "file_with_uri, file_with_bytes");
    }

    private static Part olderPart(
            @Nullable String text, @Nullable Part file, @Nullable Free data, Map<String, @Nullable Object> metadata) {
        return switch (file) {
            case Part.Url url -> new Part.Url(url.url(), url.filename(), url.mediaType(), metadata);
            case Part.Raw raw -> new Part.Raw(raw.raw(), raw.filename(), raw.mediaType(), metadata);
            case null, default -> part(text, null, null, data, null, null, metadata, "text, file, data");
        };
    }

    private static Part part(
            @Nullable String text,
            @Nullable ByteString raw,
            @Nullable String url,
            @Nullable Free data,
            @Nullable String filename,
            @Nullable String mediaType,
            Map<String, @Nullable Object> metadata,
            String choices) {
        if (text != null) {
            return new Part.Text(text, filename, mediaType, metadata);
        } else if (raw != null) {
            return new Part.Raw(raw.toByteArray(), filename, mediaType, metadata);
        } else if (url != null) {
            return new Part.Url(url, filename, mediaType, metadata);
        } else if (data != null) {
            return new Part.Data(data.data(), filename, mediaType, metadata);
        }
        throw InvalidField.of("", "expected: exactly one of " + choices);
    }

    private static @Nullable String text(Part part) {
        return part instanceof Part.Text text ? text.text() : null;
    }

    /** Not copied, because the bytes of a part are never written. */
    private static @Nullable ByteString raw(Part part) {
        return part instanceof Part.Raw raw ? UnsafeByteOperations.unsafeWrap(raw.raw()) : null;
    }

    /** In 0.3 most peers read and write the base64 text of a file here. */
    private static @Nullable ByteString rawText(Part part) {
        return part instanceof Part.Raw raw ? UnsafeByteOperations.unsafeWrap(Base64Text.encoded(raw.raw())) : null;
    }

    private static @Nullable String url(Part part) {
        return part instanceof Part.Url url ? url.url() : null;
    }

    private static @Nullable Free data(Part part) {
        return part instanceof Part.Data data ? new Free(data.data()) : null;
    }

    @SuppressWarnings("unchecked") // trees of JSON
    private static Map<String, @Nullable Object> object(Free free) {
        return free.data() instanceof Map<?, ?> members
                ? (Map<String, @Nullable Object>) members
                : Collections.singletonMap("value", free.data());
    }

    // --- webhooks

    private Fields<Authentication> authentication() {
        return this.<Authentication>of("AuthenticationInfo")
                .plain("scheme", TEXT, Authentication::scheme)
                .optional("credentials", TEXT, Authentication::credentials)
                .as(v -> {
                    String scheme = v.next();
                    if (scheme.isEmpty()) {
                        throw InvalidField.of("scheme", "must not be empty");
                    }
                    return new Authentication(scheme, v.next());
                });
    }

    /** There may be several schemes, and the model has one. */
    private Fields<Authentication> olderAuthentication() {
        return this.<Authentication>of("AuthenticationInfo")
                .each("schemes", TEXT, authentication -> List.of(authentication.scheme()))
                .optional("credentials", TEXT, Authentication::credentials)
                .as(v -> {
                    List<String> schemes = v.next();
                    if (schemes.isEmpty()) {
                        throw InvalidField.of("schemes", "must have at least one scheme");
                    }
                    String scheme = schemes.stream()
                            .filter(BEARER::equalsIgnoreCase)
                            .findFirst()
                            .orElse(schemes.getFirst());
                    return new Authentication(scheme, v.next());
                });
    }

    // --- choices

    @SafeVarargs
    private static <T> T payload(@Nullable T... choices) {
        for (T choice : choices) {
            if (choice != null) {
                return choice;
            }
        }
        throw InvalidField.of("payload", "must not be missing");
    }

    /** Constants that stand in the order of their numbers, null for a number without one. */
    private static <E> Kind<E> numbers(List<@Nullable E> constants, String expected) {
        return new Kind<>() {
            @Override
            public E read(Object value) {
                int index = ((EnumValueDescriptor) value).getNumber();
                E constant = index < 0 || index >= constants.size() ? null : constants.get(index);
                if (constant == null) {
                    throw InvalidField.of("", index + " (expected: " + expected + ")");
                }
                return constant;
            }

            @Override
            public Object write(E value, Builder message, FieldDescriptor field) {
                return field.getEnumType().findValueByNumber(constants.indexOf(value));
            }
        };
    }
}
