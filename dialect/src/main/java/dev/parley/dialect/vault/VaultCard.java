package dev.parley.dialect.vault;

import static dev.parley.protocol.json.Codecs.BOOLEAN;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TEXTS;
import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.legacy.KernelCard;
import dev.parley.dialect.legacy.SimpleSchemes;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Capabilities;
import dev.parley.protocol.AgentCard.Interface;
import dev.parley.protocol.AgentCard.Provider;
import dev.parley.protocol.AgentCard.SecurityRequirement;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.SecurityScheme;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.protocol.support.Excerpt;
import dev.parley.protocol.support.Loopback;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Card of AgentVault. */
public final class VaultCard {
    private static final System.Logger LOG = System.getLogger("dev.parley.dialect");
    private static final Provider PARLEY = new Provider("Parley", "");
    private static final List<String> PARTS = List.of("text", "file", "data");

    /** Supported version of the profile; cards of others are read too, because published servers do not keep it exact. */
    private static final String A2A_VERSION = "0.2";

    private VaultCard() {}

    /** A scheme of a service; the scheme is null if none is needed. */
    private record Auth(
            @Nullable SecurityScheme scheme, @Nullable String service) {}

    private static final Codec<Capabilities> FEATURES = ObjectCodec.<Capabilities>of()
            .required("a2aVersion", TEXT, it -> A2A_VERSION)
            .optional("supportedMessageParts", TEXTS, List.of(), it -> PARTS)
            .optional("supportsPushNotifications", BOOLEAN, false, it -> Boolean.TRUE.equals(it.pushNotifications()))
            .as(v -> capabilities(v.next(), v.skip().next()));

    private static Capabilities capabilities(String version, boolean push) {
        if (!version.equals(A2A_VERSION) && !version.startsWith(A2A_VERSION + ".")) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "a card says version {0} of the profile of AgentVault (expected: {1}); it is used all the same",
                    Excerpt.line(version),
                    A2A_VERSION);
        }
        return new Capabilities(true, push, List.of(), null);
    }

    /** @param host the authority that the caller called; null if it named none */
    private static Codec<Auth> auth(@Nullable String host) {
        return ObjectCodec.<Auth>of()
                .required("scheme", TEXT, it -> requireNonNull(SimpleSchemes.word(it.scheme())))
                .optional(
                        "description",
                        TEXT,
                        it -> it.scheme() == null ? null : it.scheme().description())
                .optional("tokenUrl", TEXT, it -> local(SimpleSchemes.tokenUrl(it.scheme()), host))
                .optional("scopes", TEXTS, List.of(), it -> SimpleSchemes.scopes(it.scheme()))
                .optional("service_identifier", TEXT, Auth::service)
                .as(v -> new Auth(SimpleSchemes.of(v.next(), v.next(), v.next(), v.next()), v.next()));
    }

    private static final Codec<Skill> SKILL = ObjectCodec.<Skill>of()
            .required("id", TEXT, Skill::id)
            .required("name", TEXT, Skill::name)
            .required("description", TEXT, Skill::description)
            .as(v -> new Skill(v.next(), v.next(), v.next(), List.of(), List.of(), List.of(), List.of(), List.of()));

    /** Returns the card of an agent with a name. */
    private static Codec<AgentCard> card(String agent, @Nullable String host) {
        return ObjectCodec.<AgentCard>of()
                .required("schemaVersion", TEXT, card -> "1.0")
                .required("humanReadableId", TEXT, card -> "parley/" + slug(agent))
                .required("agentVersion", TEXT, AgentCard::version)
                .required("name", TEXT, AgentCard::name)
                .required("description", TEXT, AgentCard::description)
                .required("url", TEXT, card -> url(card, host))
                .required("provider", KernelCard.PROVIDER, card -> requireNonNullElse(card.provider(), PARLEY))
                .required("capabilities", FEATURES, AgentCard::capabilities)
                .required("authSchemes", Codecs.list(auth(host)), VaultCard::auth)
                .optional("skills", Codecs.list(SKILL), List.of(), AgentCard::skills)
                .optional("tags", TEXTS, List.of(), VaultCard::tags)
                .optional("iconUrl", TEXT, AgentCard::iconUrl)
                .as(VaultCard::card);
    }

    /**
     * Returns the address of an agent in this dialect. AgentVault's library accepts plain HTTP at {@code localhost} only, not at
     * {@code 127.0.0.1}.
     *
     * @param host the authority that the caller called; null if it named none
     */
    public static String url(AgentCard card, @Nullable String host) {
        for (Interface one : card.supportedInterfaces()) {
            if (one.protocolVersion().equals(VaultDialect.NAME)) {
                return Loopback.local(one.url(), host);
            }
        }
        return Loopback.local(card.supportedInterfaces().getFirst().url(), host) + "/agentvault";
    }

    /** @throws A2AException METHOD_NOT_FOUND if no word of this card tells the credentials that the agent requires */
    static byte[] write(ServedAgent agent, @Nullable String host) {
        if (auth(agent.card()).isEmpty()) {
            throw A2AException.of(
                    A2AError.METHOD_NOT_FOUND,
                    "There is no card of AgentVault for this agent: such cards have no word for the credentials that it requires"
                            + " (expected: apiKey, bearer, oauth2 or none)");
        }
        return JsonText.write(card(agent.name(), host), agent.card());
    }

    private static List<String> tags(AgentCard card) {
        return card.skills().stream()
                .flatMap(skill -> skill.tags().stream())
                .distinct()
                .toList();
    }

    private static String slug(String name) {
        String slug =
                name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceAll("^-|-$", "");
        return slug.isEmpty() ? "agent" : slug;
    }

    /** Schemes of which each lets a client in without another; empty if there is none such with a word. */
    private static List<Auth> auth(AgentCard card) {
        var all = new ArrayList<Auth>();
        card.securitySchemes().forEach((name, scheme) -> {
            String word = SimpleSchemes.word(scheme);
            if (word != null
                    && SimpleSchemes.isEnough(
                            card, name)) { // several schemes of one service have names of their own in a card of A2A
                all.add(new Auth(scheme, name.replaceFirst("\\." + word + "$", "")));
            }
        });
        if (SimpleSchemes.areOptional(card)) {
            all.add(new Auth(null, null));
        }
        return all;
    }

    private static @Nullable String local(@Nullable String url, @Nullable String host) {
        return url == null ? null : Loopback.local(url, host);
    }

    public static AgentCard read(byte[] json) {
        return JsonText.read(json, card("", null));
    }

    private static AgentCard card(ObjectCodec.Values v) {
        String id = v.skip().next();
        String version = v.next();
        var schemes = new LinkedHashMap<String, SecurityScheme>();
        return new AgentCard(
                v.next(),
                v.next(),
                List.of(new Interface(v.next(), Interface.JSONRPC, null, VaultDialect.NAME)),
                v.next(),
                version,
                null,
                v.next(),
                schemes,
                requirements(v.next(), id, schemes),
                List.of(),
                List.of(),
                v.next(),
                List.of(),
                v.skip().next());
    }

    /** The schemes are named as a client's keys are: by their service, or else by the agent. */
    private static List<SecurityRequirement> requirements(
            List<Auth> offered, String id, Map<String, SecurityScheme> schemes) {
        if (offered.isEmpty()) {
            throw InvalidField.of("authSchemes", "empty (expected: at least one)");
        }
        var requirements = new ArrayList<SecurityRequirement>();
        for (Auth auth : offered) {
            if (auth.scheme() == null) {
                requirements.add(new SecurityRequirement(Map.of()));
                continue;
            }
            String name = requireNonNullElse(auth.service(), id);
            String key = schemes.containsKey(name) ? name + "." + SimpleSchemes.word(auth.scheme()) : name;
            schemes.put(key, auth.scheme());
            requirements.add(new SecurityRequirement(Map.of(key, SimpleSchemes.scopes(auth.scheme()))));
        }
        return requirements;
    }
}
