package dev.parley.protocol;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.support.Ids;
import dev.parley.protocol.support.Lists;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One thing said, by the client or the agent.
 *
 * <p>As an event of a task's log it is a message that the task has received; as an answer it has no task.
 *
 * <p>Source: A2A specification 1.0, section 4.1.4 "Message".
 *
 * @param messageId made by the sender; the same id from the same caller means the same message
 * @param parts at least one
 * @param extensions URIs of the extensions that contributed
 */
public record Message(
        String messageId,
        Role role,
        List<Part> parts,
        @Nullable String contextId,
        @Nullable String taskId,
        Map<String, @Nullable Object> metadata,
        List<String> extensions,
        List<String> referenceTaskIds)
        implements SendResult, TaskEvent {
    public Message {
        requireNonNull(messageId, "messageId");
        requireNonNull(role, "role");
        parts = Lists.copy(parts);
        metadata = Lists.copy(metadata);
        extensions = Lists.copy(extensions);
        referenceTaskIds = Lists.copy(referenceTaskIds);
        if (messageId.isEmpty()) {
            throw InvalidField.of("messageId", "must not be empty");
        }
        if (parts.isEmpty()) {
            throw InvalidField.of("parts", "must have at least one part");
        }
    }

    /** A message from the client side, with a new id. */
    public static Message user(Part... parts) {
        return of(Role.USER, List.of(parts));
    }

    /** A message from the agent, with a new id. */
    public static Message agent(Part... parts) {
        return of(Role.AGENT, List.of(parts));
    }

    /** A message with a new id. */
    public static Message of(Role role, List<Part> parts) {
        return new Message(Ids.next(Instant.now()), role, parts, null, null, Map.of(), List.of(), List.of());
    }

    /** Returns this message as part of a context and, unless {@code taskId} is null, of a task. */
    public Message in(@Nullable String contextId, @Nullable String taskId) {
        return new Message(messageId, role, parts, contextId, taskId, metadata, extensions, referenceTaskIds);
    }

    /** Returns this message with one more task that it refers to. */
    public Message referringTo(String referenceTaskId) {
        return new Message(
                messageId,
                role,
                parts,
                contextId,
                taskId,
                metadata,
                extensions,
                Lists.append(referenceTaskIds, List.of(referenceTaskId)));
    }

    /** Returns this message under another id. */
    public Message withId(String id) {
        return new Message(id, role, parts, contextId, taskId, metadata, extensions, referenceTaskIds);
    }

    /** Returns this message with other parts. */
    public Message withParts(List<Part> others) {
        return new Message(messageId, role, others, contextId, taskId, metadata, extensions, referenceTaskIds);
    }

    /** The text parts, one below the other; empty if there are none. */
    public String text() {
        if (parts.size() == 1 && parts.getFirst() instanceof Part.Text only) {
            return only.text();
        }
        return parts.stream()
                .filter(Part.Text.class::isInstance)
                .map(part -> ((Part.Text) part).text())
                .collect(Collectors.joining("\n"));
    }
}
