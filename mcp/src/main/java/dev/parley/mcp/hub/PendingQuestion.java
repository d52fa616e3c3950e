package dev.parley.mcp.hub;

import static java.util.Objects.requireNonNullElse;

import dev.parley.mcp.InputRequest;
import dev.parley.mcp.InputResponse;
import dev.parley.mcp.McpException;
import dev.parley.mcp.client.Elicitation;
import dev.parley.mcp.wire.ResultModel;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.support.Sha256;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A question of a task to its caller, as elicitations: those that the agent states in the metadata of the question, which get the answers
 * with their actions; or one for a text, the form or the credential that the agent wants. An agent of the second kind knows no refusals, so
 * it never gets a message for one.
 *
 * @param key the same for the same question, another for each further question
 * @param asked elicitations by keys that no other question of the task has
 * @param names keys by which the agent knows the elicitations; empty for an agent that states none
 */
record PendingQuestion(String taskId, String key, Map<String, Elicitation> asked, Map<String, String> names) {
    /** Effect of answers on the task. */
    sealed interface Effect {
        /** The message answers the question. Its id follows from the question, so that a repeated round changes nothing. */
        record Send(Message message) implements Effect {}

        /** The question is declined, and the agent knows no way to say so: its task is to be canceled. */
        record Declined() implements Effect {}

        /** The client has shown the page for a credential. */
        record Page() implements Effect {}

        /** Nothing changes: the question stays open. */
        record Open(String reason) implements Effect {}
    }

    private static final String ANSWER = "answer";
    private static final Map<String, @Nullable Object> FREE = Trees.json("""
            {"type": "object", "properties": {"answer": {"type": "string", "title": "Answer"}}, "required": ["answer"]}""");
    private static final Map<String, @Nullable Object> EMPTY = Trees.json("{\"type\": \"object\", \"properties\": {}}");
    private static final Set<String> FLAT = Set.of("string", "number", "integer", "boolean");

    /** The question of a task; empty if it does not wait for its caller. */
    static Optional<PendingQuestion> of(String agent, Task task, OfferedAgents agents) {
        if (!task.state().isInterrupted()) {
            return Optional.empty();
        }
        String key = key(task.status());
        Map<String, Elicitation> stated = stated(task.status().message());
        if (!stated.isEmpty()) {
            return Optional.of(stated(task.id(), key, stated));
        }
        boolean isCredential = task.state() == TaskState.AUTH_REQUIRED;
        String said = ToolResults.said(task);
        String text = said != null ? said : "The agent requires " + (isCredential ? "a credential" : "further input");
        Map<String, @Nullable Object> schema = schema(task.status().message());
        Elicitation asked = isCredential
                ? Elicitation.page(
                        text,
                        task.id() + "." + key,
                        agents.authorization(agent, task.id()).orElse(""))
                : Elicitation.form(text, schema.isEmpty() ? FREE : schema);
        return Optional.of(new PendingQuestion(task.id(), key, Map.of(key, asked), Map.of()));
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

    /** The elicitations that the agent states; empty for none, and for one that may not be shown to a user. */
    private static Map<String, Elicitation> stated(@Nullable Message question) {
        var stated = new LinkedHashMap<String, Elicitation>();
        if (question != null) {
            Trees.objects(question.metadata().get(Elicitation.METADATA))
                    .forEach((name, params) -> stated.put(name, Elicitation.asked(params)));
        }
        return stated.values().stream().allMatch(Elicitation::isSafe) ? stated : Map.of();
    }

    private static PendingQuestion stated(String taskId, String key, Map<String, Elicitation> stated) {
        var asked = new LinkedHashMap<String, Elicitation>();
        var names = new LinkedHashMap<String, String>();
        stated.forEach((name, each) -> {
            String own = stated.size() == 1 ? key : key + "-" + (asked.size() + 1);
            String text = requireNonNullElse(ForeignText.of(each.message(), ForeignText.DESCRIPTION), "");
            asked.put(
                    own,
                    each.isUrl()
                            ? Elicitation.page(text, taskId + "." + own, each.url())
                            : Elicitation.form(text, each.schema().isEmpty() ? EMPTY : each.schema()));
            names.put(own, name);
        });
        return new PendingQuestion(taskId, key, asked, names);
    }

    /** The flat schema in a data part of a question; empty for none. */
    private static Map<String, @Nullable Object> schema(@Nullable Message question) {
        return question == null
                ? Map.of()
                : question.parts().stream()
                        .filter(Part.Data.class::isInstance)
                        .map(part -> Trees.map(((Part.Data) part).data()))
                        .map(data -> data.containsKey("requestedSchema") ? Trees.map(data, "requestedSchema") : data)
                        .filter(schema -> isFlat(schema)
                                && !Trees.map(schema, "properties").isEmpty())
                        .findFirst()
                        .orElse(Map.of());
    }

    private static boolean isFlat(Map<String, @Nullable Object> schema) {
        return "object".equals(schema.get("type"))
                && Trees.map(schema, "properties").values().stream()
                        .map(each -> Trees.map(each))
                        .allMatch(PendingQuestion::isFlatProperty);
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
        return asked.values().stream()
                .allMatch(each -> each.isUrl()
                        ? !String.valueOf(each.url()).isEmpty() && elicitation.containsKey("url")
                        : elicitation.isEmpty() || elicitation.containsKey("form"));
    }

    /** The requests to the client, by their keys. */
    Map<String, InputRequest> requests() {
        var requests = new LinkedHashMap<String, InputRequest>();
        asked.forEach((each, question) -> requests.put(each, question.request()));
        return requests;
    }

    /** Address of the page that takes a credential for the task; empty for another question. */
    Optional<String> page() {
        return names.isEmpty()
                ? asked.values().stream()
                        .flatMap(each -> Optional.ofNullable(each.url()).stream())
                        .findFirst()
                : Optional.empty();
    }

    /** The answers among these that are for this question. */
    Map<String, InputResponse> own(Map<String, InputResponse> answers) {
        var own = new LinkedHashMap<>(answers);
        own.keySet().retainAll(asked.keySet());
        return own;
    }

    /** The same action as the answer to each elicitation. */
    Map<String, InputResponse> all(String action) {
        var answers = new LinkedHashMap<String, InputResponse>();
        asked.keySet().forEach(each -> answers.put(each, InputResponse.of(action)));
        return answers;
    }

    /**
     * Effect of answers to this question, at least one.
     *
     * @throws McpException INVALID_PARAMS for an action that does not exist
     */
    Effect effect(Map<String, InputResponse> answers) {
        var given = new LinkedHashMap<String, InputResponse>();
        for (var each : answers.entrySet()) {
            Elicitation question = asked.getOrDefault(each.getKey(), Elicitation.form("", Map.of()));
            InputResponse answer = each.getValue().plain();
            Optional<String> problem = question.problem(answer);
            if (problem.isPresent() && !answer.isAccepted()) {
                throw new McpException(
                        McpException.INVALID_PARAMS, "inputResponses." + each.getKey() + "." + problem.get());
            }
            if (problem.isPresent()) {
                return new Effect.Open("The answer was not taken: " + problem.get() + ".");
            }
            given.put(names.getOrDefault(each.getKey(), each.getKey()), answer);
        }
        if (!names.isEmpty()) {
            return send(Part.data(Map.of(Elicitation.DATA, ResultModel.INPUT_RESPONSES.toJson(given))));
        }
        InputResponse answer = given.values().iterator().next();
        return switch (String.valueOf(answer.action())) {
            case InputResponse.DECLINE -> new Effect.Declined();
            case InputResponse.CANCEL -> new Effect.Open("The question was not answered.");
            default -> {
                Map<String, @Nullable Object> content = answer.form();
                yield page().isPresent()
                        ? new Effect.Page()
                        : send(
                                content.size() == 1 && content.get(ANSWER) instanceof String text
                                        ? Part.text(text)
                                        : Part.data(content));
            }
        };
    }

    private Effect send(Part part) {
        return new Effect.Send(Message.of(Role.USER, List.of(part))
                .withId("mcp-" + Sha256.hex(taskId + "\n" + key).substring(0, 40))
                .in(null, taskId));
    }
}
