package dev.parley.trust;

import dev.parley.dialect.spi.RequestHead;
import dev.parley.trust.tokens.Sessions;
import dev.parley.trust.tokens.Sessions.BrowserSession;
import dev.parley.trust.tokens.Sessions.Credential;
import dev.parley.trust.tokens.Sessions.Kind;
import java.net.URI;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads the session of a request, as if the request had the credential of the session: what that may do, and when it ends, is decided
 * where credentials are. A session counts for requests of pages of this hub only, and for those without another credential. Safe for any
 * thread.
 *
 * @param keyHeader of API keys
 */
record SessionCredentials(Sessions sessions, String keyHeader, Supplier<String> hub) {
    /** Header with the second half of the proof of a session, which pages of other ports of the host cannot read. */
    static final String PROOF = "Parley-Session-Proof";

    private static final String COOKIE = "parley_session";
    private static final String AUTHORIZATION = "Authorization";

    /** Returns a request with the credential of its session; the same request if no session counts. */
    RequestHead resolved(RequestHead arrival) {
        String proof = arrival.header(PROOF);
        Set<String> ids = proof == null ? Set.of() : ids(arrival, hub.get());
        // Several are one of this hub, and others that a neighbour on the host has added: none of them is sure to be
        // the user's.
        if (proof == null || ids.size() != 1 || hasCredential(arrival) || isForeign(arrival)) {
            return arrival;
        }
        BrowserSession session = sessions.find(ids.iterator().next());
        return session == null || !session.isProvedBy(proof) ? arrival : with(arrival, session.credential(), session);
    }

    /** Returns a request with a credential, and without others that it may have. */
    RequestHead with(RequestHead arrival, Credential credential) {
        return with(arrival, credential, null);
    }

    private RequestHead with(RequestHead arrival, Credential credential, @Nullable BrowserSession session) {
        return new RequestHead(
                arrival.method(),
                arrival.path(),
                new Headers(arrival, keyHeader, credential, session),
                arrival.address(),
                arrival.certificate(),
                arrival.isSecure());
    }

    /** Session of a request that was resolved; null for none. */
    static @Nullable BrowserSession of(RequestHead resolved) {
        return resolved.headers() instanceof Headers headers ? headers.session() : null;
    }

    /** Whether the session of a request that was resolved has not ended since; true if there is none. */
    boolean isOpen(RequestHead resolved) {
        BrowserSession session = of(resolved);
        return session == null || sessions.find(session.id()) != null;
    }

    /** Whether a request has a credential of its own. */
    boolean hasCredential(RequestHead arrival) {
        return arrival.header(AUTHORIZATION) != null
                || arrival.header(keyHeader) != null
                || arrival.header(Authentication.KEY_HEADER) != null;
    }

    /** Distinct values of the cookie of a request. */
    static Set<String> ids(RequestHead arrival, String hub) {
        String cookies = arrival.header("Cookie");
        if (cookies == null) {
            return Set.of();
        }
        String start = cookieName(arrival, hub) + "=";
        var ids = new LinkedHashSet<String>();
        // Fields of HTTP/2 may have one cookie each, and are joined by commas.
        for (String cookie : cookies.split("[;,]", -1)) {
            String pair = cookie.strip();
            if (pair.startsWith(start)) {
                ids.add(pair.substring(start.length()));
            }
        }
        return ids;
    }

    /**
     * Name of the cookie. Browsers send a cookie to all ports and, with this path, to all addresses of a host, so the name has the port and
     * the path of the hub; with the prefix, browsers take it over TLS only, and from no other host.
     *
     * <p>Source: RFC 6265bis, section 4.1.3.2.
     */
    static String cookieName(RequestHead arrival, String hub) {
        URI url = URI.create(hub);
        String path = url.getRawPath() == null ? "" : url.getRawPath();
        return (isSecure(arrival, hub) ? "__Host-" : "")
                + COOKIE
                + (url.getPort() < 0 ? "" : "_" + url.getPort())
                + path.replaceAll("[^A-Za-z0-9]+", "_");
    }

    /** Whether browsers send a request over TLS, which may end at a proxy that the server does not know. */
    static boolean isSecure(RequestHead arrival, String hub) {
        return arrival.isSecure() || hub.startsWith("https:");
    }

    /**
     * Whether a page of another origin has sent a request. One without both headers counts with a {@linkplain #PROOF proof}: browsers add
     * them to a request of another origin that has such a header, or ask the hub first.
     */
    private boolean isForeign(RequestHead arrival) {
        return (arrival.header("Sec-Fetch-Site") != null || arrival.header("Origin") != null) && !isOwn(arrival);
    }

    /** Whether a page of this hub has sent a request. */
    boolean isOwn(RequestHead arrival) {
        return isOwn(arrival, hub.get());
    }

    /** Whether a page of a hub has sent a request. Source: Fetch Metadata Request Headers, section 2.3. */
    static boolean isOwn(RequestHead arrival, String hub) {
        String site = arrival.header("Sec-Fetch-Site");
        if (site != null) {
            return site.equals("same-origin");
        }
        String origin = arrival.header("Origin");
        if (origin == null) {
            return false;
        }
        if (hub.equals(origin) || hub.startsWith(origin + "/")) {
            return true;
        }
        int authority = origin.indexOf("://") + 3;
        return authority > 2
                && origin.substring(authority).equalsIgnoreCase(arrival.header("Host"))
                // A page without TLS may be forged in the network.
                && (origin.startsWith("https:") || !isSecure(arrival, hub));
    }

    /** Headers of a request with another credential; without any for the id of a key, which is good in no header. */
    private record Headers(
            RequestHead arrival,
            String keyHeader,
            Credential credential,
            @Nullable BrowserSession session) implements Function<String, @Nullable String> {
        @Override
        public @Nullable String apply(String name) {
            if (name.equalsIgnoreCase(AUTHORIZATION)) {
                return credential.kind() == Kind.TOKEN ? "Bearer " + credential.text() : null;
            }
            if (name.equalsIgnoreCase(keyHeader) || name.equalsIgnoreCase(Authentication.KEY_HEADER)) {
                return credential.kind() == Kind.KEY ? credential.text() : null;
            }
            return name.equalsIgnoreCase("DPoP") ? null : arrival.header(name);
        }
    }
}
