package dev.parley.spring.ai;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;

/** JSON of messages of Spring AI, which has none of its own. Media are left out, and metadata that are not JSON. */
final class StoredMessages {
    private static final String TYPE = "type";
    private static final String TEXT = "text";
    private static final String METADATA = "metadata";
    private static final String CALLS = "toolCalls";
    private static final String RESPONSES = "responses";

    private StoredMessages() {}

    static String write(List<Message> messages) {
        return new String(
                Json.write(messages.stream().map(StoredMessages::members).toList()), UTF_8);
    }

    static List<Message> read(String json) {
        var stored = (List<?>) Json.read(json.getBytes(UTF_8), Object.class);
        return stored.stream().map(each -> message((Map<?, ?>) each)).toList();
    }

    private static Map<String, Object> members(Message message) {
        var members = new LinkedHashMap<String, Object>();
        members.put(TYPE, message.getMessageType().getValue());
        if (message instanceof ToolResponseMessage tools) {
            members.put(
                    RESPONSES,
                    tools.getResponses().stream()
                            .map(one -> row(one.id(), one.name(), one.responseData()))
                            .toList());
        } else if (message.getText() != null) {
            members.put(TEXT, message.getText());
        }
        if (message instanceof AssistantMessage assistant && assistant.hasToolCalls()) {
            members.put(
                    CALLS,
                    assistant.getToolCalls().stream()
                            .map(one -> row(one.id(), one.type(), one.name(), one.arguments()))
                            .toList());
        }
        var metadata = new LinkedHashMap<String, Object>();
        message.getMetadata().forEach((name, value) -> {
            if (isJson(value)) {
                metadata.put(name, value);
            }
        });
        if (!metadata.isEmpty()) {
            members.put(METADATA, metadata);
        }
        return members;
    }

    private static boolean isJson(@Nullable Object value) {
        return switch (value) {
            case String text -> true;
            case Boolean truth -> true;
            case Integer number -> true;
            case Long number -> true;
            case Double number -> Double.isFinite(number);
            case List<?> list -> list.stream().allMatch(StoredMessages::isJson);
            case Map<?, ?> map ->
                map.keySet().stream().allMatch(String.class::isInstance)
                        && map.values().stream().allMatch(StoredMessages::isJson);
            case null, default -> false;
        };
    }

    private static Message message(Map<?, ?> members) {
        String type = text(members.get(TYPE));
        String text = text(members.get(TEXT));
        var metadata = new LinkedHashMap<String, Object>();
        if (members.get(METADATA) instanceof Map<?, ?> stored) {
            stored.forEach((name, value) -> metadata.put(text(name), value));
        }
        return switch (MessageType.valueOf(type.toUpperCase(Locale.ROOT))) {
            case USER -> UserMessage.builder().text(text).metadata(metadata).build();
            case SYSTEM -> SystemMessage.builder().text(text).metadata(metadata).build();
            case ASSISTANT ->
                AssistantMessage.builder()
                        .content(members.containsKey(TEXT) ? text : null)
                        .properties(metadata)
                        .toolCalls(rows(members.get(CALLS)).stream()
                                .map(row -> new ToolCall(row.get(0), row.get(1), row.get(2), row.get(3)))
                                .toList())
                        .build();
            case TOOL ->
                ToolResponseMessage.builder()
                        .responses(rows(members.get(RESPONSES)).stream()
                                .map(row -> new ToolResponse(row.get(0), row.get(1), row.get(2)))
                                .toList())
                        .metadata(metadata)
                        .build();
        };
    }

    /** Models may leave an id out. */
    private static List<String> row(@Nullable String... texts) {
        return Arrays.stream(texts).map(StoredMessages::text).toList();
    }

    private static List<List<String>> rows(@Nullable Object stored) {
        return stored instanceof List<?> rows
                ? rows.stream()
                        .map(row -> ((List<?>) row)
                                .stream().map(StoredMessages::text).toList())
                        .toList()
                : List.of();
    }

    private static String text(@Nullable Object stored) {
        return stored == null ? "" : stored.toString();
    }
}
