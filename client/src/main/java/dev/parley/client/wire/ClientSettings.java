package dev.parley.client.wire;

import dev.parley.client.keys.KeyManager;
import dev.parley.client.spi.CallCredentials;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.Traces;
import dev.parley.client.spi.WireListener;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.outbound.http.HttpUrl.Origin;
import dev.parley.outbound.http.Redaction;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.retry.Backoff;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** Settings of an {@code AgentClientBuilder}, which describes them. */
public record ClientSettings(
        Map<String, String> headers,
        @Nullable String apiKey,
        @Nullable Keys keys,
        @Nullable CallCredentials credentials,
        List<String> preferred,
        @Nullable String version,
        Set<Origin> allowed,
        Set<String> extensions,
        List<ExtensionProtocol> protocols,
        Duration callTimeout,
        Duration sendTimeout,
        @Nullable Duration streamTimeout,
        Duration connectTimeout,
        Duration streamSilence,
        int retries,
        boolean deduplicates,
        int reconnects,
        Backoff backoff,
        int maxAnswerBytes,
        int maxEventBytes,
        @Nullable SSLContext sslContext,
        boolean plainHttp,
        @Nullable HttpClient http,
        CardRule cards,
        WireListener listener,
        Traces traces) {
    /**
     * Source of keys, and the service that they belong to.
     *
     * @param serviceId null for the service that the card names, if {@code origins} has it, else that of the agent's host
     * @param origins the origins to which keys of a service that a card names may go, by service
     */
    public record Keys(KeyManager manager, @Nullable String serviceId, Map<String, Set<Origin>> origins) {
        public Keys within(Map<String, Set<Origin>> allowed) {
            var copy = new HashMap<String, Set<Origin>>();
            allowed.forEach((service, all) -> copy.put(service, Set.copyOf(all)));
            return new Keys(manager, serviceId, Map.copyOf(copy));
        }

        boolean mayGo(String service, Origin origin) {
            return origins.getOrDefault(service, Set.of()).contains(origin);
        }
    }

    /** Listener that is never called. */
    public static final WireListener DEAF = new WireListener() {
        @Override
        public void sending(long exchange, String method, String url, Map<String, List<String>> headers, String body) {}

        @Override
        public void received(long exchange, int status, Map<String, List<String>> headers, String body) {}

        @Override
        public void event(long exchange, @Nullable String id, String data) {}

        @Override
        public void retrying(String reason, Duration wait) {}

        @Override
        public String toString() {
            return "none";
        }
    };

    private static final int LIKELY_SECRET_LENGTH = 16;
    private static final Duration LONGEST_GRACE = Duration.ofSeconds(2);

    public ClientSettings {
        headers = Map.copyOf(headers);
        preferred = List.copyOf(preferred);
        allowed = Set.copyOf(allowed);
        extensions = Set.copyOf(extensions);
        protocols = List.copyOf(protocols);
    }

    /** True if every request carries something that counts as a credential. */
    public boolean hasCredentials() {
        return apiKey != null || credentials != null || !headers.isEmpty();
    }

    /**
     * Keeps credentials from plain HTTP, which others on the network can read.
     *
     * @throws ClientException if {@code url} is plain HTTP to another machine, and that was not allowed
     */
    public void requirePrivate(HttpUrl url) {
        if (url.isPlain() && !plainHttp) {
            throw new ClientException(
                    ClientException.Problem.PLAIN_HTTP,
                    "credentials would go to " + url.origin()
                            + " over plain HTTP, which others on the network can read (expected: https, or this"
                            + " machine; plainHttp() of the builder allows it)");
        }
    }

    boolean isHeard() {
        return !listener.equals(DEAF);
    }

    public Instant now() {
        return Instant.now();
    }

    /** A call with the extensions that this client always activates. */
    public CallContext extended(CallContext context) {
        var all = new HashSet<>(extensions);
        all.addAll(context.extensions());
        return context.withExtensions(all);
    }

    /** Whether an operation whose answer was lost may be repeated. */
    public boolean isRepeatable(Operation operation) {
        return operation.isRepeatable() || deduplicates && operation instanceof Operation.Send;
    }

    /** Time limit of an operation: the setting, or the time until the caller's deadline if that is shorter. */
    public Duration timeout(Operation operation, CallContext context) {
        if (operation instanceof Operation.Watch && streamTimeout != null) {
            return until(context, streamTimeout);
        }
        boolean waits = operation instanceof Operation.Send send
                && !(operation instanceof Operation.Call && send.configuration().returnImmediately());
        return until(context, waits ? sendTimeout : callTimeout);
    }

    /** Time limit of a stream until its first event. */
    public Duration firstEvent() {
        return streamTimeout == null ? sendTimeout : streamTimeout;
    }

    /** Timeout of a call that does not wait for a task. */
    public Duration timeout(CallContext context) {
        return until(context, callTimeout);
    }

    /** Time limit of silence of a stream; a short one after its last event, when the server only has to close it. */
    public Duration silence(boolean over) {
        return over && LONGEST_GRACE.compareTo(streamSilence) < 0 ? LONGEST_GRACE : streamSilence;
    }

    private Duration until(CallContext context, Duration timeout) {
        Instant deadline = context.deadline();
        if (deadline == null) {
            return timeout;
        }
        Duration left = Duration.between(now(), deadline);
        return left.compareTo(timeout) < 0 ? left : timeout;
    }

    /** Lists the settings without credentials. */
    @Override
    public String toString() {
        return "ClientSettings[headers=" + headers.keySet() + ", apiKey=" + (apiKey == null ? "none" : Redaction.MASK)
                + ", keys=" + (keys == null ? "none" : keys) + ", credentials=" + (credentials != null) + ", preferred="
                + preferred + ", version=" + version
                + ", allowed=" + allowed + ", extensions="
                + extensions + ", callTimeout=" + callTimeout + ", sendTimeout=" + sendTimeout + ", streamTimeout="
                + streamTimeout + ", connectTimeout="
                + connectTimeout + ", streamSilence=" + streamSilence + ", retries=" + retries + ", deduplicates="
                + deduplicates + ", reconnects="
                + reconnects + ", backoff=" + backoff + ", maxAnswerBytes=" + maxAnswerBytes + ", maxEventBytes="
                + maxEventBytes + ", sslContext=" + sslContext + ", plainHttp=" + plainHttp + ", cards=" + cards
                + ", listener=" + listener
                + "]";
    }

    /** The values that must not be seen in any diagnostic output. */
    List<String> secrets() {
        var secrets = new ArrayList<String>();
        if (apiKey != null) {
            secrets.add(apiKey);
        }
        for (String value : headers.values()) {
            // Of "Bearer abc" the token is the secret. Short values are names of tenants and the like.
            String credential = value.substring(value.indexOf(' ') + 1);
            if (credential.length() >= LIKELY_SECRET_LENGTH) {
                secrets.add(credential);
            }
        }
        return secrets;
    }
}
