package dev.parley.trust;

import static dev.parley.protocol.settings.SettingSpec.Trait.REPEATABLE;
import static dev.parley.protocol.settings.SettingType.LIST;
import static dev.parley.protocol.settings.SettingType.PATH;
import static dev.parley.protocol.settings.SettingType.TEXT;

import dev.parley.protocol.SecurityScheme.Flow;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingType;
import dev.parley.protocol.support.AddressRange;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Settings of authentication and authorization; {@link #read} states their names and defaults.
 *
 * @param ofAgents authentication of single agents, by their name
 * @param cardAddresses from where the cards of single agents are shown, by their name
 */
public record TrustSettings(
        Authentication authentication,
        Map<String, Authentication> ofAgents,
        @Nullable Path callers,
        List<String> issuers,
        List<String> audiences,
        List<Flow> oauthFlows,
        @Nullable String groupClaim,
        @Nullable String openIdClient,
        @Nullable Path policy,
        String apiKeyHeader,
        boolean protectCards,
        Map<String, List<AddressRange>> cardAddresses,
        String service,
        int maxCallDepth) {

    public static final TrustSettings DEFAULTS = read(SettingReader.DEFAULTS);

    /**
     * Reads the settings.
     *
     * @throws IllegalArgumentException if schemes and scopes do not fit together
     */
    public static TrustSettings read(SettingReader in) {
        List<String> schemes = in.get(
                LIST,
                "auth",
                "none",
                "LIST",
                "Credentials of callers, any one of: none, apiKey, bearer, oauth2, openIdConnect, mutualTLS, basic, or"
                        + " container in a servlet container; required means apiKey,bearer.");
        List<String> scopes =
                in.list("auth-scopes", "LIST", "Scopes that callers must have been granted, all of them.");
        return new TrustSettings(
                Authentication.named(schemes).withScopes(scopes),
                ofAgents(in),
                in.find(
                        PATH,
                        "callers",
                        "FILE",
                        "File of callers: JSON, each caller's name with its key, token or OAuth client. Others come from"
                                + " PARLEY_CALLER_<NAME>_API_KEY and the like."),
                in.list(
                        "issuer",
                        "URL",
                        "OpenID Connect provider whose tokens the hub accepts besides its own; repeatable.",
                        REPEATABLE),
                in.list(
                        "audience",
                        "LIST",
                        "Audiences that tokens of other issuers may name, any one. Without it: the address of the hub."),
                oauthFlows(in),
                in.find(TEXT, "group-claim", "NAME", "Claim of other issuers' tokens that names the caller's group."),
                in.find(
                        TEXT,
                        "openid-client",
                        "ID",
                        "Id of the console at the first --issuer, as a public client with the redirect URI HUB/ui/signin: its"
                                + " users sign in at the console."),
                in.find(PATH, "policy", "FILE", "Permissions and limits of callers: JSON; see docs/authorization.md."),
                in.get(
                        TEXT,
                        "api-key-header",
                        Authentication.KEY_HEADER,
                        "NAME",
                        "Header that cards name for API keys; X-Api-Key is taken besides."),
                in.flag("protect-cards", "Show cards only to callers of the agent."),
                cardAddresses(in),
                in.get(
                        TEXT,
                        "auth-service",
                        "parley",
                        "ID",
                        "Name under which clients of AgentVault keep their keys for this hub."),
                in.get(
                        SettingType.countTo(100),
                        "max-call-depth",
                        "8",
                        "N",
                        "Limit of agents in a call chain, in which each calls the next."));
    }

    private static List<Flow> oauthFlows(SettingReader in) {
        return byAgent(
                        "oauth-flow",
                        in.list(
                                "oauth-flow",
                                "FLOW=URL+URL",
                                "OAuth flow of an --issuer for cards: authorizationCode=AUTHORIZE+TOKEN,"
                                        + " deviceCode=DEVICE+TOKEN, clientCredentials=TOKEN, implicit=AUTHORIZE or"
                                        + " password=TOKEN; repeatable.",
                                REPEATABLE))
                .entrySet()
                .stream()
                .map(flow -> flow(flow.getKey(), flow.getValue()))
                .toList();
    }

    private static Flow flow(String name, List<String> urls) {
        List<String> given =
                urls.stream().filter(url -> url.matches("https?://[^/\\s].*")).toList();
        boolean two = name.equals("authorizationCode") || name.equals("deviceCode");
        if (given.size() != urls.size() || urls.size() != (two ? 2 : 1)) {
            throw new IllegalArgumentException("oauth-flow: " + name + "=" + String.join("+", urls) + " (expected: "
                    + (two ? "two URLs, the second the token endpoint's)" : "one URL)"));
        }
        String first = urls.getFirst();
        return switch (name) {
            case "authorizationCode" -> new Flow.AuthorizationCode(first, urls.getLast(), null, Map.of(), true);
            case "deviceCode" -> new Flow.DeviceCode(first, urls.getLast(), null, Map.of());
            case "clientCredentials" -> new Flow.ClientCredentials(first, null, Map.of());
            case "implicit" -> new Flow.Implicit(first, null, Map.of());
            case "password" -> new Flow.Password(first, null, Map.of());
            default ->
                throw new IllegalArgumentException("oauth-flow: " + name
                        + " (expected: authorizationCode, deviceCode, clientCredentials, implicit or password)");
        };
    }

    private static final String AGENT = "AGENT=A+B";

    private static Map<String, List<AddressRange>> cardAddresses(SettingReader in) {
        Map<String, List<String>> texts = byAgent(
                in,
                "card-addresses",
                "Addresses to which the card of an agent is shown, such as echo=10.0.0.0/8+fd00::/8; repeatable.");
        var ranges = new LinkedHashMap<String, List<AddressRange>>();
        texts.forEach((agent, some) -> {
            try {
                ranges.put(agent, some.stream().map(AddressRange::of).toList());
            } catch (IllegalArgumentException wrong) {
                throw new IllegalArgumentException("card-addresses: " + agent + ": " + wrong.getMessage(), wrong);
            }
        });
        return ranges;
    }

    private static Map<String, Authentication> ofAgents(SettingReader in) {
        Map<String, List<String>> schemes = byAgent(
                in,
                "agent-auth",
                "Credentials of the callers of one agent instead, such as echo=apiKey+oauth2; repeatable.");
        Map<String, List<String>> scopes = byAgent(
                in,
                "agent-auth-scopes",
                "Scopes that callers of an agent named by --agent-auth must have; repeatable.");
        var ofAgents = new LinkedHashMap<String, Authentication>();
        schemes.forEach((agent, named) ->
                ofAgents.put(agent, Authentication.named(named).withScopes(scopes.getOrDefault(agent, List.of()))));
        scopes.keySet().stream()
                .filter(agent -> !ofAgents.containsKey(agent))
                .findFirst()
                .ifPresent(agent -> {
                    throw new IllegalArgumentException(
                            "agent-auth-scopes: " + agent + " (expected: an agent of --agent-auth)");
                });
        return ofAgents;
    }

    private static Map<String, List<String>> byAgent(SettingReader in, String setting, String text) {
        return byAgent(setting, in.list(setting, AGENT, text, REPEATABLE));
    }

    /**
     * Returns the values of a setting that names an agent in each entry: {@code echo=A+B}.
     *
     * @throws IllegalArgumentException if an entry does not
     */
    public static Map<String, List<String>> byAgent(String setting, List<String> entries) {
        var byAgent = new LinkedHashMap<String, List<String>>();
        for (String entry : entries) {
            int equals = entry.indexOf('=');
            if (equals < 1) {
                throw new IllegalArgumentException(setting + ": " + entry + " (expected: "
                        + (setting.equals("oauth-flow") ? "FLOW=URL+URL" : AGENT) + ")");
            }
            byAgent.put(
                    entry.substring(0, equals),
                    List.of(entry.substring(equals + 1).split("\\+", -1)));
        }
        return byAgent;
    }
}
