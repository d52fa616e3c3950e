package dev.parley.client.wire;

import dev.parley.client.keys.KeyManager;
import dev.parley.client.spi.ClientException;
import dev.parley.client.wire.ClientSettings.Keys;
import dev.parley.outbound.http.HeaderText;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.SecurityRequirement;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.SecurityScheme;
import dev.parley.protocol.SecurityScheme.Flow.ClientCredentials;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Chooses what requests carry: what the caller gave, or else what the keys of the agent's service and its card have in
 * common.
 *
 * <p>Of several ways that the card offers, and that there are keys for, the order is AgentVault's: API key, OAuth client,
 * nothing, static bearer token. Without a key for any of them nothing is sent, and the agent says what it wants. Safe for
 * any thread.
 *
 * <p>Source: A2A specification 1.0, section 4.5; AgentVault 0.2, authentication of the client.
 */
public final class RequestCredentials {
    /** Gets one credential when it is needed. */
    private interface Means {
        Credential get(Duration left) throws AttemptFailure, InterruptedException;
    }

    /** One way to satisfy one scheme; the lowest rank is tried first. */
    private record Way(int rank, Means means) {}

    private static final String AGENT_VAULT = "agentvault";
    private static final int KEY = 0;
    private static final int CLIENT = 1;
    private static final int NOTHING = 2;
    private static final int STATIC_TOKEN = 3;

    private final ClientSettings settings;
    private final HttpWire wire;
    private final TokenCache tokens;
    private final Logins logins;

    public RequestCredentials(ClientSettings settings, HttpWire wire) {
        this.settings = settings;
        this.wire = wire;
        this.logins = new Logins(InstantSource.system(), settings.sslContext());
        this.tokens = TokenCache.of(wire, TokenCache.MAX_TOKENS);
    }

    /**
     * Returns what a request to the agent of {@code card} at {@code url} carries, besides the headers that every request
     * has.
     *
     * @throws AttemptFailure if there is no token now, but may be at another attempt
     * @throws ClientException if there is none
     */
    public List<Credential> of(AgentCard card, HttpUrl url, CallContext context, Duration left)
            throws AttemptFailure, InterruptedException {
        if (settings.apiKey() != null) {
            settings.requirePrivate(url);
            return List.of(new Credential.Key(AgentAddress.keyScheme(card), settings.apiKey()));
        }
        if (settings.credentials() != null) {
            settings.requirePrivate(url);
            var headers = new ArrayList<Credential>();
            settings.credentials()
                    .headers(context, left)
                    .forEach((name, value) ->
                            headers.add(new Credential.Key(new SecurityScheme.ApiKey(null, "header", name), value)));
            wire.hide(headers.stream().map(Credential::secret).toList());
            return headers;
        }
        Keys keys = settings.keys();
        if (keys == null || settings.headers().keySet().stream().anyMatch("Authorization"::equalsIgnoreCase)) {
            return List.of();
        }
        var credentials = new ArrayList<Credential>();
        List<Way> ways = ways(card, keys, url);
        if (!ways.isEmpty()) {
            settings.requirePrivate(url);
        }
        for (Way way : ways) {
            credentials.add(way.means().get(left));
        }
        if (!credentials.isEmpty()) {
            wire.hide(credentials.stream().map(Credential::secret).toList());
        }
        return credentials;
    }

    /**
     * Asks anew for the tokens that an agent has refused; one of them may have been revoked.
     *
     * @param headers of the request that was refused
     */
    public void refused(Map<String, String> headers) {
        if (settings.credentials() != null) {
            settings.credentials().refused(headers);
        }
        tokens.forget(headers.values());
        logins.refused();
    }

    /** The ways to satisfy the best requirement of the card that can be satisfied. */
    private List<Way> ways(AgentCard card, Keys keys, HttpUrl url) {
        var possible = new ArrayList<List<Way>>();
        for (SecurityRequirement requirement : requirements(card)) {
            var ways = new ArrayList<Way>();
            requirement.schemes().forEach((name, scopes) -> {
                SecurityScheme scheme = card.securitySchemes().get(name);
                way(scheme, scopes, keys.manager(), service(card, name, scheme, keys, url))
                        .ifPresent(ways::add);
            });
            if (ways.size() == requirement.schemes().size()) {
                possible.add(ways);
            }
        }
        return possible.stream()
                .min(Comparator.comparingInt(RequestCredentials::rank))
                .orElse(List.of());
    }

    /**
     * Returns the service whose keys satisfy a scheme: the one that the caller has named; else that of an AgentVault card, if
     * the caller lets its keys go where they would be sent, the token endpoint included; else the host of the agent.
     */
    private static String service(
            AgentCard card, String name, @Nullable SecurityScheme scheme, Keys keys, HttpUrl url) {
        if (keys.serviceId() != null) {
            return keys.serviceId();
        }
        boolean vault = card.supportedInterfaces().stream()
                .anyMatch(at -> at.protocolVersion().equals(AGENT_VAULT));
        String service = serviceOf(card, name).toLowerCase(Locale.ROOT);
        return vault
                        && keys.mayGo(service, url.origin())
                        && (!(scheme instanceof SecurityScheme.OAuth2 oauth
                                        && oauth.flow() instanceof ClientCredentials flow)
                                || mayGetTokens(keys, service, flow.tokenUrl()))
                ? service
                : KeyManager.serviceId(url);
    }

    private static boolean mayGetTokens(Keys keys, String service, String tokenUrl) {
        try {
            return keys.mayGo(service, HttpUrl.of(tokenUrl).origin());
        } catch (IllegalArgumentException noUrl) {
            return false;
        }
    }

    /** Schemes of a card are named after their service, those after the first of a service with a suffix. */
    private static String serviceOf(AgentCard card, String name) {
        int dot = name.lastIndexOf('.');
        return dot > 0 && card.securitySchemes().containsKey(name.substring(0, dot)) ? name.substring(0, dot) : name;
    }

    /**
     * A card that lists schemes but requires none leaves the choice among them. Which scopes it wants it then says only by
     * listing them, as those of AgentVault do.
     */
    private static List<SecurityRequirement> requirements(AgentCard card) {
        return card.securityRequirements().isEmpty()
                ? card.securitySchemes().keySet().stream()
                        .sorted()
                        .map(name -> new SecurityRequirement(
                                Map.of(name, scopes(card.securitySchemes().get(name)))))
                        .toList()
                : card.securityRequirements();
    }

    private static List<String> scopes(@Nullable SecurityScheme scheme) {
        return scheme instanceof SecurityScheme.OAuth2 oauth
                ? oauth.flow().scopes().keySet().stream().sorted().toList()
                : List.of();
    }

    private static int rank(List<Way> ways) {
        return ways.stream().mapToInt(Way::rank).max().orElse(NOTHING);
    }

    private Optional<Way> way(@Nullable SecurityScheme scheme, List<String> scopes, KeyManager keys, String service) {
        return switch (scheme) {
            case SecurityScheme.ApiKey at
            when HeaderText.maySet(at.name()) ->
                keys.apiKey(service).map(key -> new Way(KEY, left -> new Credential.Key(at, key)));
            case SecurityScheme.OAuth2(var description, ClientCredentials flow, var metadata) ->
                keys.oauthClient(service)
                        .map(client -> new TokenCache.Wanted(flow.tokenUrl(), client, scopes))
                        .map(wanted -> new Way(CLIENT, left -> new Credential.Token(tokens.get(wanted, left))));
            case SecurityScheme.OAuth2 otherFlow -> staticToken(keys, service);
            case SecurityScheme.OpenIdConnect connect -> staticToken(keys, service);
            case SecurityScheme.HttpAuth http
            when http.scheme().toLowerCase(Locale.ROOT).equals("bearer") -> staticToken(keys, service);
            case null, default -> Optional.empty();
        };
    }

    private Optional<Way> staticToken(KeyManager keys, String service) {
        return keys.apiKey(service)
                .map(key ->
                        new Way(STATIC_TOKEN, left -> new Credential.Token(logins.token(keys, service, key, left))));
    }
}
