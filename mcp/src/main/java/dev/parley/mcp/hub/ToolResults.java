package dev.parley.mcp.hub;

import static dev.parley.protocol.json.Codecs.FREE;
import static dev.parley.protocol.json.Codecs.TEXT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.Json;
import dev.parley.mcp.CallResult;
import dev.parley.mcp.Content;
import dev.parley.mcp.ResourceContent;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.json.ObjectCodec;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Tasks and messages of agents as results of tools. */
final class ToolResults {
    /** Larger files are resources that the client reads by itself. */
    private static final int LARGEST_FILE = 64 << 10;

    private ToolResults() {}

    /**
     * Structured content of a result that the agent does not declare.
     *
     * @param data of the parts of the answer
     */
    private record Handle(
            @Nullable String taskId,
            @Nullable String contextId,
            @Nullable String state,
            @Nullable Object data,
            @Nullable String message) {
        static final Codec<Handle> CODEC = ObjectCodec.<Handle>of()
                .optional("taskId", TEXT, Handle::taskId)
                .optional("contextId", TEXT, Handle::contextId)
                .optional("state", TEXT, Handle::state)
                .optional("data", FREE, Handle::data)
                .optional("message", TEXT, Handle::message)
                .as(v -> new Handle(v.next(), v.next(), v.next(), v.next(), v.next()));

        static Handle of(Task task, @Nullable Object data, @Nullable String message) {
            return new Handle(task.id(), task.contextId(), task.state().word(), data, message);
        }
    }

    /** The result of a task that has ended. */
    static CallResult of(String agent, Task task, boolean hasSchema) {
        var content = new ArrayList<Content>();
        var data = new ArrayList<@Nullable Object>();
        for (Artifact artifact : task.artifacts()) {
            String uri = ResourceUri.artifact(agent, task.id(), artifact.artifactId());
            artifact.parts().forEach(part -> add(content, data, part, uri, artifact));
        }
        Message said = task.status().message();
        boolean isFailure = task.state() != TaskState.COMPLETED;
        if (said != null && (isFailure || content.isEmpty())) {
            said.parts().forEach(part -> add(content, data, part, null, null));
        }
        if (content.isEmpty()) {
            content.add(
                    Content.text(isFailure ? "The task ended as " + task.state().word() : "Done"));
        }
        Object structured = hasSchema && !isFailure && isObject(data)
                ? data.getFirst()
                : hasSchema && isFailure ? null : Handle.CODEC.toJson(Handle.of(task, one(data), null));
        return new CallResult(content, structured, isFailure ? true : null, Map.of());
    }

    /** The result of an agent that answers without a task. */
    static CallResult of(Message answer, boolean hasSchema) {
        var content = new ArrayList<Content>();
        var data = new ArrayList<@Nullable Object>();
        answer.parts().forEach(part -> add(content, data, part, null, null));
        if (hasSchema && isObject(data)) {
            return CallResult.of(content, data.getFirst());
        }
        boolean isText = answer.contextId() == null && data.isEmpty();
        return CallResult.of(
                content,
                isText ? null : Handle.CODEC.toJson(new Handle(null, answer.contextId(), null, one(data), null)));
    }

    private static boolean isObject(List<@Nullable Object> data) {
        return data.size() == 1 && data.getFirst() instanceof Map<?, ?>;
    }

    /** The only value, or the list of several; null for none. */
    private static @Nullable Object one(List<@Nullable Object> data) {
        if (data.isEmpty()) {
            return null;
        }
        return data.size() > 1 ? data : requireNonNullElse(data.getFirst(), Codecs.NULL);
    }

    /** A result that names a task which has not ended, for further calls. */
    static CallResult pending(Task task, String next) {
        String said = said(task);
        var handle = Handle.of(task, null, said);
        String json = new String(JsonText.write(Handle.CODEC, handle), UTF_8);
        return CallResult.of(
                List.of(Content.text((said == null ? "" : said + "\n") + next + "\n" + json)),
                Handle.CODEC.toJson(handle));
    }

    /** The text of the newest status; null for none. */
    static @Nullable String said(Task task) {
        Message said = task.status().message();
        return said == null || said.text().isEmpty() ? null : said.text();
    }

    private static void add(
            List<Content> content,
            List<@Nullable Object> data,
            Part part,
            @Nullable String uri,
            @Nullable Artifact artifact) {
        switch (part) {
            case Part.Text text -> content.add(Content.text(text.text()));
            case Part.Data json -> {
                data.add(json.data());
                content.add(Content.text(new String(Json.write(json.data()), UTF_8)));
            }
            case Part.Url url ->
                content.add(
                        uri == null || artifact == null
                                ? link(url.url(), url.filename(), url.mediaType())
                                : link(uri, named(url, artifact), "text/uri-list"));
            case Part.Raw raw -> content.add(file(raw, uri, artifact));
        }
    }

    private static Content file(Part.Raw raw, @Nullable String uri, @Nullable Artifact artifact) {
        String type = raw.mediaType() == null ? "application/octet-stream" : raw.mediaType();
        if (raw.raw().length > LARGEST_FILE && uri != null && artifact != null) {
            return link(uri, named(raw, artifact), type);
        }
        String base64 = Base64.getEncoder().encodeToString(raw.raw());
        if (type.startsWith("image/")) {
            return new Content.Image(base64, type, Map.of());
        }
        if (type.startsWith("audio/")) {
            return new Content.Audio(base64, type, Map.of());
        }
        String name = raw.filename() == null ? "file" : raw.filename();
        String address = uri == null ? "parley://files/" + URLEncoder.encode(name, UTF_8) : uri;
        return new Content.EmbeddedResource(ResourceContent.blob(address, type, base64), Map.of());
    }

    private static String named(Part part, Artifact artifact) {
        String name = part.filename() == null ? artifact.name() : part.filename();
        return name == null ? artifact.artifactId() : name;
    }

    private static Content link(String uri, @Nullable String name, @Nullable String type) {
        return new Content.ResourceLink(uri, name == null ? uri : name, type, Map.of());
    }
}
