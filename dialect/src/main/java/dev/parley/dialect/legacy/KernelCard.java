package dev.parley.dialect.legacy;

import static dev.parley.protocol.json.Codecs.BOOLEAN;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TEXTS;

import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Capabilities;
import dev.parley.protocol.AgentCard.Interface;
import dev.parley.protocol.AgentCard.Provider;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.SecurityScheme;
import dev.parley.protocol.SecurityScheme.ApiKey;
import dev.parley.protocol.SecurityScheme.HttpAuth;
import dev.parley.protocol.SecurityScheme.MutualTls;
import dev.parley.protocol.SecurityScheme.OAuth2;
import dev.parley.protocol.SecurityScheme.OpenIdConnect;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.json.ObjectCodec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** JSON form of a card of the Agentic Kernel. */
public final class KernelCard {
    /** Protocol version of an interface of this dialect. */
    public static final String VERSION = "kernel";

    /** The one method of the dialect that is not an operation. */
    public static final String GET_CARD = "agent/getCard";

    private KernelCard() {}

    public static final Codec<Provider> PROVIDER = ObjectCodec.<Provider>inSnakeCase()
            .required("name", TEXT, Provider::organization)
            .optional("url", TEXT, "", Provider::url)
            .as(v -> new Provider(v.next(), v.next()));

    private static final Codec<Capabilities> CAPABILITIES = ObjectCodec.<Capabilities>inSnakeCase()
            .optional("streaming", BOOLEAN, it -> Boolean.TRUE.equals(it.streaming()))
            .optional("pushNotifications", BOOLEAN, it -> Boolean.TRUE.equals(it.pushNotifications()))
            .optional("stateTransitionHistory", BOOLEAN, it -> true)
            .as(v -> {
                Boolean streaming = v.next();
                Boolean pushNotifications = v.next();
                return new Capabilities(streaming, pushNotifications, List.of(), null);
            });

    private static final Codec<Skill> SKILL = ObjectCodec.<Skill>inSnakeCase()
            .required("id", TEXT, Skill::id)
            .required("name", TEXT, Skill::name)
            .optional("description", TEXT, "", Skill::description)
            .optional("tags", TEXTS, List.of(), Skill::tags)
            .optional("examples", TEXTS, List.of(), Skill::examples)
            .optional("inputModes", TEXTS, List.of(), Skill::inputModes)
            .optional("outputModes", TEXTS, List.of(), Skill::outputModes)
            .as(v -> new Skill(v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), List.of()));

    public static final Codec<AgentCard> CARD = ObjectCodec.<AgentCard>inSnakeCase()
            .required("name", TEXT, AgentCard::name)
            .optional("description", TEXT, "", AgentCard::description)
            .required("url", TEXT, KernelCard::url)
            .optional("provider", PROVIDER, AgentCard::provider)
            .required("version", TEXT, AgentCard::version)
            .optional("documentationUrl", TEXT, AgentCard::documentationUrl)
            .required("capabilities", CAPABILITIES, AgentCard::capabilities)
            .optional("authentication", STRUCT, KernelCard::authentication)
            .required("defaultInputModes", TEXTS, AgentCard::defaultInputModes)
            .required("defaultOutputModes", TEXTS, AgentCard::defaultOutputModes)
            .required("skills", Codecs.list(SKILL), AgentCard::skills)
            .as(v -> card(
                    v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(),
                    v.next()));

    public static byte[] write(AgentCard card) {
        return JsonText.write(CARD, card);
    }

    private static String url(AgentCard card) {
        Interface first = card.supportedInterfaces().getFirst();
        return first.protocolVersion().equals(VERSION) ? first.url() : first.url() + "/kernel";
    }

    /** There is room for one scheme, and no form that its details have: ours is that of the other cards. */
    private static @Nullable Map<String, @Nullable Object> authentication(AgentCard card) {
        if (card.securitySchemes().isEmpty()) {
            return null;
        }
        var said = new LinkedHashMap<String, @Nullable Object>();
        switch (card.securitySchemes().values().iterator().next()) {
            case ApiKey key -> {
                said.put("type", "apiKey");
                said.put("configuration", Map.of("in", key.location(), "name", key.name()));
            }
            case HttpAuth http -> said.put("type", http.scheme().toLowerCase(Locale.ROOT));
            case OAuth2 oauth -> {
                said.put("type", "oauth2");
                String tokenUrl = SimpleSchemes.tokenUrl(oauth);
                if (tokenUrl != null) {
                    said.put("configuration", Map.of("tokenUrl", tokenUrl, "scopes", SimpleSchemes.scopes(oauth)));
                }
            }
            case OpenIdConnect connect -> said.put("type", "openIdConnect");
            case MutualTls tls -> said.put("type", "mutualTLS");
        }
        said.put("required", !SimpleSchemes.areOptional(card));
        return said;
    }

    /** The scheme of a card; null if it is not one that can be used without more. */
    private static @Nullable SecurityScheme scheme(Map<String, @Nullable Object> said) {
        Map<?, ?> details = said.get("configuration") instanceof Map<?, ?> map ? map : Map.of();
        return switch (String.valueOf(said.get("type")).toLowerCase(Locale.ROOT)) {
            case "apikey" -> {
                String name = details.get("name") instanceof String text ? text : SimpleSchemes.KEY_HEADER;
                yield new ApiKey(null, details.get("in") instanceof String place ? place : "header", name);
            }
            case "bearer" -> SimpleSchemes.of("bearer", null, null, List.of());
            case "oauth2" -> {
                List<?> scopes = details.get("scopes") instanceof List<?> names ? names : List.of();
                yield details.get("tokenUrl") instanceof String url
                        ? SimpleSchemes.of("oauth2", null, url, scopes)
                        : null;
            }
            default -> null;
        };
    }

    private static AgentCard card(
            String name,
            String description,
            String url,
            @Nullable Provider provider,
            String version,
            @Nullable String documentationUrl,
            Capabilities capabilities,
            @Nullable Map<String, @Nullable Object> authentication,
            List<String> inputModes,
            List<String> outputModes,
            List<Skill> skills) {
        SecurityScheme scheme = authentication == null ? null : scheme(authentication);
        return new AgentCard(
                name,
                description,
                List.of(new Interface(url, Interface.JSONRPC, null, VERSION)),
                provider,
                version,
                documentationUrl,
                capabilities,
                scheme == null ? Map.of() : Map.of(VERSION, scheme),
                List.of(), // as good as the one scheme
                inputModes,
                outputModes,
                skills,
                List.of(),
                null);
    }
}
