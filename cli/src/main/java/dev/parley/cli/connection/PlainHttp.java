package dev.parley.cli.connection;

import dev.parley.cli.command.HttpAddress;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.output.CliException;
import dev.parley.cli.output.LocalError;
import java.net.URI;

/** Keeps credentials from plain HTTP to other machines, and warns about calls without credentials. */
public final class PlainHttp {
    static final String HINT = "use https; if the network is safe: --insecure-http";

    private PlainHttp() {}

    static boolean isAllowed(Invocation call) {
        return call.agent().insecureHttp();
    }

    /**
     * Checks an address before a request is sent there.
     *
     * @param credentials whether the command has credentials for the agent
     * @throws CliException if they would travel in the clear
     */
    public static void check(Invocation call, URI url, boolean credentials) {
        if (!HttpAddress.isPlain(url)) {
            return;
        }
        String origin = HttpAddress.origin(url);
        if (credentials && !isAllowed(call)) {
            throw refused("credentials would go to " + origin);
        }
        call.output()
                .warn(
                        credentials
                                ? "CREDENTIALS ARE SENT TO " + origin + " OVER PLAIN HTTP (--insecure-http)"
                                : origin
                                        + " is called over plain HTTP: others on the network can read and change what"
                                        + " is sent");
    }

    public static CliException refused(String what) {
        return CliException.local(
                LocalError.PLAIN_HTTP,
                what + " over plain HTTP, which others on the network can read (expected: https, or this machine)",
                HINT);
    }
}
