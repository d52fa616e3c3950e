package dev.parley.pipelines.repair;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageDeserializer;
import dev.langchain4j.data.message.ChatMessageSerializer;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.model.chat.request.json.JsonRawSchema;
import dev.parley.dialect.Json;
import dev.parley.engine.AgentHandler;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.engine.spi.Tools;
import dev.parley.engine.spi.Tools.Outcome;
import dev.parley.engine.spi.Tools.Result;
import dev.parley.pipelines.step.StepInput;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import dev.parley.protocol.TaskState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The mechanic with a language model, which chooses the calls of the tools and writes the plan. Orders follow from the manual,
 * not from the text of the model.
 *
 * <p>Keeps nothing between its calls: the conversation with the model is in the metadata of the task.
 */
final class ModelMechanic implements AgentHandler {
    private static final int MAX_ROUNDS = 12;
    private static final String CONVERSATION = "conversation";

    /** Member of the task's metadata: the call of a tool that waits for an answer of the user. */
    private static final String OPEN = "openCall";

    private static final String TASK =
            "You are the mechanic of a repair shop. Use the tools: scan the vehicle, look up the repair"
                    + " procedure, raise the platform to 2 m to inspect the car. Then write a short repair plan with the number of the part.";

    private final ChatModel model;

    ModelMechanic(ChatModel model) {
        this.model = model;
    }

    @Override
    public void handle(Request request, Reply reply) throws InterruptedException {
        List<ChatMessage> messages = conversation(request);
        Map<String, @Nullable Object> findings =
                new LinkedHashMap<>(StepInput.object(kept(request, Mechanic.FINDINGS)));
        if (kept(request, OPEN) instanceof String id
                && request.isFollowUp()
                && unanswered(messages).isPresent()) {
            ToolExecutionRequest call = unanswered(messages).get();
            Result answered = Mechanic.answered(request, tool(request, call.name()), id);
            if (!noted(call, answered, messages, findings, reply)) {
                return;
            }
        }
        List<ToolSpecification> specifications = request.tools().list().stream()
                .map(ModelMechanic::specification)
                .toList();
        for (int round = 0; round < MAX_ROUNDS; round++) {
            Optional<ToolExecutionRequest> call = unanswered(messages);
            if (call.isPresent()) {
                reply.working("Calling " + call.get().name());
                if (!noted(call.get(), called(request, call.get()), messages, findings, reply)) {
                    return;
                }
                continue;
            }
            AiMessage answer = model.chat(ChatRequest.builder()
                            .messages(messages)
                            .toolSpecifications(specifications)
                            .build())
                    .aiMessage();
            messages.add(answer);
            if (!answer.hasToolExecutionRequests()) {
                reply.artifact(Artifact.named("plan", "Repair plan", Part.text(String.valueOf(answer.text()))));
                reply.artifact(Artifact.named(Mechanic.FINDINGS, "Findings", Part.data(findings)));
                reply.complete();
                return;
            }
        }
        reply.fail("the model called tools " + MAX_ROUNDS + " times without an answer");
    }

    private static @Nullable Object kept(Request request, String member) {
        return request.task().map(task -> task.metadata().get(member)).orElse(null);
    }

    private static List<ChatMessage> conversation(Request request) {
        return kept(request, CONVERSATION) instanceof String json
                ? new ArrayList<>(ChatMessageDeserializer.messagesFromJson(json))
                : new ArrayList<>(List.of(
                        SystemMessage.from(TASK),
                        UserMessage.from(new String(Json.write(Mechanic.car(request)), UTF_8))));
    }

    /** The first call of the model's last message that has no result. */
    private static Optional<ToolExecutionRequest> unanswered(List<ChatMessage> messages) {
        List<String> answered = new ArrayList<>();
        for (ChatMessage message : messages.reversed()) {
            if (message instanceof ToolExecutionResultMessage result) {
                answered.add(result.id());
            } else if (message instanceof AiMessage asking) {
                return asking.toolExecutionRequests().stream()
                        .filter(call -> !answered.contains(call.id()))
                        .findFirst();
            }
        }
        return Optional.empty();
    }

    private static Result called(Request request, ToolExecutionRequest call) throws InterruptedException {
        Map<String, @Nullable Object> arguments;
        try {
            arguments = StepInput.object(
                    Json.read((call.arguments() == null ? "{}" : call.arguments()).getBytes(UTF_8), Map.class));
        } catch (A2AException malformed) {
            return failed("arguments: " + malformed.getMessage());
        }
        return request.tools().find(call.name()).isEmpty()
                ? failed("tool \"" + call.name() + "\": unknown")
                : request.tools().call(tool(request, call.name()), arguments);
    }

    private static Result failed(String problem) {
        return new Result(Outcome.FAILED, List.of(Part.text(problem)), "");
    }

    private static Tools.Description tool(Request request, String name) {
        return request.tools()
                .find(name)
                .orElseThrow(() -> new IllegalStateException("tool \"" + name + "\": not found"));
    }

    /** Adds a result to the conversation; false if it is a question, with which the call of the agent ends. */
    private static boolean noted(
            ToolExecutionRequest call,
            Result result,
            List<ChatMessage> messages,
            Map<String, @Nullable Object> findings,
            Reply reply) {
        boolean isQuestion = result.outcome() == Outcome.QUESTION;
        if (!isQuestion) {
            Map<String, @Nullable Object> data = StepInput.object(result.data().orElse(null));
            List<@Nullable Object> parts = StepInput.array(data.get("parts"));
            if (!parts.isEmpty()) {
                findings.put("part", parts.getFirst());
            }
            String text = data.isEmpty() ? result.text() : new String(Json.write(data), UTF_8);
            messages.add(ToolExecutionResultMessage.from(call, text.isEmpty() ? "done" : text));
        }
        var kept = new LinkedHashMap<String, @Nullable Object>();
        kept.put(CONVERSATION, ChatMessageSerializer.messagesToJson(messages));
        kept.put(Mechanic.FINDINGS, findings);
        kept.put(OPEN, isQuestion ? result.id() : null);
        reply.move(
                isQuestion ? TaskState.INPUT_REQUIRED : TaskState.WORKING,
                isQuestion ? Message.of(Role.AGENT, result.parts()) : null,
                kept);
        return !isQuestion;
    }

    private static ToolSpecification specification(Tools.Description tool) {
        JsonObjectSchema.Builder parameters = JsonObjectSchema.builder();
        StepInput.object(tool.inputSchema().get("properties"))
                .forEach((name, schema) ->
                        parameters.addProperty(name, JsonRawSchema.from(new String(Json.write(schema), UTF_8))));
        return ToolSpecification.builder()
                .name(tool.name())
                .description(tool.description())
                .parameters(parameters
                        .required(StepInput.array(tool.inputSchema().get("required")).stream()
                                .map(String::valueOf)
                                .toList())
                        .build())
                .build();
    }
}
