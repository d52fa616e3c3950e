package dev.parley.cli;

import dev.parley.dialect.Json;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley push dead-letters …}: what a hub could not deliver to webhooks; for its operator, not part of A2A. */
abstract class DeadLettersCommand implements Command {
    private static final Duration TIMEOUT = Duration.ofSeconds(15);

    @Override
    public void describe(CommandSpec spec) {
        spec.addOption(Command.option("--url", "HUB", "The hub; default: " + Setting.LOCAL_HUB + "."));
    }

    @Override
    public List<Setting<?>> relevant() {
        return List.of(Setting.OUTPUT, Setting.SVC_PARAM, Setting.CONFIG, Setting.DEBUG);
    }

    /** Asks the hub; the answer is its JSON. */
    static byte[] ask(Invocation call, String method, String path) throws InterruptedException {
        String typed = call.option("--url");
        String hub = (typed == null ? Setting.LOCAL_HUB : typed).replaceFirst("/+$", "");
        WireLog wire = WireLog.of(call);
        URI place;
        try {
            place = URI.create(hub + "/admin/webhooks" + path);
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
                throw refused(hub, answer.statusCode(), body);
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

    private static CliException refused(String hub, int status, String body) {
        LocalError error = status == 401 || status == 403 ? LocalError.CREDENTIALS_MISSING : LocalError.INTERNAL;
        return new CliException(new Problem(
                error.code(),
                error.exitStatus(),
                hub + " answered " + status + ": " + body.strip(),
                status == 404 ? "parley push dead-letters list shows what there is" : null,
                status));
    }

    private static String segment(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** Lists them. */
    static final class ListAll extends DeadLettersCommand {
        @Override
        public int run(Invocation call) throws InterruptedException {
            byte[] json = ask(call, "GET", "/dead");
            call.output().result(() -> json, page -> {
                if (Json.read(json, Map.class).get("webhooks") instanceof List<?> webhooks) {
                    webhooks.forEach(one -> show(page, (Map<?, ?>) one));
                    page.field("Total-Size", webhooks.size());
                }
            });
            return 0;
        }

        private static void show(TextPage page, Map<?, ?> dead) {
            page.field("Task-ID", dead.get("taskId"))
                    .field("Config-ID", dead.get("configId"))
                    .field("Agent", dead.get("agent"))
                    .field("URL", dead.get("url"))
                    .field("Attempts", dead.get("attempts"))
                    .field("Dead-Since", dead.get("deadSince"))
                    .field("Last-Error", dead.get("lastError"))
                    .gap();
        }
    }

    /** Has the hub offer again what was given up. */
    static final class Redeliver extends DeadLettersCommand {
        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Command.argument(0, true, "TASK-ID", "The task."));
            spec.addPositional(Command.argument(1, true, "CONFIG-ID", "The webhook."));
            super.describe(spec);
        }

        @Override
        public int run(Invocation call) throws InterruptedException {
            String task = call.requiredArgument(0);
            String config = call.requiredArgument(1);
            byte[] json = ask(call, "POST", "/" + segment(task) + "/" + segment(config) + "/redeliver");
            call.output()
                    .result(
                            () -> json,
                            page -> page.field("Task-ID", task)
                                    .field("Config-ID", config)
                                    .field("Redelivering", "yes"));
            return 0;
        }
    }
}
