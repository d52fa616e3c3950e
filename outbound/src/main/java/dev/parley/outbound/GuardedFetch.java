package dev.parley.outbound;

import static java.util.Objects.requireNonNull;

import dev.parley.outbound.http.HttpUrl;
import dev.parley.protocol.A2AException;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hc.client5.http.ConnectTimeoutException;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.client5.http.classic.methods.HttpUriRequestBase;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.HttpEntity;
import org.apache.hc.core5.http.NoHttpResponseException;
import org.apache.hc.core5.http.io.entity.ByteArrayEntity;
import org.jspecify.annotations.Nullable;

/**
 * Fetches documents from addresses that callers chose, under the rule of addresses: private and special addresses are refused,
 * at each redirect again. Safe for any thread; {@link #get} and {@link #post} block.
 */
public final class GuardedFetch implements AutoCloseable {
    private static final int MAX_REDIRECTS = 5;
    private static final Set<Integer> REDIRECTS = Set.of(301, 302, 303, 307, 308);
    private static final Duration CONNECT = Duration.ofSeconds(5);

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
    private final GuardedHttp http;

    /**
     * @param total longest duration of one fetch, with its redirects
     * @param maxBytes largest body
     */
    public GuardedFetch(AddressRule rule, Duration total, int maxBytes) {
        this.rule = requireNonNull(rule, "rule");
        this.total = requireNonNull(total, "total");
        this.maxBytes = maxBytes;
        this.http = new GuardedHttp(rule, CONNECT, total);
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
        HttpUrl target = rule.target(url);
        return fetched(target, current -> {
            try {
                return follow(group, target, headers, current);
            } catch (NoHttpResponseException closed) { // an idle connection that the server has just closed
                return follow(group, target, headers, current);
            }
        });
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
        return fetched(target, current -> {
            HttpPost post = new HttpPost(target.uri());
            headers.forEach(post::setHeader);
            post.setEntity(new ByteArrayEntity(json, ContentType.APPLICATION_JSON));
            current.set(post);
            try (ClassicHttpResponse response = http.open(group, target, post)) {
                return document(target, response, post);
            } catch (UnknownHostException unknown) {
                throw unfound(target, unknown);
            }
        });
    }

    /** An exchange that makes its current request known, so that it can be cancelled. */
    private interface Exchange {
        Document run(AtomicReference<@Nullable HttpUriRequestBase> current) throws IOException;
    }

    private Document fetched(HttpUrl target, Exchange exchange) throws IOException, InterruptedException {
        var current = new AtomicReference<@Nullable HttpUriRequestBase>();
        var fetch = new FutureTask<>(() -> exchange.run(current));
        // On its own thread, because neither a resolver nor a server that drips bytes heeds a deadline.
        Thread.ofVirtual().name("fetch").start(fetch);
        try {
            return fetch.get(total.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException late) {
            throw tooLate(target, late);
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof ConnectTimeoutException late) {
                var silent = new ConnectException(
                        target.host().name() + ": no connection within " + CONNECT.toMillis() + " ms");
                silent.initCause(late);
                throw silent;
            }
            if (failed.getCause() instanceof SocketTimeoutException late) {
                throw tooLate(target, late);
            }
            if (failed.getCause() instanceof IOException problem) {
                throw problem;
            }
            throw new IOException(target.host().name() + ": " + failed.getCause(), failed);
        } finally {
            fetch.cancel(true);
            HttpUriRequestBase running = current.get();
            if (running != null) {
                running.cancel(); // does nothing after a completed exchange
            }
        }
    }

    private IOException tooLate(HttpUrl target, Exception cause) {
        return new IOException(target.host().name() + ": no answer within " + total.toMillis() + " ms", cause);
    }

    private static IOException unfound(HttpUrl target, UnknownHostException unknown) {
        return unknown instanceof AddressRule.RefusedHost
                ? unknown
                : new IOException(target.host().name() + " cannot be found", unknown);
    }

    private Document follow(
            String group,
            HttpUrl first,
            Map<String, String> headers,
            AtomicReference<@Nullable HttpUriRequestBase> current)
            throws IOException {
        HttpUrl target = first;
        for (int redirects = 0; ; redirects++) {
            HttpGet get = new HttpGet(target.uri());
            if (target.host().name().equals(first.host().name())) {
                headers.forEach(get::setHeader); // no other host gets them: they may hold credentials
            }
            current.set(get);
            try (ClassicHttpResponse response = http.open(group, target, get)) {
                String location = location(response);
                if (location == null) {
                    return document(target, response, get);
                }
                get.cancel();
                if (redirects == MAX_REDIRECTS) {
                    throw new IOException(first.host().name() + ": more than " + MAX_REDIRECTS + " redirects");
                }
                target = next(target, location);
            } catch (UnknownHostException unknown) {
                throw unfound(target, unknown);
            }
        }
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

    private static @Nullable String location(ClassicHttpResponse response) {
        Header location = response.getFirstHeader("Location");
        return REDIRECTS.contains(response.getCode()) && location != null ? location.getValue() : null;
    }

    private Document document(HttpUrl from, ClassicHttpResponse response, HttpUriRequestBase get) throws IOException {
        HttpEntity entity = response.getEntity();
        byte[] body = new byte[0];
        if (entity != null) {
            InputStream in = entity.getContent();
            body = entity.getContentLength() > maxBytes ? new byte[maxBytes + 1] : in.readNBytes(maxBytes + 1);
            if (body.length > maxBytes) {
                get.cancel(); // close() would read the rest first
                throw new IOException(from.host().name() + ": the document is larger than " + maxBytes + " bytes");
            }
        }
        Header type = response.getFirstHeader("Content-Type");
        String text = type == null ? "" : type.getValue();
        return new Document(from.uri().toString(), response.getCode(), mediaType(text), charset(text), body);
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
        http.close();
    }
}
