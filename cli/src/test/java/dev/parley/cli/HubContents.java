package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.Shell.Ran;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Rows in each table of a hub with everything on. */
final class HubContents {
    private HubContents() {}

    /** Starts a hub with the agent {@code far}, for routes and entries of the registry. */
    static Hub remote() {
        return Hub.builder()
                .set("registry-publisher", "agent.localhost")
                .agents(Agent.named("far", "Answers from afar")
                        .skill("say", "Says it again")
                        .handle((request, reply) -> reply.complete("far " + request.text())))
                .inMemory()
                .port(0)
                .drain(Duration.ofMillis(200))
                .start();
    }

    private static void done(Path directory, String... args) {
        Ran ran = new Shell(directory).run(args);
        assertThat(ran.status()).as(String.join(" ", args) + ": " + ran.err()).isZero();
    }

    /** Changes something of each kind once more. */
    static void send(Path directory, String url) {
        String echo = url + "/agents/echo";
        done(directory, "send", "-a", echo, "hello");
        done(directory, "send", "-a", url + "/agents/one-route", "hello");
        done(directory, "workflow", "run", "-a", url, "pair");
        done(directory, "kg", "update", "-a", echo, "add", "ex:p4", "ex:status", "\"new\"");
        done(directory, "group", "create", "-a", url, "other");
    }

    /** Makes two rows of each kind, where a program can. */
    static void fill(Path directory, String url, Hub remote) throws IOException, InterruptedException {
        String echo = url + "/agents/echo";
        done(directory, "send", "-a", echo, "hello");
        done(directory, "send", "-a", echo, "again");
        done(directory, "send", "-a", url + "/agents/counter", "--async", "100");
        for (String id : List.of("first", "second")) {
            beginWithWebhook(url, id);
        }
        done(directory, "gateway", "add", "-a", url, "one-route", remote.agentUrl("far"));
        done(directory, "gateway", "add", "-a", url, "other-route", remote.agentUrl("far"));
        done(directory, "send", "-a", url + "/agents/one-route", "hello");
        done(directory, "agent", "register", "-a", url, remote.agentUrl("far"));
        Files.writeString(
                directory.resolve("pair.json"),
                "{\"name\":\"pair\",\"workflow\":{\"steps\":[{\"id\":\"a\",\"agent\":\"echo\",\"task\":\"echo\"}]}}");
        done(directory, "workflow", "save", "-a", url, "pair.json");
        done(directory, "workflow", "run", "-a", url, "pair");
        done(
                directory,
                "kg",
                "update",
                "-a",
                echo,
                "add",
                "ex:p1",
                "ex:status",
                "\"done\"",
                "--certainty",
                "0.9",
                "--because",
                "seen");
        done(directory, "kg", "update", "-a", echo, "add", "ex:p2", "ex:knows", "ex:p1");
        Files.writeString(
                directory.resolve("rules.json"),
                "{\"rules\":[{\"id\":\"guess\",\"on\":\"update\",\"match\":{\"certaintyBelow\":0.5},\"effect\":\"review\"}]}");
        done(directory, "kg", "rules", "rules.json", "-a", url);
        done(directory, "kg", "update", "-a", echo, "add", "ex:p3", "ex:status", "\"maybe\"", "--certainty", "0.2");
        done(directory, "group", "create", "-a", url, "acme");
        done(directory, "key", "create", "-a", url, "--group", "acme", "--principal", "ann");
        done(directory, "one", "send", "-a", echo, "echo", "--parameters", "{\"text\":\"hi\"}");
    }

    private static void beginWithWebhook(String url, String messageId) throws IOException, InterruptedException {
        String body =
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"SendMessage\",\"params\":{\"message\":{\"messageId\":\""
                        + messageId
                        + "\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"100\"}]},\"configuration\":{\"returnImmediately\":true,"
                        + "\"taskPushNotificationConfig\":{\"url\":\"http://127.0.0.1:9/hook\"}}}}";
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpResponse<String> answer = client.send(
                    HttpRequest.newBuilder(URI.create(url + "/agents/counter"))
                            .header("Content-Type", "application/json")
                            .header("A2A-Version", "1.0")
                            .POST(HttpRequest.BodyPublishers.ofString(body))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            assertThat(answer.body()).contains("\"task\"");
        }
    }
}
