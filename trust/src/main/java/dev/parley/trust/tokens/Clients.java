package dev.parley.trust.tokens;

import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.Loopback;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * OAuth clients that register themselves. The id of a client holds its registration, under a seal: the hub keeps nothing, however many
 * register. Safe for any thread.
 *
 * <p>Source: RFC 7591; RFC 8252, sections 7 and 8.4; RFC 9700, section 2.1.
 */
public final class Clients {
    /** A client that keeps no secret. */
    public static final String PUBLIC = "none";

    /** Ways in which a client authenticates at the token endpoint. */
    public static final List<String> METHODS = List.of(PUBLIC, "client_secret_basic", "client_secret_post");

    private static final int MOST_REDIRECTS = 8;
    private static final int LONGEST = 1024;
    private static final int LONGEST_NAME = 100;
    /** Schemes that run or show something in the browser instead of starting a program. */
    private static final Set<String> OF_BROWSERS = Set.of(
            "javascript",
            "vbscript",
            "data",
            "blob",
            "file",
            "filesystem",
            "about",
            "view-source",
            "ftp",
            "ws",
            "wss",
            "mailto",
            "tel");

    /**
     * A client.
     *
     * @param name which it has chosen itself
     * @param redirects addresses to which a browser may bring its codes
     * @param method one of {@link #METHODS}
     */
    public record Client(String id, String name, List<String> redirects, String method, Instant made) {
        /** True if it keeps no secret. */
        public boolean isPublic() {
            return method.equals(PUBLIC);
        }

        /** Whether an address is one of the registered ones; on loopback with any port, which programs find when they start. */
        public boolean mayRedirect(String uri) {
            return redirects.contains(uri)
                    || redirects.stream().anyMatch(registered -> isSameOnLoopback(registered, uri));
        }
    }

    private final Seal ids;
    private final Seal secrets;

    /** @param key at least 32 secret bytes */
    public Clients(byte[] key) {
        this.ids = new Seal(key, "ids of OAuth clients");
        this.secrets = new Seal(key, "secrets of OAuth clients");
    }

    /**
     * Registers a client.
     *
     * @throws IllegalArgumentException if it has no address or a bad one, or is too long
     */
    public Client register(String name, List<String> redirects, String method, Instant now) {
        if (redirects.isEmpty() || redirects.size() > MOST_REDIRECTS) {
            throw new IllegalArgumentException(
                    "redirect_uris: " + redirects.size() + " (expected: 1 to " + MOST_REDIRECTS + ")");
        }
        redirects.forEach(Clients::requireRedirect);
        if (redirects.stream().mapToInt(String::length).sum() > LONGEST) {
            throw new IllegalArgumentException(
                    "redirect_uris: too long (expected: at most " + LONGEST + " characters)");
        }
        String shown = name.replaceAll("\\p{C}", " ").strip();
        String cut = shown.length() > LONGEST_NAME ? shown.substring(0, LONGEST_NAME) : shown;
        Map<String, Object> members = Map.of("n", cut, "r", redirects, "m", method, "t", now.getEpochSecond());
        String text = Base64.getUrlEncoder().withoutPadding().encodeToString(Json.write(members));
        return new Client(text + "." + ids.of(text), cut, List.copyOf(redirects), method, now);
    }

    /** Returns the client of an id; null if the hub has not registered it. */
    public @Nullable Client find(String id) {
        int dot = id.indexOf('.');
        if (dot < 0 || !ids.fits(id.substring(0, dot), id.substring(dot + 1))) {
            return null;
        }
        try {
            Map<?, ?> members = Json.read(Base64.getUrlDecoder().decode(id.substring(0, dot)), Map.class);
            if (members.get("n") instanceof String name
                    && members.get("r") instanceof List<?> redirects
                    && members.get("m") instanceof String method
                    && members.get("t") instanceof Number made) {
                return new Client(
                        id,
                        name,
                        redirects.stream().map(String::valueOf).toList(),
                        method,
                        Instant.ofEpochSecond(made.longValue()));
            }
            return null;
        } catch (A2AException | IllegalArgumentException impossible) { // under the seal of another version
            return null;
        }
    }

    /** The secret of a client that keeps one. */
    public String secret(Client client) {
        return secrets.of(client.id());
    }

    /** Whether a secret is that of a client. */
    public boolean isSecret(Client client, String secret) {
        return secrets.fits(client.id(), secret);
    }

    private static void requireRedirect(String text) {
        String problem = problem(text);
        if (problem != null) {
            throw new IllegalArgumentException("redirect_uris: \"" + excerpt(text) + "\": " + problem
                    + " (expected: https, http on loopback, or a scheme of a program)");
        }
    }

    private static String excerpt(String text) {
        String visible = text.replaceAll("[^\\x20-\\x7e]", "?");
        return visible.length() > 200 ? visible.substring(0, 200) : visible;
    }

    private static @Nullable String problem(String text) {
        if (!text.matches("[\\x21-\\x7e]{1," + LONGEST + "}")) {
            return "empty, too long, or with characters that no address has";
        }
        URI uri;
        try {
            uri = new URI(text);
        } catch (URISyntaxException malformed) {
            return "no address";
        }
        String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
        if (scheme.isEmpty() || uri.getRawFragment() != null || uri.getRawUserInfo() != null) {
            return "without scheme, or with a fragment or a user";
        }
        return switch (scheme) {
            case "https" -> uri.getHost() == null ? "no host" : null;
            case "http" -> uri.getHost() == null || !Loopback.is(uri.getHost()) ? "http to another machine" : null;
            // A program on the device: by a domain in reverse, or with an authority as editors have it.
            default ->
                OF_BROWSERS.contains(scheme)
                                || uri.isOpaque()
                                || scheme.indexOf('.') < 0 && uri.getRawAuthority() == null
                        ? "scheme " + scheme
                        : null;
        };
    }

    private static boolean isSameOnLoopback(String registered, String uri) {
        try {
            URI one = new URI(registered);
            URI other = new URI(uri);
            return "http".equals(one.getScheme())
                    && "http".equals(other.getScheme())
                    && one.getHost() != null
                    && Loopback.is(one.getHost())
                    && one.getHost().equals(other.getHost())
                    && other.getRawUserInfo() == null
                    && other.getRawFragment() == null
                    && Objects.equals(one.getRawPath(), other.getRawPath())
                    && Objects.equals(one.getRawQuery(), other.getRawQuery());
        } catch (URISyntaxException malformed) {
            return false;
        }
    }
}
