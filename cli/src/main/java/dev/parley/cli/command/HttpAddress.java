package dev.parley.cli.command;

import dev.parley.cli.output.CliException;
import java.net.URI;
import java.util.Locale;
import java.util.regex.Pattern;

/** HTTP addresses as users type them. */
public final class HttpAddress {
    private static final Pattern HERE = Pattern.compile("localhost|127(\\.\\d{1,3}){3}|\\[::1]");
    private static final int LAST_PORT = 65_535;

    private HttpAddress() {}

    /**
     * Reads an http or https URL.
     *
     * @throws IllegalArgumentException if it is something else
     * @throws CliException if it has a port that is none
     */
    public static URI of(String text) {
        URI url = URI.create(text);
        if (url.getHost() == null || !("http".equals(url.getScheme()) || "https".equals(url.getScheme()))) {
            throw new IllegalArgumentException(text);
        }
        if (url.getPort() == 0 || url.getPort() > LAST_PORT) {
            throw CliException.usage(
                    "port " + url.getPort() + " in " + text + " (expected: a port from 1 to " + LAST_PORT + ")", null);
        }
        return url;
    }

    /** The same, but a host without a scheme is reached by https, unless it is this machine. */
    public static URI typed(String text) {
        if (text.contains("://")) {
            return of(text);
        }
        URI secure = of("https://" + text);
        return isHere(secure) ? of("http://" + text) : secure;
    }

    /** True for plain HTTP to another machine, which others on the network can read and change. */
    public static boolean isPlain(URI url) {
        return "http".equalsIgnoreCase(url.getScheme()) && !isHere(url);
    }

    private static boolean isHere(URI url) {
        return HERE.matcher(url.getHost().toLowerCase(Locale.ROOT)).matches();
    }

    /** True if both are the same scheme, host and port; all names of this machine's loopback count as one. */
    public static boolean isSameOrigin(String one, String other) {
        return general(one).equals(general(other));
    }

    private static String general(String origin) {
        URI url = URI.create(origin);
        return isHere(url) ? origin(URI.create(url.getScheme() + "://localhost:" + url.getPort())) : origin;
    }

    /** Returns scheme, host and port. */
    public static String origin(URI url) {
        int port = url.getPort() != -1 ? url.getPort() : url.getScheme().equals("https") ? 443 : 80;
        return url.getScheme() + "://" + url.getHost() + ":" + port;
    }
}
