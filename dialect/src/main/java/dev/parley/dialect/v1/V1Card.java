package dev.parley.dialect.v1;

import static dev.parley.protocol.json.Codecs.BOOLEAN;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TEXTS;

import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Capabilities;
import dev.parley.protocol.AgentCard.Extension;
import dev.parley.protocol.AgentCard.Interface;
import dev.parley.protocol.AgentCard.Provider;
import dev.parley.protocol.AgentCard.SecurityRequirement;
import dev.parley.protocol.AgentCard.Signature;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.SecurityScheme;
import dev.parley.protocol.SecurityScheme.ApiKey;
import dev.parley.protocol.SecurityScheme.Flow;
import dev.parley.protocol.SecurityScheme.HttpAuth;
import dev.parley.protocol.SecurityScheme.MutualTls;
import dev.parley.protocol.SecurityScheme.OAuth2;
import dev.parley.protocol.SecurityScheme.OpenIdConnect;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.protocol.json.OneOf;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * JSON form of a card of A2A 1.0.
 *
 * <p>Source: A2A specification 1.0, sections 4.4 and 4.5.
 */
public final class V1Card {
    private V1Card() {}

    /** Members for readers of older versions on a card for several versions. */
    private static final Set<String> OLDER = Set.of(
            "protocolVersion",
            "url",
            "preferredTransport",
            "additionalInterfaces",
            "security",
            "supportsAuthenticatedExtendedCard",
            "authentication");

    /** In a card, the list of scopes is wrapped: {@code {"list":["openid"]}}. */
    private static final Codec<List<String>> SCOPES = ObjectCodec.<List<String>>of()
            .optional("list", TEXTS, List.of(), list -> list)
            .as(v -> v.next());

    private static final Codec<List<SecurityRequirement>> REQUIREMENTS =
            Codecs.list(ObjectCodec.<SecurityRequirement>of()
                    .always("schemes", Codecs.map(SCOPES), Map.of(), SecurityRequirement::schemes)
                    .as(v -> new SecurityRequirement(v.next())));

    private static final Codec<Map<String, String>> SCOPE_TEXTS = Codecs.map(TEXT);

    public static final Codec<Flow> FLOW = new OneOf<Flow>()
            .or(
                    "authorizationCode",
                    Flow.AuthorizationCode.class,
                    ObjectCodec.<Flow.AuthorizationCode>of()
                            .required("authorizationUrl", TEXT, Flow.AuthorizationCode::authorizationUrl)
                            .required("tokenUrl", TEXT, Flow.AuthorizationCode::tokenUrl)
                            .optional("refreshUrl", TEXT, Flow.AuthorizationCode::refreshUrl)
                            .always("scopes", SCOPE_TEXTS, Map.of(), Flow.AuthorizationCode::scopes)
                            .optional("pkceRequired", BOOLEAN, false, Flow.AuthorizationCode::pkceRequired)
                            .as(v -> new Flow.AuthorizationCode(v.next(), v.next(), v.next(), v.next(), v.next())))
            .or(
                    "clientCredentials",
                    Flow.ClientCredentials.class,
                    ObjectCodec.<Flow.ClientCredentials>of()
                            .required("tokenUrl", TEXT, Flow.ClientCredentials::tokenUrl)
                            .optional("refreshUrl", TEXT, Flow.ClientCredentials::refreshUrl)
                            .always("scopes", SCOPE_TEXTS, Map.of(), Flow.ClientCredentials::scopes)
                            .as(v -> new Flow.ClientCredentials(v.next(), v.next(), v.next())))
            .or(
                    "deviceCode",
                    Flow.DeviceCode.class,
                    ObjectCodec.<Flow.DeviceCode>of()
                            .required("deviceAuthorizationUrl", TEXT, Flow.DeviceCode::deviceAuthorizationUrl)
                            .required("tokenUrl", TEXT, Flow.DeviceCode::tokenUrl)
                            .optional("refreshUrl", TEXT, Flow.DeviceCode::refreshUrl)
                            .always("scopes", SCOPE_TEXTS, Map.of(), Flow.DeviceCode::scopes)
                            .as(v -> new Flow.DeviceCode(v.next(), v.next(), v.next(), v.next())))
            .or(
                    "implicit",
                    Flow.Implicit.class,
                    ObjectCodec.<Flow.Implicit>of()
                            .optional("authorizationUrl", TEXT, Flow.Implicit::authorizationUrl)
                            .optional("refreshUrl", TEXT, Flow.Implicit::refreshUrl)
                            .optional("scopes", SCOPE_TEXTS, Map.of(), Flow.Implicit::scopes)
                            .as(v -> new Flow.Implicit(v.next(), v.next(), v.next())))
            .or(
                    "password",
                    Flow.Password.class,
                    ObjectCodec.<Flow.Password>of()
                            .optional("tokenUrl", TEXT, Flow.Password::tokenUrl)
                            .optional("refreshUrl", TEXT, Flow.Password::refreshUrl)
                            .optional("scopes", SCOPE_TEXTS, Map.of(), Flow.Password::scopes)
                            .as(v -> new Flow.Password(v.next(), v.next(), v.next())));

    private static final Codec<SecurityScheme> SCHEME = new OneOf<SecurityScheme>()
            .or(
                    "apiKeySecurityScheme",
                    ApiKey.class,
                    ObjectCodec.<ApiKey>of()
                            .optional("description", TEXT, ApiKey::description)
                            .required("location", TEXT, ApiKey::location)
                            .required("name", TEXT, ApiKey::name)
                            .as(v -> new ApiKey(v.next(), v.next(), v.next())))
            .or(
                    "httpAuthSecurityScheme",
                    HttpAuth.class,
                    ObjectCodec.<HttpAuth>of()
                            .optional("description", TEXT, HttpAuth::description)
                            .required("scheme", TEXT, HttpAuth::scheme)
                            .optional("bearerFormat", TEXT, HttpAuth::bearerFormat)
                            .as(v -> new HttpAuth(v.next(), v.next(), v.next())))
            .or(
                    "oauth2SecurityScheme",
                    OAuth2.class,
                    ObjectCodec.<OAuth2>of()
                            .optional("description", TEXT, OAuth2::description)
                            .required("flows", FLOW, OAuth2::flow)
                            .optional("oauth2MetadataUrl", TEXT, OAuth2::oauth2MetadataUrl)
                            .as(v -> new OAuth2(v.next(), v.next(), v.next())))
            .or(
                    "openIdConnectSecurityScheme",
                    OpenIdConnect.class,
                    ObjectCodec.<OpenIdConnect>of()
                            .optional("description", TEXT, OpenIdConnect::description)
                            .required("openIdConnectUrl", TEXT, OpenIdConnect::openIdConnectUrl)
                            .as(v -> new OpenIdConnect(v.next(), v.next())))
            .or(
                    "mtlsSecurityScheme",
                    MutualTls.class,
                    ObjectCodec.<MutualTls>of()
                            .optional("description", TEXT, MutualTls::description)
                            .as(v -> new MutualTls(v.next())));

    private static final Codec<Interface> INTERFACE = ObjectCodec.<Interface>of()
            .required("url", TEXT, Interface::url)
            .required("protocolBinding", TEXT, Interface::protocolBinding)
            .optional("tenant", TEXT, Interface::tenant)
            .required("protocolVersion", TEXT, Interface::protocolVersion)
            .as(v -> new Interface(v.next(), v.next(), V1Model.nonEmpty(v.next()), v.next()));

    public static final Codec<Provider> PROVIDER = ObjectCodec.<Provider>of()
            .always("organization", TEXT, "", Provider::organization)
            .always("url", TEXT, "", Provider::url)
            .as(v -> new Provider(v.next(), v.next()));

    public static final Codec<Extension> EXTENSION = ObjectCodec.<Extension>of()
            .required("uri", TEXT, Extension::uri)
            .optional("description", TEXT, Extension::description)
            .optional("required", BOOLEAN, false, Extension::required)
            .optional("params", STRUCT, Map.of(), Extension::params)
            .as(v -> new Extension(v.next(), v.next(), v.next(), v.next()));

    private static final Codec<Capabilities> CAPABILITIES = ObjectCodec.<Capabilities>of()
            .optional("streaming", BOOLEAN, Capabilities::streaming)
            .optional("pushNotifications", BOOLEAN, Capabilities::pushNotifications)
            .optional("extensions", Codecs.list(EXTENSION), List.of(), Capabilities::extensions)
            .optional("extendedAgentCard", BOOLEAN, Capabilities::extendedAgentCard)
            .as(v -> new Capabilities(v.next(), v.next(), v.next(), v.next()));

    private static final Codec<Skill> SKILL = skill(
            ObjectCodec.<Skill>of().required("id", TEXT, Skill::id).required("name", TEXT, Skill::name),
            "securityRequirements",
            REQUIREMENTS,
            OLDER);

    /**
     * A skill.
     *
     * @param named has its id and its name
     * @param security name of its security requirements
     * @param foreign members that belong to other versions
     */
    public static Codec<Skill> skill(
            ObjectCodec.Builder<Skill> named,
            String security,
            Codec<List<SecurityRequirement>> requirements,
            Set<String> foreign) {
        return named.always("description", TEXT, "", Skill::description)
                .always("tags", TEXTS, List.of(), Skill::tags)
                .optional("examples", TEXTS, List.of(), Skill::examples)
                .optional("inputModes", TEXTS, List.of(), Skill::inputModes)
                .optional("outputModes", TEXTS, List.of(), Skill::outputModes)
                .optional(security, requirements, List.of(), Skill::securityRequirements)
                .others(Skill::others, foreign)
                .as(v -> new Skill(
                        v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next()));
    }

    static final Codec<Signature> SIGNATURE = ObjectCodec.<Signature>of()
            .required("protected", TEXT, Signature::protectedHeader)
            .required("signature", TEXT, Signature::signature)
            .optional("header", STRUCT, Map.of(), Signature::header)
            .as(v -> new Signature(v.next(), v.next(), v.next()));

    public static final Codec<AgentCard> CARD = ObjectCodec.<AgentCard>of()
            .required("name", TEXT, AgentCard::name)
            .always("description", TEXT, "", AgentCard::description)
            .required("supportedInterfaces", Codecs.list(INTERFACE), AgentCard::supportedInterfaces)
            .optional("provider", PROVIDER, AgentCard::provider)
            .always("version", TEXT, "", AgentCard::version)
            .optional("documentationUrl", TEXT, AgentCard::documentationUrl)
            .required("capabilities", CAPABILITIES, AgentCard::capabilities)
            .optional("securitySchemes", Codecs.map(SCHEME), Map.of(), AgentCard::securitySchemes)
            .optional("securityRequirements", REQUIREMENTS, List.of(), AgentCard::securityRequirements)
            .always("defaultInputModes", TEXTS, List.of(), AgentCard::defaultInputModes)
            .always("defaultOutputModes", TEXTS, List.of(), AgentCard::defaultOutputModes)
            .always("skills", Codecs.list(SKILL), List.of(), AgentCard::skills)
            .optional("signatures", Codecs.list(SIGNATURE), List.of(), AgentCard::signatures)
            .optional("iconUrl", TEXT, AgentCard::iconUrl)
            .others(AgentCard::others, OLDER)
            .as(v -> new AgentCard(
                    v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(),
                    v.next(), v.next(), v.next(), v.next(), v.next()));
}
