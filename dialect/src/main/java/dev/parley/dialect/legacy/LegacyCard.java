package dev.parley.dialect.legacy;

import static dev.parley.protocol.json.Codecs.BOOLEAN;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TEXTS;
import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.v1.V1Card;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Capabilities;
import dev.parley.protocol.AgentCard.Interface;
import dev.parley.protocol.AgentCard.Provider;
import dev.parley.protocol.AgentCard.SecurityRequirement;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.SecurityScheme;
import dev.parley.protocol.SecurityScheme.ApiKey;
import dev.parley.protocol.SecurityScheme.Flow;
import dev.parley.protocol.SecurityScheme.HttpAuth;
import dev.parley.protocol.SecurityScheme.MutualTls;
import dev.parley.protocol.SecurityScheme.OAuth2;
import dev.parley.protocol.SecurityScheme.OpenIdConnect;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.FieldPath;
import dev.parley.protocol.json.InstalledExtensions;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.json.ObjectCodec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;

/**
 * JSON form of cards before 1.0, and the union of both forms, which readers of either generation understand.
 *
 * <p>Source: A2A specifications 0.1.0, 0.2.6 and 0.3.0.
 */
public final class LegacyCard {
    /** Protocol version on cards of 0.3. */
    private static final String VERSION = "0.3.0";

    /** Of several OAuth flows, 1.0 shows one: the first of these. */
    private static final List<String> FLOWS =
            List.of("authorizationCode", "clientCredentials", "deviceCode", "implicit", "password");

    /** Members that 1.0 has in other places, and signatures, which are of other bytes. */
    private static final Set<String> NEWER = Set.of("supportedInterfaces", "securityRequirements", "signatures");

    private LegacyCard() {}

    private static final Codec<Flow> FLOW = new Codec<>() {
        @Override
        public String expected() {
            return V1Card.FLOW.expected();
        }

        @Override
        public @Nullable Flow read(JsonParser in) {
            Map<String, @Nullable Object> flows = requireNonNullElse(STRUCT.read(in), Map.of());
            for (String name : FLOWS) {
                Object flow = flows.get(name);
                if (flow != null) {
                    return JsonText.read(JsonText.write(Codecs.FREE, Map.of(name, flow)), V1Card.FLOW);
                }
            }
            throw FieldPath.fault(in, "", "no known flow (expected: one of " + String.join(", ", FLOWS) + ")");
        }

        @Override
        public void write(JsonGenerator out, Flow flow) {
            V1Card.FLOW.write(out, flow);
        }
    };

    /** A scheme as OpenAPI has it. */
    public static final Codec<SecurityScheme> SCHEME = ObjectCodec.<SecurityScheme>of()
            .required("type", TEXT, LegacyCard::type)
            .optional("description", TEXT, SecurityScheme::description)
            .optional("in", TEXT, scheme -> scheme instanceof ApiKey key ? key.location() : null)
            .optional("name", TEXT, scheme -> scheme instanceof ApiKey key ? key.name() : null)
            .optional("scheme", TEXT, scheme -> scheme instanceof HttpAuth http ? http.scheme() : null)
            .optional("bearerFormat", TEXT, scheme -> scheme instanceof HttpAuth http ? http.bearerFormat() : null)
            .optional("flows", FLOW, scheme -> scheme instanceof OAuth2 oauth ? oauth.flow() : null)
            .optional(
                    "oauth2MetadataUrl",
                    TEXT,
                    scheme -> scheme instanceof OAuth2 oauth ? oauth.oauth2MetadataUrl() : null)
            .optional(
                    "openIdConnectUrl",
                    TEXT,
                    scheme -> scheme instanceof OpenIdConnect connect ? connect.openIdConnectUrl() : null)
            .as(v -> scheme(v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    private static String type(SecurityScheme scheme) {
        return switch (scheme) {
            case ApiKey key -> "apiKey";
            case HttpAuth http -> "http";
            case OAuth2 oauth -> "oauth2";
            case OpenIdConnect connect -> "openIdConnect";
            case MutualTls tls -> "mutualTLS";
        };
    }

    private static SecurityScheme scheme(
            String type,
            @Nullable String description,
            @Nullable String in,
            @Nullable String name,
            @Nullable String scheme,
            @Nullable String bearerFormat,
            @Nullable Flow flow,
            @Nullable String metadataUrl,
            @Nullable String connectUrl) {
        return switch (type) {
            case "apiKey" -> new ApiKey(description, there(in, "in"), there(name, "name"));
            case "http" -> new HttpAuth(description, there(scheme, "scheme"), bearerFormat);
            case "oauth2" -> new OAuth2(description, there(flow, "flows"), metadataUrl);
            case "openIdConnect" -> new OpenIdConnect(description, there(connectUrl, "openIdConnectUrl"));
            case "mutualTLS" -> new MutualTls(description);
            default ->
                throw InvalidField.of(
                        "type", '"' + type + "\" (expected: apiKey, http, oauth2, openIdConnect or mutualTLS)");
        };
    }

    private static <T> T there(@Nullable T value, String field) {
        if (value == null) {
            throw InvalidField.of(field, "missing");
        }
        return value;
    }

    private static final Codec<List<SecurityRequirement>> SECURITY =
            Codecs.list(Codecs.via(Codecs.map(TEXTS), SecurityRequirement::new, SecurityRequirement::schemes));

    /** @param first whether the flags of extensions are written; they are always read */
    private static Codec<Capabilities> capabilities(boolean first) {
        return ObjectCodec.<Capabilities>of()
                .optional("streaming", BOOLEAN, Capabilities::streaming)
                .optional("pushNotifications", BOOLEAN, Capabilities::pushNotifications)
                .optional("stateTransitionHistory", BOOLEAN, capabilities -> false)
                .optional("extensions", Codecs.list(V1Card.EXTENSION), List.of(), Capabilities::extensions)
                .others(capabilities -> first ? flags(capabilities) : Map.of(), Set.of())
                .as(v -> capabilities(v.next(), v.next(), v.skip().next(), v.next()));
    }

    private static Map<String, @Nullable Object> flags(Capabilities capabilities) {
        var flags = new LinkedHashMap<String, @Nullable Object>();
        for (ExtensionProtocol extension : InstalledExtensions.protocols()) {
            flags.putAll(extension
                    .style()
                    .flags(extension.in(capabilities.extensions()).orElse(null)));
        }
        return flags;
    }

    private static Capabilities capabilities(
            @Nullable Boolean streaming,
            @Nullable Boolean pushNotifications,
            List<AgentCard.Extension> extensions,
            Map<String, @Nullable Object> flags) {
        var all = new ArrayList<>(extensions);
        if (!flags.isEmpty()) {
            for (ExtensionProtocol extension : InstalledExtensions.protocols()) {
                if (extension.in(extensions).isEmpty()) {
                    extension.style().ofFlags(flags).ifPresent(all::add);
                }
            }
        }
        return new Capabilities(streaming, pushNotifications, all, null);
    }

    private static final Codec<Skill> SKILL = V1Card.skill(
            ObjectCodec.<Skill>of().required("id", TEXT, Skill::id).always("name", TEXT, "", Skill::name),
            "security",
            SECURITY,
            NEWER);

    private record Transport(String url, String transport) {}

    private static final Codec<Transport> TRANSPORT = ObjectCodec.<Transport>of()
            .required("url", TEXT, Transport::url)
            .required("transport", TEXT, Transport::transport)
            .as(v -> new Transport(v.next(), v.next()));

    private static final Codec<List<String>> AUTHENTICATION = ObjectCodec.<List<String>>of()
            .always("schemes", TEXTS, List.of(), schemes -> schemes)
            .as(v -> v.next());

    /** The card of 0.3; also reads those of 0.2 and 0.1. */
    public static final Codec<AgentCard> V03 = card(false);

    /** The card of 0.3 with what 0.1 has besides. */
    private static final Codec<AgentCard> V01 = card(true);

    private static Codec<AgentCard> card(boolean first) {
        return ObjectCodec.<AgentCard>of()
                .optional("protocolVersion", TEXT, "", card -> VERSION)
                .required("name", TEXT, AgentCard::name)
                .always("description", TEXT, "", AgentCard::description)
                .required("url", TEXT, card -> interfaces(card).getFirst().url())
                .optional(
                        "preferredTransport",
                        TEXT,
                        card -> interfaces(card).getFirst().protocolBinding())
                .optional(
                        "additionalInterfaces",
                        Codecs.list(TRANSPORT),
                        List.of(),
                        card -> interfaces(card).stream()
                                .map(one -> new Transport(one.url(), one.protocolBinding()))
                                .toList())
                .optional("iconUrl", TEXT, AgentCard::iconUrl)
                .optional("provider", V1Card.PROVIDER, AgentCard::provider)
                .always("version", TEXT, "", AgentCard::version)
                .optional("documentationUrl", TEXT, AgentCard::documentationUrl)
                .required("capabilities", capabilities(first), AgentCard::capabilities)
                .optional("securitySchemes", Codecs.map(SCHEME), Map.of(), AgentCard::securitySchemes)
                .optional("security", SECURITY, List.of(), AgentCard::securityRequirements)
                .always("defaultInputModes", TEXTS, List.of(), AgentCard::defaultInputModes)
                .always("defaultOutputModes", TEXTS, List.of(), AgentCard::defaultOutputModes)
                .always("skills", Codecs.list(SKILL), List.of(), AgentCard::skills)
                .optional(
                        "supportsAuthenticatedExtendedCard",
                        BOOLEAN,
                        false,
                        card -> Boolean.TRUE.equals(card.capabilities().extendedAgentCard()))
                .optional("authentication", AUTHENTICATION, card -> first ? schemes(card) : null)
                .others(AgentCard::others, NEWER)
                .as(LegacyCard::card);
    }

    private static AgentCard card(ObjectCodec.Values v) {
        String version = v.next();
        String name = v.next();
        String description = v.next();
        String url = v.next();
        String transport = v.next();
        List<Transport> more = v.next();
        String iconUrl = v.next();
        Provider provider = v.next();
        String agentVersion = v.next();
        String documentationUrl = v.next();
        Capabilities capabilities = v.next();
        Map<String, SecurityScheme> securitySchemes = v.next();
        List<SecurityRequirement> security = v.next();
        List<String> inputModes = v.next();
        List<String> outputModes = v.next();
        List<Skill> skills = v.next();
        boolean extended = v.next();
        List<String> authentication = v.next();
        Map<String, @Nullable Object> others = v.next();
        String spoken = version.isEmpty()
                ? authentication != null && securitySchemes.isEmpty() ? "0.1" : "0.2"
                : version.replaceFirst("^(\\d+\\.\\d+)\\..*", "$1");
        var interfaces = new ArrayList<Interface>();
        interfaces.add(new Interface(url, transport == null ? Interface.JSONRPC : transport, null, spoken));
        for (Transport one : more) {
            var other = new Interface(one.url(), one.transport(), null, spoken);
            if (!interfaces.contains(other)) {
                interfaces.add(other);
            }
        }
        return new AgentCard(
                name,
                description,
                interfaces,
                provider,
                agentVersion,
                documentationUrl,
                new Capabilities(
                        capabilities.streaming(),
                        capabilities.pushNotifications(),
                        capabilities.extensions(),
                        extended),
                securitySchemes.isEmpty() && authentication != null ? named(authentication) : securitySchemes,
                security,
                inputModes,
                outputModes,
                skills,
                List.of(),
                iconUrl,
                others);
    }

    /** The schemes of 0.1, of which only names are known. */
    private static Map<String, SecurityScheme> named(List<String> schemes) {
        var named = new LinkedHashMap<String, SecurityScheme>();
        for (String scheme : schemes) {
            switch (scheme.toLowerCase(Locale.ROOT)) {
                case "bearer", "basic" -> named.put(scheme, new HttpAuth(null, scheme, null));
                case "apikey" -> named.put(scheme, new ApiKey(null, "header", SimpleSchemes.KEY_HEADER));
                default -> {
                    // OAuth2 and what there was of others cannot be used without more than the name
                }
            }
        }
        return named;
    }

    private static List<String> schemes(AgentCard card) {
        return card.securitySchemes().values().stream()
                .map(scheme -> switch (scheme) {
                    case HttpAuth http -> http.scheme();
                    case ApiKey key -> "ApiKey";
                    case OAuth2 oauth -> "OAuth2";
                    case OpenIdConnect connect -> "OpenIdConnect";
                    case MutualTls tls -> "MutualTLS";
                })
                .distinct()
                .toList();
    }

    /** The interfaces that older clients can use: those said to be for them, JSON-RPC first; else all. */
    private static List<Interface> interfaces(AgentCard card) {
        List<Interface> older = card.supportedInterfaces().stream()
                .filter(one -> !one.protocolVersion().startsWith("1."))
                .sorted((one, other) -> Boolean.compare(
                        other.protocolBinding().equals(Interface.JSONRPC),
                        one.protocolBinding().equals(Interface.JSONRPC)))
                .toList();
        // One address may be listed once for each version.
        List<Interface> newest = older.stream()
                .filter(one -> one.protocolVersion().equals(older.getFirst().protocolVersion()))
                .toList();
        return newest.isEmpty() ? card.supportedInterfaces() : newest;
    }

    // ---- Files

    /** The card that readers of every generation understand. */
    public static byte[] union(AgentCard card) {
        var both = merged(tree(card, V03), tree(card, V1Card.CARD));
        both.remove("signatures"); // they were made for other bytes
        return JsonText.write(Codecs.FREE, both);
    }

    public static byte[] v03(AgentCard card) {
        return JsonText.write(Codecs.FREE, tree(card, V03));
    }

    /** The card at the address of 0.1 and 0.2. */
    public static byte[] beforeV03(AgentCard card) {
        return JsonText.write(Codecs.FREE, tree(card, V01));
    }

    private static Map<String, @Nullable Object> tree(AgentCard card, Codec<AgentCard> codec) {
        return JsonText.read(JsonText.write(codec, card), STRUCT);
    }

    /** Both objects in one, down to the elements of lists that belong together. */
    @SuppressWarnings("unchecked") // trees of JSON
    private static Map<String, @Nullable Object> merged(
            Map<String, @Nullable Object> one, Map<String, @Nullable Object> other) {
        var both = new LinkedHashMap<>(one);
        other.forEach((name, value) -> {
            Object before = both.get(name);
            if (before instanceof Map<?, ?> && value instanceof Map<?, ?>) {
                both.put(name, merged((Map<String, @Nullable Object>) before, (Map<String, @Nullable Object>) value));
            } else if (name.equals("skills") && before instanceof List<?> older && value instanceof List<?> newer) {
                var skills = new ArrayList<Object>();
                for (int i = 0; i < newer.size(); i++) {
                    skills.add(merged((Map<String, @Nullable Object>) older.get(i), (Map<String, @Nullable Object>)
                            newer.get(i)));
                }
                both.put(name, skills);
            } else {
                both.put(name, value);
            }
        });
        return both;
    }
}
