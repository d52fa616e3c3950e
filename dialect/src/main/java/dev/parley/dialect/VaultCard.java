package dev.parley.dialect;

import static dev.parley.dialect.Codecs.BOOLEAN;
import static dev.parley.dialect.Codecs.TEXT;
import static dev.parley.dialect.Codecs.TEXTS;

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
import dev.parley.protocol.SecurityScheme.OAuth2;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** How a card of AgentVault looks. */
final class VaultCard {
    private static final String LOOPBACK = "(?i:localhost|127(?:\\.\\d{1,3}){3}|\\[::1])";
    private static final Pattern LOOPBACK_AUTHORITY = Pattern.compile(LOOPBACK + "(:\\d{1,5})?");
    private static final Pattern LOOPBACK_URL = Pattern.compile("^http://" + LOOPBACK + "(:\\d+)?(?=/|$)");

    private static final System.Logger LOG = System.getLogger("dev.parley.dialect");
    private static final String KEY_HEADER = "X-Api-Key";
    private static final List<String> PARTS = List.of("text", "file", "data");

    /** Supported version of the profile; cards of others are read too, because published servers do not keep it exact. */
    private static final String A2A_VERSION = "0.2";

    private VaultCard() {}

    /** A card as it looks, which differs from every other too much to be read into one at once. */
    private record Document(
            String id,
            String agentVersion,
            String name,
            String description,
            String url,
            Provider provider,
            Features features,
            List<Auth> auth,
            List<Skill> skills,
            List<String> tags,
            @Nullable String iconUrl) {}

    private record Features(String a2aVersion, List<String> parts, boolean push) {}

    private record Auth(
            String scheme,
            @Nullable String description,
            @Nullable String tokenUrl,
            List<String> scopes,
            @Nullable String service) {}

    private static final Codec<Provider> PROVIDER = Shape.<Provider>of()
            .required("name", TEXT, Provider::organization)
            .optional("url", TEXT, "", Provider::url)
            .as(v -> new Provider(v.next(), v.next()));

    private static final Codec<Features> FEATURES = Shape.<Features>of()
            .required("a2aVersion", TEXT, Features::a2aVersion)
            .optional("supportedMessageParts", TEXTS, List.of(), Features::parts)
            .optional("supportsPushNotifications", BOOLEAN, false, Features::push)
            .as(v -> new Features(v.next(), v.next(), v.next()));

    private static final Codec<Auth> AUTH = Shape.<Auth>of()
            .required("scheme", TEXT, Auth::scheme)
            .optional("description", TEXT, Auth::description)
            .optional("tokenUrl", TEXT, Auth::tokenUrl)
            .optional("scopes", TEXTS, List.of(), Auth::scopes)
            .optional("service_identifier", TEXT, Auth::service)
            .as(v -> auth(v.next(), v.next(), v.next(), v.next(), v.next()));

    private static final Codec<Skill> SKILL = Shape.<Skill>of()
            .required("id", TEXT, Skill::id)
            .required("name", TEXT, Skill::name)
            .required("description", TEXT, Skill::description)
            .as(v -> new Skill(v.next(), v.next(), v.next(), List.of(), List.of(), List.of(), List.of(), List.of()));

    private static final Codec<Document> DOCUMENT = Shape.<Document>of()
            .required("schemaVersion", TEXT, document -> "1.0")
            .required("humanReadableId", TEXT, Document::id)
            .required("agentVersion", TEXT, Document::agentVersion)
            .required("name", TEXT, Document::name)
            .required("description", TEXT, Document::description)
            .required("url", TEXT, Document::url)
            .required("provider", PROVIDER, Document::provider)
            .required("capabilities", FEATURES, Document::features)
            .required("authSchemes", Codecs.list(AUTH), Document::auth)
            .optional("skills", Codecs.list(SKILL), List.of(), Document::skills)
            .optional("tags", TEXTS, List.of(), Document::tags)
            .optional("iconUrl", TEXT, Document::iconUrl)
            .as(v -> document(
                    v.skip().next(),
                    v.next(),
                    v.next(),
                    v.next(),
                    v.next(),
                    v.next(),
                    v.next(),
                    v.next(),
                    v.next(),
                    v.next(),
                    v.next()));

    private static Auth auth(
            String scheme,
            @Nullable String description,
            @Nullable String tokenUrl,
            List<String> scopes,
            @Nullable String service) {
        if (!List.of("apiKey", "bearer", "oauth2", "none").contains(scheme)) {
            throw InvalidField.of("scheme", '"' + scheme + "\" (expected: apiKey, bearer, oauth2 or none)");
        }
        if (scheme.equals("oauth2") && tokenUrl == null) {
            throw InvalidField.of("tokenUrl", "missing (expected: the address of the token endpoint)");
        }
        return new Auth(scheme, description, tokenUrl, scopes, service);
    }

    private static Document document(
            String id,
            String agentVersion,
            String name,
            String description,
            String url,
            Provider provider,
            Features features,
            List<Auth> auth,
            List<Skill> skills,
            List<String> tags,
            @Nullable String iconUrl) {
        if (auth.isEmpty()) {
            throw InvalidField.of("authSchemes", "empty (expected: at least one)");
        }
        return new Document(id, agentVersion, name, description, url, provider, features, auth, skills, tags, iconUrl);
    }

    // ---- Out

    /**
     * Returns the address of an agent in this dialect.
     *
     * @param host the authority that the caller called; null if it named none
     */
    static String url(AgentCard card, @Nullable String host) {
        for (Interface one : card.supportedInterfaces()) {
            if (one.protocolVersion().equals(VaultDialect.NAME)) {
                return local(one.url(), host);
            }
        }
        return local(card.supportedInterfaces().getFirst().url(), host) + "/agentvault";
    }

    /**
     * Returns an address on this machine by its name {@code localhost}, with the port that the caller called, and others
     * unchanged. AgentVault's library accepts plain HTTP at {@code localhost} only, not at {@code 127.0.0.1}. A host that is not
     * this machine's counts for nothing: plain addresses that others could reach are not made from what a caller says.
     */
    private static String local(String url, @Nullable String host) {
        Matcher here = LOOPBACK_URL.matcher(url);
        if (!here.find()) {
            return url;
        }
        Matcher called = LOOPBACK_AUTHORITY.matcher(host == null ? "" : host);
        String port = called.matches() ? called.group(1) : here.group(1);
        return "http://localhost" + (port == null ? "" : port) + url.substring(here.end());
    }

    static byte[] write(ServedAgent agent, @Nullable String host) {
        AgentCard card = agent.card();
        Provider provider = card.provider();
        var document = new Document(
                "parley/" + slug(agent.name()),
                card.version(),
                card.name(),
                card.description(),
                url(card, host),
                provider == null ? new Provider("Parley", "") : provider,
                new Features(
                        A2A_VERSION,
                        PARTS,
                        Boolean.TRUE.equals(card.capabilities().pushNotifications())),
                auth(card, host),
                card.skills(),
                card.skills().stream()
                        .flatMap(skill -> skill.tags().stream())
                        .distinct()
                        .toList(),
                card.iconUrl());
        return Json.write(new byte[0], DOCUMENT, document, new byte[0]);
    }

    private static String slug(String name) {
        String slug =
                name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceAll("^-|-$", "");
        return slug.isEmpty() ? "agent" : slug;
    }

    private static List<Auth> auth(AgentCard card, @Nullable String host) {
        var all = new ArrayList<Auth>();
        card.securitySchemes().forEach((name, scheme) -> {
            switch (scheme) {
                case ApiKey key ->
                    all.add(new Auth("apiKey", key.description(), null, List.of(), service(name, "apiKey")));
                // The dialect has no word for passwords; as a bearer token they would let no client in.
                case HttpAuth http
                when http.scheme().equalsIgnoreCase("bearer") ->
                    all.add(new Auth("bearer", http.description(), null, List.of(), service(name, "bearer")));
                case OAuth2 oauth
                when oauth.flow() instanceof Flow.ClientCredentials flow ->
                    all.add(new Auth(
                            "oauth2",
                            oauth.description(),
                            local(flow.tokenUrl(), host),
                            List.copyOf(flow.scopes().keySet()),
                            service(name, "oauth2")));
                default -> {
                    // nothing that this dialect could say
                }
            }
        });
        boolean optional = card.securityRequirements().stream()
                .anyMatch(one -> one.schemes().isEmpty());
        if (all.isEmpty() || optional) {
            all.add(new Auth("none", null, null, List.of(), null));
        }
        return all;
    }

    /** Several schemes of one service have names of their own in a card of A2A: {@link #read} does the reverse. */
    private static String service(String name, String scheme) {
        return name.endsWith("." + scheme) ? name.substring(0, name.length() - scheme.length() - 1) : name;
    }

    // ---- In

    static boolean isOne(Map<?, ?> members) {
        return members.containsKey("humanReadableId") && members.containsKey("authSchemes");
    }

    /** Untrusted text made safe for a log. */
    private static String shown(String text) {
        String line = text.replaceAll("\\p{Cntrl}", "?");
        return line.length() <= 60 ? line : line.substring(0, 60) + "…";
    }

    /** The schemes are named as a client's keys are: by their service, or else by the agent. */
    static AgentCard read(byte[] json) {
        Document document = Json.read(json, DOCUMENT);
        String version = document.features().a2aVersion();
        if (!version.equals(A2A_VERSION) && !version.startsWith(A2A_VERSION + ".")) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "the card of {0} says version {1} of the protocol (expected: {2}); it is spoken to all the same",
                    shown(document.id()),
                    shown(version),
                    A2A_VERSION);
        }
        var schemes = new LinkedHashMap<String, SecurityScheme>();
        var requirements = new ArrayList<SecurityRequirement>();
        for (Auth auth : document.auth()) {
            String name = auth.service() == null ? document.id() : auth.service();
            SecurityScheme scheme = switch (auth.scheme()) {
                case "apiKey" -> new ApiKey(auth.description(), "header", KEY_HEADER);
                case "bearer" -> new HttpAuth(auth.description(), "Bearer", null);
                case "oauth2" -> {
                    var scopes = new LinkedHashMap<String, String>();
                    auth.scopes().forEach(scope -> scopes.put(scope, ""));
                    String tokenUrl = auth.tokenUrl() == null ? "" : auth.tokenUrl();
                    yield new OAuth2(auth.description(), new Flow.ClientCredentials(tokenUrl, null, scopes), null);
                }
                default -> null;
            };
            if (scheme != null) {
                String key = schemes.containsKey(name) ? name + "." + auth.scheme() : name;
                schemes.put(key, scheme);
                requirements.add(new SecurityRequirement(Map.of(key, auth.scopes())));
            } else {
                requirements.add(new SecurityRequirement(Map.of())); // nothing is needed
            }
        }
        return new AgentCard(
                document.name(),
                document.description(),
                List.of(new Interface(document.url(), Interface.JSONRPC, null, VaultDialect.NAME)),
                document.provider(),
                document.agentVersion(),
                null,
                new Capabilities(true, document.features().push(), List.of(), null),
                schemes,
                requirements,
                List.of(),
                List.of(),
                document.skills(),
                List.of(),
                document.iconUrl());
    }
}
