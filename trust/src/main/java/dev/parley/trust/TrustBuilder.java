package dev.parley.trust;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.SecurityScheme;
import dev.parley.protocol.support.AddressRange;
import dev.parley.store.audit.AuditTrail;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.tokens.OpenIdSignIn;
import dev.parley.trust.tokens.SecretAttempts;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Collects the required credentials of each agent; holds the only copy of each default. */
public final class TrustBuilder {
    /** Keys can be made while the hub runs. */
    private static final Set<Scheme> LATER = EnumSet.of(Scheme.API_KEY, Scheme.BEARER, Scheme.BASIC);

    private static final Set<String> NO_KEY_HEADERS = Set.of(
            "authorization",
            "connection",
            "content-length",
            "content-type",
            "cookie",
            "dpop",
            "expect",
            "host",
            "origin",
            "transfer-encoding",
            "upgrade");

    final Callers callers;
    final @Nullable Directory directory;
    final Map<String, Authentication> agents = new LinkedHashMap<>();
    Authentication everywhere = Authentication.NONE;
    String service = TrustSettings.DEFAULTS.service();
    final List<String> issuers = new ArrayList<>();
    Collection<String> allowed = List.of();
    final List<SecurityScheme.Flow> flows = new ArrayList<>();
    String keyHeader = Authentication.KEY_HEADER;
    Set<String> audiences = Set.of();

    @Nullable
    String groupClaim;

    @Nullable
    String openIdClient;

    byte[] key = new byte[32];
    Supplier<String> hub = () -> "";
    Policy policy = Policy.OPEN;
    LimitSettings limits = LimitSettings.DEFAULTS;

    @Nullable
    AuditTrail audit;

    boolean namesMetadata;
    boolean protectCards = TrustSettings.DEFAULTS.protectCards();
    Map<String, List<AddressRange>> cardAddresses = Map.of();
    int mostAgents = TrustSettings.DEFAULTS.maxCallDepth();
    InstantSource clock = InstantSource.system();

    TrustBuilder(Callers callers, @Nullable Directory directory) {
        this.callers = requireNonNull(callers, "callers");
        this.directory = directory;
        new SecureRandom().nextBytes(key);
    }

    /** Takes all of these settings but for the files of callers and of the policy. */
    public TrustBuilder settings(TrustSettings settings) {
        settings.ofAgents().forEach(this::agent);
        settings.issuers().forEach(this::issuer);
        settings.oauthFlows().forEach(this::flow);
        this.groupClaim = settings.groupClaim();
        this.openIdClient = settings.openIdClient();
        this.protectCards = settings.protectCards();
        this.cardAddresses = settings.cardAddresses();
        return everywhere(settings.authentication())
                .audiences(settings.audiences())
                .keyHeader(settings.apiKeyHeader())
                .service(settings.service())
                .mostAgents(settings.maxCallDepth());
    }

    /** Maximum number of agents in the chain of a call, the called one included; default 8. */
    public TrustBuilder mostAgents(int agents) {
        if (agents < 1) {
            throw new IllegalArgumentException("mostAgents: " + agents + " (expected: at least 1)");
        }
        this.mostAgents = agents;
        return this;
    }

    /** Authentication of agents that {@link #agent} does not name; default none. */
    public TrustBuilder everywhere(Authentication wanted) {
        this.everywhere = requireNonNull(wanted, "wanted");
        return this;
    }

    /** Authentication of one agent. */
    public TrustBuilder agent(String name, Authentication wanted) {
        agents.put(requireNonNull(name, "name"), requireNonNull(wanted, "wanted"));
        return this;
    }

    /**
     * Accepts tokens of another issuer, which publishes its keys by OpenID Connect discovery, besides the hub's own. Its
     * users are called {@code name@host}, so that names of issuers cannot collide.
     *
     * @throws IllegalArgumentException if it is not an https URL, or of another machine without it
     */
    public TrustBuilder issuer(String url) {
        issuers.add(requireNonNull(url, "url"));
        return this;
    }

    /** Hosts that the metadata of issuers may name besides public ones and those of issuers, as for webhooks; default none. */
    public TrustBuilder allowedHosts(Collection<String> hosts) {
        this.allowed = List.copyOf(hosts);
        return this;
    }

    /**
     * The header that cards name for API keys; {@value Authentication#KEY_HEADER}, the default, is taken besides.
     *
     * @throws IllegalArgumentException if it is not a name of a header, or one with another meaning
     */
    public TrustBuilder keyHeader(String name) {
        if (!name.matches("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}")
                || NO_KEY_HEADERS.contains(name.toLowerCase(Locale.ROOT))) {
            throw new IllegalArgumentException(
                    "api-key-header \"" + name + "\": no header for keys (expected: such as API-Key)");
        }
        this.keyHeader = name;
        return this;
    }

    /**
     * Adds an OAuth 2 flow to the cards of agents that accept tokens of issuers, for callers that need such a token. It does
     * not affect which tokens are accepted.
     */
    public TrustBuilder flow(SecurityScheme.Flow flow) {
        flows.add(requireNonNull(flow, "flow"));
        return this;
    }

    /** Accepted audiences of tokens of other issuers; default the address of the hub. */
    public TrustBuilder audiences(Collection<String> audiences) {
        this.audiences = Set.copyOf(audiences);
        return this;
    }

    Set<String> audiences() {
        return audiences.isEmpty() ? Set.of(hub.get()) : audiences;
    }

    /** Name under which clients of AgentVault keep their keys for these agents; default {@code parley}. */
    public TrustBuilder service(String service) {
        this.service = requireNonNull(service, "service");
        return this;
    }

    /**
     * Key that signs the tokens; default a random one for each start.
     *
     * @param key at least 32 secret bytes
     */
    public TrustBuilder tokenKey(byte[] key) {
        this.key = key.clone();
        return this;
    }

    /** Address of the hub, the issuer and audience of its tokens; read when the server has started. */
    public TrustBuilder hub(Supplier<String> url) {
        this.hub = requireNonNull(url, "url");
        return this;
    }

    /** Permissions and limits of callers; default all operations on own tasks, and 1,000 calls at once. */
    public TrustBuilder policy(PolicyFile policy) {
        this.limits = policy.limits();
        return policy((Policy) policy);
    }

    /** Permissions of callers. */
    public TrustBuilder policy(Policy policy) {
        this.policy = requireNonNull(policy, "policy");
        return this;
    }

    /** Has cards name the metadata of the hub's token endpoint, as a preview of A2A 1.1; default false. */
    public TrustBuilder namesMetadata(boolean wanted) {
        this.namesMetadata = wanted;
        return this;
    }

    /** Audit trail for refused calls; default none. */
    public TrustBuilder audit(AuditTrail audit) {
        this.audit = requireNonNull(audit, "audit");
        return this;
    }

    /** Clock; default the system's. */
    public TrustBuilder clock(InstantSource clock) {
        this.clock = requireNonNull(clock, "clock");
        return this;
    }

    RequiredCredentials required() {
        return new RequiredCredentials(
                service,
                List.copyOf(issuers),
                List.copyOf(flows),
                keyHeader,
                callers.anyBy(Scheme.OAUTH2),
                directory != null,
                hub,
                namesMetadata);
    }

    /** Returns how users of the first issuer sign in; null if they do not. */
    @Nullable
    OpenIdSignIn openIdSignIn(ForeignTokens tokens, SecretAttempts guesses) {
        if (openIdClient == null) {
            return null;
        }
        var scopes = new ArrayList<>(List.of("openid"));
        scopes.addAll(everywhere.scopes()); // in order
        return new OpenIdSignIn(
                tokens.issuer(issuers.getFirst()),
                openIdClient,
                String.join(" ", scopes),
                hub,
                () -> Collections.min(audiences()),
                guesses);
    }

    /**
     * Ends the settings.
     *
     * @throws IllegalArgumentException if an agent would admit no caller
     */
    public Trust build() {
        requireCredential(everywhere);
        agents.values().forEach(this::requireCredential);
        if (openIdClient != null
                && (issuers.isEmpty() || !everywhere.takes(Scheme.OPEN_ID) && !everywhere.takes(Scheme.BEARER))) {
            throw new IllegalArgumentException("openid-client: " + openIdClient
                    + " (expected: with --issuer, and openIdConnect or bearer among --auth)");
        }
        return new Trust(this);
    }

    private void requireCredential(Authentication wanted) {
        for (Scheme scheme : wanted.schemes()) {
            boolean later = directory != null && LATER.contains(scheme)
                    || !issuers.isEmpty() && (scheme == Scheme.OPEN_ID || scheme == Scheme.BEARER);
            if (!later && !callers.anyBy(scheme)) {
                throw new IllegalArgumentException("scheme " + scheme.label()
                        + ": no caller has a credential for it (expected: one caller at least)");
            }
        }
    }
}
