package dev.parley.mcp.wire;

import static dev.parley.mcp.wire.ResultModel.value;

import dev.parley.mcp.InputResponse;
import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.mcp.McpProvider.Reference;
import dev.parley.mcp.McpProvider.Reference.ToPrompt;
import dev.parley.mcp.McpProvider.Reference.ToTemplate;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * JSON of the parameters of requests and notifications, as a server reads them. An optional member of another type is as good as absent. Readers throw
 * {@link McpException} INVALID_PARAMS for a required one.
 */
public final class RequestModel {
    private RequestModel() {}

    /**
     * The member {@code _meta} of a request.
     *
     * @param protocolVersion any value, by which a request without a session is recognized; null for none
     * @param capabilities of the client; null if it declares none
     * @param logLevel any value; null for no log messages
     * @param progressToken null for no notifications of progress
     */
    public record RequestMeta(
            @Nullable Object protocolVersion,
            @Nullable Map<String, @Nullable Object> capabilities,
            @Nullable Object logLevel,
            @Nullable Object progressToken,
            @Nullable String traceparent) {
        /** Reads the one of a request; without members for a request without. */
        public static RequestMeta of(McpMessage.Request request) {
            Map<String, @Nullable Object> meta = Trees.map(request.params(), "_meta");
            Object version = meta.get(Meta.PROTOCOL_VERSION);
            return new RequestMeta(
                    version == null && meta.containsKey(Meta.PROTOCOL_VERSION) ? Codecs.NULL : version,
                    map(meta.get(Meta.CLIENT_CAPABILITIES)),
                    meta.get(Meta.LOG_LEVEL),
                    meta.get(Meta.PROGRESS_TOKEN),
                    Trees.text(meta, "traceparent"));
        }
    }

    /** The place in a list where a page begins; null for the first page. */
    public record ListParams(@Nullable String cursor) {}

    /** An argument that is typed, and the begin of its value. */
    public record TypedArgument(String name, String value) {}

    /** Parameters of {@code completion/complete}: {@code known} are other arguments with values. */
    public record CompleteParams(Reference reference, TypedArgument argument, Map<String, String> known) {}

    /** Parameters of {@code tasks/update}. */
    public record UpdateParams(String taskId, Map<String, InputResponse> answers) {}

    public static final Codec<ListParams> LIST = ObjectCodec.<ListParams>of()
            .optional("cursor", Codecs.via(value(), String::valueOf, cursor -> cursor), ListParams::cursor)
            .as(v -> new ListParams(v.next()));

    /** Parameters of {@code tools/call} and {@code prompts/get}, with a state that is still sealed. */
    public static final Codec<Invocation> CALL = ObjectCodec.<Invocation>of()
            .optional("name", Lenient.TEXT, Invocation::name)
            .optional("arguments", only("arguments", "an object", RequestModel::map), Map.of(), Invocation::arguments)
            .optional("inputResponses", answers(), Map.of(), Invocation::answers)
            .optional("requestState", only("requestState", "a text", Trees::text), Invocation::state)
            .optional("_meta", Lenient.OBJECT, Map.of(), Invocation::meta)
            .as(v -> new Invocation(required("name", v.next()), v.next(), v.next(), v.next(), v.next()));

    public static final Codec<UpdateParams> UPDATE = ObjectCodec.<UpdateParams>of()
            .optional("taskId", Lenient.TEXT, UpdateParams::taskId)
            .optional("inputResponses", answers(), UpdateParams::answers)
            .as(v -> updateParams(v.next(), v.next()));

    private static final Codec<Reference> REFERENCE = ObjectCodec.<Reference>of()
            .optional("type", Lenient.TEXT, Reference::type)
            .optional("name", Lenient.TEXT, reference -> reference instanceof ToPrompt(var name) ? name : null)
            .optional("uri", Lenient.TEXT, reference -> reference instanceof ToTemplate(var uri) ? uri : null)
            .as(v -> reference(v.next(), v.next(), v.next()));

    private static final Codec<TypedArgument> ARGUMENT = ObjectCodec.<TypedArgument>of()
            .optional("name", Lenient.TEXT, TypedArgument::name)
            .optional("value", Lenient.TEXT, TypedArgument::value)
            .as(v -> new TypedArgument(required("name", v.next()), required("value", v.next())));

    private static final Codec<Map<String, String>> TEXTS =
            Codecs.<Map<String, @Nullable Object>, Map<String, String>>via(
                    Lenient.OBJECT, RequestModel::texts, LinkedHashMap::new);

    private static final Codec<Map<String, String>> CONTEXT = ObjectCodec.<Map<String, String>>of()
            .optional("arguments", TEXTS, Map.of(), it -> it)
            .as(v -> v.next());

    public static final Codec<CompleteParams> COMPLETE = ObjectCodec.<CompleteParams>of()
            .optional("ref", Lenient.OBJECT, Map.of(), params -> Trees.of(REFERENCE, params.reference()))
            .optional("argument", Lenient.OBJECT, Map.of(), params -> Trees.of(ARGUMENT, params.argument()))
            .optional("context", Lenient.OBJECT, Map.of(), params -> Trees.of(CONTEXT, params.known()))
            .as(v -> new CompleteParams(
                    REFERENCE.fromJson(v.next()), ARGUMENT.fromJson(v.next()), CONTEXT.fromJson(v.next())));

    public static final Codec<String> LEVEL = text("level");
    public static final Codec<String> TASK_ID = text("taskId");
    public static final Codec<String> URI = text("uri");

    /** Parameters of which one is read, a text. */
    private static Codec<String> text(String member) {
        return ObjectCodec.<String>of()
                .optional(member, Lenient.TEXT, text -> text)
                .as(v -> required(member, v.next()));
    }

    private static UpdateParams updateParams(@Nullable String taskId, @Nullable Map<String, InputResponse> answers) {
        String required = required("taskId", taskId);
        if (answers == null) {
            throw invalid("inputResponses: (expected: an object of objects)");
        }
        return new UpdateParams(required, answers);
    }

    private static Reference reference(@Nullable String type, @Nullable String name, @Nullable String uri) {
        return switch (required("type", type)) {
            case Reference.PROMPT -> new ToPrompt(required("name", name));
            case Reference.TEMPLATE -> new ToTemplate(required("uri", uri));
            default -> throw invalid("ref.type: unknown (expected: \"ref/prompt\" or \"ref/resource\")");
        };
    }

    /** Answers of the user, of which those that refuse have no content. */
    private static Codec<Map<String, InputResponse>> answers() {
        return Codecs.via(
                only("inputResponses", "an object of objects", RequestModel::objects),
                given -> {
                    var answers = new LinkedHashMap<>(ResultModel.INPUT_RESPONSES.fromJson(given));
                    answers.replaceAll((key, answer) -> answer.plain());
                    return answers;
                },
                answers -> Trees.of(ResultModel.INPUT_RESPONSES, answers));
    }

    /** A value that is refused if it is of another type; {@code read} returns null for such a one. */
    private static <T> Codec<T> only(String member, String expected, Function<Object, @Nullable T> read) {
        return Codecs.via(
                value(),
                given -> {
                    T typed = read.apply(given);
                    if (typed == null) {
                        throw invalid(member + ": (expected: " + expected + ")");
                    }
                    return typed;
                },
                typed -> typed);
    }

    private static @Nullable Map<String, @Nullable Object> map(@Nullable Object value) {
        return value instanceof Map<?, ?> ? Trees.map(value) : null;
    }

    private static @Nullable Map<String, @Nullable Object> objects(Object value) {
        return value instanceof Map<?, ?> map && map.values().stream().allMatch(Map.class::isInstance)
                ? Trees.map(value)
                : null;
    }

    private static Map<String, String> texts(Map<String, @Nullable Object> given) {
        var texts = new LinkedHashMap<String, String>();
        given.forEach((name, value) -> {
            if (value instanceof String text) {
                texts.put(name, text);
            }
        });
        return texts;
    }

    private static String required(String member, @Nullable String text) {
        if (text == null) {
            throw invalid(member + ": missing (expected: a text)");
        }
        return text;
    }

    /**
     * Reads parameters.
     *
     * @throws McpException INVALID_PARAMS if they are not those of the method
     */
    public static <P> P read(Codec<P> codec, Map<String, @Nullable Object> params) {
        var known = new LinkedHashMap<>(params);
        // Codecs read members in snake_case as well. MCP has one spelling, which headers are compared with.
        known.keySet().removeIf(name -> name.indexOf('_', 1) > 0);
        try {
            return codec.fromJson(known);
        } catch (A2AException wrong) {
            throw invalid(String.valueOf(wrong.getMessage()));
        }
    }

    /** The id of the request that a notification cancels; null if it cancels none. */
    public static @Nullable Object canceled(McpMessage.Notification notification) {
        return notification.method().equals("notifications/cancelled")
                ? notification.params().get("requestId")
                : null;
    }

    /** INVALID_PARAMS with a description of the problem. */
    public static McpException invalid(String problem) {
        return new McpException(McpException.INVALID_PARAMS, problem);
    }
}
