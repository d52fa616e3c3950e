package dev.parley.mcp.server;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.mcp.CallResult;
import dev.parley.mcp.InputRequest;
import dev.parley.mcp.InputResponse;
import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider;
import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.mcp.McpProvider.Outcome;
import dev.parley.mcp.McpTasks;
import dev.parley.mcp.Resource;
import dev.parley.mcp.ServerInfo;
import dev.parley.mcp.Tool;
import dev.parley.mcp.wire.McpMessage;
import dev.parley.mcp.wire.Meta;
import dev.parley.mcp.wire.ResultModel;
import dev.parley.mcp.wire.Revision;
import dev.parley.mcp.wire.ServerModel;
import dev.parley.mcp.wire.ServerModel.Description;
import dev.parley.mcp.wire.ToolModel;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.protocol.support.Excerpt;
import java.util.ArrayList;
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

    private final McpProvider provider;
    private final ServerInfo info;
    private final RequestState states;

    Methods(McpProvider provider, ServerInfo info, RequestState states) {
        this.provider = provider;
        this.info = info;
        this.states = states;
    }

    private record Completion(List<String> values, int total, boolean hasMore) {
        static final Codec<Completion> CODEC = ObjectCodec.<Completion>of()
                .required("values", Codecs.TEXTS, Completion::values)
                .required("total", Codecs.INT, Completion::total)
                .required("hasMore", Codecs.BOOLEAN, Completion::hasMore)
                .as(v -> new Completion(v.next(), v.next(), v.next()));
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
    Tool tool(Map<String, @Nullable Object> params, CallContext caller) {
        return params.get("name") instanceof String name ? provider.tool(name, caller) : null;
    }

    /** Answer to {@code initialize}. */
    Map<String, @Nullable Object> initialized(Revision revision) {
        return Trees.of(
                ServerModel.DESCRIPTION,
                new Description(revision.text(), List.of(), capabilities(false), info, info.instructions()));
    }

    private Map<String, @Nullable Object> discovered() {
        var description = new Description(
                null, List.of(Revision.V2026_07_28.text()), capabilities(true), null, info.instructions());
        return cacheable(Trees.of(ServerModel.DESCRIPTION, description), LIST_TTL_MILLIS);
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
    McpMessage reply(McpMessage.Request request, RunningCall call, @Nullable Session session)
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
            McpMessage.Request request, RunningCall call, @Nullable Session session) throws InterruptedException {
        Map<String, @Nullable Object> result = OF_SESSIONS.contains(request.method())
                ? ofSession(request.method(), request.params(), session)
                : result(request, call);
        if (!call.peer().isStateless()) {
            result.remove("resultType");
            return result;
        }
        result.putIfAbsent("resultType", "complete");
        var meta = new LinkedHashMap<>(Trees.map(result.get("_meta")));
        meta.putIfAbsent(Meta.SERVER_INFO, Trees.of(ServerModel.INFO, info));
        result.put("_meta", meta);
        return result;
    }

    /** Logs a failure of the server; the client learns only how to find it. */
    private static McpException internal(String method, Throwable failed) {
        String reference = UUID.randomUUID().toString().substring(0, 8);
        LOG.log(System.Logger.Level.ERROR, "MCP method " + method + " failed (reference " + reference + ")", failed);
        return new McpException(McpException.INTERNAL_ERROR, "Internal error (reference " + reference + ")");
    }

    private Map<String, @Nullable Object> result(McpMessage.Request request, RunningCall call)
            throws InterruptedException {
        Map<String, @Nullable Object> params = request.params();
        CallContext caller = call.caller();
        boolean isStateless = call.peer().isStateless();
        return switch (request.method()) {
            case "server/discover" -> discovered();
            case "tools/list" -> page("tools", provider.tools(caller), tool -> json(tool, isStateless), params, call);
            case "resources/list" ->
                page("resources", provider.resources(caller), each -> Trees.of(ToolModel.RESOURCE, each), params, call);
            case "resources/templates/list" -> {
                List<Resource> templates = provider.resourceTemplates(caller);
                yield page("resourceTemplates", templates, each -> Trees.of(ToolModel.TEMPLATE, each), params, call);
            }
            case "prompts/list" ->
                page("prompts", provider.prompts(caller), each -> Trees.of(ToolModel.PROMPT, each), params, call);
            case "tools/call" -> {
                Object arguments = requireNonNullElse(params.get("arguments"), Map.of());
                Optional<String> problem = Optional.ofNullable(arguments instanceof Map ? tool(params, caller) : null)
                        .flatMap(tool -> InputSchema.problem(tool.inputSchema(), arguments));
                yield problem.isPresent()
                        ? refused(problem.get(), call.peer().revision())
                        : asking(request, call, each -> provider.call(each, call), result -> shown(result, call));
            }
            case "prompts/get" ->
                asking(
                        request,
                        call,
                        each -> provider.prompt(each, call),
                        result -> Trees.of(ResultModel.PROMPT, result));
            case "resources/read" -> read(required(params, "uri"), call);
            case "completion/complete" -> completed(params, caller);
            case "tasks/get" -> Trees.of(ResultModel.TASK, tasks(call).get(required(params, "taskId"), caller));
            case "tasks/update" -> {
                tasks(call).update(required(params, "taskId"), answers(params, true), caller);
                yield new LinkedHashMap<>();
            }
            case "tasks/cancel" -> {
                tasks(call).cancel(required(params, "taskId"), caller);
                yield new LinkedHashMap<>();
            }
            default -> throw new IllegalStateException("method " + request.method());
        };
    }

    private static Map<String, @Nullable Object> ofSession(
            String method, Map<String, @Nullable Object> params, @Nullable Session session) {
        switch (method) {
            case "logging/setLevel" -> {
                String level = level(required(params, "level"));
                if (session != null) {
                    session.logLevel(level);
                }
            }
            case "resources/subscribe" -> inSession(session).follow(required(params, "uri"));
            case "resources/unsubscribe" -> inSession(session).unfollow(required(params, "uri"));
            default -> {} // ping
        }
        return new LinkedHashMap<>();
    }

    /**
     * Checks a level of log messages.
     *
     * @throws McpException INVALID_PARAMS for an unknown one
     */
    static String level(Object level) {
        if (level instanceof String text && Peer.LEVELS.contains(text)) {
            return text;
        }
        throw invalid("log level \"" + Excerpt.of(String.valueOf(level), 40) + "\": unknown (expected: one of "
                + Peer.LEVELS + ")");
    }

    /** The answer to wrong arguments: a result, from which a model learns, in revisions that state so. */
    private static Map<String, @Nullable Object> refused(String problem, Revision revision) {
        if (revision == Revision.V2025_06_18) {
            throw invalid(problem);
        }
        return Trees.of(ResultModel.CALL, CallResult.error(problem));
    }

    private static Session inSession(@Nullable Session session) {
        if (session == null) {
            throw new McpException(
                    McpException.INVALID_REQUEST, "no session (expected: one that began with initialize)");
        }
        return session;
    }

    private static Map<String, @Nullable Object> cacheable(Map<String, @Nullable Object> result, int ttlMillis) {
        result.put("ttlMs", ttlMillis);
        result.put("cacheScope", "private");
        return result;
    }

    private static <T> Map<String, @Nullable Object> page(
            String member,
            List<T> all,
            Function<T, Map<String, @Nullable Object>> shown,
            Map<String, @Nullable Object> params,
            RunningCall call) {
        int from = 0;
        if (params.get("cursor") != null) {
            String cursor = String.valueOf(params.get("cursor"));
            if (!cursor.matches("[0-9]{1,9}") || Integer.parseInt(cursor) > all.size()) {
                throw invalid("cursor \"" + Excerpt.of(cursor, 40) + "\": unknown (expected: nextCursor of a page)");
            }
            from = Integer.parseInt(cursor);
        }
        var elements = new ArrayList<Map<String, @Nullable Object>>();
        int to = from;
        for (long size = 0; to < all.size() && to < from + PAGE && size < LARGEST_PAGE; to++) {
            elements.add(shown.apply(all.get(to)));
            size += JsonText.write(Codecs.STRUCT, elements.getLast()).length;
        }
        var result = new LinkedHashMap<String, @Nullable Object>(Map.of(member, elements));
        if (to < all.size()) {
            result.put("nextCursor", String.valueOf(to));
        }
        return call.peer().isStateless() ? cacheable(result, LIST_TTL_MILLIS) : result;
    }

    /** A tool as its revision has it: in sessions, its results are objects. */
    private static Map<String, @Nullable Object> json(Tool tool, boolean isStateless) {
        Map<String, @Nullable Object> json = Trees.of(ToolModel.TOOL, tool);
        if (!isStateless && !"object".equals(Trees.map(json, "outputSchema").get("type"))) {
            json.remove("outputSchema");
        }
        json.remove("annotations", Map.of());
        return json;
    }

    private <R> Map<String, @Nullable Object> asking(
            McpMessage.Request request,
            RunningCall call,
            Asking<R> asking,
            Function<R, Map<String, @Nullable Object>> shown)
            throws InterruptedException {
        Map<String, @Nullable Object> params = request.params();
        String name = required(params, "name");
        Object arguments = params.get("arguments");
        if (arguments != null && !(arguments instanceof Map<?, ?>)) {
            throw invalid("arguments: (expected: an object)");
        }
        Map<String, InputResponse> answers = answers(params, false);
        String state = null;
        if (params.get("requestState") != null) {
            if (!(params.get("requestState") instanceof String sealed)) {
                throw invalid("requestState: (expected: a text)");
            }
            state = states.open(sealed, request.method(), params, call.caller());
        }
        for (int round = 0; ; round++) {
            Outcome<R> outcome = asking.answer(
                    new Invocation(name, Trees.map(arguments), answers, state, Trees.map(params.get("_meta"))));
            switch (outcome) {
                case Outcome.Complete<R>(R result) -> {
                    return shown.apply(result);
                }
                case Outcome.Begun<R>(var task) -> {
                    call.peer().requireTasks();
                    return Trees.with(Trees.of(ResultModel.TASK, task), "resultType", "task");
                }
                case Outcome.Questions<R>(var requests, @Nullable String next) -> {
                    call.peer().requireAnswersTo(requests);
                    if (call.peer().isStateless()) {
                        return questions(requests, next, request, call);
                    }
                    if (!call.asks() || round >= MAX_ROUNDS) {
                        throw new McpException(
                                McpException.INTERNAL_ERROR,
                                round >= MAX_ROUNDS ? "The tool asks too often" : "No session to ask the user in");
                    }
                    answers = answers(call.ask(requests));
                    state = next;
                }
            }
        }
    }

    /** A result as its revision has it: in sessions, structured content is an object. */
    private static Map<String, @Nullable Object> shown(CallResult result, RunningCall call) {
        Map<String, @Nullable Object> shown = Trees.of(ResultModel.CALL, result);
        if (!call.peer().isStateless() && !(shown.get("structuredContent") instanceof Map<?, ?>)) {
            shown.remove("structuredContent");
        }
        return shown;
    }

    private Map<String, @Nullable Object> questions(
            Map<String, InputRequest> requests, @Nullable String state, McpMessage.Request request, RunningCall call) {
        var result = new LinkedHashMap<String, @Nullable Object>(Map.of("resultType", "input_required"));
        if (!requests.isEmpty()) {
            result.put("inputRequests", ResultModel.INPUT_REQUESTS.toJson(requests));
        }
        if (state != null || requests.isEmpty()) {
            result.put(
                    "requestState",
                    states.seal(state == null ? "" : state, request.method(), request.params(), call.caller()));
        }
        return result;
    }

    private static Map<String, InputResponse> answers(Map<String, @Nullable Object> params, boolean isRequired) {
        Object answers = params.get("inputResponses");
        boolean isAbsent = answers == null && !isRequired;
        if (!isAbsent
                && !(answers instanceof Map<?, ?> map && map.values().stream().allMatch(Map.class::isInstance))) {
            throw invalid("inputResponses: (expected: an object of objects)");
        }
        return answers(ResultModel.INPUT_RESPONSES.fromJson(Trees.map(answers)));
    }

    /** Answers of the user, of which those that refuse have no content. */
    private static Map<String, InputResponse> answers(Map<String, InputResponse> given) {
        var answers = new LinkedHashMap<>(given);
        answers.replaceAll((key, answer) -> answer.plain());
        return answers;
    }

    private Map<String, @Nullable Object> read(String uri, RunningCall call) throws InterruptedException {
        try {
            Map<String, @Nullable Object> result = Trees.of(ResultModel.CONTENTS, provider.read(uri, call.caller()));
            return call.peer().isStateless() ? cacheable(result, 0) : result;
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

    private Map<String, @Nullable Object> completed(Map<String, @Nullable Object> params, CallContext caller) {
        Map<String, @Nullable Object> argument = Trees.map(params.get("argument"));
        Map<String, @Nullable Object> reference = Trees.map(params.get("ref"));
        switch (required(reference, "type")) {
            case "ref/prompt" -> required(reference, "name");
            case "ref/resource" -> required(reference, "uri");
            default -> throw invalid("ref.type: unknown (expected: \"ref/prompt\" or \"ref/resource\")");
        }
        var given = new LinkedHashMap<String, String>();
        Trees.map(Trees.map(params.get("context")).get("arguments")).forEach((name, value) -> {
            if (value instanceof String text) {
                given.put(name, text);
            }
        });
        List<String> values =
                provider.complete(reference, required(argument, "name"), required(argument, "value"), given, caller);
        boolean hasMore = values.size() > MAX_VALUES;
        var completion = new Completion(hasMore ? values.subList(0, MAX_VALUES) : values, values.size(), hasMore);
        return new LinkedHashMap<>(Map.of("completion", Trees.of(Completion.CODEC, completion)));
    }

    private McpTasks tasks(RunningCall call) {
        call.peer().requireTasks();
        return requireNonNull(provider.tasks(), "tasks");
    }

    private static String required(Map<String, @Nullable Object> params, String member) {
        if (params.get(member) instanceof String text) {
            return text;
        }
        throw invalid(member + ": missing (expected: a text)");
    }

    static McpException invalid(String problem) {
        return new McpException(McpException.INVALID_PARAMS, problem);
    }
}
