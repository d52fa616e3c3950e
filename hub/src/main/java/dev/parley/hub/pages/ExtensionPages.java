package dev.parley.hub.pages;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import dev.parley.dialect.spi.RequestHead;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.engine.AgentExtension;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.extension.ExtensionUri;
import dev.parley.server.RequestHandler;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The extensions of a hub's agents: {@code GET} lists them, and the path of each extension of the hub itself serves its
 * specification. Extensions of agents whose card the caller may not see are left out.
 */
public final class ExtensionPages implements RequestHandler {
    public static final String PATH = "/extensions";

    private final Function<RequestHead, Predicate<String>> shown;
    private final Map<String, Listed> all = new ConcurrentSkipListMap<>();
    private final Map<String, String> urisByPath = new ConcurrentSkipListMap<>();
    /** Addresses of documents by URIs. */
    private final Map<String, String> documents = new ConcurrentSkipListMap<>();

    private final Map<String, AgentExtension> own = new ConcurrentSkipListMap<>();

    private record Listed(AgentExtension extension, List<String> agents) {}

    /** @param shown tells which agents a request may know of */
    public ExtensionPages(Function<RequestHead, Predicate<String>> shown) {
        this.shown = shown;
    }

    /** Publishes the specification of an extension of the hub at {@code url} itself, whether an agent has it or not. */
    public void own(AgentExtension extension, String url) {
        String path = ExtensionUri.path(extension.card().uri(), url);
        if (path.startsWith(PATH)) {
            own.put(path.substring(PATH.length()), extension);
        }
    }

    /** Says that an agent of the hub at {@code url} has an extension. */
    public void add(String agent, AgentExtension extension, String url) {
        String uri = extension.card().uri();
        all.merge(uri, new Listed(extension, List.of(agent)), (before, more) -> {
            var agents = new ArrayList<>(before.agents());
            agents.addAll(more.agents());
            AgentExtension described = before.extension().specification() == null ? extension : before.extension();
            return new Listed(described, agents);
        });
        String path = ExtensionUri.path(uri, url);
        if (path.startsWith(PATH)) {
            documents.put(uri, url + path);
            if (extension.specification() != null) {
                urisByPath.put(path.substring(PATH.length()), uri);
            }
        }
    }

    @Override
    public WireAnswer answer(WireRequest request, Body body) {
        request.requireGet();
        Predicate<String> visible = shown.apply(request.arrival());
        return request.path().isEmpty() ? list(visible) : specification(request.path(), visible);
    }

    private WireAnswer specification(String path, Predicate<String> visible) {
        AgentExtension published = own.get(path);
        if (published != null) {
            return markdown(published.specification() == null ? outline(published) : published.specification());
        }
        Listed described = all.get(urisByPath.getOrDefault(path, ""));
        if (described == null || described.agents().stream().noneMatch(visible)) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is nothing at this address");
        }
        return markdown(requireNonNull(described.extension().specification()));
    }

    private static WireAnswer markdown(String specification) {
        return new WireAnswer.Whole(
                200,
                Map.of("Content-Type", "text/markdown; charset=utf-8", "Cache-Control", "private, max-age=300"),
                specification.getBytes(StandardCharsets.UTF_8));
    }

    /** The operations of an extension as its rows have them. */
    private static String outline(AgentExtension extension) {
        String description = extension.card().description();
        var text =
                new StringBuilder("# Extension ").append(extension.card().uri()).append("\n\n");
        if (description != null) {
            text.append(description).append(".\n\n");
        }
        if (extension.protocol() == null || extension.protocol().methods().isEmpty()) {
            return text.append("It adds no operations to agents.\n").toString();
        }
        text.append("Operations, by their names in JSON-RPC:\n\n");
        extension
                .protocol()
                .methods()
                .forEach(method -> text.append("- `").append(method.name()).append("`\n"));
        return text.toString();
    }

    private WireAnswer list(Predicate<String> visible) {
        var listed = new ArrayList<Map<String, @Nullable Object>>();
        for (Listed one : all.values()) {
            List<String> agents = one.agents().stream().filter(visible).toList();
            if (!agents.isEmpty()) {
                listed.add(entry(one.extension(), agents));
            }
        }
        return new WireAnswer.Whole(
                200,
                Map.of("Content-Type", "application/json", "Cache-Control", "no-store"),
                Json.write(Map.of("extensions", listed)));
    }

    private Map<String, @Nullable Object> entry(AgentExtension extension, List<String> agents) {
        var entry = new LinkedHashMap<String, @Nullable Object>();
        entry.put("uri", extension.card().uri());
        String document = documents.get(extension.card().uri());
        if (document != null && !document.equals(extension.card().uri())) {
            entry.put("document", document);
        }
        entry.put("description", extension.card().description());
        entry.put("required", extension.card().required());
        entry.put("needs", extension.needs());
        var methods = new TreeSet<String>(extension.methods().keySet());
        if (extension.card().params().get("methods") instanceof List<?> described) {
            described.forEach(
                    method -> methods.add(String.valueOf(method))); // which may be fewer than the extension has
        } else if (extension.protocol() != null) {
            extension.protocol().methods().forEach(method -> methods.add(method.name()));
        }
        entry.put("methods", List.copyOf(methods));
        entry.put("agents", agents);
        return entry;
    }
}
