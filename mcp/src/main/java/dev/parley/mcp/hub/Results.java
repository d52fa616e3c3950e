package dev.parley.mcp.hub;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Tasks and messages of agents as results of tools. */
final class Results {
    /** Larger files are resources that the client reads by itself. */
    private static final int LARGEST_FILE = 64 << 10;

    private Results() {}

    /** The state of a task as arguments and results name it, such as {@code input-required}. */
    static String state(TaskState state) {
        return state.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The result of a task that has ended. */
    static Map<String, @Nullable Object> of(String agent, Task task, boolean hasSchema) {
        var content = new ArrayList<Map<String, @Nullable Object>>();
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
            content.add(text(isFailure ? "The task ended as " + state(task.state()) : "Done"));
        }
        Map<String, @Nullable Object> structured = handle(task);
        if (!data.isEmpty()) {
            structured.put("data", data.size() == 1 ? data.getFirst() : data);
        }
        if (hasSchema && !isFailure && data.size() == 1 && data.getFirst() instanceof Map<?, ?>) {
            structured = Trees.map(data.getFirst());
        }
        return Trees.members(
                "content",
                content,
                "structuredContent",
                hasSchema && isFailure ? null : structured,
                "isError",
                isFailure ? true : null);
    }

    /** The result of an agent that answers without a task. */
    static Map<String, @Nullable Object> of(Message answer, boolean hasSchema) {
        var content = new ArrayList<Map<String, @Nullable Object>>();
        var data = new ArrayList<@Nullable Object>();
        answer.parts().forEach(part -> add(content, data, part, null, null));
        Map<String, @Nullable Object> structured = Trees.members("contextId", answer.contextId());
        if (!data.isEmpty()) {
            structured.put("data", data.size() == 1 ? data.getFirst() : data);
        }
        if (hasSchema && data.size() == 1 && data.getFirst() instanceof Map<?, ?>) {
            structured = Trees.map(data.getFirst());
        }
        return Trees.members("content", content, "structuredContent", structured.isEmpty() ? null : structured);
    }

    /** A result that names a task which has not ended, for further calls. */
    static Map<String, @Nullable Object> pending(Task task, String next) {
        Map<String, @Nullable Object> handle = handle(task);
        String said = said(task);
        if (said != null) {
            handle.put("message", said);
        }
        return Trees.members(
                "content",
                List.of(text((said == null ? "" : said + "\n") + next + "\n" + new String(Json.write(handle), UTF_8))),
                "structuredContent",
                handle);
    }

    /** A failure of a tool. */
    static Map<String, @Nullable Object> error(String message) {
        return Trees.members("content", List.of(text(message)), "isError", true);
    }

    static Map<String, @Nullable Object> handle(Task task) {
        return Trees.members("taskId", task.id(), "contextId", task.contextId(), "state", state(task.state()));
    }

    /** The text of the newest status; null for none. */
    static @Nullable String said(Task task) {
        Message said = task.status().message();
        return said == null || said.text().isEmpty() ? null : said.text();
    }

    static Map<String, @Nullable Object> text(String text) {
        return Trees.members("type", "text", "text", text);
    }

    private static void add(
            List<Map<String, @Nullable Object>> content,
            List<@Nullable Object> data,
            Part part,
            @Nullable String uri,
            @Nullable Artifact artifact) {
        switch (part) {
            case Part.Text text -> content.add(text(text.text()));
            case Part.Data json -> {
                data.add(json.data());
                content.add(text(new String(Json.write(json.data()), UTF_8)));
            }
            case Part.Url url ->
                content.add(
                        uri == null || artifact == null
                                ? link(url.url(), url.filename(), url.mediaType())
                                : link(uri, named(url, artifact), "text/uri-list"));
            case Part.Raw raw -> content.add(file(raw, uri, artifact));
        }
    }

    private static Map<String, @Nullable Object> file(Part.Raw raw, @Nullable String uri, @Nullable Artifact artifact) {
        String type = raw.mediaType() == null ? "application/octet-stream" : raw.mediaType();
        if (raw.raw().length > LARGEST_FILE && uri != null && artifact != null) {
            return link(uri, named(raw, artifact), type);
        }
        String base64 = Base64.getEncoder().encodeToString(raw.raw());
        for (String kind : List.of("image", "audio")) {
            if (type.startsWith(kind + "/")) {
                return Trees.members("type", kind, "data", base64, "mimeType", type);
            }
        }
        String name = raw.filename() == null ? "file" : raw.filename();
        String address = uri == null ? "parley://files/" + URLEncoder.encode(name, UTF_8) : uri;
        return Trees.members(
                "type", "resource", "resource", Trees.members("uri", address, "mimeType", type, "blob", base64));
    }

    private static String named(Part part, Artifact artifact) {
        String name = part.filename() == null ? artifact.name() : part.filename();
        return name == null ? artifact.artifactId() : name;
    }

    private static Map<String, @Nullable Object> link(String uri, @Nullable String name, @Nullable String type) {
        return Trees.members("type", "resource_link", "uri", uri, "name", name == null ? uri : name, "mimeType", type);
    }
}
