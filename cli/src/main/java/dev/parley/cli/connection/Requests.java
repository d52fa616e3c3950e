package dev.parley.cli.connection;

import dev.parley.cli.command.ClientFlags;
import dev.parley.cli.command.Invocation;
import dev.parley.client.AgentClient;
import dev.parley.client.AgentClientBuilder;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.HttpCall;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.dialect.Json;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.outbound.http.TrustedAuthorities;
import dev.parley.outbound.http.UncheckedTls;
import dev.parley.protocol.A2AException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** Requests of commands: the client that sends them, and answers of servers that are not agents. */
public final class Requests {
    static final String PLAIN_HTTP_HINT = "use https; if the network is safe: --insecure-http";

    private static final int SHOWN = 300;
    private static final Duration DEADLINE = Duration.ofSeconds(15);

    private Requests() {}

    /** Returns a client with the headers of the settings, and their trust in certificates. */
    public static AgentClientBuilder client(Invocation call, WireLog wire) {
        AgentClientBuilder client = trusting(call).retries(0).callTimeout(DEADLINE);
        if (wire.isOn()) {
            client.listener(wire);
        }
        call.credentials().headers().forEach(client::header);
        return client;
    }

    /** Returns a client without headers and credentials, with the trust in certificates of the settings. */
    public static AgentClientBuilder trusting(Invocation call) {
        AgentClientBuilder client = AgentClient.builder();
        SSLContext tls = tls(call);
        return tls == null ? client : client.sslContext(tls);
    }

    /** Returns the trust in certificates of the settings; null for the platform's. */
    public static @Nullable SSLContext tls(Invocation call) {
        if (call.tls().insecure()) {
            call.output().warn("TLS certificates are not verified (--insecure): for development only");
            return UncheckedTls.context();
        }
        List<Path> files = call.tls().authorities().stream().map(call::path).toList();
        return files.isEmpty()
                ? null
                : CommandException.reading("invalid --ca: ", null, () -> TrustedAuthorities.context(files));
    }

    /** The same with the conditions under which agents are called. */
    public static AgentClientBuilder agent(Invocation call, WireLog wire) {
        AgentClientBuilder client = client(call, wire);
        if (call.agent().insecureHttp()) {
            client.plainHttp();
        }
        return client;
    }

    /**
     * Checks an address before a request is sent there.
     *
     * @param credentials whether the command has credentials for the agent
     * @throws CommandException if they would travel in the clear
     */
    static void requirePrivate(Invocation call, HttpUrl url, boolean credentials) {
        if (!url.isPlain()) {
            return;
        }
        String server = url.server();
        if (credentials && !call.agent().insecureHttp()) {
            throw plainHttp("credentials would go to " + server);
        }
        call.output()
                .warn(
                        credentials
                                ? "CREDENTIALS ARE SENT TO " + server + " OVER PLAIN HTTP (--insecure-http)"
                                : server + " is called over plain HTTP: others on the network can read and change what"
                                        + " is sent");
    }

    static CommandException plainHttp(String what) {
        return CommandException.of(
                Kind.PLAIN_HTTP,
                what + " over plain HTTP, which others on the network can read (expected: https, or this machine)",
                PLAIN_HTTP_HINT);
    }

    /** Next step for the user if no server answers at an address. */
    static String unreachableHint(String address) {
        return address.equals(ClientFlags.LOCAL_HUB)
                ? "start a hub with: parley up; or name another agent with -a"
                : "check the address given with -a, and that the agent is running";
    }

    /**
     * Returns the answer of a server.
     *
     * @param hint for the user if no server answers
     */
    public static <T> T read(String hint, Supplier<T> request) {
        try {
            return request.get();
        } catch (ClientException failed) {
            throw switch (failed.problem()) {
                case UNREACHABLE, LOST, TIMED_OUT, ANSWER_TOO_LARGE ->
                    CommandException.of(Kind.UNREACHABLE, String.valueOf(failed.getMessage()), hint, failed);
                default -> failed;
            };
        }
    }

    /** Returns the answer of a server to a request for JSON at {@code url}. */
    public static HttpCall.Answer get(AgentClientBuilder client, String url, String hint) {
        return read(hint, () -> client.exchange(jsonAt(url)));
    }

    /** The request for JSON at {@code url}. */
    static HttpCall jsonAt(String url) {
        return new HttpCall("GET", url, Map.of("Accept", "application/json"), new byte[0]);
    }

    /** Returns the problem that an answer with an error status is. */
    public static CommandException refused(Kind kind, String what, int status, byte[] body, @Nullable String hint) {
        String message = message(body);
        return new CommandException(
                kind.code(), kind.exitStatus(), what + (message.isEmpty() ? "" : ": " + message), hint, status, null);
    }

    /** The text of an error answer: its message if it is JSON of a known form, else its beginning. */
    private static String message(byte[] body) {
        String text = new String(body, StandardCharsets.UTF_8).strip();
        try {
            Map<?, ?> whole = Json.read(body, Map.class);
            Map<?, ?> error = whole.get("error") instanceof Map<?, ?> inner ? inner : whole;
            for (String name : new String[] {"message", "detail"}) {
                if (error.get(name) instanceof String message) {
                    text = message;
                    break;
                }
            }
        } catch (A2AException noJson) {
            // The text is the message then.
        }
        return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "…";
    }

    /** Returns a text as one segment of a path. */
    public static String segment(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
