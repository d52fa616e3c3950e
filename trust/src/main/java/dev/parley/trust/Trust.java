package dev.parley.trust;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.WireAnswer;
import dev.parley.dialect.WireRequest;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.SecurityRequirement;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.SecurityScheme;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Callers.Caller;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Tells who calls, and turns away who must not.
 *
 * <p>An API key counts before a bearer token. A credential that is wrong is refused even where it could have been left out:
 * its sender believes to be somebody. Safe for any thread.
 */
public final class Trust {
    /** The header of API keys. */
    public static final String KEY_HEADER = "X-Api-Key";

    /** Where tokens are given, below the address of the hub. */
    public static final String TOKEN_PATH = "/oauth/token";

    /** The scope of those who may look after a hub. */
    public static final String ADMIN = "admin";

    private static final String GROUP = "default";
    private static final String BEARER = "Bearer ";

    private final Callers callers;
    private final Authentication everywhere;
    private final Map<String, Authentication> agents;
    private final String service;
    private final Supplier<String> hub;
    private final AccessTokens tokens;
    private final TokenEndpoint endpoint;

    private Trust(Builder settings) {
        this.callers = settings.callers;
        this.everywhere = settings.everywhere;
        this.agents = Map.copyOf(settings.agents);
        this.service = settings.service;
        this.hub = settings.hub;
        this.tokens = new AccessTokens(settings.key, settings.hub, settings.clock);
        this.endpoint = new TokenEndpoint(callers, tokens, new Guesses(settings.clock));
    }

    /** Begins with those who may call. */
    public static Builder builder(Callers callers) {
        return new Builder(callers);
    }

    /**
     * Returns who calls an agent.
     *
     * @param headers of the request, or the metadata of the call, by name in any case
     * @throws A2AException UNAUTHENTICATED or PERMISSION_DENIED, with a challenge
     */
    public CallContext caller(String agent, Function<String, @Nullable String> headers) {
        return caller(of(agent), headers);
    }

    /**
     * Lets those through who may look after the hub: where somebody has to show anything, callers with the scope {@value
     * #ADMIN}; else everybody.
     *
     * @throws A2AException UNAUTHENTICATED or PERMISSION_DENIED, with a challenge
     */
    public void requireAdmin(Function<String, @Nullable String> headers) {
        var schemes = EnumSet.copyOf(everywhere.schemes());
        agents.values().forEach(one -> schemes.addAll(one.schemes()));
        if (schemes.size() > 1) {
            schemes.remove(Scheme.NONE);
        }
        var wanted = new Authentication(schemes, Set.of());
        caller(wanted.isOpen() ? wanted : wanted.withScopes(Set.of(ADMIN)), headers);
    }

    /** The card of an agent with what its callers have to show. */
    public AgentCard card(String agent, AgentCard card) {
        Authentication wanted = of(agent);
        var schemes = new LinkedHashMap<String, SecurityScheme>();
        var requirements = new ArrayList<SecurityRequirement>();
        for (Scheme scheme : wanted.schemes()) {
            if (scheme != Scheme.NONE) {
                String name = schemes.isEmpty() ? service : service + "." + scheme.label();
                schemes.put(name, declared(scheme, wanted));
                requirements.add(new SecurityRequirement(
                        Map.of(name, scheme == Scheme.OAUTH2 ? List.copyOf(wanted.scopes()) : List.of())));
            }
        }
        if (!schemes.isEmpty() && wanted.isOpen()) {
            requirements.add(new SecurityRequirement(Map.of()));
        }
        return card.withSecurity(schemes, requirements);
    }

    private SecurityScheme declared(Scheme scheme, Authentication wanted) {
        return switch (scheme) {
            case NONE -> throw new IllegalArgumentException("nothing is no scheme");
            case API_KEY -> new SecurityScheme.ApiKey(null, "header", KEY_HEADER);
            case BEARER -> new SecurityScheme.HttpAuth(null, "Bearer", null);
            case OAUTH2 -> {
                var scopes = new LinkedHashMap<String, String>();
                wanted.scopes().forEach(scope -> scopes.put(scope, "needed to call this agent"));
                var flow = new SecurityScheme.Flow.ClientCredentials(hub.get() + TOKEN_PATH, null, scopes);
                yield new SecurityScheme.OAuth2(null, flow, null);
            }
        };
    }

    /** Answers a request to the token endpoint. */
    public WireAnswer token(WireRequest request) {
        return endpoint.answer(request);
    }

    private Authentication of(String agent) {
        return agents.getOrDefault(agent, everywhere);
    }

    private CallContext caller(Authentication wanted, Function<String, @Nullable String> headers) {
        String key = wanted.takes(Scheme.API_KEY) ? headers.apply(KEY_HEADER) : null;
        String token = wanted.takes(Scheme.BEARER) || wanted.takes(Scheme.OAUTH2) ? bearer(headers) : null;
        if (key == null && token == null) {
            if (wanted.isOpen()) {
                return CallContext.anonymous();
            }
            throw refused(A2AError.UNAUTHENTICATED, "Authentication required", wanted, "");
        }
        Caller caller = key != null ? callers.byApiKey(key) : byToken(wanted, requireNonNull(token));
        if (caller == null) {
            throw refused(
                    A2AError.UNAUTHENTICATED,
                    key != null ? "The API key is not known" : "The token is not known, or no longer good",
                    wanted,
                    ", error=\"invalid_token\"");
        }
        if (!caller.scopes().containsAll(wanted.scopes())) {
            throw refused(
                    A2AError.PERMISSION_DENIED,
                    "Not all of these scopes were granted: " + String.join(" ", wanted.scopes()),
                    wanted,
                    ", error=\"insufficient_scope\", scope=\"" + String.join(" ", wanted.scopes()) + '"');
        }
        return CallContext.of(caller.name(), new CallContext.Scope(GROUP, caller.name()));
    }

    /** A token speaks for its client as long as that is known, and only for scopes that it still has. */
    private @Nullable Caller byToken(Authentication wanted, String token) {
        Caller fixed = wanted.takes(Scheme.BEARER) ? callers.byToken(token) : null;
        AccessTokens.Grant grant = fixed == null ? tokens.read(token) : null;
        if (grant == null) {
            return fixed;
        }
        Caller now = callers.ofClient(grant.clientId());
        if (now == null || !now.name().equals(grant.caller()) || !now.scopes().containsAll(grant.scopes())) {
            return null;
        }
        return new Caller(now.name(), grant.scopes());
    }

    private static @Nullable String bearer(Function<String, @Nullable String> headers) {
        String header = headers.apply("Authorization");
        return header != null && header.regionMatches(true, 0, BEARER, 0, BEARER.length())
                ? header.substring(BEARER.length()).strip()
                : null;
    }

    /** Source: RFC 6750, section 3. API keys have no registered name there. */
    private static A2AException refused(A2AError error, String message, Authentication wanted, String why) {
        var challenges = new ArrayList<String>();
        if (wanted.takes(Scheme.API_KEY)) {
            challenges.add("ApiKey realm=\"parley\", header=\"" + KEY_HEADER + '"');
        }
        if (wanted.takes(Scheme.BEARER) || wanted.takes(Scheme.OAUTH2)) {
            challenges.add("Bearer realm=\"parley\"" + why);
        }
        return A2AException.refused(error, message, String.join(", ", challenges));
    }

    /** Collects what is wanted of whom; holds the only copy of each default. */
    public static final class Builder {
        private final Callers callers;
        private final Map<String, Authentication> agents = new LinkedHashMap<>();
        private Authentication everywhere = Authentication.NONE;
        private String service = "parley";
        private byte[] key = new byte[32];
        private Supplier<String> hub = () -> "";
        private InstantSource clock = InstantSource.system();

        private Builder(Callers callers) {
            this.callers = requireNonNull(callers, "callers");
            new SecureRandom().nextBytes(key);
        }

        /** What callers of every agent have to show that {@link #agent} does not name; default nothing. */
        public Builder everywhere(Authentication wanted) {
            this.everywhere = requireNonNull(wanted, "wanted");
            return this;
        }

        /** What callers of one agent have to show. */
        public Builder agent(String name, Authentication wanted) {
            agents.put(requireNonNull(name, "name"), requireNonNull(wanted, "wanted"));
            return this;
        }

        /** Under which name clients of AgentVault keep their keys for these agents; default {@code parley}. */
        public Builder service(String service) {
            this.service = requireNonNull(service, "service");
            return this;
        }

        /**
         * Which key signs the tokens; default one that the next start does not know.
         *
         * @param key at least 32 secret bytes
         */
        public Builder tokenKey(byte[] key) {
            this.key = key.clone();
            return this;
        }

        /** The address of the hub, which makes the tokens and for which they are; asked for when there is a server. */
        public Builder hub(Supplier<String> url) {
            this.hub = requireNonNull(url, "url");
            return this;
        }

        /** Tells the time; default the system's. */
        public Builder clock(InstantSource clock) {
            this.clock = requireNonNull(clock, "clock");
            return this;
        }

        /**
         * Ends the settings.
         *
         * @throws IllegalArgumentException if nobody could be let in to some agent
         */
        public Trust build() {
            requireSomebody(everywhere);
            agents.values().forEach(this::requireSomebody);
            return new Trust(this);
        }

        private void requireSomebody(Authentication wanted) {
            for (Scheme scheme : wanted.schemes()) {
                if (!callers.anyBy(scheme)) {
                    throw new IllegalArgumentException(
                            "scheme " + scheme.label() + ": nobody is known by it (expected: one caller at least)");
                }
            }
        }
    }
}
