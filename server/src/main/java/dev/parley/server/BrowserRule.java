package dev.parley.server;

import static java.util.Objects.requireNonNullElse;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.Loopback;
import dev.parley.server.wire.Cors;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Refuses calls of foreign web pages through the browser of their visitor: by a host name that resolves
 * to this machine (DNS rebinding), or from another origin.
 *
 * <p>A browser treats all answers under the page's host name as same-origin, whichever machine answers, so only the server can
 * detect rebinding. Only the loopback interface needs it: elsewhere there are TLS, with a certificate of another name, and credentials.
 *
 * <p>Safe for any thread. Source: Fetch Metadata Request Headers, section 2.3; RFC 6454, section 7.
 */
final class BrowserRule {
    private static final Pattern AUTHORITY = Pattern.compile("(\\[[^]]*]|[^:\\[\\]]+?)\\.?(:\\d*)?");

    private final Cors cors;
    private final Set<String> hosts;
    private final boolean anyHost;
    private volatile String lastAnswered = ""; // nearly always the next one too

    /**
     * @param allowed hosts by which clients may call, besides {@code bound} and {@code published}
     * @param reachable whether other machines can call: then any host is answered unless some are allowed
     */
    BrowserRule(Cors cors, List<String> allowed, String bound, @Nullable String published, boolean reachable) {
        this.cors = cors;
        this.hosts = new HashSet<>();
        allowed.forEach(host -> hosts.add(host.toLowerCase(Locale.ROOT)));
        this.anyHost = hosts.isEmpty() && reachable;
        hosts.add(bound.toLowerCase(Locale.ROOT));
        if (published != null) {
            hosts.add(published.toLowerCase(Locale.ROOT));
        }
    }

    /**
     * Lets a request go on.
     *
     * @throws A2AException if it was sent to a name that is not the server's, or by a page that may not call
     */
    void check(String method, Function<String, @Nullable String> headers) {
        checkHost(headers);
        if (!method.equals("GET") && !method.equals("HEAD") && isOfForeignPage(headers)) {
            throw A2AException.of(
                    A2AError.PERMISSION_DENIED, "Pages of that Origin may not call (expected: one that is allowed)");
        }
    }

    /** @throws A2AException if a request was sent to a name that is not the server's */
    void checkHost(Function<String, @Nullable String> headers) {
        String host = requireNonNullElse(headers.apply("Host"), "");
        if (!anyHost && !host.equals(lastAnswered)) {
            if (!isOurs(host)) {
                throw A2AException.of(
                        A2AError.PERMISSION_DENIED,
                        "Unknown Host (expected: localhost, the host of the public URL, or one that is allowed)");
            }
            lastAnswered = host;
        }
    }

    private boolean isOurs(String authority) {
        var parts = AUTHORITY.matcher(authority);
        if (!parts.matches()) {
            return false;
        }
        String host = parts.group(1).toLowerCase(Locale.ROOT);
        // Agents may have names of their own, one level below.
        return isKnown(host) || isKnown(host.substring(host.indexOf('.') + 1));
    }

    private boolean isKnown(String host) {
        return hosts.contains(host) || Loopback.is(host);
    }

    /** True for a request of a page of an origin that is not allowed; false without a browser. */
    boolean isOfForeignPage(Function<String, @Nullable String> headers) {
        String origin = headers.apply("Origin");
        String site = headers.apply("Sec-Fetch-Site");
        if (origin == null && site == null) {
            return false; // no browser
        }
        String host = requireNonNullElse(headers.apply("Host"), "");
        if (site != null ? site.equals("same-origin") || site.equals("none") : isOf(host, origin)) {
            return false;
        }
        return origin == null || !cors.allows(origin);
    }

    /** Without regard to the scheme, which a proxy may have changed. */
    private static boolean isOf(String host, @Nullable String origin) {
        int from = origin == null ? -1 : origin.indexOf("://");
        return origin != null && from > 0 && origin.substring(from + 3).equalsIgnoreCase(host);
    }
}
