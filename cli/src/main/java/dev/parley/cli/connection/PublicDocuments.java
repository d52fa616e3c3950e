package dev.parley.cli.connection;

import static java.util.Objects.requireNonNullElse;

import dev.parley.cli.command.HttpAddress;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.output.CliException;
import dev.parley.cli.output.LocalError;
import dev.parley.client.http.UncheckedTls;
import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Fetches public documents, cards and sets of keys, without credentials.
 *
 * @param headers to send along
 * @param deadline for an answer to be there, all of it
 */
public record PublicDocuments(Map<String, String> headers, WireLog wire, boolean insecure, Duration deadline) {
    private static final int MAX_BYTES = 1 << 20;
    private static final int SHOWN = 300;
    private static final Duration DEADLINE = Duration.ofSeconds(15);

    /** An answer that was read whole. */
    public record Answer(int status, byte[] body) {
        boolean isObject() {
            for (byte one : body) {
                if (!Character.isWhitespace(one)) {
                    return one == '{';
                }
            }
            return false;
        }
    }

    public static PublicDocuments of(Invocation call) {
        boolean insecure = call.agent().insecure();
        if (insecure) {
            call.output().warn("TLS certificates are not verified (--insecure): for development only");
        }
        return new PublicDocuments(call.credentials().headers(), WireLog.of(call), insecure, DEADLINE);
    }

    /** @param hint for the user if no server answers */
    public Answer get(URI place, String hint) throws InterruptedException {
        HttpRequest.Builder builder = HttpRequest.newBuilder(place)
                .header("Accept", "application/json")
                .header("A2A-Version", "1.0");
        headers.forEach(builder::setHeader);
        HttpRequest request = builder.build();
        wire.sending(0, "GET", place.toString(), request.headers().map(), "");
        String reason;
        Exception cause;
        try (HttpClient http = client()) {
            try {
                return http.sendAsync(request, HttpResponse.BodyHandlers.ofInputStream())
                        .thenApplyAsync(this::whole, Thread::startVirtualThread)
                        .get(deadline.toMillis(), TimeUnit.MILLISECONDS);
            } catch (ExecutionException failed) {
                cause = failed;
                reason = reason(requireNonNullElse(failed.getCause(), failed));
            } catch (TimeoutException slow) {
                cause = slow;
                reason = "no answer, or not all of it, within " + deadline.toSeconds() + " s";
            } finally {
                http.shutdownNow(); // closing it would wait for the end of the answer
            }
        }
        throw CliException.local(
                LocalError.UNREACHABLE, "cannot reach " + HttpAddress.origin(place) + ": " + reason, hint, cause);
    }

    private Answer whole(HttpResponse<InputStream> answer) {
        try (InputStream in = answer.body()) {
            byte[] body = in.readNBytes(MAX_BYTES);
            wire.received(0, answer.statusCode(), answer.headers().map(), new String(body, StandardCharsets.UTF_8));
            return new Answer(answer.statusCode(), body);
        } catch (IOException lost) {
            throw new UncheckedIOException(lost.getMessage(), lost);
        }
    }

    private HttpClient client() {
        HttpClient.Builder builder =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).followRedirects(HttpClient.Redirect.NEVER);
        if (insecure) {
            builder.sslContext(UncheckedTls.context());
        }
        return builder.build();
    }

    /** The reason why no connection was made or it was lost, in words for users. */
    public static String reason(Throwable failed) {
        return switch (failed) {
            case java.net.ConnectException refused
            when refused.getCause() instanceof java.nio.channels.UnresolvedAddressException -> "no such host";
            case java.net.ConnectException refused -> "connection refused";
            case javax.net.ssl.SSLException tls -> "TLS: " + tls.getMessage();
            case UncheckedIOException lost -> String.valueOf(lost.getMessage());
            case IOException lost -> String.valueOf(lost.getMessage());
            default -> failed.toString();
        };
    }

    /** The text of an error answer: its message if it is JSON of a known form, else its beginning. */
    public static String message(byte[] body) {
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
}
