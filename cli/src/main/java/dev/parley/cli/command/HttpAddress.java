package dev.parley.cli.command;

import dev.parley.command.CommandException;
import dev.parley.outbound.http.HttpUrl;
import java.net.URI;

/** HTTP addresses as users type them. */
public final class HttpAddress {
    private static final int LAST_PORT = 65_535;

    private HttpAddress() {}

    /**
     * Reads an http or https URL.
     *
     * @throws IllegalArgumentException if it is something else
     * @throws CommandException if it has a port that is not one
     */
    public static HttpUrl of(String text) {
        requirePort(text);
        return HttpUrl.ofAgent(text);
    }

    /** The same, but a host without a scheme is reached by https, unless it is this machine. */
    public static HttpUrl typed(String text) {
        requirePort(text.contains("://") ? text : "https://" + text);
        return HttpUrl.ofTyped(text);
    }

    /** @throws CommandException if a URL has a port that is not one */
    static void requirePort(String text) {
        int port = URI.create(text).getPort();
        if (port == 0 || port > LAST_PORT) {
            throw CommandException.usage(
                    "port " + port + " in " + text + " (expected: a port from 1 to " + LAST_PORT + ")", null);
        }
    }

    /** Returns scheme, host and port, as they are written. */
    public static String origin(String text) {
        return of(text).server();
    }
}
