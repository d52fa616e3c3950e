package dev.parley.mesh;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.Json;
import dev.parley.mesh.MeshContent.Delegation;
import dev.parley.mesh.MeshContent.Query;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import dev.parley.protocol.support.Sha256;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Delegations as messages of A2A. */
public final class Delegations {
    /** Key of the envelope's members in the metadata of a message. */
    public static final String URI = "https://one.ie/a2a/extensions/one-envelope/v1";

    /** Member of a canceled task's metadata that says why: the {@linkplain MeshError#word word} of an error. */
    public static final String END = URI + "/end";

    private static final String TEXT = "text";

    /** Member of a message's metadata that names the skill for which it is. */
    public static final String SKILL = "skillId";

    private static final String JSON = "application/json";
    private static final String FILENAME = "filename";
    private static final String MEDIA_TYPE = "mediaType";

    private Delegations() {}

    /** The skill that a task names: by its id, else one of its tags, else its name. */
    public static Optional<Skill> skill(AgentCard card, String task) {
        List<Predicate<Skill>> ways = List.of(
                skill -> skill.id().equals(task),
                skill -> skill.tags().stream().anyMatch(task::equalsIgnoreCase),
                skill -> skill.name().equalsIgnoreCase(task));
        return ways.stream()
                .flatMap(way -> card.skills().stream().filter(way).limit(1))
                .findFirst();
    }

    /**
     * The message of A2A that a delegation is for its receiver.
     *
     * @param group in which the correlation id of the envelope names a context
     */
    public static Message message(Envelope envelope, Delegation delegation, AgentCard card, Skill skill, String group) {
        return new Message(
                envelope.messageId(),
                Role.USER,
                parts(delegation.task(), delegation.parameters(), card, skill),
                envelope.correlationId() == null ? null : context(group, envelope.correlationId()),
                null,
                Map.of(SKILL, skill.id(), URI, members(envelope, delegation, skill)),
                List.of(),
                List.of());
    }

    /**
     * The message of A2A that a query is for its receiver: a text, and the parameters as data if the agent takes data.
     *
     * @param group in which the correlation id of the envelope names a context
     */
    public static Message message(Envelope envelope, Query query, AgentCard card, String group) {
        var parts = new ArrayList<Part>(List.of(Part.text(query.query())));
        if (!query.parameters().isEmpty() && !takesOnlyText(card, null)) {
            parts.add(Part.data(query.parameters()));
        }
        return new Message(
                envelope.messageId(),
                Role.USER,
                parts,
                envelope.correlationId() == null ? null : context(group, envelope.correlationId()),
                null,
                Map.of(URI, members(envelope)),
                List.of(),
                List.of());
    }

    /**
     * The message of A2A that encrypted content is for its receiver: a text of the media type {@value Envelope#ENCRYPTED}.
     *
     * @param group in which the correlation id of the envelope names a context
     */
    public static Message encrypted(Envelope envelope, String content, String group) {
        Map<String, @Nullable Object> members = members(envelope);
        members.put("type", envelope.message().type().word());
        Envelope.Reply reply = envelope.metadata().reply();
        if (reply != null) {
            members.put("key", reply.key());
        }
        return new Message(
                envelope.messageId(),
                Role.USER,
                List.of(new Part.Text(content, null, Envelope.ENCRYPTED, Map.of())),
                envelope.correlationId() == null ? null : context(group, envelope.correlationId()),
                null,
                Map.of(URI, members),
                List.of(),
                List.of());
    }

    /** The context of A2A that holds the tasks with a correlation id. */
    public static String context(String group, String correlationId) {
        return "one-" + Sha256.hex(group + "\n" + correlationId).substring(0, 32);
    }

    private static Map<String, @Nullable Object> members(Envelope envelope, Delegation delegation, Skill skill) {
        Map<String, @Nullable Object> members = members(envelope);
        members.put("task", delegation.task());
        members.put("skill", skill.id());
        if (delegation.deadline() != null) {
            members.put("deadline", delegation.deadline().toEpochMilli());
        }
        return members;
    }

    private static Map<String, @Nullable Object> members(Envelope envelope) {
        var members = new LinkedHashMap<String, @Nullable Object>();
        Envelope.Handling handling = envelope.metadata();
        members.put("from", envelope.from().agentId());
        members.put("to", envelope.to().agentId());
        members.put("priority", handling.priority().word());
        if (envelope.correlationId() != null) {
            members.put("correlationId", envelope.correlationId());
        }
        if (handling.timeout() != null) {
            members.put("timeout", handling.timeout().toMillis());
        }
        if (handling.retryPolicy() != null) {
            members.put("retryPolicy", Wire.RETRY_POLICY.toJson(handling.retryPolicy()));
        }
        return members;
    }

    /**
     * Whether an agent takes text and no data.
     *
     * @param skill null for the agent as a whole
     */
    public static boolean takesOnlyText(AgentCard card, @Nullable Skill skill) {
        List<String> modes = modes(card, skill);
        return !modes.isEmpty() && modes.stream().allMatch(Delegations::isText);
    }

    private static List<String> modes(AgentCard card, @Nullable Skill skill) {
        return skill == null || skill.inputModes().isEmpty() ? card.defaultInputModes() : skill.inputModes();
    }

    private static boolean isText(String mode) {
        return mode.startsWith("text/") || mode.equals(TEXT);
    }

    /**
     * Whether an agent takes text.
     *
     * @param skill null for the agent as a whole
     */
    public static boolean takesText(AgentCard card, @Nullable Skill skill) {
        List<String> modes = modes(card, skill);
        return modes.isEmpty() || modes.stream().anyMatch(mode -> isText(mode) || mode.equals("*/*"));
    }

    /**
     * Parameters as parts of the message for a skill: as data if it takes data, as a text if it takes text, and the files among them as
     * files unless it takes JSON only. Agents that take text and data get both: many read text only, although they take the data of
     * extensions.
     *
     * @param skill null for an agent without skills
     */
    public static List<Part> parts(
            String task, Map<String, @Nullable Object> parameters, AgentCard card, @Nullable Skill skill) {
        var parts = new ArrayList<Part>();
        if (!takesOnlyText(card, skill)) {
            parts.add(Part.data(parameters));
        }
        if (takesText(card, skill)) {
            parts.add(Part.text(text(task, parameters)));
        }
        parts.addAll(files(parameters, card, skill));
        return parts;
    }

    /**
     * The files among parameters, as parts of the message for a skill; none for a skill that takes JSON only.
     *
     * @param skill null for an agent without skills
     */
    public static List<Part> files(Map<String, @Nullable Object> parameters, AgentCard card, @Nullable Skill skill) {
        List<String> modes = modes(card, skill);
        if (!modes.isEmpty() && modes.stream().allMatch(JSON::equals)) {
            return List.of();
        }
        var files = new ArrayList<Part>();
        parameters.forEach((name, value) -> files.addAll(files(name, value)));
        return files;
    }

    /** The files that a parameter is: itself, or all elements of a list. */
    private static List<Part> files(String name, @Nullable Object value) {
        if (!(value instanceof List<?> list)) {
            Part file = file(name, value);
            return file == null ? List.of() : List.of(file);
        }
        List<@Nullable Part> files = list.stream()
                .<@Nullable Part>map(element -> file(name, element))
                .toList();
        return files.contains(null)
                ? List.of()
                : files.stream().map(Objects::requireNonNull).toList();
    }

    /** The parameter {@code text}, else the only text among the parameters, else their JSON without files; the task if there are none. */
    public static String text(String task, Map<String, @Nullable Object> parameters) {
        if (parameters.get(TEXT) instanceof String text) {
            return text;
        }
        var others = new LinkedHashMap<String, @Nullable Object>();
        parameters.forEach((name, value) -> {
            if (files(name, value).isEmpty()) {
                others.put(name, value);
            }
        });
        List<String> texts = others.values().stream()
                .filter(String.class::isInstance)
                .map(String.class::cast)
                .toList();
        if (texts.size() == 1) {
            return texts.getFirst();
        }
        return others.isEmpty() ? task : new String(Json.write(others), UTF_8);
    }

    /** A file: an object with its bytes in base64, its address or its text, and a name or a media type; null if the value is not a file. */
    private static @Nullable Part file(String name, @Nullable Object value) {
        if (!(value instanceof Map<?, ?> object)) {
            return null;
        }
        String filename = either(object, FILENAME, "name");
        String mediaType = either(object, MEDIA_TYPE, "mimeType");
        String bytes = either(object, "raw", "bytes");
        String address = either(object, "url", "uri");
        if (object.get(FILENAME) instanceof String named && object.get(TEXT) instanceof String text) {
            return new Part.Text(text, named, mediaType, Map.of());
        }
        if (filename == null && mediaType == null || (bytes == null) == (address == null)) {
            return null;
        }
        if (address != null) {
            return Part.link(address, filename, mediaType);
        }
        try {
            return Part.file(
                    requireNonNullElse(filename, name),
                    requireNonNullElse(mediaType, "application/octet-stream"),
                    Base64.getDecoder().decode(bytes));
        } catch (IllegalArgumentException malformed) {
            throw InvalidField.of("message.content.parameters." + name, "no base64 (expected: the bytes of the file)");
        }
    }

    private static @Nullable String either(Map<?, ?> object, String name, String other) {
        Object value = object.containsKey(name) ? object.get(name) : object.get(other);
        return value instanceof String text ? text : null;
    }
}
