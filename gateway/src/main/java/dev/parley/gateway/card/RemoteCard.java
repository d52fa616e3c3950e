package dev.parley.gateway.card;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Capabilities;
import dev.parley.protocol.AgentCard.Extension;
import dev.parley.protocol.AgentCard.Interface;
import dev.parley.protocol.AgentCard.Provider;
import dev.parley.protocol.AgentCard.SecurityRequirement;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.CardVerifier.Verdict;
import dev.parley.protocol.extension.ExtensionUri;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Card of a remote agent.
 *
 * @param bytes the document as it was received
 * @param verdict on its signatures
 * @param origin scheme, host and port that are called, whatever the card names
 */
public record RemoteCard(byte[] bytes, AgentCard card, Verdict verdict, URI origin) {
    /** URI of the extension of rewritten cards that tells where they come from. */
    public static final String PROVENANCE = "urn:parley:gateway:v1";

    private static final String REMOVED = "[removed]";

    public RemoteCard {
        requireNonNull(card, "card");
        requireNonNull(verdict, "verdict");
        requireNonNull(origin, "origin");
    }

    /** {@code sha256:} and the digest of the document. */
    public String digest() {
        return RemoteCards.digest(bytes);
    }

    /** The card by which the gateway calls the agent: its interfaces at the configured origin. */
    public AgentCard called() {
        String at = origin.toString();
        return card.at(card.supportedInterfaces().stream()
                .map(each -> new Interface(
                        each.url().contains("://") ? at + path(each.url()) : at,
                        each.protocolBinding(),
                        each.tenant(),
                        each.protocolVersion()))
                .toList());
    }

    /** Whether both cards lead to the same addresses with the same security. */
    public boolean isCalledAs(RemoteCard other) {
        return called().supportedInterfaces().equals(other.called().supportedInterfaces())
                && card.securitySchemes().equals(other.card.securitySchemes())
                && card.securityRequirements().equals(other.card.securityRequirements());
    }

    private static String path(String url) {
        int begin = url.indexOf('/', url.indexOf("://") + 3);
        return begin < 0 ? "" : url.substring(begin);
    }

    /** Texts, in lower case, that lead to the agent past the gateway. */
    public List<String> hidden() {
        var hidden = new ArrayList<String>();
        hide(origin.toString(), hidden);
        card.supportedInterfaces().forEach(each -> hide(each.url(), hidden));
        return hidden.stream().distinct().toList();
    }

    /** Adds the host of an address, which may be anything, with and without its port. */
    private static void hide(String url, List<String> hidden) {
        int scheme = url.indexOf("://");
        String rest = url.substring(scheme < 0 ? 0 : scheme + 3).toLowerCase(Locale.ROOT);
        int path = rest.indexOf('/');
        String authority = path < 0 ? rest : rest.substring(0, path);
        int colon = authority.lastIndexOf(':');
        boolean hasPort = colon > authority.lastIndexOf(']');
        String host = hasPort ? authority.substring(0, colon) : authority;
        if (host.length() < 2) {
            return;
        }
        hidden.add("//" + host);
        if (hasPort) {
            hidden.add(authority);
        }
        if (host.indexOf('.') >= 0 || host.indexOf(':') >= 0) { // other names may be words
            hidden.add(host);
        }
    }

    /**
     * The card as the hub shows it: without the security and the addresses of the agent, and with the provenance. The hub adds its own.
     *
     * @param push whether callers may register webhooks
     */
    public AgentCard shown(boolean push) {
        return extended(card, push);
    }

    private Extension provenance() {
        var params = new LinkedHashMap<String, @Nullable Object>();
        params.put("digest", digest());
        params.put("verdict", verdict.outcome().name().toLowerCase(Locale.ROOT));
        if (verdict.keyId() != null) {
            params.put("keyId", verdict.keyId());
        }
        return new Extension(
                PROVENANCE, "Origin of this card: digest, key and verdict of the card of the agent", false, params);
    }

    /** Whether this is the URI of an extension whose operations only the hub of the agent serves, or leads to the agent. */
    private boolean isInner(String uri) {
        return ExtensionUri.isPermanent(uri) || isHidden(uri);
    }

    /** URIs of extensions that the agent requires and callers do not see. */
    public Set<String> hiddenRequirements() {
        return card.capabilities().extensions().stream()
                .filter(each -> each.required() && isInner(each.uri()))
                .map(Extension::uri)
                .collect(Collectors.toUnmodifiableSet());
    }

    /** An extended card of the agent, as the hub shows it. */
    public AgentCard extended(AgentCard from, boolean push) {
        Capabilities can = from.capabilities();
        var extensions = new ArrayList<Extension>();
        for (Extension each : can.extensions()) {
            if (!each.uri().equals(PROVENANCE) && !isInner(each.uri())) {
                extensions.add(
                        new Extension(each.uri(), clean(each.description()), each.required(), without(each.params())));
            }
        }
        extensions.add(provenance());
        Provider provider = from.provider();
        return new AgentCard(
                from.name(),
                requireNonNull(clean(from.description())),
                from.supportedInterfaces(),
                provider == null || isHidden(provider.url()) ? null : provider,
                from.version(),
                isHidden(from.documentationUrl()) ? null : from.documentationUrl(),
                new Capabilities(true, push, extensions, can.extendedAgentCard()),
                Map.of(),
                List.of(),
                from.defaultInputModes(),
                from.defaultOutputModes(),
                from.skills().stream().map(this::clean).toList(),
                List.of(),
                isHidden(from.iconUrl()) ? null : from.iconUrl(),
                without(from.others()));
    }

    private Skill clean(Skill skill) {
        return new Skill(
                skill.id(),
                skill.name(),
                requireNonNull(clean(skill.description())),
                skill.tags(),
                skill.examples().stream()
                        .map(example -> requireNonNull(clean(example)))
                        .toList(),
                skill.inputModes(),
                skill.outputModes(),
                List.of(),
                without(skill.others()));
    }

    private Map<String, @Nullable Object> without(Map<String, @Nullable Object> members) {
        var rest = new LinkedHashMap<String, @Nullable Object>(members);
        rest.values().removeIf(value -> isHidden(new String(Json.write(value), StandardCharsets.UTF_8)));
        return rest;
    }

    private @Nullable String clean(@Nullable String text) {
        if (text == null || !isHidden(text)) {
            return text;
        }
        String clean = text;
        for (String each : hidden()) {
            clean = clean.replaceAll("(?i)" + Pattern.quote(each), REMOVED);
        }
        return clean;
    }

    private boolean isHidden(@Nullable String text) {
        String lower = text == null ? "" : text.toLowerCase(Locale.ROOT);
        return hidden().stream().anyMatch(lower::contains);
    }

    /** Differences of this card from {@code before} in its security; empty for none. */
    public List<String> otherSecurity(RemoteCard before) {
        var changes = new ArrayList<String>();
        if (!card.securitySchemes().equals(before.card.securitySchemes())) {
            changes.add("security schemes");
        }
        if (!card.securityRequirements().equals(before.card.securityRequirements())
                || !requirements(card).equals(requirements(before.card))) {
            changes.add("security requirements");
        }
        if (before.verdict.isVerified() && !verdict.isVerified()) {
            changes.add("signature");
        } else if (before.verdict.isVerified() && !Objects.equals(verdict.keyId(), before.verdict.keyId())) {
            changes.add("signing key");
        }
        return changes;
    }

    private static Map<String, List<SecurityRequirement>> requirements(AgentCard card) {
        var requirements = new TreeMap<String, List<SecurityRequirement>>();
        card.skills().stream()
                .filter(skill -> !skill.securityRequirements().isEmpty())
                .forEach(skill -> requirements.put(skill.id(), skill.securityRequirements()));
        return requirements;
    }

    /** Ids of skills that only one of the cards has, or that differ. */
    public List<String> otherSkills(RemoteCard before) {
        var changed = new ArrayList<String>();
        Map<String, Skill> old = skills(before.card);
        Map<String, Skill> now = skills(card);
        now.forEach((id, skill) -> {
            if (!skill.equals(old.remove(id))) {
                changed.add(id);
            }
        });
        changed.addAll(old.keySet());
        return changed;
    }

    private static Map<String, Skill> skills(AgentCard card) {
        var skills = new TreeMap<String, Skill>();
        card.skills().forEach(skill -> skills.put(skill.id(), skill));
        return skills;
    }

    /**
     * Refuses to serve the document byte for byte unless it leads here.
     *
     * @param agentUrl address of the agent at the hub
     * @throws A2AException INVALID_PARAMS
     */
    public void requireHere(String agentUrl) {
        for (Interface each : card.supportedInterfaces()) {
            if (!each.url().equals(agentUrl) && !each.url().startsWith(agentUrl + "/")) {
                throw A2AException.invalidParams(
                        "verbatim",
                        "the card names other addresses than " + agentUrl + " (expected: all of its interfaces there)");
            }
        }
    }
}
