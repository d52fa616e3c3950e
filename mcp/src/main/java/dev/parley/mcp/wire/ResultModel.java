package dev.parley.mcp.wire;

import static dev.parley.protocol.json.Codecs.FREE;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;

import dev.parley.mcp.CallResult;
import dev.parley.mcp.Content;
import dev.parley.mcp.InputRequest;
import dev.parley.mcp.InputResponse;
import dev.parley.mcp.McpTask;
import dev.parley.mcp.PromptResult;
import dev.parley.mcp.ResourceContent;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** JSON of the results of tools, resources and prompts, and of tasks. Members that the records do not have are kept. */
public final class ResultModel {
    private ResultModel() {}

    private static final Codec<ResourceContent> RESOURCE = ObjectCodec.<ResourceContent>of()
            .optional("uri", Lenient.TEXT, "", ResourceContent::uri)
            .optional("mimeType", Lenient.TEXT, ResourceContent::mimeType)
            .optional("text", Lenient.TEXT, ResourceContent::text)
            .optional("blob", Lenient.TEXT, ResourceContent::blob)
            .others(ResourceContent::others, Set.of())
            .as(v -> new ResourceContent(v.next(), v.next(), v.next(), v.next(), v.next()));

    private static final Codec<Content.Text> PLAIN = ResultModel.<Content.Text>content("text")
            .required("text", TEXT, Content.Text::text)
            .others(Content.Text::others, Set.of())
            .as(v -> new Content.Text(v.skip().next(), v.next()));

    private static final Codec<Content.Image> IMAGE = ResultModel.<Content.Image>content("image")
            .required("data", TEXT, Content.Image::data)
            .optional("mimeType", Lenient.TEXT, Content.Image::mimeType)
            .others(Content.Image::others, Set.of())
            .as(v -> new Content.Image(v.skip().next(), v.next(), v.next()));

    private static final Codec<Content.Audio> AUDIO = ResultModel.<Content.Audio>content("audio")
            .required("data", TEXT, Content.Audio::data)
            .optional("mimeType", Lenient.TEXT, Content.Audio::mimeType)
            .others(Content.Audio::others, Set.of())
            .as(v -> new Content.Audio(v.skip().next(), v.next(), v.next()));

    private static final Codec<Content.ResourceLink> LINK = ResultModel.<Content.ResourceLink>content("resource_link")
            .required("uri", TEXT, Content.ResourceLink::uri)
            .optional("name", Lenient.TEXT, Content.ResourceLink::name)
            .optional("mimeType", Lenient.TEXT, Content.ResourceLink::mimeType)
            .others(Content.ResourceLink::others, Set.of())
            .as(v -> new Content.ResourceLink(v.skip().next(), v.next(), v.next(), v.next()));

    private static final Codec<Content.EmbeddedResource> EMBEDDED = ResultModel.<Content.EmbeddedResource>content(
                    "resource")
            .required("resource", RESOURCE, Content.EmbeddedResource::resource)
            .others(Content.EmbeddedResource::others, Set.of())
            .as(v -> new Content.EmbeddedResource(v.skip().next(), v.next()));

    private static final Codec<Content.Other> OTHER = Codecs.via(STRUCT, Content.Other::new, Content.Other::others);

    static final Codec<Content> CONTENT = Codecs.kinds(ResultModel::codec, ResultModel::codec);

    /** Results of {@code tools/call}. */
    public static final Codec<CallResult> CALL = ObjectCodec.<CallResult>of()
            .always("content", Codecs.list(CONTENT), List.of(), CallResult::content)
            .optional("structuredContent", value(), CallResult::structuredContent)
            .optional("isError", Lenient.BOOLEAN, CallResult::isError)
            .others(CallResult::others, Set.of())
            .as(v -> new CallResult(v.next(), v.next(), v.next(), v.next()));

    /** Results of {@code resources/read}. */
    public static final Codec<List<ResourceContent>> CONTENTS = ObjectCodec.<List<ResourceContent>>of()
            .always("contents", Codecs.list(RESOURCE), List.of(), all -> all)
            .as(v -> v.next());

    private static final Codec<PromptResult.Message> MESSAGE = ObjectCodec.<PromptResult.Message>of()
            .required("role", TEXT, PromptResult.Message::role)
            .required("content", CONTENT, PromptResult.Message::content)
            .as(v -> new PromptResult.Message(v.next(), v.next()));

    /** Results of {@code prompts/get}. */
    public static final Codec<PromptResult> PROMPT = ObjectCodec.<PromptResult>of()
            .optional("description", TEXT, PromptResult::description)
            .required("messages", Codecs.list(MESSAGE), PromptResult::messages)
            .as(v -> new PromptResult(v.next(), v.next()));

    /** Questions, those of other programs too. */
    public static final Codec<InputRequest> INPUT_REQUEST = ObjectCodec.<InputRequest>of()
            .always("method", Lenient.TEXT, "", InputRequest::method)
            .optional("params", Lenient.OBJECT, Map.of(), InputRequest::params)
            .as(v -> new InputRequest(v.next(), v.next()));

    /** Questions by their keys; members that are not objects are left out. */
    public static final Codec<Map<String, InputRequest>> INPUT_REQUESTS = objects(INPUT_REQUEST);

    public static final Codec<InputResponse> INPUT_RESPONSE = ObjectCodec.<InputResponse>of()
            .optional("action", Lenient.TEXT, InputResponse::action)
            .optional("content", value(), InputResponse::content)
            .others(InputResponse::others, Set.of())
            .as(v -> new InputResponse(v.next(), v.next(), v.next()));

    /** Answers by the keys of their questions; members that are not objects are left out. */
    public static final Codec<Map<String, InputResponse>> INPUT_RESPONSES = objects(INPUT_RESPONSE);

    private static final Codec<McpTask.Status> STATUS =
            Codecs.via(Lenient.TEXT, McpTask.Status::of, McpTask.Status::word);

    /** Tasks, those of other programs too. */
    public static final Codec<McpTask> TASK = ObjectCodec.<McpTask>of()
            .always("taskId", Lenient.TEXT, "", McpTask::taskId)
            .always("status", STATUS, McpTask.Status.UNKNOWN, McpTask::status)
            .optional("statusMessage", Lenient.TEXT, McpTask::statusMessage)
            .optional("createdAt", Lenient.TEXT, McpTask::createdAt)
            .optional("lastUpdatedAt", Lenient.TEXT, McpTask::lastUpdatedAt)
            .optional("pollIntervalMs", Lenient.NUMBER, McpTask::pollIntervalMs)
            .always("ttlMs", Codecs.FREE, Codecs.NULL, task -> task.ttlMs() == null ? Codecs.NULL : task.ttlMs())
            .optional(
                    "result",
                    Codecs.via(Lenient.OBJECT, ResultModel::call, result -> Trees.of(ResultModel.CALL, result)),
                    McpTask::result)
            .optional("error", MessageMembers.ERROR, McpTask::error)
            .optional("inputRequests", INPUT_REQUESTS, Map.of(), McpTask::inputRequests)
            .as(ResultModel::task);

    private static McpTask task(ObjectCodec.Values v) {
        return new McpTask(
                v.next(),
                v.next(),
                v.next(),
                v.next(),
                v.next(),
                v.next(),
                v.next() instanceof Number ttl ? (Long) ttl.longValue() : null,
                v.next(),
                v.next(),
                v.next());
    }

    /** Reads the result of a call of another program, leniently. */
    public static CallResult call(Map<String, @Nullable Object> result) {
        return CALL.fromJson(Trees.with(result, "content", Trees.maps(result, "content")));
    }

    /** Reads the contents of a resource of another program, leniently. */
    public static List<ResourceContent> contents(Map<String, @Nullable Object> result) {
        return CONTENTS.fromJson(Map.of("contents", Trees.maps(result, "contents")));
    }

    private static <T> Codec<Map<String, T>> objects(Codec<T> member) {
        return Codecs.via(
                FREE,
                value -> {
                    var read = new LinkedHashMap<String, T>();
                    Trees.objects(value).forEach((name, object) -> read.put(name, member.fromJson(object)));
                    return read;
                },
                value -> Codecs.map(member).toJson(value));
    }

    /** Any value but null. */
    static Codec<Object> value() {
        return Codecs.via(FREE, value -> value.equals(Codecs.NULL) ? null : value, value -> value);
    }

    private static <T> ObjectCodec.Builder<T> content(String type) {
        return ObjectCodec.<T>of().always("type", TEXT, type, content -> type);
    }

    private static Codec<Content> codec(Content content) {
        return any(
                switch (content) {
                    case Content.Text text -> PLAIN;
                    case Content.Image image -> IMAGE;
                    case Content.Audio audio -> AUDIO;
                    case Content.ResourceLink link -> LINK;
                    case Content.EmbeddedResource resource -> EMBEDDED;
                    case Content.Other other -> OTHER;
                });
    }

    private static Codec<Content> codec(Map<String, @Nullable Object> content) {
        return any(
                switch (String.valueOf(content.get("type"))) {
                    case "text" -> content.get("text") instanceof String ? PLAIN : OTHER;
                    case "image" -> content.get("data") instanceof String ? IMAGE : OTHER;
                    case "audio" -> content.get("data") instanceof String ? AUDIO : OTHER;
                    case "resource_link" -> content.get("uri") instanceof String ? LINK : OTHER;
                    case "resource" -> content.get("resource") instanceof Map ? EMBEDDED : OTHER;
                    default -> OTHER;
                });
    }

    @SuppressWarnings("unchecked") // a codec meets only values of its kind
    private static Codec<Content> any(Codec<? extends Content> codec) {
        return (Codec<Content>) codec;
    }
}
