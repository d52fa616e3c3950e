package dev.parley.dialect;

import static dev.parley.dialect.Codecs.BOOLEAN;
import static dev.parley.dialect.Codecs.TEXT;
import static dev.parley.dialect.Codecs.TEXTS;
import static java.util.Objects.requireNonNullElse;

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
    private static final Provider PARLEY = new Provider("Parley", "");
    private static final List<String> PARTS = List.of("text", "file", "data");

    /** Supported version of the profile; cards of others are read too, because published servers do not keep it exact. */
    private static final String A2A_VERSION = "0.2";

    private VaultCard() {}

    private record Features(String a2aVersion, boolean push) {}

    private record Auth(
            String scheme,
            @Nullable String description,
            @Nullable String tokenUrl,
            List<String> scopes,
            @Nullable String service) {
        Auth {
            if (!List.of("apiKey", "bearer", "oauth2", "none").contains(scheme)) {
                throw InvalidField.of("scheme", '"' + scheme + "\" (expected: apiKey, bearer, oauth2 or none)");
            }
            if (scheme.equals("oauth2") && tokenUrl == null) {
                throw InvalidField.of("tokenUrl", "missing (expected: the address of the token endpoint)");
            }
        }
    }

    private static final Codec<Provider> PROVIDER = Shape.<Provider>of()
            .required("name", TEXT, Provider::organization)
            .optional("url", TEXT, "", Provider::url)
            .as(v -> new Provider(v.next(), v.next()));

    private static final Codec<Features> FEATURES = Shape.<Features>of()
            .required("a2aVersion", TEXT, Features::a2aVersion)
            .optional("supportedMessageParts", TEXTS, List.of(), features -> PARTS)
            .optional("supportsPushNotifications", BOOLEAN, false, Features::push)
            .as(v -> new Features(v.next(), v.skip().next()));

    private static final Codec<Auth> AUTH = Shape.<Auth>of()
            .required("scheme", TEXT, Auth::scheme)
            .optional("description", TEXT, Auth::description)
            .optional("tokenUrl", TEXT, Auth::tokenUrl)
            .optional("scopes", TEXTS, List.of(), Auth::scopes)
            .optional("service_identifier", TEXT, Auth::service)
            .as(v -> new Auth(v.next(), v.next(), v.next(), v.next(), v.next()));

    private static final Codec<Skill> SKILL = Shape.<Skill>of()
            .required("id", TEXT, Skill::id)
            .required("name", TEXT, Skill::name)
            .required("description", TEXT, Skill::description)
            .as(v -> new Skill(v.next(), v.next(), v.next(), List.of(), List.of(), List.of(), List.of(), List.of()));

    /**
     * The card of an agent.
     *
     * @param agent name of the agent
     * @param host the authority that the caller called; null if it named none
     */
    private static Codec<AgentCard> card(String agent, @Nullable String host) {
        return Shape.<AgentCard>of()
                .required("schemaVersion", TEXT, card -> "1.0")
                .required("humanReadableId", TEXT, card -> "parley/" + slug(agent))
                .required("agentVersion", TEXT, AgentCard::version)
                .required("name", TEXT, AgentCard::name)
                .required("description", TEXT, AgentCard::description)
                .required("url", TEXT, card -> url(card, host))
                .required("provider", PROVIDER, card -> requireNonNullElse(card.provider(), PARLEY))
                .required("capabilities", FEATURES, VaultCard::features)
                .required("authSchemes", Codecs.list(AUTH), card -> auth(card, host))
                .optional("skills", Codecs.list(SKILL), List.of(), AgentCard::skills)
                .optional("tags", TEXTS, List.of(), VaultCard::tags)
                .optional("iconUrl", TEXT, AgentCard::iconUrl)
                .as(VaultCard::card);
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
        return Json.write(new byte[0], card(agent.name(), host), agent.card(), new byte[0]);
    }

    private static Features features(AgentCard card) {
        return new Features(A2A_VERSION, Boolean.TRUE.equals(card.capabilities().pushNotifications()));
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

    static AgentCard read(byte[] json) {
        return Json.read(json, card("", null));
    }

    private static AgentCard card(Shape.Values v) {
        String id = v.skip().next();
        String version = v.next();
        String name = v.next();
        String description = v.next();
        var agent = new Interface(v.next(), Interface.JSONRPC, null, VaultDialect.NAME);
        Provider provider = v.next();
        Features features = v.next();
        requireVersion(id, features.a2aVersion());
        var schemes = new LinkedHashMap<String, SecurityScheme>();
        var requirements = requirements(v.next(), id, schemes);
        List<Skill> skills = v.next();
        return new AgentCard(
                name,
                description,
                List.of(agent),
                provider,
                version,
                null,
                new Capabilities(true, features.push(), List.of(), null),
                schemes,
                requirements,
                List.of(),
                List.of(),
                skills,
                List.of(),
                v.skip().next());
    }

    private static void requireVersion(String id, String version) {
        if (!version.equals(A2A_VERSION) && !version.startsWith(A2A_VERSION + ".")) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "the card of {0} says version {1} of the protocol (expected: {2}); it is spoken to all the same",
                    shown(id),
                    shown(version),
                    A2A_VERSION);
        }
    }

    /** The schemes are named as a client's keys are: by their service, or else by the agent. */
    private static List<SecurityRequirement> requirements(
            List<Auth> offered, String id, Map<String, SecurityScheme> schemes) {
        if (offered.isEmpty()) {
            throw InvalidField.of("authSchemes", "empty (expected: at least one)");
        }
        var requirements = new ArrayList<SecurityRequirement>();
        for (Auth auth : offered) {
            String name = auth.service() == null ? id : auth.service();
            SecurityScheme scheme = switch (auth.scheme()) {
                case "apiKey" -> new ApiKey(auth.description(), "header", KEY_HEADER);
                case "bearer" -> new HttpAuth(auth.description(), "Bearer", null);
                case "oauth2" -> {
                    var scopes = new LinkedHashMap<String, String>();
                    auth.scopes().forEach(scope -> scopes.put(scope, ""));
                    String tokenUrl = requireNonNullElse(auth.tokenUrl(), "");
                    yield new OAuth2(auth.description(), new Flow.ClientCredentials(tokenUrl, null, scopes), null);
                }
                default -> null;
            };
            if (scheme == null) {
                requirements.add(new SecurityRequirement(Map.of())); // nothing is needed
                continue;
            }
            String key = schemes.containsKey(name) ? name + "." + auth.scheme() : name;
            schemes.put(key, scheme);
            requirements.add(new SecurityRequirement(Map.of(key, auth.scopes())));
        }
        return requirements;
    }
}
