package dev.parley.mcp.hub;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.mcp.CallResult;
import dev.parley.mcp.Content;
import dev.parley.mcp.InputResponse;
import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider;
import dev.parley.mcp.McpProvider.Exchange;
import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.mcp.McpTasks;
import dev.parley.mcp.Prompt;
import dev.parley.mcp.PromptResult;
import dev.parley.mcp.Resource;
import dev.parley.mcp.ResourceContent;
import dev.parley.mcp.Tool;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.support.Excerpt;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The offer of an MCP server over agents: a tool for each skill, cards and artifacts as resources, examples as prompts. */
public final class AgentProvider implements McpProvider {
    private static final String MESSAGE = "message";
    private static final String JSON = "application/json";
    private static final Prompt.Argument TEXT =
            new Prompt.Argument(MESSAGE, "Text for the agent; default its first example", false);

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
        return Stream.concat(allowed(caller).map(SkillTool::shown), HandleTools.ALL.stream())
                .toList();
    }

    @Override
    public @Nullable Tool tool(String name, CallContext caller) {
        Optional<SkillTool> tool = SkillTool.named(name, agents.cards(caller)).filter(each -> isAllowed(each, caller));
        return tool.map(SkillTool::shown).orElse(HandleTools.named(name));
    }

    private boolean isAllowed(SkillTool tool, CallContext caller) {
        return agents.allows(caller, tool.agent(), tool.skill());
    }

    private Stream<SkillTool> allowed(CallContext caller) {
        return SkillTool.of(agents.cards(caller)).values().stream().filter(tool -> isAllowed(tool, caller));
    }

    @Override
    public Outcome<CallResult> call(Invocation call, Exchange exchange) throws InterruptedException {
        try {
            if (call.state() != null) {
                return resumed(QuestionState.of(call.state()), call, exchange);
            }
            if (HandleTools.named(call.name()) != null) {
                return handles.call(call.name(), call.arguments(), exchange);
            }
            // Also one that its caller may not call: the agent refuses that with the reason.
            SkillTool tool = SkillTool.named(call.name(), agents.cards(exchange.caller()))
                    .orElseThrow(() -> McpException.notFound("tool", call.name()));
            return conversation(tool.agent(), !tool.declaredOutput().isEmpty(), exchange)
                    .send(Inputs.message(tool, call.arguments()), "");
        } catch (A2AException problem) {
            return McpErrors.outcome(problem);
        }
    }

    /** A further round of a call, which answers the question of its task, or asks it again. */
    private Outcome<CallResult> resumed(QuestionState round, Invocation call, Exchange exchange)
            throws InterruptedException {
        CallContext caller = exchange.caller();
        Task task = tasks.task(round.agent(), round.taskId(), caller);
        if (!agents.cards(caller).containsKey(round.agent())) {
            throw McpException.notFound("task", round.taskId());
        }
        Conversation conversation = conversation(round.agent(), tasks.hasSchema(round.agent(), task, caller), exchange);
        Optional<PendingQuestion> question = PendingQuestion.of(round.agent(), task, agents)
                .filter(open -> open.key().equals(round.key()));
        Map<String, InputResponse> answers =
                question.map(open -> open.own(call.answers())).orElse(Map.of());
        // Not answered, or by an earlier repetition: agents elsewhere may not recognise a repeated message.
        return question.isEmpty() || answers.isEmpty()
                ? conversation.await(task, "")
                : conversation.answer(task, question.get(), answers);
    }

    private Conversation conversation(String agent, boolean hasSchema, Exchange exchange) {
        return new Conversation(agents, agent, hasSchema, exchange, budget);
    }

    @Override
    public McpTasks tasks() {
        return tasks;
    }

    @Override
    public List<Resource> resources(CallContext caller) {
        var resources = new ArrayList<Resource>();
        agents.cards(caller)
                .forEach((agent, card) -> resources.add(new Resource(
                        ResourceUri.card(agent),
                        agent,
                        ForeignText.of(card.name(), ForeignText.TITLE),
                        ForeignText.of(card.description(), ForeignText.DESCRIPTION),
                        JSON)));
        return resources;
    }

    @Override
    public List<Resource> resourceTemplates(CallContext caller) {
        return List.of(
                new Resource(ResourceUri.CARDS, "card", null, "Card of an agent", JSON),
                new Resource(ResourceUri.ARTIFACTS, "artifact", null, "Artifact of a task of the caller", null));
    }

    @Override
    public List<ResourceContent> read(String uri, CallContext caller) {
        ResourceUri resource = ResourceUri.of(uri).orElseThrow(() -> McpException.notFound("resource", uri));
        AgentCard card = agents.cards(caller).get(resource.agent());
        if (card == null) {
            throw McpException.notFound("resource", uri);
        }
        String task = resource.taskId();
        if (task == null) {
            return List.of(ResourceContent.text(uri, JSON, new String(Json.write(card), UTF_8)));
        }
        try {
            Artifact artifact = agents.endpoint(resource.agent()).call(GetTask.of(task), caller).artifacts().stream()
                    .filter(each -> each.artifactId().equals(resource.artifactId()))
                    .findFirst()
                    .orElseThrow(() -> McpException.notFound("resource", uri));
            return artifact.parts().stream().map(part -> content(uri, part)).toList();
        } catch (A2AException refused) {
            throw McpErrors.error(refused);
        }
    }

    private static ResourceContent content(String uri, Part part) {
        return switch (part) {
            case Part.Text text ->
                ResourceContent.text(uri, text.mediaType() == null ? "text/plain" : text.mediaType(), text.text());
            case Part.Data data -> ResourceContent.text(uri, JSON, new String(Json.write(data.data()), UTF_8));
            case Part.Url url -> ResourceContent.text(uri, "text/uri-list", url.url());
            case Part.Raw raw ->
                ResourceContent.blob(uri, raw.mediaType(), Base64.getEncoder().encodeToString(raw.raw()));
        };
    }

    @Override
    public List<Prompt> prompts(CallContext caller) {
        return allowed(caller)
                .filter(tool -> !tool.examples().isEmpty())
                .map(SkillTool::shown)
                .map(tool -> new Prompt(tool.name(), tool.title(), tool.description(), List.of(TEXT)))
                .toList();
    }

    private SkillTool prompt(String name, CallContext caller) {
        return SkillTool.named(name, agents.cards(caller))
                .filter(tool -> !tool.examples().isEmpty() && isAllowed(tool, caller))
                .orElseThrow(() -> McpException.notFound("prompt", name));
    }

    @Override
    public Outcome<PromptResult> prompt(Invocation call, Exchange exchange) {
        SkillTool tool = prompt(call.name(), exchange.caller());
        call.arguments().forEach((name, value) -> {
            if (!name.equals(MESSAGE) || !(value instanceof String)) {
                throw new McpException(
                        McpException.INVALID_PARAMS,
                        "arguments." + Excerpt.of(name, 100) + ": wrong (expected: a text as " + MESSAGE + ")");
            }
        });
        String given = Trees.filled(call.arguments(), MESSAGE);
        Content text = Content.text("Call the tool " + tool.name() + " with this message: "
                + (given == null ? tool.examples().getFirst() : given));
        return new Outcome.Complete<>(
                new PromptResult(tool.shown().description(), List.of(PromptResult.Message.user(text))));
    }

    @Override
    public List<String> complete(
            Reference reference, String argument, String value, Map<String, String> known, CallContext caller) {
        String start = value.toLowerCase(Locale.ROOT);
        return values(reference, caller).getOrDefault(argument, List.of()).stream()
                .filter(each -> each.toLowerCase(Locale.ROOT).startsWith(start))
                .toList();
    }

    /** Values of arguments by their names. */
    private Map<String, Collection<String>> values(Reference reference, CallContext caller) {
        return switch (reference) {
            case Reference.ToPrompt(var name) ->
                Map.of(MESSAGE, prompt(name, caller).examples());
            case Reference.ToTemplate(var uri)
            when uri.equals(ResourceUri.CARDS) || uri.equals(ResourceUri.ARTIFACTS) ->
                Map.of("agent", agents.cards(caller).keySet());
            case Reference.ToTemplate(var uri) -> throw McpException.notFound("template", uri);
        };
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
