package dev.parley.gateway.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One id names one task in every dialect, through a route too. */
@Timeout(60)
final class TaskIdsTest {
    private static Hub remote;
    private static Hub gateway;

    @BeforeAll
    static void begin() throws Exception {
        remote = Hub.builder()
                .inMemory()
                .port(0)
                .agents(Agent.named("echo", "Echoes").handle((request, reply) -> reply.complete(request.text())))
                .start();
        gateway = Hub.builder().inMemory().port(0).start();
        Admin.of(gateway).add("echo", remote.agentUrl("echo"), Map.of());
    }

    @AfterAll
    static void stop() {
        gateway.close();
        remote.close();
    }

    private static Map<?, ?> call(String path, String method, Map<String, ?> params) throws Exception {
        var body = Map.of("jsonrpc", "2.0", "id", 1, "method", method, "params", params);
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(gateway.agentUrl("echo") + path))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofByteArray(Json.write(body)));
        if (!method.startsWith("tasks/")) {
            request.header("A2A-Version", "1.0");
        }
        byte[] answer =
                Admin.HTTP.send(request.build(), BodyHandlers.ofByteArray()).body();
        assertThat(Json.read(answer, Map.class).get("result"))
                .as(new String(answer, UTF_8))
                .isInstanceOf(Map.class);
        return (Map<?, ?>) requireNonNull(Json.read(answer, Map.class).get("result"));
    }

    private static Map<?, ?> send(String path, @Nullable String id, String text) throws Exception {
        Map<String, ?> message = Map.of("role", "user", "parts", List.of(Map.of("type", "text", "text", text)));
        return call(
                path,
                "tasks/send",
                id == null ? Map.of("message", message) : Map.of("id", id, "message", message, "historyLength", 100));
    }

    private static List<String> texts(Map<?, ?> task) {
        return requireNonNull((List<?>) task.get("history")).stream()
                .map(message -> ((Map<?, ?>) requireNonNull((List<?>) ((Map<?, ?>) message).get("parts"))
                                .getFirst())
                        .get("text"))
                .map(String::valueOf)
                .toList();
    }

    @ParameterizedTest
    @CsvSource({"/kernel,", "/kernel, mine-kernel", "'', mine-first"})
    @DisplayName(
            "AK06, D1: the id of an ended task of a route shows the whole conversation, and the newest task in 1.0")
    void anIdShowsTheNewestTask(String path, @Nullable String chosen) throws Exception {
        String id = String.valueOf(send(path, chosen, "first").get("id"));
        send(path, id, "second");

        Map<?, ?> third = send(path, id, "third");

        assertThat(third.get("id")).isEqualTo(id);
        assertThat(texts(third)).containsExactly("first", "second", "third");
        Map<?, ?> newest = call("", "GetTask", Map.of("id", id));
        assertThat(texts(newest)).containsExactly("third");
        Map<?, ?> first =
                (Map<?, ?>) requireNonNull((List<?>) newest.get("history")).getFirst();
        assertThat((List<?>) first.get("referenceTaskIds")).hasSize(1);
        assertThat((List<?>) call("", "ListTasks", Map.of("contextId", String.valueOf(newest.get("contextId"))))
                        .get("tasks"))
                .extracting(task -> ((Map<?, ?>) task).get("id"))
                .doesNotHaveDuplicates()
                .hasSize(3);
    }
}
