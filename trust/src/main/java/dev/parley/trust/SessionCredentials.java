package dev.parley.trust;

import dev.parley.dialect.spi.Arrival;
import dev.parley.trust.tokens.Sessions;
import dev.parley.trust.tokens.Sessions.BrowserSession;
import dev.parley.trust.tokens.Sessions.Credential;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads the session of a request, as if the request had the credential of the session: what that may do, and when it ends, is decided
 * where credentials are. A session counts for requests of pages of this hub only, and for those without another credential. Safe for any
 * thread.
 */
final class SessionCredentials {
    static final String COOKIE = "parley_session";

    private static final String AUTHORIZATION = "Authorization";

    private final Sessions sessions;
    private final String keyHeader;
    private final Supplier<String> hub;

    /** @param keyHeader of API keys */
    SessionCredentials(Sessions sessions, String keyHeader, Supplier<String> hub) {
        this.sessions = sessions;
        this.keyHeader = keyHeader;
        this.hub = hub;
    }

    /** Returns a request with the credential of its session; the same request if no session counts. */
    Arrival resolved(Arrival arrival) {
        String id = id(arrival);
        if (id == null || hasCredential(arrival) || !isOwn(arrival)) {
            return arrival;
        }
        BrowserSession session = sessions.find(id);
        return session == null ? arrival : with(arrival, session.credential(), session);
    }

    /** Returns a request with a credential, and without others that it may have. */
    Arrival with(Arrival arrival, Credential credential) {
        return with(arrival, credential, null);
    }

    private Arrival with(Arrival arrival, Credential credential, @Nullable BrowserSession session) {
        return new Arrival(
                arrival.method(),
                arrival.path(),
                new Headers(arrival, keyHeader, credential, session),
                arrival.address(),
                arrival.certificate());
    }

    /** Session of a request that was resolved; null for none. */
    static @Nullable BrowserSession of(Arrival resolved) {
        return resolved.headers() instanceof Headers headers ? headers.session() : null;
    }

    /** Whether the session of a request that was resolved has not ended since; true if there is none. */
    boolean isOpen(Arrival resolved) {
        BrowserSession session = of(resolved);
        return session == null || sessions.find(session.id()) != null;
    }

    private boolean hasCredential(Arrival arrival) {
        return arrival.header(AUTHORIZATION) != null
                || arrival.header(keyHeader) != null
                || arrival.header(Trust.KEY_HEADER) != null;
    }

    /** Id in the cookie of a request; null for none. */
    static @Nullable String id(Arrival arrival) {
        String cookies = arrival.header("Cookie");
        if (cookies != null) {
            // Fields of HTTP/2 may have one cookie each, and are joined by commas.
            for (String cookie : cookies.split("[;,]", -1)) {
                String pair = cookie.strip();
                if (pair.startsWith(COOKIE + "=")) {
                    return pair.substring(COOKIE.length() + 1);
                }
            }
        }
        return null;
    }

    /** Whether a page of this hub has sent a request. Source: Fetch Metadata Request Headers, section 2.3. */
    boolean isOwn(Arrival arrival) {
        String site = arrival.header("Sec-Fetch-Site");
        if (site != null) {
            return site.equals("same-origin");
        }
        String origin = arrival.header("Origin");
        if (origin == null) {
            return false;
        }
        String host = arrival.header("Host");
        int authority = origin.indexOf("://") + 3;
        return authority > 2
                && (origin.substring(authority).equalsIgnoreCase(host)
                        || hub.get().equals(origin)
                        || hub.get().startsWith(origin + "/"));
    }

    /** Headers of a request with another credential. */
    private record Headers(
            Arrival arrival,
            String keyHeader,
            Credential credential,
            @Nullable BrowserSession session) implements Function<String, @Nullable String> {
        @Override
        public @Nullable String apply(String name) {
            if (name.equalsIgnoreCase(AUTHORIZATION)) {
                return credential.isKey() ? null : "Bearer " + credential.text();
            }
            if (name.equalsIgnoreCase(keyHeader) || name.equalsIgnoreCase(Trust.KEY_HEADER)) {
                return credential.isKey() ? credential.text() : null;
            }
            return name.equalsIgnoreCase("DPoP") ? null : arrival.header(name);
        }
    }
}
