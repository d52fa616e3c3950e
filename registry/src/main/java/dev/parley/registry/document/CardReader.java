package dev.parley.registry.document;

import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Capabilities;
import dev.parley.protocol.SecurityScheme;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.support.Sha256;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Endpoint;
import dev.parley.registry.Entry.Resource;
import dev.parley.registry.Entry.Skill;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads what a document says: the card of an agent in any dialect (A2A 1.0, 0.3, 0.2 and 0.1, AgentVault, Agentic Kernel), or another
 * JSON object with a name.
 */
public final class CardReader {
    /** Largest document. */
    public static final int MAX_BYTES = 1024 * 1024;

    private static final int MAX_SKILLS = 500;
    private static final int MAX_LIST = 200;
    private static final int MAX_NAME = 300;

    private CardReader() {}

    /** A document as it was read; the card is null for other documents than cards of agents. */
    public record Reading(Resource resource, @Nullable AgentCard card, Map<String, @Nullable Object> members) {}

    /**
     * Reads a document.
     *
     * @param type media type
     * @param url from which it came; null for none
     * @throws A2AException if it is too large, no JSON object, or no card although the type says so
     */
    public static Reading read(
            String type,
            byte[] document,
            @Nullable String url,
            @Nullable String humanId,
            Map<String, Object> metadata) {
        if (document.length > MAX_BYTES) {
            throw A2AException.invalidParams(
                    "card", document.length + " bytes (expected: at most " + MAX_BYTES + " bytes)");
        }
        Map<String, @Nullable Object> members = JsonText.request(document, Codecs.STRUCT::read);
        Reading reading = type.equals(Entry.AGENT_CARD)
                ? ofCard(Json.readCard(document), members, document, url, humanId, metadata)
                : ofOther(type, members, document, url, humanId, metadata);
        Resource resource = reading.resource();
        require("name", resource.name().length(), 1, MAX_NAME);
        require("skills", resource.skills().size(), 0, MAX_SKILLS);
        require("tags", resource.tags().size(), 0, MAX_LIST);
        require("interfaces", resource.endpoints().size(), 0, MAX_LIST);
        require("capabilities", resource.capabilities().size(), 0, MAX_LIST);
        return reading;
    }

    private static void require(String what, int count, int least, int most) {
        if (count < least || count > most) {
            throw A2AException.invalidParams("card." + what, count + " (expected: " + least + " to " + most + ")");
        }
    }

    private static Reading ofCard(
            AgentCard card,
            Map<String, @Nullable Object> members,
            byte[] document,
            @Nullable String url,
            @Nullable String humanId,
            Map<String, Object> metadata) {
        Set<String> tags = new LinkedHashSet<>(texts(members.get("tags")));
        card.skills().forEach(skill -> tags.addAll(skill.tags()));
        var resource = new Resource(
                Entry.AGENT_CARD,
                card.name(),
                card.description(),
                card.version(),
                humanId != null ? humanId : text(members, "humanReadableId"),
                url,
                digest(document),
                card.provider() == null ? null : card.provider().organization(),
                card.skills().stream()
                        .map(skill -> new Skill(
                                skill.id(), skill.name(), skill.description(), skill.tags(), skill.examples()))
                        .toList(),
                List.copyOf(tags),
                capabilities(card.capabilities()),
                card.supportedInterfaces().stream()
                        .map(one -> new Endpoint(one.url(), one.protocolBinding(), one.protocolVersion()))
                        .toList(),
                schemes(card.securitySchemes().values()),
                metadata(members, metadata));
        return new Reading(resource, card, members);
    }

    private static Reading ofOther(
            String type,
            Map<String, @Nullable Object> members,
            byte[] document,
            @Nullable String url,
            @Nullable String humanId,
            Map<String, Object> metadata) {
        String name = text(members, "name");
        String title = text(members, "title");
        var resource = new Resource(
                type,
                name != null ? name : requireNonNullElse(title, ""),
                requireNonNullElse(text(members, "description"), ""),
                requireNonNullElse(text(members, "version"), ""),
                humanId,
                url,
                digest(document),
                null,
                List.of(),
                texts(members.get("tags")),
                List.of(),
                List.of(),
                List.of(),
                metadata(members, metadata));
        return new Reading(resource, null, members);
    }

    /** Returns a resource with other members beside those of its document. */
    public static Resource with(Resource of, @Nullable String humanId, Map<String, Object> metadata) {
        return with(of, humanId, metadata, List.of());
    }

    /** @param more addresses besides those of the document */
    public static Resource with(
            Resource of, @Nullable String humanId, Map<String, Object> metadata, List<Endpoint> more) {
        return new Resource(
                of.type(),
                of.name(),
                of.description(),
                of.version(),
                humanId,
                of.url(),
                of.digest(),
                of.provider(),
                of.skills(),
                of.tags(),
                of.capabilities(),
                Stream.concat(of.endpoints().stream(), more.stream()).toList(),
                of.schemes(),
                metadata);
    }

    /** The digest of a document, as entries have it. */
    public static String digest(byte[] document) {
        return "sha256:" + HexFormat.of().formatHex(Sha256.of(document));
    }

    private static @Nullable String text(Map<String, @Nullable Object> members, String name) {
        return members.get(name) instanceof String text && !text.isBlank() ? text : null;
    }

    private static List<String> texts(@Nullable Object json) {
        return json instanceof List<?> list
                ? list.stream()
                        .filter(String.class::isInstance)
                        .map(String.class::cast)
                        .distinct()
                        .toList()
                : List.of();
    }

    public static Map<String, Object> metadata(Map<String, @Nullable Object> members, Map<String, Object> given) {
        var metadata = new LinkedHashMap<String, Object>();
        for (String name : List.of("documentationUrl", "iconUrl")) {
            String url = text(members, name);
            if (url != null) {
                metadata.put(name, url);
            }
        }
        given.forEach((name, value) -> {
            boolean isTrust = name.equals("trustManifest") && value instanceof Map
                    || name.equals("trustManifests") && value instanceof List;
            if (!(isTrust || value instanceof String || value instanceof Number || value instanceof Boolean)) {
                throw A2AException.invalidParams("metadata." + name, "expected: a text, a number or a truth value");
            }
            metadata.put(name, value);
        });
        require("metadata", metadata.size(), 0, MAX_LIST);
        return metadata;
    }

    private static List<String> capabilities(Capabilities capabilities) {
        var names = new ArrayList<String>();
        if (Boolean.TRUE.equals(capabilities.streaming())) {
            names.add("streaming");
        }
        if (Boolean.TRUE.equals(capabilities.pushNotifications())) {
            names.add("pushNotifications");
        }
        if (Boolean.TRUE.equals(capabilities.extendedAgentCard())) {
            names.add("extendedAgentCard");
        }
        capabilities.extensions().forEach(extension -> names.add(extension.uri()));
        return names.stream().distinct().toList();
    }

    private static List<String> schemes(Collection<SecurityScheme> schemes) {
        return schemes.stream()
                .map(scheme -> switch (scheme) {
                    case SecurityScheme.ApiKey key -> "apiKey";
                    case SecurityScheme.HttpAuth http -> http.scheme().toLowerCase(Locale.ROOT);
                    case SecurityScheme.OAuth2 oauth -> "oauth2";
                    case SecurityScheme.OpenIdConnect connect -> "openIdConnect";
                    case SecurityScheme.MutualTls tls -> "mutualTLS";
                })
                .distinct()
                .toList();
    }
}
