package dev.parley.outbound;

import static java.util.Objects.requireNonNull;

import dev.parley.outbound.http.HttpUrl;
import dev.parley.outbound.http.LimitedBytes;
import dev.parley.outbound.http.LimitedClient;
import dev.parley.outbound.http.OutboundRequest;
import dev.parley.protocol.A2AException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.hc.core5.http.NoHttpResponseException;
import org.jspecify.annotations.Nullable;

/**
 * Fetches documents from addresses that callers chose, under the rule of addresses: private and special addresses are refused,
 * at each redirect again. Safe for any thread; {@link #get} and {@link #post} block.
 */
public final class GuardedFetch implements AutoCloseable {
    private static final int MAX_REDIRECTS = 5;
    private static final Set<Integer> REDIRECTS = Set.of(301, 302, 303, 307, 308);

    /**
     * A document.
     *
     * @param url address from which it came, after redirects
     * @param mediaType in lower case, without parameters; empty if the server names none
     * @param charset that the server names; null for none
     */
    public record Document(
            String url,
            int status,
            String mediaType,
            @Nullable String charset,
            byte[] body) {}

    private final AddressRule rule;
    private final Duration total;
    private final int maxBytes;
    private final GuardedClients clients;

    /**
     * @param total longest duration of one fetch, with its redirects
     * @param maxBytes largest body
     */
    public GuardedFetch(AddressRule rule, Duration total, int maxBytes) {
        this(rule, total, maxBytes, false);
    }

    /** @param isOfPlatform as that of {@link GuardedClients} */
    public GuardedFetch(AddressRule rule, Duration total, int maxBytes, boolean isOfPlatform) {
        this.rule = requireNonNull(rule, "rule");
        this.total = requireNonNull(total, "total");
        this.maxBytes = maxBytes;
        this.clients = new GuardedClients(rule, GuardedClients.CONNECT, 64, isOfPlatform);
    }

    /** Returns a client under the same rule, with the same connections. */
    public LimitedClient client(String group) {
        return clients.of(group);
    }

    /**
     * Fetches a document, of any status.
     *
     * @param group whose share of look-ups it uses
     * @param headers of the request
     * @throws A2AException INVALID_PARAMS for the field {@code url}, if it is not an address
     * @throws IOException with a message for the caller, if the rule refuses the address, there is no answer in time, or it is
     *     larger than the limit; a {@link ConnectException} if no connection is made
     */
    public Document get(String group, String url, Map<String, String> headers)
            throws IOException, InterruptedException {
        HttpUrl first = rule.target(url);
        HttpUrl target = first;
        long end = System.nanoTime() + total.toNanos();
        for (int redirects = 0; ; redirects++) {
            boolean isFirst = target.host().name().equals(first.host().name());
            // No other host gets the headers: they may hold credentials.
            var get = new OutboundRequest(target, isFirst ? headers : Map.of(), null);
            HttpResponse<byte[]> answer;
            try {
                answer = exchange(group, target, get, end);
            } catch (NoHttpResponseException closed) { // an idle connection that the server has just closed
                answer = exchange(group, target, get, end);
            }
            String location = location(answer);
            if (location == null) {
                return document(target, answer);
            }
            if (redirects == MAX_REDIRECTS) {
                throw new IOException(first.host().name() + ": more than " + MAX_REDIRECTS + " redirects");
            }
            target = next(target, location);
        }
    }

    /**
     * Posts JSON, and returns the answer, of any status. Redirects are answers.
     *
     * @throws A2AException as {@link #get}
     * @throws IOException as {@link #get}
     */
    public Document post(String group, String url, Map<String, String> headers, byte[] json)
            throws IOException, InterruptedException {
        HttpUrl target = rule.target(url);
        var all = new LinkedHashMap<>(Map.of("Content-Type", "application/json; charset=UTF-8"));
        all.putAll(headers);
        long end = System.nanoTime() + total.toNanos();
        return document(target, exchange(group, target, new OutboundRequest(target, all, json), end));
    }

    private HttpResponse<byte[]> exchange(String group, HttpUrl target, OutboundRequest request, long end)
            throws IOException, InterruptedException {
        String host = target.host().name();
        try {
            return LimitedClient.exchange(
                    clients.of(group), request, this::body, this, Duration.ofNanos(end - System.nanoTime()));
        } catch (HttpConnectTimeoutException late) {
            var silent =
                    new ConnectException(host + ": no connection within " + GuardedClients.CONNECT.toMillis() + " ms");
            silent.initCause(late);
            throw silent;
        } catch (HttpTimeoutException late) {
            throw new IOException(host + ": no answer within " + total.toMillis() + " ms", late);
        } catch (LimitedBytes.TooLarge large) {
            throw new IOException(host + ": the document is larger than " + maxBytes + " bytes", large);
        } catch (ConnectException none) {
            if (none.getCause() instanceof UnresolvedAddressException) {
                throw new UnknownHostException(host + " cannot be found");
            }
            throw none;
        } catch (RuntimeException broken) {
            throw new IOException(host + ": " + broken, broken);
        }
    }

    /** Reads nothing of a body that is announced as too large. */
    private BodySubscriber<byte[]> body(HttpResponse.ResponseInfo head) {
        long length = head.headers().firstValueAsLong("Content-Length").orElse(0);
        return new LimitedBytes(length > maxBytes ? 0 : maxBytes);
    }

    private HttpUrl next(HttpUrl from, String location) throws IOException {
        try {
            HttpUrl next = rule.target(from.uri().resolve(location).toString());
            if (from.uri().getScheme().equals("https")
                    && !next.uri().getScheme().equals("https")) {
                throw new IOException(from.host().name() + " redirects from https to http");
            }
            return next;
        } catch (A2AException | IllegalArgumentException malformed) {
            throw new IOException(from.host().name() + " redirects to an address that is not one", malformed);
        }
    }

    private static @Nullable String location(HttpResponse<?> answer) {
        return REDIRECTS.contains(answer.statusCode())
                ? answer.headers().firstValue("Location").orElse(null)
                : null;
    }

    private static Document document(HttpUrl from, HttpResponse<byte[]> answer) {
        String type = answer.headers().firstValue("Content-Type").orElse("");
        return new Document(from.uri().toString(), answer.statusCode(), mediaType(type), charset(type), answer.body());
    }

    private static String mediaType(String contentType) {
        int end = contentType.indexOf(';');
        return (end < 0 ? contentType : contentType.substring(0, end)).strip().toLowerCase(Locale.ROOT);
    }

    private static @Nullable String charset(String contentType) {
        int at = contentType.toLowerCase(Locale.ROOT).indexOf("charset=");
        if (at < 0) {
            return null;
        }
        String value =
                contentType.substring(at + "charset=".length()).split(";", 2)[0].strip();
        return value.replace("\"", "");
    }

    /** Cancels running fetches. Idempotent. */
    @Override
    public void close() {
        clients.close();
    }
}
