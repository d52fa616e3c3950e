package dev.parley.mcp.hub;

import dev.parley.dialect.Json;
import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider;
import dev.parley.mcp.McpTasks;
import dev.parley.mcp.Tool;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The offer of an MCP server over agents: a tool for each skill, cards and artifacts as resources, examples as prompts. */
public final class AgentProvider implements McpProvider {
    private static final int MOST_VALUES = 100;

    private final OfferedAgents agents;
    private final Duration budget;
    private final AgentTasks tasks;
    private final HandleTools handles;

    /** @param budget after which a call returns with a task that goes on */
    public AgentProvider(OfferedAgents agents, Duration budget) {
        this.agents = agents;
        this.budget = budget;
        this.tasks = new AgentTasks(agents);
        this.handles = new HandleTools(agents, tasks, budget);
    }

    @Override
    public List<Tool> tools(CallContext caller) {
        return Stream.concat(allowed(caller).map(AgentTool::shown), HandleTools.ALL.stream())
                .toList();
    }

    private Stream<AgentTool> allowed(CallContext caller) {
        return AgentTool.of(agents.cards(caller)).values().stream()
                .filter(tool -> agents.allows(caller, tool.agent(), tool.skill()));
    }

    /** A tool, also one that its caller may not call: the agent refuses that with the reason. */
    private AgentTool tool(String name, CallContext caller) {
        AgentTool tool = AgentTool.of(agents.cards(caller)).get(name);
        if (tool == null) {
            throw McpException.notFound("tool", name);
        }
        return tool;
    }

    @Override
    public Outcome call(Invocation call, Exchange exchange) throws InterruptedException {
        try {
            if (call.state() != null) {
                return resumed(Round.of(call.state()), call, exchange);
            }
            if (HandleTools.has(call.name())) {
                return handles.call(call.name(), call.arguments(), exchange);
            }
            AgentTool tool = tool(call.name(), exchange.caller());
            return conversation(tool.agent(), !tool.declaredOutput().isEmpty(), exchange)
                    .send(Inputs.message(tool, call.arguments()), "");
        } catch (A2AException problem) {
            return Failures.outcome(problem);
        }
    }

    /** A further round of a call, which answers the question of its task, or asks it again. */
    private Outcome resumed(Round round, Invocation call, Exchange exchange) throws InterruptedException {
        CallContext caller = exchange.caller();
        Task task = tasks.task(round.agent(), round.taskId(), caller);
        if (!agents.cards(caller).containsKey(round.agent())) {
            throw McpException.notFound("task", round.taskId());
        }
        Conversation conversation = conversation(round.agent(), tasks.hasSchema(round.agent(), task, caller), exchange);
        Map<String, @Nullable Object> answer = call.answers().get(round.key());
        if (answer == null || !Question.key(task.status()).equals(round.key())) {
            // Not answered, or by an earlier repetition: agents elsewhere may not recognise a repeated message.
            return conversation.await(task, "");
        }
        if ("cancel".equals(answer.get("action"))) {
            return new Outcome.Complete(
                    Results.pending(task, "The question is open. Call task_reply with the taskId and the answer."));
        }
        if (Question.of(round.agent(), task, agents)
                .filter(open -> open.url() != null)
                .isPresent()) {
            return conversation.await(task, round.key()); // until the page has taken the credential
        }
        Optional<Message> message = Question.answer(round.taskId(), round.key(), answer);
        return message.isPresent() ? conversation.send(message.get(), round.key()) : conversation.await(task, "");
    }

    private Conversation conversation(String agent, boolean hasSchema, Exchange exchange) {
        return new Conversation(agents, agent, hasSchema, exchange, budget);
    }

    @Override
    public McpTasks tasks() {
        return tasks;
    }

    @Override
    public List<Map<String, @Nullable Object>> resources(CallContext caller) {
        var resources = new ArrayList<Map<String, @Nullable Object>>();
        agents.cards(caller)
                .forEach((agent, card) -> resources.add(JsonObject.of(
                        "uri",
                        ResourceUri.card(agent),
                        "name",
                        agent,
                        "title",
                        ForeignText.of(card.name(), ForeignText.TITLE),
                        "description",
                        ForeignText.of(card.description(), ForeignText.DESCRIPTION),
                        "mimeType",
                        "application/json")));
        return resources;
    }

    @Override
    public List<Map<String, @Nullable Object>> resourceTemplates(CallContext caller) {
        return List.of(
                JsonObject.of(
                        "uriTemplate",
                        ResourceUri.CARDS,
                        "name",
                        "card",
                        "description",
                        "Card of an agent",
                        "mimeType",
                        "application/json"),
                JsonObject.of(
                        "uriTemplate",
                        ResourceUri.ARTIFACTS,
                        "name",
                        "artifact",
                        "description",
                        "Artifact of a task of the caller"));
    }

    @Override
    public Map<String, @Nullable Object> read(String uri, CallContext caller) {
        ResourceUri resource = ResourceUri.of(uri).orElseThrow(() -> McpException.notFound("resource", uri));
        AgentCard card = agents.cards(caller).get(resource.agent());
        if (card == null) {
            throw McpException.notFound("resource", uri);
        }
        String task = resource.taskId();
        if (task == null) {
            String json = new String(Json.write(card), StandardCharsets.UTF_8);
            return contents(List.of(JsonObject.of("uri", uri, "mimeType", "application/json", "text", json)));
        }
        try {
            Artifact artifact = agents.endpoint(resource.agent()).call(GetTask.of(task), caller).artifacts().stream()
                    .filter(each -> each.artifactId().equals(resource.artifactId()))
                    .findFirst()
                    .orElseThrow(() -> McpException.notFound("resource", uri));
            return contents(
                    artifact.parts().stream().map(part -> content(uri, part)).toList());
        } catch (A2AException refused) {
            throw Failures.error(refused);
        }
    }

    private static Map<String, @Nullable Object> contents(List<Map<String, @Nullable Object>> contents) {
        return JsonObject.of("contents", contents);
    }

    private static Map<String, @Nullable Object> content(String uri, Part part) {
        return switch (part) {
            case Part.Text text ->
                JsonObject.of(
                        "uri",
                        uri,
                        "mimeType",
                        text.mediaType() == null ? "text/plain" : text.mediaType(),
                        "text",
                        text.text());
            case Part.Data data ->
                JsonObject.of(
                        "uri",
                        uri,
                        "mimeType",
                        "application/json",
                        "text",
                        new String(Json.write(data.data()), StandardCharsets.UTF_8));
            case Part.Url url -> JsonObject.of("uri", uri, "mimeType", "text/uri-list", "text", url.url());
            case Part.Raw raw ->
                JsonObject.of(
                        "uri",
                        uri,
                        "mimeType",
                        raw.mediaType(),
                        "blob",
                        Base64.getEncoder().encodeToString(raw.raw()));
        };
    }

    @Override
    public List<Map<String, @Nullable Object>> prompts(CallContext caller) {
        return AgentTool.withExamples(allowed(caller).toList()).stream()
                .map(tool -> JsonObject.of(
                        "name",
                        tool.name(),
                        "title",
                        tool.shown().title(),
                        "description",
                        tool.shown().description(),
                        "arguments",
                        List.of(JsonObject.of(
                                "name",
                                "message",
                                "description",
                                "Text for the agent; default its first example",
                                "required",
                                false))))
                .toList();
    }

    @Override
    public Outcome prompt(Invocation call, Exchange exchange) {
        AgentTool tool = allowed(exchange.caller())
                .filter(each ->
                        each.name().equals(call.name()) && !each.examples().isEmpty())
                .findFirst()
                .orElseThrow(() -> McpException.notFound("prompt", call.name()));
        String given = JsonObject.text(call.arguments(), "message");
        Map<String, @Nullable Object> text = Results.text("Call the tool " + tool.name() + " with this message: "
                + (given == null ? tool.examples().getFirst() : given));
        return new Outcome.Complete(JsonObject.of(
                "description",
                tool.shown().description(),
                "messages",
                List.of(JsonObject.of("role", "user", "content", text))));
    }

    @Override
    public List<String> complete(
            Map<String, @Nullable Object> reference,
            String argument,
            String value,
            Map<String, String> known,
            CallContext caller) {
        String start = value.toLowerCase(Locale.ROOT);
        Stream<String> values = Stream.empty();
        if ("ref/prompt".equals(reference.get("type")) && argument.equals("message")) {
            values = allowed(caller)
                    .filter(tool -> tool.name().equals(reference.get("name")))
                    .flatMap(tool -> tool.examples().stream());
        } else if ("ref/resource".equals(reference.get("type")) && argument.equals("agent")) {
            values = agents.cards(caller).keySet().stream();
        }
        return values.filter(each -> each.toLowerCase(Locale.ROOT).startsWith(start))
                .limit(MOST_VALUES)
                .toList();
    }

    @Override
    public AutoCloseable onChange(CallContext caller, Consumer<String> listener) {
        return agents.onChange(caller, agent -> {
            listener.accept("tools");
            listener.accept("prompts");
            listener.accept("resources");
            listener.accept("resource:" + ResourceUri.card(agent));
        });
    }
}
