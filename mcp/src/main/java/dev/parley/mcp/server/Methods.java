package dev.parley.mcp.server;

import static java.util.Objects.requireNonNull;

import dev.parley.mcp.CallResult;
import dev.parley.mcp.InputRequest;
import dev.parley.mcp.InputResponse;
import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider;
import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.mcp.McpProvider.Outcome;
import dev.parley.mcp.McpTasks;
import dev.parley.mcp.ServerInfo;
import dev.parley.mcp.Tool;
import dev.parley.mcp.wire.HeaderValues;
import dev.parley.mcp.wire.McpMessage;
import dev.parley.mcp.wire.Meta;
import dev.parley.mcp.wire.RequestModel;
import dev.parley.mcp.wire.RequestModel.CompleteParams;
import dev.parley.mcp.wire.RequestModel.TypedArgument;
import dev.parley.mcp.wire.RequestModel.UpdateParams;
import dev.parley.mcp.wire.ResultModel;
import dev.parley.mcp.wire.Revision;
import dev.parley.mcp.wire.ServerModel;
import dev.parley.mcp.wire.ServerModel.Description;
import dev.parley.mcp.wire.ServerResult;
import dev.parley.mcp.wire.ServerResult.Completion;
import dev.parley.mcp.wire.ServerResult.InputRequired;
import dev.parley.mcp.wire.ServerResult.Nothing;
import dev.parley.mcp.wire.ServerResult.Page;
import dev.parley.mcp.wire.ServerResult.ResultMeta;
import dev.parley.mcp.wire.ToolModel;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.support.Excerpt;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Methods of MCP over a provider: reads parameters and writes results as the revision of the client has them. Safe for any thread. */
final class Methods {
    static final String LISTEN = "subscriptions/listen";
    static final String INITIALIZE = "initialize";

    private static final System.Logger LOG = System.getLogger("dev.parley.mcp");
    private static final int RESOURCE_NOT_FOUND_UNTIL_2025 = -32002;
    private static final int PAGE = 500;
    private static final int LARGEST_PAGE = 1024 * 1024;
    private static final int MAX_ROUNDS = 32;
    private static final int MAX_VALUES = 100;
    private static final int LIST_TTL_MILLIS = 30_000;

    private static final Set<String> SLOW =
            Set.of("tools/call", "prompts/get", "resources/read", "completion/complete");
    private static final Set<String> STATELESS_ONLY =
            Set.of("server/discover", LISTEN, "tasks/get", "tasks/update", "tasks/cancel");
    private static final Set<String> OF_SESSIONS =
            Set.of("ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe");
    private static final Map<String, String> KINDS = Map.of(
            "tools/list", "tools",
            "tools/call", "tools",
            "resources/list", "resources",
            "resources/templates/list", "resources",
            "resources/read", "resources",
            "resources/subscribe", "resources",
            "resources/unsubscribe", "resources",
            "prompts/list", "prompts",
            "prompts/get", "prompts",
            "completion/complete", "completions");

    private static final Map<String, @Nullable Object> CAPABILITIES = Trees.json("""
            {"tools": {"listChanged": true}, "resources": {"listChanged": true, "subscribe": true},
             "prompts": {"listChanged": true}, "completions": {}, "logging": {}}""");

    private static final ServerResult<Nothing> NOTHING = ServerResult.of(Nothing.CODEC, new Nothing());

    private final McpProvider provider;
    private final ServerInfo info;
    private final RequestState states;

    Methods(McpProvider provider, ServerInfo info, RequestState states) {
        this.provider = provider;
        this.info = info;
        this.states = states;
    }

    /** A method of a request, called again with answers. */
    @FunctionalInterface
    private interface Asking<R> {
        Outcome<R> answer(Invocation invocation) throws InterruptedException;
    }

    /** Whether a method may wait for something. */
    static boolean isSlow(String method) {
        return SLOW.contains(method);
    }

    /**
     * Checks that a method exists for a revision.
     *
     * @throws McpException METHOD_NOT_FOUND
     */
    void require(String method, Revision revision) {
        String kind = KINDS.get(method);
        boolean exists = kind != null
                ? provider.offers().contains(kind) && !(revision.isStateless() && OF_SESSIONS.contains(method))
                : revision.isStateless()
                        ? STATELESS_ONLY.contains(method) && (!method.startsWith("tasks/") || provider.tasks() != null)
                        : OF_SESSIONS.contains(method);
        if (!exists) {
            throw new McpException(
                    McpException.METHOD_NOT_FOUND, "method \"" + Excerpt.of(method, 100) + "\": not found");
        }
    }

    /** The tool of a call; null if the caller has none of that name. */
    @Nullable
    Tool tool(McpMessage.Request request, CallContext caller) {
        return HeaderValues.named(request)
                .map(name -> provider.tool(name, caller))
                .orElse(null);
    }

    /** Answer to {@code initialize}. */
    ServerResult<Description> initialized(Revision revision) {
        return ServerResult.of(
                ServerModel.DESCRIPTION,
                new Description(revision.text(), List.of(), capabilities(false), info, info.instructions()));
    }

    private ServerResult<Description> discovered() {
        var description = new Description(
                null, List.of(Revision.V2026_07_28.text()), capabilities(true), null, info.instructions());
        return ServerResult.of(ServerModel.DESCRIPTION, description).cacheable(LIST_TTL_MILLIS);
    }

    private Map<String, @Nullable Object> capabilities(boolean isStateless) {
        var capabilities = new LinkedHashMap<>(CAPABILITIES);
        capabilities
                .keySet()
                .removeIf(
                        each -> KINDS.containsValue(each) && !provider.offers().contains(each));
        if (isStateless && provider.tasks() != null) {
            capabilities.put("extensions", Map.of(Meta.TASKS, Map.of()));
        }
        return capabilities;
    }

    /**
     * Answers a request by a result or an error.
     *
     * @param session null for a request without one
     * @throws A2AException if the hub refuses the caller
     */
    McpMessage reply(McpMessage.Request request, RunningCall call, @Nullable McpSession session)
            throws InterruptedException {
        try {
            return new McpMessage.Result(request.id(), answer(request, call, session));
        } catch (McpException problem) {
            return new McpMessage.Failure(request.id(), problem);
        } catch (A2AException refusal) {
            throw refusal;
        } catch (RuntimeException failed) {
            return new McpMessage.Failure(request.id(), internal(request.method(), failed));
        }
    }

    /**
     * Answers a request.
     *
     * @param session null for a request without one
     * @throws McpException for the client
     * @throws A2AException if the hub refuses the caller
     */
    private Map<String, @Nullable Object> answer(
            McpMessage.Request request, RunningCall call, @Nullable McpSession session) throws InterruptedException {
        ServerResult<?> result =
                OF_SESSIONS.contains(request.method()) ? ofSession(request, session) : result(request, call);
        return call.peer().isStateless() ? result.members(new ResultMeta(null, info)) : result.inSession();
    }

    /** Logs a failure of the server; the client learns only how to find it. */
    private static McpException internal(String method, Throwable failed) {
        String reference = UUID.randomUUID().toString().substring(0, 8);
        LOG.log(System.Logger.Level.ERROR, "MCP method " + method + " failed (reference " + reference + ")", failed);
        return new McpException(McpException.INTERNAL_ERROR, "Internal error (reference " + reference + ")");
    }

    private ServerResult<?> result(McpMessage.Request request, RunningCall call) throws InterruptedException {
        CallContext caller = call.caller();
        boolean isStateless = call.peer().isStateless();
        return switch (request.method()) {
            case "server/discover" -> discovered();
            case "tools/list" -> {
                List<Tool> tools = provider.tools(caller);
                yield page("tools", isStateless ? tools : inSession(tools), ToolModel.OFFER, request, call);
            }
            case "resources/list" -> page("resources", provider.resources(caller), ToolModel.RESOURCE, request, call);
            case "resources/templates/list" ->
                page("resourceTemplates", provider.resourceTemplates(caller), ToolModel.TEMPLATE, request, call);
            case "prompts/list" -> page("prompts", provider.prompts(caller), ToolModel.PROMPT, request, call);
            case "tools/call" -> called(request, params(RequestModel.CALL, request), call);
            case "prompts/get" ->
                asking(
                        request,
                        params(RequestModel.CALL, request),
                        call,
                        each -> provider.prompt(each, call),
                        result -> ServerResult.of(ResultModel.PROMPT, result));
            case "resources/read" -> read(params(RequestModel.URI, request), call);
            case "completion/complete" -> completed(params(RequestModel.COMPLETE, request), caller);
            case "tasks/get" ->
                ServerResult.of(ResultModel.TASK, tasks(call).get(params(RequestModel.TASK_ID, request), caller));
            case "tasks/update" -> {
                McpTasks tasks = tasks(call);
                UpdateParams update = params(RequestModel.UPDATE, request);
                tasks.update(update.taskId(), update.answers(), caller);
                yield NOTHING;
            }
            case "tasks/cancel" -> {
                tasks(call).cancel(params(RequestModel.TASK_ID, request), caller);
                yield NOTHING;
            }
            default -> throw new IllegalStateException("method " + request.method());
        };
    }

    private static <P> P params(Codec<P> codec, McpMessage.Request request) {
        return RequestModel.read(codec, request.params());
    }

    private static ServerResult<Nothing> ofSession(McpMessage.Request request, @Nullable McpSession session) {
        switch (request.method()) {
            case "logging/setLevel" -> {
                String level = level(params(RequestModel.LEVEL, request));
                if (session != null) {
                    session.logLevel(level);
                }
            }
            case "resources/subscribe" -> inSession(session).follow(params(RequestModel.URI, request));
            case "resources/unsubscribe" -> inSession(session).unfollow(params(RequestModel.URI, request));
            default -> {} // ping
        }
        return NOTHING;
    }

    /**
     * Checks a level of log messages.
     *
     * @throws McpException INVALID_PARAMS for an unknown one
     */
    static String level(Object level) {
        if (level instanceof String text && McpPeer.LEVELS.contains(text)) {
            return text;
        }
        throw RequestModel.invalid("log level \"" + Excerpt.of(String.valueOf(level), 40)
                + "\": unknown (expected: one of " + McpPeer.LEVELS + ")");
    }

    /** The answer to wrong arguments: a result, from which a model learns, in revisions that state so. */
    private static ServerResult<CallResult> refused(String problem, Revision revision) {
        if (revision == Revision.V2025_06_18) {
            throw RequestModel.invalid(problem);
        }
        return ServerResult.of(ResultModel.CALL, CallResult.error(problem));
    }

    private static McpSession inSession(@Nullable McpSession session) {
        if (session == null) {
            throw new McpException(
                    McpException.INVALID_REQUEST, "no session (expected: one that began with initialize)");
        }
        return session;
    }

    private static <T> ServerResult<Page<T>> page(
            String member, List<T> all, Codec<T> codec, McpMessage.Request request, RunningCall call) {
        int from = 0;
        String cursor = params(RequestModel.LIST, request).cursor();
        if (cursor != null) {
            if (!cursor.matches("[0-9]{1,9}") || Integer.parseInt(cursor) > all.size()) {
                throw RequestModel.invalid(
                        "cursor \"" + Excerpt.of(cursor, 40) + "\": unknown (expected: nextCursor of a page)");
            }
            from = Integer.parseInt(cursor);
        }
        int to = from;
        for (long size = 0; to < all.size() && to < from + PAGE && size < LARGEST_PAGE; to++) {
            size += JsonText.write(codec, all.get(to)).length;
        }
        var page = new Page<>(all.subList(from, to), to < all.size() ? String.valueOf(to) : null);
        ServerResult<Page<T>> result = ServerResult.of(Page.codec(member, codec), page);
        return call.peer().isStateless() ? result.cacheable(LIST_TTL_MILLIS) : result;
    }

    /** Tools as sessions have them: their results are objects. */
    private static List<Tool> inSession(List<Tool> tools) {
        return tools.stream()
                .map(tool -> {
                    Map<String, @Nullable Object> output = tool.outputSchema();
                    return output == null || "object".equals(output.get("type")) ? tool : tool.withoutOutputSchema();
                })
                .toList();
    }

    private ServerResult<?> called(McpMessage.Request request, Invocation given, RunningCall call)
            throws InterruptedException {
        Optional<String> problem = Optional.ofNullable(provider.tool(given.name(), call.caller()))
                .flatMap(tool -> InputSchema.problem(tool.inputSchema(), given.arguments()));
        return problem.isPresent()
                ? refused(problem.get(), call.peer().revision())
                : asking(request, given, call, each -> provider.call(each, call), result -> shown(result, call));
    }

    private <R> ServerResult<?> asking(
            McpMessage.Request request,
            Invocation given,
            RunningCall call,
            Asking<R> asking,
            Function<R, ServerResult<R>> shown)
            throws InterruptedException {
        Map<String, InputResponse> answers = given.answers();
        String state =
                given.state() == null ? null : states.open(given.state(), request.method(), given, call.caller());
        for (int round = 0; ; round++) {
            Outcome<R> outcome =
                    asking.answer(new Invocation(given.name(), given.arguments(), answers, state, given.meta()));
            switch (outcome) {
                case Outcome.Complete<R>(R result) -> {
                    return shown.apply(result);
                }
                case Outcome.Begun<R>(var task) -> {
                    call.peer().requireTasks();
                    return new ServerResult<>(ResultModel.TASK, task, "task", null);
                }
                case Outcome.Questions<R>(var requests, @Nullable String next) -> {
                    call.peer().requireAnswersTo(requests);
                    if (call.peer().isStateless()) {
                        return ServerResult.of(InputRequired.CODEC, questions(requests, next, request, given, call));
                    }
                    if (!call.asks() || round >= MAX_ROUNDS) {
                        throw new McpException(
                                McpException.INTERNAL_ERROR,
                                round >= MAX_ROUNDS ? "The tool asks too often" : "No session to ask the user in");
                    }
                    answers = new LinkedHashMap<>(call.ask(requests));
                    answers.replaceAll((key, answer) -> answer.plain());
                    state = next;
                }
            }
        }
    }

    /** A result as its revision has it: in sessions, structured content is an object. */
    private static ServerResult<CallResult> shown(CallResult result, RunningCall call) {
        boolean isShown = call.peer().isStateless() || result.structuredContent() instanceof Map;
        var shown = new CallResult(
                result.content(), isShown ? result.structuredContent() : null, result.isError(), result.others());
        return ServerResult.of(ResultModel.CALL, shown);
    }

    private InputRequired questions(
            Map<String, InputRequest> requests,
            @Nullable String state,
            McpMessage.Request request,
            Invocation given,
            RunningCall call) {
        boolean isRepeated = state != null || requests.isEmpty();
        String sealed =
                isRepeated ? states.seal(state == null ? "" : state, request.method(), given, call.caller()) : null;
        return new InputRequired(requests, sealed);
    }

    private ServerResult<?> read(String uri, RunningCall call) throws InterruptedException {
        try {
            ServerResult<?> result = ServerResult.of(ResultModel.CONTENTS, provider.read(uri, call.caller()));
            return call.peer().isStateless() ? result.cacheable(0) : result;
        } catch (McpException problem) {
            if (problem.code() != McpException.INVALID_PARAMS) {
                throw problem;
            }
            throw new McpException(
                    call.peer().isStateless() ? problem.code() : RESOURCE_NOT_FOUND_UNTIL_2025,
                    String.valueOf(problem.getMessage()),
                    Map.of("uri", uri));
        }
    }

    private ServerResult<Completion> completed(CompleteParams params, CallContext caller) {
        TypedArgument argument = params.argument();
        List<String> values =
                provider.complete(params.reference(), argument.name(), argument.value(), params.known(), caller);
        boolean hasMore = values.size() > MAX_VALUES;
        return ServerResult.of(
                Completion.CODEC,
                new Completion(hasMore ? values.subList(0, MAX_VALUES) : values, values.size(), hasMore));
    }

    private McpTasks tasks(RunningCall call) {
        call.peer().requireTasks();
        return requireNonNull(provider.tasks(), "tasks");
    }
}
