package dev.parley.cli;

import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds the card that a reference means. Credentials are not sent, for only the card says which are wanted.
 *
 * <p>Source: a2a-cli specification 0.2, section 10.1.
 */
final class CardSource {
    private static final String WELL_KNOWN = "/.well-known/agent-card.json";
    private static final int MAX_BYTES = 1 << 20;
    private static final Duration TIMEOUT = Duration.ofSeconds(15);

    /**
     * A card as it was found.
     *
     * @param place the URL or file it came from
     * @param origin of that URL; null for a file
     */
    record Found(byte[] bytes, String place, @Nullable String origin) {
        /** The host that it came from, in lower case; null for a file. */
        @Nullable
        String host() {
            return origin == null ? null : URI.create(place).getHost().toLowerCase(Locale.ROOT);
        }

        AgentCard card() {
            try {
                return Json.readCard(bytes);
            } catch (A2AException malformed) {
                throw new CliException(
                        Problem.local(
                                LocalError.CARD_INVALID,
                                place + " is no agent card: " + malformed.getMessage(),
                                "parley card validate names everything that is wrong"),
                        malformed);
            }
        }

        /** The card with everything in it, also what no specification knows. */
        @SuppressWarnings("unchecked") // a JSON object has string keys
        Map<String, @Nullable Object> tree() {
            try {
                return (Map<String, @Nullable Object>) Json.read(bytes, Map.class);
            } catch (A2AException malformed) {
                throw new CliException(
                        Problem.local(
                                LocalError.CARD_INVALID,
                                place + " is no agent card: " + malformed.getMessage(),
                                "name the card itself with -a, not a page about it"),
                        malformed);
            }
        }
    }

    private record Answer(int status, byte[] body) {}

    private final Surroundings around;
    private final Map<String, String> headers;
    private final WireLog wire;
    private final boolean insecure;

    /** @param headers to send along */
    CardSource(Surroundings around, Map<String, String> headers, WireLog wire, boolean insecure) {
        this.around = around;
        this.headers = headers;
        this.wire = wire;
        this.insecure = insecure;
    }

    /** Returns the card that {@code reference} means: a file, a card's URL, an agent's URL, an origin or a host. */
    Found find(String reference) throws InterruptedException {
        Path file = file(reference);
        return file == null ? fetch(url(reference)) : file(file);
    }

    /** Returns the card in a file. */
    static Found file(Path file) {
        try {
            return new Found(Files.readAllBytes(file), file.toString(), null);
        } catch (IOException unreadable) {
            throw notFound("cannot read the card " + file, "name a card file, an origin or a URL with -a");
        }
    }

    private @Nullable Path file(String reference) {
        if (reference.startsWith("file:")) {
            try {
                return Path.of(URI.create(reference));
            } catch (IllegalArgumentException wrong) {
                throw notFound(reference + " is no file URL", "write file:///path/to/card.json");
            }
        }
        if (reference.contains("://")) {
            return null;
        }
        boolean isPath = reference.matches("(/|\\./|\\.\\./|~).*");
        Path path = around.path(reference);
        return isPath || Files.isRegularFile(path) ? path : null;
    }

    /** A host without a scheme is reached by https, unless it is this machine. */
    private static URI url(String reference) {
        String text = reference;
        if (!text.contains("://")) {
            boolean local = text.matches("(localhost|127\\.\\d+\\.\\d+\\.\\d+|\\[::1])([:/].*)?");
            text = (local ? "http://" : "https://") + text;
        }
        try {
            URI url = URI.create(text);
            if (url.getHost() != null
                    && (url.getScheme().equals("http") || url.getScheme().equals("https"))) {
                return url;
            }
        } catch (IllegalArgumentException wrong) {
            // Said below, as for everything else that is no address.
        }
        throw notFound(
                reference + " is no address of an agent (expected: a host, an http or https URL, or a card file)",
                "for example: -a " + Setting.LOCAL_HUB);
    }

    private Found fetch(URI url) throws InterruptedException {
        HttpClient.Builder builder = HttpClient.newBuilder()
                .connectTimeout(TIMEOUT)
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER);
        if (insecure) {
            builder.sslContext(InsecureTls.context());
        }
        String last = "";
        try (HttpClient http = builder.build()) {
            for (URI place : places(url)) {
                Answer answer = get(http, place);
                if (answer.status() == 401 || answer.status() == 403) {
                    throw new CliException(new Problem(
                            LocalError.CREDENTIALS_MISSING.code(),
                            LocalError.CREDENTIALS_MISSING.exitStatus(),
                            "the card at " + place + " is protected (status " + answer.status() + ")",
                            "pass a header with --svc-param, or a copy of the card with -a card.json",
                            answer.status()));
                }
                if (answer.status() == 200 && isObject(answer.body())) {
                    return new Found(answer.body(), place.toString(), origin(place));
                }
                last = place + (answer.status() == 200 ? " (no JSON)" : " (status " + answer.status() + ")");
            }
        }
        throw notFound("no agent card at " + last, "name the agent with -a: its origin or the URL of its card");
    }

    /** The URL of a card as it is; else the well-known place below the address, then the address itself. */
    private static Set<URI> places(URI url) {
        String path = url.getPath() == null ? "" : url.getPath();
        if (path.endsWith(".json")) {
            return Set.of(url);
        }
        var places = new LinkedHashSet<URI>();
        places.add(URI.create(url.getScheme() + "://" + url.getRawAuthority()
                + (url.getRawPath() == null ? "" : url.getRawPath().replaceFirst("/+$", "")) + WELL_KNOWN));
        if (!path.isEmpty() && !path.equals("/")) {
            places.add(url);
        }
        return places;
    }

    private Answer get(HttpClient http, URI place) throws InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(place)
                .timeout(TIMEOUT)
                .header("Accept", "application/json")
                .header("A2A-Version", "1.0");
        headers.forEach(request::setHeader);
        HttpRequest ready = request.build();
        wire.sending(0, "GET", place.toString(), ready.headers().map(), "");
        try {
            HttpResponse<InputStream> answer = http.send(ready, HttpResponse.BodyHandlers.ofInputStream());
            try (InputStream body = answer.body()) {
                var whole = new Answer(answer.statusCode(), body.readNBytes(MAX_BYTES));
                wire.received(
                        0, whole.status(), answer.headers().map(), new String(whole.body(), StandardCharsets.UTF_8));
                return whole;
            }
        } catch (IOException failed) {
            String hint = place.toString().startsWith(Setting.LOCAL_HUB + "/")
                    ? "start a hub with: parley up; or name another agent with -a"
                    : "check the address given with -a, and that the agent is running";
            throw new CliException(
                    Problem.local(
                            LocalError.UNREACHABLE, "cannot reach " + origin(place) + ": " + reason(failed), hint),
                    failed);
        }
    }

    private static String reason(IOException failed) {
        return switch (failed) {
            case java.net.http.HttpConnectTimeoutException slow -> "no connection within " + TIMEOUT.toSeconds() + " s";
            case java.net.http.HttpTimeoutException slow -> "no answer within " + TIMEOUT.toSeconds() + " s";
            case java.net.ConnectException refused
            when refused.getCause() instanceof java.nio.channels.UnresolvedAddressException -> "no such host";
            case java.net.ConnectException refused -> "connection refused";
            case javax.net.ssl.SSLException tls -> "TLS: " + tls.getMessage();
            default -> String.valueOf(failed.getMessage());
        };
    }

    private static boolean isObject(byte[] body) {
        for (byte one : body) {
            if (!Character.isWhitespace(one)) {
                return one == '{';
            }
        }
        return false;
    }

    static String origin(URI url) {
        int port = url.getPort() != -1 ? url.getPort() : url.getScheme().equals("https") ? 443 : 80;
        return url.getScheme() + "://" + url.getHost() + ":" + port;
    }

    private static CliException notFound(String message, String hint) {
        return new CliException(Problem.local(LocalError.CARD_NOT_FOUND, message, hint));
    }
}
