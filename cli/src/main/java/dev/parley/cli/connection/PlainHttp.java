package dev.parley.cli.connection;

import dev.parley.cli.command.Invocation;
import dev.parley.cli.output.CliException;
import dev.parley.cli.output.LocalError;
import dev.parley.client.http.HttpUrl;

/** Keeps credentials from plain HTTP to other machines, and warns about calls without credentials. */
final class PlainHttp {
    static final String HINT = "use https; if the network is safe: --insecure-http";

    private PlainHttp() {}

    /**
     * Checks an address before a request is sent there.
     *
     * @param credentials whether the command has credentials for the agent
     * @throws CliException if they would travel in the clear
     */
    static void check(Invocation call, HttpUrl url, boolean credentials) {
        if (!url.isPlain()) {
            return;
        }
        String server = url.server();
        if (credentials && !call.agent().insecureHttp()) {
            throw refused("credentials would go to " + server);
        }
        call.output()
                .warn(
                        credentials
                                ? "CREDENTIALS ARE SENT TO " + server + " OVER PLAIN HTTP (--insecure-http)"
                                : server + " is called over plain HTTP: others on the network can read and change what"
                                        + " is sent");
    }

    static CliException refused(String what) {
        return CliException.local(
                LocalError.PLAIN_HTTP,
                what + " over plain HTTP, which others on the network can read (expected: https, or this machine)",
                HINT);
    }
}
