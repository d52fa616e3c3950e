package dev.parley.cli;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Model.OptionSpec;

/** What operators ask a hub; not part of A2A. */
final class HubAdmin {
    static final List<Setting<?>> SETTINGS = List.of(Setting.OUTPUT, Setting.SVC_PARAM, Setting.CONFIG, Setting.DEBUG);

    private static final Duration TIMEOUT = Duration.ofSeconds(15);

    private HubAdmin() {}

    /** The option that names the hub. */
    static OptionSpec option() {
        return Command.option("--url", "HUB", "The hub; default: " + Setting.LOCAL_HUB + ".");
    }

    /**
     * Asks the hub; the answer is its JSON.
     *
     * @param hint what to do if there is no such thing
     */
    static byte[] ask(Invocation call, String method, String path, String hint) throws InterruptedException {
        String typed = call.option("--url");
        String hub = (typed == null ? Setting.LOCAL_HUB : typed).replaceFirst("/+$", "");
        WireLog wire = WireLog.of(call);
        URI place;
        try {
            place = URI.create(hub + path);
            if (place.getHost() == null) {
                throw new IllegalArgumentException(hub);
            }
        } catch (IllegalArgumentException wrong) {
            throw CliException.usage("invalid --url: " + hub + " (expected: such as " + Setting.LOCAL_HUB + ")", null);
        }
        HttpRequest.Builder builder = HttpRequest.newBuilder(place)
                .timeout(TIMEOUT)
                .header("Content-Type", "application/json")
                .method(method, HttpRequest.BodyPublishers.noBody());
        Connection.serviceParameters(call).forEach(builder::setHeader);
        HttpRequest request = builder.build();
        wire.sending(0, method, place.toString(), request.headers().map(), "");
        try (HttpClient http = HttpClient.newBuilder()
                .connectTimeout(TIMEOUT)
                .version(HttpClient.Version.HTTP_1_1)
                .build()) {
            HttpResponse<byte[]> answer = http.send(request, HttpResponse.BodyHandlers.ofByteArray());
            String body = new String(answer.body(), StandardCharsets.UTF_8);
            wire.received(0, answer.statusCode(), answer.headers().map(), body);
            if (answer.statusCode() != 200) {
                throw refused(hub, answer.statusCode(), body, hint);
            }
            return answer.body();
        } catch (IOException failed) {
            throw new CliException(
                    Problem.local(
                            LocalError.UNREACHABLE,
                            "cannot reach " + hub + ": " + failed,
                            "start a hub with: parley up; or name another one with --url"),
                    failed);
        }
    }

    private static CliException refused(String hub, int status, String body, String hint) {
        LocalError error = status == 401 || status == 403 ? LocalError.CREDENTIALS_MISSING : LocalError.INTERNAL;
        return new CliException(new Problem(
                error.code(),
                error.exitStatus(),
                hub + " answered " + status + ": " + body.strip(),
                status == 404 || status == 400 ? hint : null,
                status));
    }

    /** A piece of a path. */
    static String segment(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
