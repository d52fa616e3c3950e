package dev.parley.client;

import static java.util.Objects.requireNonNull;

import dev.parley.client.calls.Means;
import dev.parley.client.keys.KeyManager;
import dev.parley.client.keys.OAuthClient;
import dev.parley.client.spi.CallCredentials;
import dev.parley.client.spi.CardPolicy;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.spi.HttpCall;
import dev.parley.client.spi.HttpDocument;
import dev.parley.client.spi.Traces;
import dev.parley.client.spi.WireListener;
import dev.parley.client.wire.Attempts;
import dev.parley.client.wire.CardFinder;
import dev.parley.client.wire.CardRule;
import dev.parley.client.wire.ClientSettings;
import dev.parley.client.wire.HttpWire;
import dev.parley.client.wire.Places;
import dev.parley.client.wire.RequestCredentials;
import dev.parley.outbound.http.HeaderText;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.outbound.http.HttpUrl.Origin;
import dev.parley.outbound.http.UncheckedTls;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CardVerifier;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.retry.Backoff;
import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.OpenTelemetry;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.function.Function;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** Settings of an {@link AgentClient}. For one thread. */
public final class AgentClientBuilder {
    private static final System.Logger LOG = System.getLogger("dev.parley.client");

    /** Extensions of the modules of the program. */
    private static final List<ExtensionProtocol> INSTALLED =
            ServiceLoader.load(ExtensionProtocol.Provider.class, AgentClientBuilder.class.getClassLoader()).stream()
                    .flatMap(provider -> provider.get().protocols().stream())
                    .toList();

    private final Map<String, String> headers = new LinkedHashMap<>();
    private final List<String> preferred = new ArrayList<>();
    private final Set<Origin> allowed = new HashSet<>();
    private final Set<String> extensions = new HashSet<>();
    private final List<ExtensionProtocol> protocols = new ArrayList<>(INSTALLED);
    private final Map<String, Set<Origin>> keyOrigins = new HashMap<>();
    private @Nullable String apiKey;
    private ClientSettings.@Nullable Keys keys;
    private @Nullable CallCredentials credentials;
    private @Nullable String version;
    private Duration callTimeout = Duration.ofSeconds(30);
    private Duration sendTimeout = Duration.ofMinutes(5);
    private @Nullable Duration streamTimeout;
    private Duration connectTimeout = Duration.ofSeconds(10);
    private Duration streamSilence = Duration.ofMinutes(5);
    private int retries = 3;
    private boolean deduplicates;
    private int reconnects = 10;
    private Backoff backoff = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(10));
    private int maxAnswerBytes = 64 * 1024 * 1024;
    private int maxEventBytes = 16 * 1024 * 1024;
    private @Nullable SSLContext sslContext;
    private boolean plainHttp;
    private @Nullable HttpClient http;
    private CardRule cards = CardRule.NONE;
    private WireListener listener = ClientSettings.DEAF;
    private @Nullable OpenTelemetry telemetry;
    private Attempts.@Nullable Pause pause;

    AgentClientBuilder() {}

    /** Sends {@code Authorization: Bearer token} with every request. Default: none. */
    public AgentClientBuilder bearer(String token) {
        return header("Authorization", "Bearer " + token);
    }

    /**
     * Sends an API key with every call, in the header, query parameter or cookie that the agent's card names; in the
     * header {@code X-API-Key} if it names none. Default: none.
     *
     * @throws IllegalArgumentException if it has characters that do not belong into a header
     */
    public AgentClientBuilder apiKey(String key) {
        requireValue("API key", key);
        this.apiKey = key;
        return this;
    }

    /**
     * Sends what the agent's card asks for with every call, if {@code keys} has it: an API key, else a token that the
     * authorization server gives to an OAuth client, else nothing if the card allows that, else the API key as a bearer
     * token. The service is that of an AgentVault card, where {@link #keyOrigin} allows it, else the agent's host, with the
     * port if that is not the usual one: {@link KeyManager#serviceId}.
     * {@link #bearer}, {@link #apiKey} or an {@code Authorization} header takes precedence. Default: no keys.
     */
    public AgentClientBuilder keys(KeyManager keys) {
        this.keys = new ClientSettings.Keys(keys, null, Map.of());
        return this;
    }

    /**
     * The same with the keys of a service that the caller names, instead of the service on the card.
     *
     * @throws IllegalArgumentException if it is not a service id
     */
    public AgentClientBuilder keys(KeyManager keys, String serviceId) {
        this.keys = new ClientSettings.Keys(keys, KeyManager.id(serviceId), Map.of());
        return this;
    }

    /**
     * Lets AgentVault cards choose a service by their {@code service_identifier}, for agents and token endpoints at this
     * origin. Without it the name in a card counts for nothing: the card of a stranger could name any service, and
     * would be sent its key. Applies to {@link #keys(KeyManager)}. Default: none.
     *
     * @param origin such as {@code https://agents.example.com}
     * @throws IllegalArgumentException if the id is not a service id, or the origin not an http or https URL
     */
    public AgentClientBuilder keyOrigin(String serviceId, String origin) {
        keyOrigins
                .computeIfAbsent(KeyManager.id(serviceId), service -> new HashSet<>())
                .add(HttpUrl.of(origin).origin());
        return this;
    }

    /**
     * Sends the headers of {@code credentials} with every call, which may differ by its caller. Keys of {@link #keys} are not used then.
     * Default: none.
     */
    public AgentClientBuilder credentials(CallCredentials credentials) {
        this.credentials = requireNonNull(credentials, "credentials");
        return this;
    }

    /**
     * Sends a header with every request, also when the card is fetched. Default: none.
     *
     * @throws IllegalArgumentException if name or value do not belong into a header
     */
    public AgentClientBuilder header(String name, String value) {
        if (!HeaderText.maySet(name)) {
            throw new IllegalArgumentException("header name: " + name + " (expected: a name that callers may set)");
        }
        requireValue("header " + name, value);
        headers.put(name, value);
        return this;
    }

    private static void requireValue(String what, String value) {
        if (!HeaderText.isValue(value)) {
            // Without the value: it may be a secret.
            throw new IllegalArgumentException(what + ": " + value.length() + " characters (expected: at most "
                    + HeaderText.MAX_LENGTH + " printable ASCII characters)");
        }
    }

    /**
     * Prefers bindings, the best first: {@link AgentCard.Interface#JSONRPC}, {@link AgentCard.Interface#HTTP_JSON}, and
     * {@link AgentCard.Interface#GRPC} if {@code parley-dialect-grpc} is on the class path. If
     * the card has none of them, its own order counts. Default: the card's order.
     */
    public AgentClientBuilder prefer(String... bindings) {
        preferred.clear();
        preferred.addAll(List.of(bindings));
        return this;
    }

    /** Uses only interfaces of this protocol version, such as {@code 1.0}. Default: every version that is spoken. */
    public AgentClientBuilder version(String version) {
        this.version = version;
        return this;
    }

    /**
     * Lets the card lead to another origin than the one connected to; it is sent the same credentials. Authorization servers that
     * the card names are such origins too: the secret of an OAuth client goes only to allowed ones. Default: none.
     *
     * @param origin such as {@code https://agents.example.com}
     * @throws IllegalArgumentException if it is not an http or https URL
     */
    public AgentClientBuilder allowOrigin(String origin) {
        allowed.add(HttpUrl.of(origin).origin());
        return this;
    }

    /**
     * Adds an extension with operations that the client calls if a card lists it. Those of modules with an
     * {@link ExtensionProtocol.Provider} are known without.
     */
    public AgentClientBuilder extension(ExtensionProtocol protocol) {
        protocols.add(requireNonNull(protocol, "protocol"));
        return this;
    }

    /**
     * Activates extensions of the protocol, by their URIs, in every call. Default: none.
     *
     * @throws IllegalArgumentException if one does not belong into a header
     */
    public AgentClientBuilder extensions(String... uris) {
        for (String uri : uris) {
            requireValue("extension", uri);
            extensions.add(uri);
        }
        return this;
    }

    /** Time limit of a call with its retries, if it does not wait for a task. Default: 30 s. */
    public AgentClientBuilder callTimeout(Duration timeout) {
        this.callTimeout = positive("callTimeout", timeout);
        return this;
    }

    /**
     * Time limit of a send that waits for a task to settle, and of a stream until its first event. The task goes on
     * when it has passed. Default: 5 min.
     */
    public AgentClientBuilder sendTimeout(Duration timeout) {
        this.sendTimeout = positive("sendTimeout", timeout);
        return this;
    }

    /** Time limit of a stream until its first event, instead of the one of {@link #sendTimeout}. Default: that one. */
    public AgentClientBuilder streamTimeout(Duration timeout) {
        this.streamTimeout = positive("streamTimeout", timeout);
        return this;
    }

    /** Time limit of an attempt to connect. Default: 10 s. */
    public AgentClientBuilder connectTimeout(Duration timeout) {
        this.connectTimeout = positive("connectTimeout", timeout);
        return this;
    }

    /** Time without bytes, keep-alives included, after which a stream counts as cut. Default: 5 min. */
    public AgentClientBuilder streamSilence(Duration silence) {
        this.streamSilence = positive("streamSilence", silence);
        return this;
    }

    /** Retries of a call, if they are safe. Default: 3. */
    public AgentClientBuilder retries(int retries) {
        this.retries = notNegative("retries", retries);
        return this;
    }

    /**
     * Whether the agent leads a repeated message to the task of the first one, as agents of Parley do for at least a day. A message whose
     * answer was lost is then repeated, and counts as one of the {@link #retries}. Another agent would work at such a message twice.
     * Default: false.
     */
    public AgentClientBuilder deduplicates(boolean deduplicates) {
        this.deduplicates = deduplicates;
        return this;
    }

    /** Successive attempts to resume a stream that bring no event. Default: 10. */
    public AgentClientBuilder reconnects(int reconnects) {
        this.reconnects = notNegative("reconnects", reconnects);
        return this;
    }

    /**
     * The bound of the random wait before the first retry, and the largest bound, which it reaches by doubling. Default: 200 ms, 10 s.
     *
     * @throws IllegalArgumentException if one is negative, or the second is shorter
     */
    public AgentClientBuilder backoff(Duration first, Duration longest) {
        this.backoff = new Backoff(first, longest);
        return this;
    }

    /** Maximum length of an answer. Default: 64 MiB. */
    public AgentClientBuilder maxAnswerBytes(int bytes) {
        this.maxAnswerBytes = notNegative("maxAnswerBytes", bytes);
        return this;
    }

    /** Maximum length of an event of a stream. Default: 16 MiB. */
    public AgentClientBuilder maxEventBytes(int bytes) {
        this.maxEventBytes = notNegative("maxEventBytes", bytes);
        return this;
    }

    /** Keys and trusted authorities for TLS. Default: the platform's. */
    public AgentClientBuilder sslContext(SSLContext context) {
        this.sslContext = context;
        return this;
    }

    /**
     * Allows credentials over plain HTTP to other machines. Without it such a call is refused before anything is sent, and a call
     * without credentials is logged as a warning. Keys, tokens and all headers of {@link #header} count as credentials; plain HTTP
     * to this machine is always allowed. Default: not allowed.
     */
    public AgentClientBuilder plainHttp() {
        this.plainHttp = true;
        return this;
    }

    /**
     * Sends requests by this HTTP client, such as one of {@code GuardedClients} for URLs that others choose, which is closed with the
     * agent client; settings of connections have no effect then, and interfaces of other transports than HTTP are not used. Default:
     * one of its own.
     */
    public AgentClientBuilder httpClient(HttpClient client) {
        this.http = requireNonNull(client, "client");
        return this;
    }

    /**
     * Trusts every certificate for every host, and says so in the log. For development: anybody in between can read and
     * change everything, credentials too. Default: off.
     */
    public AgentClientBuilder insecure() {
        LOG.log(
                System.Logger.Level.WARNING,
                "TLS certificates are not checked: others on the network can read and change all messages");
        return sslContext(UncheckedTls.context());
    }

    /**
     * Has the signatures of every card verified that this client fetches, by keys that its user trusts, such as {@code
     * CardTrust} of {@code parley-trust} holds. Default: signatures of cards are not verified.
     */
    public AgentClientBuilder verifyCards(CardVerifier verifier, CardPolicy policy) {
        this.cards = new CardRule(verifier, policy);
        return this;
    }

    /** Listens to requests and answers. Default: none. */
    public AgentClientBuilder listener(WireListener listener) {
        this.listener = listener;
        return this;
    }

    /**
     * Receives a span of each call and stream. Default: the instance that the process has set as {@link
     * GlobalOpenTelemetry}, else none. Agents receive the trace context of the calling thread in any case.
     */
    public AgentClientBuilder openTelemetry(OpenTelemetry telemetry) {
        this.telemetry = telemetry;
        return this;
    }

    /** Waits differently, for tests. */
    AgentClientBuilder pause(Attempts.Pause pause) {
        this.pause = pause;
        return this;
    }

    /**
     * Connects to the agent at {@code url}: its address, its card's, or the origin that it lives at. Without a scheme,
     * https is meant, and http for this machine's own names.
     *
     * <p>The card is looked for at {@code url} itself if that ends in {@code .json}; else below it at {@code
     * /.well-known/agent-card.json} and {@code /.well-known/agent.json}, then at {@code url}, then at the root of its
     * origin by the same two names. Credentials go to that origin, and to those that were allowed.
     *
     * @throws ClientException if there is no card, or it offers nothing that this client may use
     */
    public AgentClient connect(String url) {
        HttpUrl address = address(url);
        ClientSettings settings = settings();
        if (address.isPlain() && !settings.plainHttp()) {
            if (settings.hasCredentials()) {
                settings.requirePrivate(address); // a card that was changed on the way decides how credentials are used
            }
            LOG.log(
                    System.Logger.Level.WARNING,
                    "the card of {0} is read over plain HTTP: others on the network can change it",
                    address.origin());
        }
        return open(settings, Set.of(address.origin()), means -> {
            CardFinder.Found found = means.finder().find(address);
            return client(found.card(), found, means);
        });
    }

    /**
     * Finds the document that is the card of the agent at {@code url}, as {@link #connect} does, and sends the headers of this builder,
     * but no keys. Its signatures are not verified, and it may be one that cannot be read. If the server refuses to show the card,
     * that answer is returned.
     *
     * @throws ClientException if there is none
     */
    public HttpDocument find(HttpUrl url) {
        return once(url, means -> means.finder().search(url));
    }

    /**
     * Sends a request to a server that is not an agent, with the headers of this builder, and again where that is safe.
     *
     * @throws ClientException if there is no answer
     */
    public HttpCall.Answer exchange(HttpCall call) {
        HttpUrl url = HttpUrl.of(call.url());
        var request = new HttpWire.Request(call.method(), url, call.headers(), call.body());
        return once(
                url,
                means -> means.attempts()
                        .run(
                                call.method().equals("GET"),
                                means.settings().callTimeout(),
                                left -> means.wire()
                                        .exchange(request, means.settings().maxAnswerBytes(), left))
                        .forCaller(means.settings().now()));
    }

    private <T> T once(HttpUrl url, Function<Means, T> work) {
        return open(settings(), Set.of(url.origin()), means -> {
            try (HttpWire wire = means.wire()) {
                return work.apply(means);
            }
        });
    }

    /**
     * Tokens of an OAuth client of an authorization server, with the connections of this builder.
     *
     * @param tokenUrl token endpoint: https, or on this machine
     * @param audience that tokens have to be for; null for none
     * @throws IllegalArgumentException if it is not an http or https URL
     */
    public TokenClient tokens(String tokenUrl, OAuthClient client, List<String> scopes, @Nullable String audience) {
        return new TokenClient(settings(), tokenUrl, client, scopes, audience);
    }

    /**
     * Uses the agent that {@code card} describes, without fetching anything. Credentials go to the origin of the
     * interface that is chosen, because the source of the card vouches for it, and to allowed origins.
     *
     * @throws ClientException if it offers nothing that this client may use
     */
    public AgentClient of(AgentCard card) {
        ClientSettings settings = settings();
        Origin chosen = Places.of(card, null, settings).used().url().origin();
        return open(settings, Set.of(chosen), means -> client(card, null, means));
    }

    private static AgentClient client(AgentCard card, CardFinder.@Nullable Found found, Means means) {
        return new HttpAgentClient(
                means, Places.of(card, found, means.settings()).within(means.wire(), means.settings()));
    }

    private <T> T open(ClientSettings settings, Set<Origin> own, Function<Means, T> maker) {
        var trusted = new HashSet<>(own);
        trusted.addAll(settings.allowed());
        var wire = new HttpWire(settings, Set.copyOf(trusted));
        try {
            Attempts.Pause waits = pause != null ? pause : wire::pause;
            var attempts = new Attempts(settings.retries(), settings.backoff(), waits, settings.listener());
            var means = new Means(
                    settings,
                    wire,
                    attempts,
                    new CardFinder(wire, attempts, settings),
                    new RequestCredentials(settings, wire));
            return maker.apply(means);
        } catch (RuntimeException e) {
            wire.close();
            throw e;
        }
    }

    private static HttpUrl address(String url) {
        try {
            return HttpUrl.ofTyped(url.strip());
        } catch (IllegalArgumentException e) {
            throw new ClientException(Problem.CARD_NOT_FOUND, "agent address " + url + ": " + e.getMessage(), e);
        }
    }

    ClientSettings settings() {
        return new ClientSettings(
                headers,
                apiKey,
                keys == null ? null : keys.within(keyOrigins),
                credentials,
                preferred,
                version,
                allowed,
                extensions,
                protocols,
                callTimeout,
                sendTimeout,
                streamTimeout,
                connectTimeout,
                streamSilence,
                retries,
                deduplicates,
                reconnects,
                backoff,
                maxAnswerBytes,
                maxEventBytes,
                sslContext,
                plainHttp,
                http,
                cards,
                listener,
                Traces.of(telemetry == null ? GlobalOpenTelemetry.getOrNoop() : telemetry));
    }

    private static Duration positive(String name, Duration duration) {
        if (duration.isNegative() || duration.isZero()) {
            throw new IllegalArgumentException(name + ": " + duration + " (expected: longer than nothing)");
        }
        return duration;
    }

    private static int notNegative(String name, int number) {
        if (number < 0) {
            throw new IllegalArgumentException(name + ": " + number + " (expected: >= 0)");
        }
        return number;
    }
}
