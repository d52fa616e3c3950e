package dev.parley.mcp.hub;

import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.support.Sha256;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A question of a task to its caller, as an elicitation.
 *
 * @param key the same for the same question, another for each further question
 * @param url address of a page for the answer; null for a form
 * @param schema of the answer that the agent gave; empty for a text
 */
record Question(
        String taskId, String key, String text, @Nullable String url, Map<String, @Nullable Object> schema) {
    private static final String METHOD = "elicitation/create";
    private static final String ANSWER = "answer";
    private static final Set<String> FLAT = Set.of("string", "number", "integer", "boolean");

    /** The question of a task; empty if it does not wait for its caller. */
    static Optional<Question> of(String agent, Task task, OfferedAgents agents) {
        if (!task.state().isInterrupted()) {
            return Optional.empty();
        }
        String said = Results.said(task);
        if (task.state() == TaskState.AUTH_REQUIRED) {
            String page = agents.authorization(agent, task.id()).orElse("");
            String text = said == null ? "The agent requires a credential" : said;
            return Optional.of(new Question(task.id(), key(task.status()), text, page, Map.of()));
        }
        String text = said == null ? "The agent requires further input" : said;
        return Optional.of(new Question(
                task.id(), key(task.status()), text, null, schema(task.status().message())));
    }

    /** Key of the question of a status; of another status empty. */
    static String key(TaskStatus status) {
        if (!status.state().isInterrupted()) {
            return "";
        }
        Message said = status.message();
        return "question-"
                + Sha256.hex(said == null ? String.valueOf(status.timestamp()) : said.messageId())
                        .substring(0, 12);
    }

    /** The flat schema in a data part of a question; empty for none. */
    private static Map<String, @Nullable Object> schema(@Nullable Message question) {
        return question == null
                ? Map.of()
                : question.parts().stream()
                        .filter(Part.Data.class::isInstance)
                        .map(part -> Trees.map(((Part.Data) part).data()))
                        .map(data -> data.containsKey("requestedSchema") ? Trees.map(data, "requestedSchema") : data)
                        .filter(Question::isFlat)
                        .findFirst()
                        .orElse(Map.of());
    }

    private static boolean isFlat(Map<String, @Nullable Object> schema) {
        Map<String, @Nullable Object> properties = Trees.map(schema, "properties");
        return "object".equals(schema.get("type"))
                && !properties.isEmpty()
                && properties.values().stream().map(each -> Trees.map(each)).allMatch(Question::isFlatProperty);
    }

    private static boolean isFlatProperty(Map<String, @Nullable Object> property) {
        return "array".equals(property.get("type"))
                ? !Trees.map(property, "items").containsKey("properties")
                : FLAT.contains(String.valueOf(property.get("type")));
    }

    /** Whether a client with these capabilities can put the question to its user. */
    boolean suits(Map<String, @Nullable Object> capabilities) {
        if (!(capabilities.get("elicitation") instanceof Map<?, ?> elicitation)) {
            return false;
        }
        return url == null
                ? elicitation.isEmpty() || elicitation.containsKey("form")
                : !url.isEmpty() && elicitation.containsKey("url");
    }

    /** The request to the client. */
    Map<String, @Nullable Object> request() {
        Map<String, @Nullable Object> params = url == null
                ? Trees.members("mode", "form", "message", text, "requestedSchema", schema.isEmpty() ? free() : schema)
                : Trees.members("mode", "url", "message", text, "elicitationId", taskId + "." + key, "url", url);
        return Trees.members("method", METHOD, "params", params);
    }

    private static Map<String, @Nullable Object> free() {
        return Trees.members(
                "type",
                "object",
                "properties",
                Trees.members(ANSWER, Trees.members("type", "string", "title", "Answer")),
                "required",
                List.of(ANSWER));
    }

    /**
     * The message for an answer of the client; empty if the task shall go on waiting. The id of the message follows from the question, so
     * that a repeated round changes nothing.
     */
    static Optional<Message> answer(String taskId, String key, Map<String, @Nullable Object> answer) {
        Map<String, @Nullable Object> content = Trees.map(answer, "content");
        Part part = switch (String.valueOf(answer.get("action"))) {
            case "accept" ->
                content.isEmpty()
                        ? null
                        : content.size() == 1 && content.get(ANSWER) instanceof String text
                                ? Part.text(text)
                                : Part.data(content);
            case "decline" -> Part.text("declined");
            default -> null;
        };
        return Optional.ofNullable(part)
                .map(one -> Message.of(Role.USER, List.of(one))
                        .withId("mcp-" + Sha256.hex(taskId + "\n" + key).substring(0, 40))
                        .in(null, taskId));
    }
}
