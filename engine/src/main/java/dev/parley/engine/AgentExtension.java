package dev.parley.engine;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.AgentCard.Extension;
import dev.parley.protocol.OwnMethod;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An extension of the protocol, as agents have it.
 *
 * @param card its entry in cards. A URI that begins with {@value #PATH} is an address of the hub, which puts its own in
 *     front, and serves the specification there
 * @param needs URIs of the extensions without which it cannot be activated
 * @param methods JSON-RPC methods that it adds to an agent, by name; their callers are authenticated like callers of the agent
 * @param specification in Markdown; null if it is not published here
 */
public record AgentExtension(
        Extension card,
        List<String> needs,
        Map<String, OwnMethod> methods,
        @Nullable String specification) {
    /** Prefix of the paths of a hub's extensions. */
    public static final String PATH = "/extensions/";

    public AgentExtension {
        requireNonNull(card, "card");
        needs = List.copyOf(needs);
        methods = Map.copyOf(methods);
        if (card.uri().startsWith("/") && !card.uri().matches(PATH + "[A-Za-z0-9._/-]*[A-Za-z0-9]")) {
            throw new IllegalArgumentException("uri: " + card.uri() + " (expected: " + PATH + "name/version)");
        }
    }

    /** One that is nothing but its entry in the card: data, or a way to use what there is. */
    public static AgentExtension of(Extension card) {
        return new AgentExtension(card, List.of(), Map.of(), null);
    }

    /** One with this URI, which may be left out by callers. */
    public static AgentExtension of(String uri, String description) {
        return of(new Extension(uri, description, false, Map.of()));
    }

    /** This extension for callers who also activate others. */
    public AgentExtension needing(String... uris) {
        return new AgentExtension(card, List.of(uris), methods, specification);
    }

    /** This extension with one more method. */
    public AgentExtension method(String name, OwnMethod method) {
        var more = new LinkedHashMap<String, OwnMethod>(methods);
        more.put(name, method);
        return new AgentExtension(card, needs, more, specification);
    }

    /** This extension with its specification, in Markdown. */
    public AgentExtension specified(String markdown) {
        return new AgentExtension(card, needs, methods, markdown);
    }

    /** This extension as a hub at {@code url} has it. */
    public AgentExtension at(String url) {
        var placed = new Extension(at(url, card.uri()), card.description(), card.required(), card.params());
        return new AgentExtension(
                placed, needs.stream().map(uri -> at(url, uri)).toList(), methods, specification);
    }

    private static String at(String url, String uri) {
        return uri.startsWith("/") ? url + uri : uri;
    }
}
