package dev.parley.trust;

import dev.parley.dialect.spi.RequestHead;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.dialect.wire.AuthenticationResult;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.support.AddressRange;
import dev.parley.store.spi.ModuleTables;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.TokenEndpoint.AuthorizationServer;
import dev.parley.trust.oauth.OAuthParameters;
import dev.parley.trust.shared.Buckets;
import dev.parley.trust.shared.SharedProofs;
import dev.parley.trust.tokens.AccessTokens;
import dev.parley.trust.tokens.Clients;
import dev.parley.trust.tokens.OpenIdSignIn;
import dev.parley.trust.tokens.Proofs;
import dev.parley.trust.tokens.SecretAttempts;
import dev.parley.trust.tokens.SignIns;
import dev.parley.trust.tokens.TrustTables;
import java.util.Collections;
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
    /** Tables of groups, users, keys and sessions. */
    public static final ModuleTables TABLES = TrustTables.TABLES;

    /** Maximum length of a request to an endpoint of OAuth. */
    public static final int MAX_FORM_BYTES = OAuthParameters.MAX_BYTES;

    /**
     * What users of the pages of a hub have to know of it at present.
     *
     * @param isDrained whether it takes no new tasks
     * @param problems promises that do not hold, as sentences for all users without a full stop, with their reasons for operators
     */
    public record HubState(boolean isDrained, Map<String, String> problems) {
        public HubState {
            problems = Map.copyOf(problems);
        }
    }

    /** Wrong credentials from one address, within a minute. */
    private static final int MAX_WRONG = 30;

    private static final Principal ANYBODY =
            new Principal(Principal.DEFAULT_GROUP, CallContext.anonymous().caller(), Set.of());

    /** Scopes that skills require, by the names of their agents. */
    private final Map<String, Set<String>> scopesOfSkills = new ConcurrentHashMap<>();

    private final Accounts accounts;
    private final AgentScopes policy;
    private final Limits limits;
    private final Denials denials;
    private final Authentication everywhere;
    private final Map<String, Authentication> agents;
    private final Supplier<String> hub;
    private final RequiredCredentials required;
    private final Credentials credentials;
    private final int mostAgents;
    private final TokenEndpoint endpoint;
    private final @Nullable AuthorizationEndpoint authorization;
    private final @Nullable SessionCredentials sessions;
    private final SessionEndpoint sessionEndpoint;
    private volatile boolean takesSessions;
    private final boolean protectCards;
    private final Map<String, List<AddressRange>> cardAddresses;
    /** Operations of open agents for callers without credentials, by the names of the agents. */
    private final Map<String, Set<String>> open = new ConcurrentHashMap<>();

    Trust(TrustBuilder settings) {
        Callers callers = settings.callers;
        Directory directory = settings.directory;
        this.accounts = new Accounts(callers, directory);
        this.policy = new AgentScopes(settings.policy);
        this.limits = new Limits(
                settings.limits, settings.clock, directory == null ? null : Buckets.of(directory.database()));
        this.mostAgents = settings.mostAgents;
        this.denials = new Denials(settings.audit, settings.clock);
        this.everywhere = settings.everywhere;
        this.agents = Map.copyOf(settings.agents);
        this.hub = settings.hub;
        this.protectCards = settings.protectCards;
        this.cardAddresses = Map.copyOf(settings.cardAddresses);
        this.required = settings.required();
        // Tokens of users are good where tokens of the hub are.
        boolean hasUsers = Stream.concat(Stream.of(everywhere), agents.values().stream())
                .anyMatch(each -> each.takes(Scheme.BEARER) || each.takes(Scheme.OAUTH2));
        SignIns signIns = directory != null && hasUsers ? directory.signIns(settings.key) : null;
        var tokens = new AccessTokens(settings.key, hub, settings.clock);
        var grants = new Grants(accounts, tokens, signIns, hub);
        var foreignTokens = new ForeignTokens(
                settings.issuers, settings.allowed, settings::audiences, settings.groupClaim, settings.clock);
        var proofs = new Proofs(settings.clock, directory == null ? null : SharedProofs.of(directory.database()));
        var guesses = new SecretAttempts(settings.clock, MAX_WRONG);
        this.credentials = new Credentials(accounts, grants, foreignTokens, proofs, required, guesses, denials);
        var clients = new Clients(settings.key);
        this.endpoint = new TokenEndpoint(
                callers,
                tokens,
                proofs,
                hub,
                signIns == null ? null : new AuthorizationServer(clients, signIns, grants::holder),
                new SecretAttempts(settings.clock, TokenEndpoint.MAX_WRONG));
        this.authorization = signIns == null
                ? null
                : new AuthorizationEndpoint(
                        clients,
                        signIns,
                        credentials::signedIn,
                        this::take,
                        hub,
                        new SecretAttempts(settings.clock, TokenEndpoint.MAX_WRONG),
                        settings.clock);
        Authentication wanted = everywhere();
        boolean hasSessions = wanted.takes(Scheme.API_KEY) || wanted.takesTokens();
        this.sessions = directory == null || !hasSessions
                ? null
                : new SessionCredentials(directory.sessions(settings.key), required.keyHeader(), hub);
        OpenIdSignIn openId = settings.openIdSignIn(foreignTokens, guesses);
        this.sessionEndpoint =
                new SessionEndpoint(wanted, everywhere.isOpen(), credentials, sessions, openId, this::take, hub);
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
    public AuthenticationResult admit(String agent, RequestHead call) {
        RequestHead arrival = resolved(call);
        Authentication wanted = of(agent);
        Principal caller = credentials.recorded(agent, "", wanted, arrival);
        return caller == null && open.containsKey(agent) && !everywhere.isOpen()
                ? admitUnauthenticated(agent, arrival)
                : admit(
                        agent,
                        caller,
                        credentials.withToken(Credentials.context(caller, arrival), wanted, arrival),
                        wanted,
                        arrival);
    }

    /** A request with the credential of its session, if that counts. */
    private RequestHead resolved(RequestHead arrival) {
        return sessions == null || !takesSessions ? arrival : sessions.resolved(arrival);
    }

    /** Takes sessions of browsers for credentials: the hub has pages that begin and end them. To be called before the first request. */
    public void takeSessions() {
        takesSessions = true;
    }

    /**
     * Admits a call as one of a caller without credentials.
     *
     * @throws A2AException as {@link #admit(String, Arrival)}; UNAUTHENTICATED if the agent is not open
     */
    public AuthenticationResult admitUnauthenticated(String agent, RequestHead arrival) {
        Authentication wanted = of(agent);
        CallContext context = CallContext.unauthenticated(arrival.address());
        if (!wanted.isOpen()) {
            throw unauthenticated(agent, "", context);
        }
        return admit(agent, Principal.of(context), context, wanted, arrival);
    }

    private AuthenticationResult admit(
            String agent, @Nullable Principal caller, CallContext context, Authentication wanted, RequestHead arrival) {
        Principal known = caller == null ? ANYBODY : caller;
        if (!policy.knows(known, agent)) {
            denials.note(context, agent, "", "", "hidden by the policy");
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is nothing at this address");
        }
        Limits.Taken taken = limits.take(caller, known.group(), agent);
        return new AuthenticationResult(
                policy.isShared(agent) ? context.sharing() : context,
                taken.headers(),
                taken.giveBack(),
                () -> caller == null
                        || context.isUnauthenticated()
                        || (sessions == null || sessions.isOpen(arrival))
                                && credentials.areStillGood(caller, wanted, arrival));
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
        denials.note(context, agent, operation, "", Credentials.REQUIRED);
        return required.refusal(
                A2AError.UNAUTHENTICATED, Credentials.REQUIRED, agents.getOrDefault(agent, everywhere), "");
    }

    /** Whether a caller may know of an agent. */
    public boolean knows(CallContext caller, String agent) {
        return policy.knows(Principal.of(caller), agent)
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
                && policy.refusal(new Policy.Attempt(Principal.of(caller), agent, operation, skill)) == null
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
                caller.caller().equals(ANYBODY.name()) && !caller.isUnauthenticated() ? null : Principal.of(caller);
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
    public boolean lacksCredentials(RequestHead arrival) {
        return !credentials.areIn(arrival)
                && SessionCredentials.of(resolved(arrival)) == null
                && !everywhere.isOpen()
                && agents.values().stream().noneMatch(Authentication::isOpen);
    }

    /** False if the group is archived or the member disabled. */
    public boolean isWelcome(String group, String name) {
        return accounts.isWelcome(group, name);
    }

    /**
     * Returns the agents whose cards a caller sees, and which it sees on the list of agents. Its credentials are checked once for each authentication,
     * because a proof is valid only once, and a wrong key counts as one failed attempt.
     *
     * @param protectCards whether cards are shown only to callers of the agent
     */
    public Predicate<String> shown(RequestHead call, boolean protectCards) {
        RequestHead arrival = resolved(call);
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

    private Optional<Principal> listed(Authentication wanted, RequestHead arrival, boolean protectCards) {
        try {
            Principal caller = credentials.caller(wanted, arrival);
            return Optional.of(caller == null ? ANYBODY : caller);
        } catch (A2AException refused) {
            return protectCards ? Optional.empty() : Optional.of(ANYBODY);
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
        var guarded = new Guard.Guarded(agent, card, more);
        return new Guard(guarded, rules, enforces, mostAgents, denials, this::requireOpen);
    }

    /** The endpoint of the hub's administration behind the policy, which knows each operation by its name. */
    public AgentEndpoint administered(AgentEndpoint endpoint) {
        return new AgentEndpoint() {
            @Override
            public <R> R call(Operation.Call<R> operation, CallContext operator) {
                Policy.Refusal refusal =
                        policy.administration(new Policy.Attempt(Principal.of(operator), "", operation.name(), null));
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

    /** Admits administrators of the hub, as {@link #require} does: callers with the scope {@value Principal#ADMIN}. */
    public CallContext requireAdmin(RequestHead arrival) {
        return require(Principal.ADMIN, arrival);
    }

    /** Admits administrators of the hub and those of a group, to operations that show the latter only their group. */
    public CallContext requireGroupAdmin(RequestHead arrival) {
        Authentication wanted = everywhere();
        CallContext caller =
                Credentials.context(credentials.recorded("hub", arrival.method(), wanted, resolved(arrival)), arrival);
        if (!wanted.isOpen()
                && Collections.disjoint(caller.grants(), List.of(Principal.ADMIN, Principal.GROUP_ADMIN))) {
            denials.note(caller, "hub", arrival.method(), "", "Not granted: " + Principal.GROUP_ADMIN);
            throw Guard.lacking(Set.of(Principal.GROUP_ADMIN), caller);
        }
        return caller;
    }

    /** The group to which an operator is limited; null for an administrator of the hub. */
    public static @Nullable String groupOf(CallContext operator) {
        Set<String> grants = operator.grants();
        return grants.contains(Principal.GROUP_ADMIN) && !grants.contains(Principal.ADMIN)
                ? operator.scope().group()
                : null;
    }

    /**
     * Admits callers to addresses that belong to no agent: with authentication, callers with {@code scope}; else all. Returns the
     * caller.
     *
     * @throws A2AException UNAUTHENTICATED or PERMISSION_DENIED, with a challenge
     */
    public CallContext require(String scope, RequestHead arrival) {
        Authentication wanted = everywhere();
        Authentication scoped = wanted.isOpen() ? wanted : wanted.withScopes(Set.of(scope));
        return Credentials.context(credentials.recorded("hub", arrival.method(), scoped, resolved(arrival)), arrival);
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
        return required.declared(card, of(agent));
    }

    /** Tells clients where to get tokens for this hub, and of what kind. */
    public WireAnswer metadata(WireRequest request) {
        var scopes = new TreeSet<String>(everywhere.scopes());
        agents.values().forEach(one -> scopes.addAll(one.scopes()));
        if (!scopes.isEmpty()) { // clients request these and no others
            scopesOfSkills.values().forEach(scopes::addAll);
        }
        return new ResourceMetadata(hub.get(), required.hasClients(), authorization != null, required.issuers(), scopes)
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

    /**
     * Identifies the caller of an API key, or of a token of the hub or of a trusted issuer, that came in a message; empty if it is not good.
     * Tokens that are bound to a key or a certificate are not: there is no proof of it.
     *
     * @throws A2AException UNAVAILABLE if the issuer of a token does not answer
     */
    public Optional<CallContext> identify(String credential) {
        return credentials.identify(credential);
    }

    /** Answers a request to the token endpoint. */
    public WireAnswer token(WireRequest request) {
        return endpoint.answer(request);
    }

    private Authentication of(String agent) {
        return open.containsKey(agent) ? everywhere.opened() : agents.getOrDefault(agent, everywhere);
    }
}
