package dev.parley.trust;

import com.nimbusds.jwt.JWTParser;
import dev.parley.dialect.spi.Arrival;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.dialect.wire.Admission;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.support.AddressRange;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.AuthorizationEndpoint.SignedIn;
import dev.parley.trust.TokenEndpoint.AuthorizationServer;
import dev.parley.trust.tokens.AccessTokens;
import dev.parley.trust.tokens.Clients;
import dev.parley.trust.tokens.Guesses;
import dev.parley.trust.tokens.Guesses.Source;
import dev.parley.trust.tokens.OpenIdSignIn;
import dev.parley.trust.tokens.Proofs;
import dev.parley.trust.tokens.Sessions;
import dev.parley.trust.tokens.Sessions.BrowserSession;
import dev.parley.trust.tokens.Sessions.Credential;
import dev.parley.trust.tokens.Sessions.Kind;
import dev.parley.trust.tokens.SignIns;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Collections;
import java.util.Date;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Authenticates callers and refuses those without permission.
 *
 * <p>An API key counts before a bearer token. A wrong credential is refused even where none is required:
 * its sender expects to be authenticated. Safe for any thread.
 */
public final class Trust {
    /** Path at which users allow clients to call as them, below the address of the hub. */
    public static final String AUTHORIZE_PATH = ResourceMetadata.AUTHORIZE_PATH;

    /** Path at which clients register themselves, below the address of the hub. */
    public static final String REGISTER_PATH = ResourceMetadata.REGISTER_PATH;

    /** Path of the token endpoint, below the address of the hub. */
    public static final String TOKEN_PATH = ResourceMetadata.TOKEN_PATH;

    /** Maximum length of a request to {@link #TOKEN_PATH}. */
    public static final int MAX_FORM_BYTES = Form.MAX_BYTES;

    /** Path of the metadata about protected resources, below the address of the hub. */
    public static final String RESOURCE_PATH = ResourceMetadata.PATH;

    /** Path of the metadata of the token endpoint, below the address of the hub. */
    public static final String SERVER_PATH = ResourceMetadata.SERVER_PATH;

    /** Scope of operators of a hub. */
    public static final String ADMIN = Principal.ADMIN;

    /** Scope for reading the metrics of a hub. */
    public static final String METRICS = Principal.METRICS;

    /** Wrong credentials from one address, within a minute. */
    private static final int MAX_WRONG = 30;

    private static final String AUTHENTICATION_REQUIRED = "Authentication required";
    private static final Principal ANYBODY =
            new Principal(Principal.DEFAULT_GROUP, CallContext.anonymous().caller(), Set.of());
    private static final String OF_AGENTS = "/agents/";
    private static final String BEARER = "Bearer ";
    private static final String DPOP = "DPoP ";
    private static final String BASIC = "Basic ";

    /** Scopes that skills require, by the names of their agents. */
    private final Map<String, Set<String>> scopesOfSkills = new ConcurrentHashMap<>();

    private final Callers callers;
    private final @Nullable Directory directory;
    private final AgentScopes policy;
    private final Limits limits;
    private final Denials denials;
    private final Guesses guesses;
    private final Authentication everywhere;
    private final Map<String, Authentication> agents;
    private final Supplier<String> hub;
    private final AccessTokens tokens;
    private final ForeignTokens foreignTokens;
    private final List<String> issuers;
    private final RequiredCredentials credentials;
    private final String keyHeader;
    private final int mostAgents;
    private final Proofs proofs;
    private final TokenEndpoint endpoint;
    private final @Nullable AuthorizationEndpoint authorization;
    private final @Nullable SignIns signIns;
    private final @Nullable SessionCredentials sessions;
    private final SessionEndpoint sessionEndpoint;
    private volatile boolean takesSessions;
    private final boolean protectCards;
    private final Map<String, List<AddressRange>> cardAddresses;
    /** Operations of open agents for callers without credentials, by the names of the agents. */
    private final Map<String, Set<String>> open = new ConcurrentHashMap<>();

    Trust(TrustBuilder settings) {
        this.callers = settings.callers;
        this.directory = settings.directory;
        this.policy = new AgentScopes(settings.policy);
        this.limits = new Limits(settings.limits, settings.clock);
        this.mostAgents = settings.mostAgents;
        this.denials = new Denials(settings.audit, settings.clock);
        this.guesses = new Guesses(settings.clock, MAX_WRONG);
        this.everywhere = settings.everywhere;
        this.agents = Map.copyOf(settings.agents);
        this.hub = settings.hub;
        this.tokens = new AccessTokens(settings.key, settings.hub, settings.clock);
        this.issuers = List.copyOf(settings.issuers);
        this.keyHeader = settings.keyHeader;
        this.credentials = new RequiredCredentials(
                settings.service,
                issuers,
                List.copyOf(settings.flows),
                keyHeader,
                callers.anyBy(Scheme.OAUTH2),
                directory != null,
                hub);
        this.foreignTokens =
                new ForeignTokens(settings.issuers, settings::audiences, settings.groupClaim, settings.clock);
        this.proofs = new Proofs(settings.clock);
        this.protectCards = settings.protectCards;
        this.cardAddresses = Map.copyOf(settings.cardAddresses);
        // Tokens of users are good where tokens of the hub are.
        boolean hasUsers = directory != null
                && Stream.concat(Stream.of(everywhere), agents.values().stream())
                        .anyMatch(each -> each.takes(Scheme.BEARER) || each.takes(Scheme.OAUTH2));
        this.signIns = hasUsers && directory != null ? directory.signIns(settings.key) : null;
        var clients = new Clients(settings.key);
        this.endpoint = new TokenEndpoint(
                callers,
                tokens,
                proofs,
                settings.hub,
                signIns == null ? null : new AuthorizationServer(clients, signIns, this::stillGranted),
                settings.clock);
        this.authorization = signIns == null
                ? null
                : new AuthorizationEndpoint(clients, signIns, this::signedIn, this::take, settings.hub, settings.clock);
        Authentication wanted = everywhere();
        Sessions begun = directory == null || !wanted.takes(Scheme.API_KEY) && !wanted.takesTokens()
                ? null
                : directory.sessions(settings.key);
        this.sessions = begun == null ? null : new SessionCredentials(begun, keyHeader, hub);
        OpenIdSignIn openId = settings.openIdClient == null
                ? null
                : new OpenIdSignIn(
                        foreignTokens.issuer(issuers.getFirst()),
                        settings.openIdClient,
                        String.join(
                                " ",
                                Stream.concat(
                                                Stream.of("openid"),
                                                everywhere.scopes().stream().sorted())
                                        .toList()),
                        hub,
                        () -> Collections.min(settings.audiences()),
                        guesses);
        this.sessionEndpoint = new SessionEndpoint(
                wanted,
                everywhere.isOpen(),
                begun,
                sessions,
                openId,
                (arrival, isRecorded) ->
                        isRecorded ? recorded("hub", "session", wanted, arrival) : caller(wanted, arrival),
                this::expiry,
                this::keyId,
                this::take,
                hub);
    }

    /** Creates a builder with the callers of the configuration and those of the directory, if there is one. */
    public static TrustBuilder builder(Callers callers, @Nullable Directory directory) {
        return new TrustBuilder(callers, directory);
    }

    /**
     * Authenticates and admits a call of an agent.
     *
     * @throws A2AException UNAUTHENTICATED or PERMISSION_DENIED, with a challenge; RATE_LIMITED after too many failed
     *     attempts or calls; METHOD_NOT_FOUND if the agent is hidden from the caller; UNAVAILABLE if the issuer of its
     *     token does not answer
     */
    public Admission admit(String agent, Arrival call) {
        Arrival arrival = resolved(call);
        Authentication wanted = of(agent);
        Principal caller = recorded(agent, "", wanted, arrival);
        return caller == null && open.containsKey(agent) && !everywhere.isOpen()
                ? admitUnauthenticated(agent, arrival)
                : admit(agent, caller, withToken(context(caller, arrival), wanted, arrival), wanted, arrival);
    }

    /** A request with the credential of its session, if that counts. */
    private Arrival resolved(Arrival arrival) {
        return sessions == null || !takesSessions ? arrival : sessions.resolved(arrival);
    }

    /** Takes sessions of browsers for credentials: the hub has pages that begin and end them. To be called before the first request. */
    public void takeSessions() {
        takesSessions = true;
    }

    /** The context with the token of the caller if a trusted issuer has given it: agents elsewhere may get another one for it. */
    private CallContext withToken(CallContext context, Authentication wanted, Arrival arrival) {
        if (issuers.isEmpty()) {
            return context;
        }
        Token token = wanted.takes(Scheme.API_KEY) && apiKey(arrival) != null ? null : token(wanted, arrival);
        return token != null && token.scheme().equals(BEARER) && foreignTokens.known(token.text()) != null
                ? context.withToken(token.text())
                : context;
    }

    /**
     * Admits a call as one of a caller without credentials.
     *
     * @throws A2AException as {@link #admit(String, Arrival)}; UNAUTHENTICATED if the agent is not open
     */
    public Admission admitUnauthenticated(String agent, Arrival arrival) {
        Authentication wanted = of(agent);
        CallContext context = CallContext.unauthenticated(arrival.address());
        if (!wanted.isOpen()) {
            throw unauthenticated(agent, "", context);
        }
        return admit(agent, principal(context), context, wanted, arrival);
    }

    private Admission admit(
            String agent, @Nullable Principal caller, CallContext context, Authentication wanted, Arrival arrival) {
        Principal known = caller == null ? ANYBODY : caller;
        if (!policy.knows(known, agent)) {
            denials.note(context, agent, "", "", "hidden by the policy");
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is nothing at this address");
        }
        Limits.Taken taken = limits.take(caller, known.group(), agent);
        return new Admission(
                policy.isShared(agent) ? context.sharing() : context,
                taken.headers(),
                taken.giveBack(),
                () -> caller == null || context.isUnauthenticated() || isStillWelcome(caller, wanted, arrival));
    }

    /**
     * Opens an agent to callers without credentials, unless the settings name its authentication. Others are authenticated as those of any
     * agent. To be called before the agent is hosted.
     *
     * @param operations names of the operations that callers without credentials may call
     */
    public void open(String agent, Set<String> operations) {
        if (!agents.containsKey(agent)) {
            open.put(agent, Set.copyOf(operations));
        }
    }

    /** Refuses an operation that a caller without credentials may not call. */
    void requireOpen(String agent, String operation, CallContext context) {
        if (context.isUnauthenticated() && !open.getOrDefault(agent, Set.of()).contains(operation)) {
            throw unauthenticated(agent, operation, context);
        }
    }

    private A2AException unauthenticated(String agent, String operation, CallContext context) {
        denials.note(context, agent, operation, "", AUTHENTICATION_REQUIRED);
        return refused(A2AError.UNAUTHENTICATED, AUTHENTICATION_REQUIRED, agents.getOrDefault(agent, everywhere), "");
    }

    private static Principal principal(CallContext context) {
        return new Principal(context.scope().group(), context.caller(), context.grants());
    }

    /** Whether a caller may know of an agent. */
    public boolean knows(CallContext caller, String agent) {
        return policy.knows(principal(caller), agent)
                && isShownAt(caller.address(), agent)
                && !(caller.isUnauthenticated() && protectCards && !of(agent).isOpen());
    }

    /** Whether the card of an agent is shown at an address; the hub itself, which has none, sees all. */
    private boolean isShownAt(String address, String agent) {
        List<AddressRange> ranges = cardAddresses.get(agent);
        return ranges == null
                || address.isEmpty()
                || AddressRange.literal(address)
                        .filter(from -> ranges.stream().anyMatch(range -> range.holds(from)))
                        .isPresent();
    }

    /**
     * Whether the policy and the scopes of a skill let a caller call an operation of an agent.
     *
     * @param card of the agent
     * @param skill id of the skill for which a message is; null for none
     */
    public boolean allows(CallContext caller, String agent, AgentCard card, String operation, @Nullable String skill) {
        boolean enforces = !of(agent).equals(Authentication.NONE);
        return knows(caller, agent)
                && policy.refusal(new Policy.Attempt(principal(caller), agent, operation, skill)) == null
                && (!enforces
                        || card.skills().stream()
                                .filter(each -> each.id().equals(skill))
                                .allMatch(each ->
                                        Guard.missing(each, caller.grants()).isEmpty()));
    }

    /** Whether the settings name the authentication of an agent, and it is not the one of the hub. */
    public boolean hasOwnAuthentication(String agent) {
        return !agents.getOrDefault(agent, everywhere).equals(everywhere);
    }

    /**
     * Whether an agent admits a caller that the hub has admitted: it takes all credentials that the hub takes, and the caller has the scopes
     * that it requires. The kind of the caller's credential is not known any more, so that an agent that takes fewer kinds admits none.
     */
    public boolean admits(CallContext caller, String agent) {
        Authentication wanted = of(agent);
        return wanted.schemes().containsAll(everywhere.schemes())
                && caller.grants().containsAll(wanted.scopes());
    }

    /**
     * Counts a call that is made in the process, within another call of its caller, against the limits of requests.
     *
     * @return gives the call back at its end
     * @throws A2AException RATE_LIMITED
     */
    public Runnable count(CallContext caller, String agent) {
        Principal principal =
                caller.caller().equals(ANYBODY.name()) && !caller.isUnauthenticated() ? null : principal(caller);
        return limits.takeWithin(principal, caller.scope().group(), agent).giveBack();
    }

    /** The context of a caller as an agent sees it: with the caller's own tasks, or those of its group if the agent shares them. */
    public CallContext toward(String agent, CallContext caller) {
        return policy.isShared(agent) ? caller.sharing() : caller.own();
    }

    /**
     * Returns whether a call has no credentials at all, and no agent is open to anonymous callers by the settings. Calls of agents of
     * extensions that are open are small.
     */
    public boolean lacksCredentials(Arrival arrival) {
        return arrival.certificate() == null
                && arrival.header("Authorization") == null
                && apiKey(arrival) == null
                && SessionCredentials.of(resolved(arrival)) == null
                && !everywhere.isOpen()
                && agents.values().stream().noneMatch(Authentication::isOpen);
    }

    /** Whether the caller and its key are still enabled. A token that expires meanwhile changes nothing. */
    private boolean isStillWelcome(Principal caller, Authentication wanted, Arrival arrival) {
        if (!isWelcome(caller.group(), caller.name()) || sessions != null && !sessions.isOpen(arrival)) {
            return false;
        }
        BrowserSession session = SessionCredentials.of(arrival);
        if (session != null && session.credential().kind() == Kind.KEY_ID) {
            return directory != null && directory.byId(session.credential().text()) != null;
        }
        String key = wanted.takes(Scheme.API_KEY) ? apiKey(arrival) : null;
        Token token = key == null ? token(wanted, arrival) : null;
        if (token != null && token.scheme().equals(BASIC)) {
            return byPassword(token.text()) != null;
        }
        String secret = key == null && token != null ? token.text() : key;
        return secret == null || !secret.startsWith(Directory.KEY_PREFIX) || byApiKey(secret) != null;
    }

    /** False if the group is archived or the member disabled. */
    public boolean isWelcome(String group, String name) {
        return directory == null || directory.isWelcome(group, name);
    }

    /**
     * Returns the agents whose cards a caller sees, and which it sees on the list of agents. Its credentials are checked once for each authentication,
     * because a proof is valid only once, and a wrong key counts as one failed attempt.
     *
     * @param protectCards whether cards are shown only to callers of the agent
     */
    public Predicate<String> shown(Arrival call, boolean protectCards) {
        Arrival arrival = resolved(call);
        var callers = new HashMap<Authentication, Optional<Principal>>();
        return agent -> isShownAt(arrival.address(), agent)
                && callers.computeIfAbsent(of(agent), wanted -> listed(wanted, arrival, protectCards))
                        .filter(caller -> policy.knows(caller, agent))
                        .isPresent();
    }

    /** Whether callers without credentials see the card of an agent at every address, if cards are not protected. */
    public boolean isShownToAll(String agent) {
        return !cardAddresses.containsKey(agent) && policy.knows(ANYBODY, agent);
    }

    private Optional<Principal> listed(Authentication wanted, Arrival arrival, boolean protectCards) {
        try {
            Principal caller = caller(wanted, arrival);
            return Optional.of(caller == null ? ANYBODY : caller);
        } catch (A2AException refused) {
            return protectCards ? Optional.empty() : Optional.of(ANYBODY);
        }
    }

    private static CallContext context(@Nullable Principal caller, Arrival arrival) {
        return caller == null
                ? CallContext.anonymous().withGrants(Set.of(), arrival.address())
                : caller.context(arrival.address());
    }

    /** Authenticates as {@link #caller} does, and records refusals, with the principal's name if known. */
    private @Nullable Principal recorded(String target, String operation, Authentication wanted, Arrival arrival) {
        Principal caller = null;
        try {
            caller = identified(wanted, arrival);
            requireWelcome(caller, wanted, arrival);
            return caller;
        } catch (A2AException refusal) {
            denials.note(context(caller, arrival), target, operation, "", String.valueOf(refusal.getMessage()));
            throw refusal;
        }
    }

    /**
     * Returns the authorization filter of an agent.
     *
     * @param card the public card
     * @param more skills that only its extended card has
     */
    public Guard guard(AgentCard card, List<Skill> more, String agent) {
        boolean enforces = !of(agent).equals(Authentication.NONE);
        Policy rules = enforces ? policy : policy.policy(); // callers without authentication have no scopes
        return new Guard(agent, card, more, rules, enforces, mostAgents, denials, this::requireOpen);
    }

    /** The endpoint of the hub's administration behind the policy, which knows each operation by its name. */
    public AgentEndpoint administered(AgentEndpoint endpoint) {
        return new AgentEndpoint() {
            @Override
            public <R> R call(Operation.Call<R> operation, CallContext operator) {
                var caller = new Principal(operator.scope().group(), operator.caller(), operator.grants());
                Policy.Refusal refusal = policy.administration(new Policy.Attempt(caller, "", operation.name(), null));
                if (refusal != null) {
                    denials.note(operator, "hub", operation.name(), "", refusal.reason());
                    throw refusal.missing().isEmpty()
                            ? A2AException.of(A2AError.PERMISSION_DENIED, refusal.reason())
                            : Guard.lacking(refusal.missing(), operator);
                }
                return endpoint.call(operation, operator);
            }

            @Override
            public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext operator) {
                throw A2AException.of(A2AError.UNSUPPORTED_OPERATION);
            }
        };
    }

    /** Admits administrators of the hub, as {@link #require} does: callers with the scope {@value #ADMIN}. */
    public CallContext requireAdmin(Arrival arrival) {
        return require(ADMIN, arrival);
    }

    /** Admits administrators of the hub and those of a group, to operations that show the latter only their group. */
    public CallContext requireGroupAdmin(Arrival arrival) {
        Authentication wanted = everywhere();
        CallContext caller = context(recorded("hub", arrival.method(), wanted, resolved(arrival)), arrival);
        if (!wanted.isOpen() && Collections.disjoint(caller.grants(), List.of(ADMIN, Principal.GROUP_ADMIN))) {
            denials.note(caller, "hub", arrival.method(), "", "Not granted: " + Principal.GROUP_ADMIN);
            throw Guard.lacking(Set.of(Principal.GROUP_ADMIN), caller);
        }
        return caller;
    }

    /** The group to which an operator is limited; null for an administrator of the hub. */
    public static @Nullable String groupOf(CallContext operator) {
        Set<String> grants = operator.grants();
        return grants.contains(Principal.GROUP_ADMIN) && !grants.contains(ADMIN)
                ? operator.scope().group()
                : null;
    }

    /**
     * Admits callers to addresses that belong to no agent: with authentication, callers with {@code scope}; else all. Returns the
     * caller.
     *
     * @throws A2AException UNAUTHENTICATED or PERMISSION_DENIED, with a challenge
     */
    public CallContext require(String scope, Arrival arrival) {
        Authentication wanted = everywhere();
        Authentication scoped = wanted.isOpen() ? wanted : wanted.withScopes(Set.of(scope));
        return context(recorded("hub", arrival.method(), scoped, resolved(arrival)), arrival);
    }

    /** Authentication at addresses that belong to no agent. */
    private Authentication everywhere() {
        var schemes = EnumSet.copyOf(everywhere.schemes());
        agents.values().forEach(one -> schemes.addAll(one.schemes()));
        if (schemes.size() > 1) {
            schemes.remove(Scheme.NONE);
        }
        return new Authentication(schemes, Set.of());
    }

    /** Adds the required credentials of callers to the card of an agent. */
    public AgentCard card(String agent, AgentCard card) {
        scopesOfSkills.put(
                agent,
                card.skills().stream()
                        .flatMap(skill -> skill.securityRequirements().stream())
                        .flatMap(one -> one.schemes().values().stream())
                        .flatMap(List::stream)
                        .collect(Collectors.toUnmodifiableSet()));
        return credentials.declared(card, of(agent));
    }

    /** Tells clients where to get tokens for this hub, and of what kind. */
    public WireAnswer metadata(WireRequest request) {
        var scopes = new TreeSet<String>(everywhere.scopes());
        agents.values().forEach(one -> scopes.addAll(one.scopes()));
        if (!scopes.isEmpty()) { // clients request these and no others
            scopesOfSkills.values().forEach(scopes::addAll);
        }
        return new ResourceMetadata(hub.get(), callers.anyBy(Scheme.OAUTH2), authorization != null, issuers, scopes)
                .answer(request);
    }

    /** Answers a browser that a client has sent for the consent of its user. */
    public WireAnswer authorize(WireRequest request) {
        return server().authorize(request);
    }

    /** Answers a client that registers itself. */
    public WireAnswer register(WireRequest request) {
        return server().register(request);
    }

    private AuthorizationEndpoint server() {
        if (authorization == null) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is nothing at this address");
        }
        return authorization;
    }

    /** The user of an API key; null if it is not known, or no longer good. */
    private @Nullable SignedIn signedIn(String key) {
        Principal user = byApiKey(key);
        if (user == null || !isWelcome(user.group(), user.name())) {
            return null;
        }
        return new SignedIn(user, directory == null || callers.byApiKey(key) != null ? "" : directory.idOf(key));
    }

    /** Has sessions show the state of the hub. */
    public void show(Supplier<HubState> state) {
        sessionEndpoint.show(state);
    }

    /** Answers a page of the hub about the session of its browser: {@code GET} shows it, {@code POST} begins and {@code DELETE} ends one. */
    public WireAnswer session(WireRequest request) {
        return sessionEndpoint.answer(request);
    }

    /** Takes a sign-in from the limits of its user and group, as a call; returns what gives it back. */
    private Runnable take(Principal user) {
        return limits.take(user, user.group(), "").giveBack();
    }

    /** Id of an API key of the directory, as a key or a token; empty for other credentials. It was found to be good. */
    private String keyId(Credential credential) {
        String text = credential.text();
        boolean isConfigured =
                (credential.kind() == Kind.TOKEN ? callers.byToken(text) : callers.byApiKey(text)) != null;
        return isConfigured || directory == null ? "" : directory.idOf(text);
    }

    /** Expiry of a credential; null for never. */
    private @Nullable Instant expiry(Credential credential) {
        if (directory != null && credential.text().startsWith(Directory.KEY_PREFIX)) {
            return directory.expiry(credential.text());
        }
        try {
            Date end = JWTParser.parse(credential.text()).getJWTClaimsSet().getExpirationTime();
            return end == null ? null : end.toInstant();
        } catch (ParseException noJwt) {
            return null;
        }
    }

    /** Answers a request to the token endpoint. */
    public WireAnswer token(WireRequest request) {
        return endpoint.answer(request);
    }

    private Authentication of(String agent) {
        return open.containsKey(agent) ? everywhere.opened() : agents.getOrDefault(agent, everywhere);
    }

    /** Returns the caller; null if it is anonymous and may be. */
    private @Nullable Principal caller(Authentication wanted, Arrival arrival) {
        Principal caller = identified(wanted, arrival);
        requireWelcome(caller, wanted, arrival);
        return caller;
    }

    /** The API key of a request: in the header that cards name, or in the usual one, which AgentVault's clients know only. */
    private @Nullable String apiKey(Arrival arrival) {
        String key = arrival.header(keyHeader);
        return key == null ? arrival.header(Authentication.KEY_HEADER) : key;
    }

    private @Nullable Principal identified(Authentication wanted, Arrival arrival) {
        BrowserSession session = SessionCredentials.of(arrival);
        Principal certified = certified(wanted, arrival);
        if (session != null && certified != null) {
            return certified; // a credential of the request itself
        }
        if (session != null && session.credential().kind() == Kind.KEY_ID) {
            return byKeyId(session.credential().text(), wanted, arrival);
        }
        String key = wanted.takes(Scheme.API_KEY) ? apiKey(arrival) : null;
        Token token = token(wanted, arrival);
        if (key == null && token == null && certified == null) {
            if (wanted.isOpen()) {
                return null;
            }
            if (session != null) {
                throw wrong(wanted, arrival);
            }
            throw refused(A2AError.UNAUTHENTICATED, AUTHENTICATION_REQUIRED, wanted, "");
        }
        Principal caller = key != null ? byApiKey(key) : token != null ? byToken(wanted, token, arrival) : certified;
        if (caller == null) {
            throw wrong(wanted, arrival);
        }
        return caller;
    }

    /** The owner of the key of a session. Keys of the directory are good as API keys and as bearer tokens. */
    private @Nullable Principal byKeyId(String id, Authentication wanted, Arrival arrival) {
        boolean isTaken = wanted.takes(Scheme.API_KEY) || wanted.takes(Scheme.BEARER);
        Principal owner = isTaken && directory != null ? directory.byId(id) : null;
        if (owner == null && (isTaken || !wanted.isOpen())) {
            throw wrong(wanted, arrival);
        }
        return owner;
    }

    private void requireWelcome(@Nullable Principal caller, Authentication wanted, Arrival arrival) {
        if (caller == null) {
            return;
        }
        if (!isWelcome(caller.group(), caller.name())) {
            throw wrong(wanted, arrival);
        }
        if (!caller.scopes().containsAll(wanted.scopes())) {
            var needed = new TreeSet<>(wanted.scopes());
            needed.addAll(caller.scopes()); // clients request those of the challenge, and no others
            throw refused(
                    A2AError.PERMISSION_DENIED,
                    "Not all of these scopes were granted: " + String.join(" ", wanted.scopes()),
                    wanted,
                    ", error=\"insufficient_scope\", scope=\"" + String.join(" ", needed) + '"');
        }
    }

    /** Rate-limits wrong credentials by address. Right ones are admitted all the same: several callers may share the address. */
    private A2AException wrong(Authentication wanted, Arrival arrival) {
        if (SessionCredentials.of(arrival) != null) { // it began with a right one
            String message = "The credential of the session is not good here, or no longer";
            return refused(A2AError.UNAUTHENTICATED, message, wanted, "");
        }
        boolean key = wanted.takes(Scheme.API_KEY) && apiKey(arrival) != null;
        var source = new Source(arrival.address(), null);
        Duration pause = guesses.pause(source);
        if (!pause.isZero()) {
            return A2AException.of(A2AError.RATE_LIMITED, "Too many wrong credentials")
                    .retryingAfter(pause);
        }
        guesses.wrong(source);
        return refused(
                A2AError.UNAUTHENTICATED,
                key ? "The API key is not known" : "The token is not known, or no longer good",
                wanted,
                ", error=\"invalid_token\"");
    }

    private @Nullable Principal certified(Authentication wanted, Arrival arrival) {
        X509Certificate certificate = arrival.certificate();
        return certificate == null || !wanted.takes(Scheme.MUTUAL_TLS) ? null : callers.byCertificate(certificate);
    }

    private @Nullable Principal byApiKey(String key) {
        Principal configured = callers.byApiKey(key);
        return configured != null || directory == null ? configured : directory.byKey(key);
    }

    /**
     * Identifies the caller of an API key, or of a token of the hub or of a trusted issuer, that came in a message; empty if it is not good.
     * Tokens that are bound to a key or a certificate are not: there is no proof of it.
     *
     * @throws A2AException UNAVAILABLE if the issuer of a token does not answer
     */
    public Optional<CallContext> identify(String credential) {
        String text = credential.regionMatches(true, 0, BEARER, 0, BEARER.length())
                ? credential.substring(BEARER.length()).strip()
                : credential;
        Principal caller = byApiKey(text);
        if (caller == null) {
            caller = callers.byToken(text);
        }
        if (caller == null) {
            AccessTokens.Grant grant = tokens.read(text);
            ForeignTokens.Foreign foreign = grant == null ? foreignTokens.read(text) : null;
            caller = grant != null && grant.boundTo() == null
                    ? stillGranted(grant)
                    : foreign != null && foreign.boundTo() == null && foreign.mayComeWith(null)
                            ? foreign.principal()
                            : null;
        }
        return caller == null || !isWelcome(caller.group(), caller.name())
                ? Optional.empty()
                : Optional.of(caller.context(""));
    }

    /** Returns the caller with these credentials; null if there is none. API keys may come as bearer tokens too. */
    private @Nullable Principal byToken(Authentication wanted, Token token, Arrival arrival) {
        if (token.scheme().equals(BASIC)) {
            return wanted.takes(Scheme.BASIC) ? byPassword(token.text()) : null;
        }
        if (wanted.takes(Scheme.BEARER) && token.scheme().equals(BEARER)) {
            Principal fixed = callers.byToken(token.text());
            if (fixed == null && directory != null && token.text().startsWith(Directory.KEY_PREFIX)) {
                fixed = directory.byKey(token.text());
            }
            if (fixed != null) {
                return fixed;
            }
        }
        boolean foreign = wanted.takes(Scheme.BEARER) || wanted.takes(Scheme.OPEN_ID);
        ForeignTokens.Foreign read = foreign ? foreignTokens.known(token.text()) : null;
        boolean ours = read == null && (wanted.takes(Scheme.BEARER) || wanted.takes(Scheme.OAUTH2));
        AccessTokens.Grant grant = ours ? tokens.read(token.text()) : null;
        if (grant != null && !isFor(grant, arrival)) {
            return null;
        }
        if (grant != null) {
            requireProof(wanted, token, grant.boundTo(), arrival);
            return stillGranted(grant);
        }
        if (read == null && foreign) {
            read = foreignTokens.read(token.text());
        }
        if (read == null) {
            return null;
        }
        requireProof(wanted, token, read.boundTo(), arrival);
        return read.mayComeWith(arrival.certificate()) ? read.principal() : null;
    }

    /** A token that the hub made speaks for its client as long as that is known, and only for scopes that it still has. */
    private @Nullable Principal stillGranted(AccessTokens.Grant grant) {
        AccessTokens.Session session = grant.session();
        Principal now = session == null ? callers.ofClient(grant.clientId()) : user(grant.caller(), session);
        if (now == null || !now.name().equals(grant.caller()) || !now.scopes().containsAll(grant.scopes())) {
            return null;
        }
        return new Principal(now.group(), now.name(), grant.scopes());
    }

    /** The user of a sign-in as its API key has it now; null if it has ended. */
    private @Nullable Principal user(String name, AccessTokens.Session session) {
        if (signIns == null || signIns.isRevoked(session.id())) {
            return null;
        }
        Principal now =
                session.key().isEmpty() || directory == null ? callers.named(name) : directory.byId(session.key());
        return now != null && now.group().equals(session.group()) ? now : null;
    }

    /**
     * Whether a call is at the address for which a token is. One for an agent is good at its address only; others, such as that of
     * {@code /mcp}, lead to all agents, as that of the hub. Source: RFC 8707, section 2.
     */
    private boolean isFor(AccessTokens.Grant grant, Arrival arrival) {
        AccessTokens.Session session = grant.session();
        String below =
                session == null ? "" : session.resource().substring(hub.get().length());
        return !below.startsWith(OF_AGENTS)
                || arrival.path().equals(below)
                || arrival.path().startsWith(below + "/");
    }

    /** The password is an API key of the user. */
    private @Nullable Principal byPassword(String credentials) {
        try {
            String pair = new String(Base64.getDecoder().decode(credentials), StandardCharsets.UTF_8);
            int colon = pair.indexOf(':');
            Principal owner = colon < 0 ? null : byApiKey(pair.substring(colon + 1));
            return owner != null && owner.name().equals(pair.substring(0, colon)) ? owner : null;
        } catch (IllegalArgumentException malformed) {
            return null;
        }
    }

    /** A token that is bound to a key is valid only with a proof by that key; a proof requires a bound token. */
    private void requireProof(Authentication wanted, Token token, @Nullable String boundTo, Arrival arrival) {
        if (boundTo == null && token.scheme().equals(BEARER)) {
            return;
        }
        if (boundTo == null
                || !token.scheme().equals(DPOP)
                || !proofs.isHeld(arrival, hub.get() + arrival.path(), token.text(), boundTo)) {
            throw A2AException.refused(
                    A2AError.UNAUTHENTICATED,
                    "The token is bound to a key, of which there is no proof that fits",
                    "DPoP error=\"invalid_dpop_proof\", algs=\"" + String.join(" ", Proofs.ALGORITHMS) + "\", "
                            + credentials.challenge(wanted, ""));
        }
    }

    private record Token(String scheme, String text) {}

    private static @Nullable Token token(Authentication wanted, Arrival arrival) {
        String header = arrival.header("Authorization");
        if (header != null && (wanted.takesTokens() || wanted.takes(Scheme.BASIC))) {
            for (String scheme : List.of(BEARER, DPOP, BASIC)) {
                if (header.regionMatches(true, 0, scheme, 0, scheme.length())) {
                    return new Token(scheme, header.substring(scheme.length()).strip());
                }
            }
        }
        return null;
    }

    private A2AException refused(A2AError error, String message, Authentication wanted, String why) {
        String challenge = credentials.challenge(wanted, why);
        return challenge.isEmpty() ? A2AException.of(error, message) : A2AException.refused(error, message, challenge);
    }
}
