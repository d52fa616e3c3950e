package dev.parley.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.agents.DemoAgents;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Operations of a hub with all extensions, by its {@code /openapi.json}. */
final class TypedOperationsTest {
    @TempDir
    private Path directory;

    private Hub hub() {
        return Hub.builder()
                .port(0)
                .data(directory)
                .drain(Duration.ZERO)
                .agents(DemoAgents.all().toArray(Agent[]::new))
                .start();
    }

    @Test
    void eachOperationDescribesItsAnswer() throws Exception {
        var found = new TreeSet<String>();
        try (Hub hub = hub()) {
            member(document(hub), "paths")
                    .forEach((path, verbs) -> ((Map<?, ?>) verbs).forEach((verb, operation) -> {
                        if (isBare(member(member(operation, "responses"), "200"))) {
                            found.add(String.valueOf(((Map<?, ?>) operation).get("operationId")));
                        }
                    }));
        }

        assertThat(found)
                .as("operations whose answers are objects without described members")
                .isEmpty();
    }

    /** A credential in a query would be in the logs of proxies. */
    @ParameterizedTest
    @CsvSource({
        "/admin/registry/peers/{name}, put, credential, true",
        "/admin/keys, post, principal, true",
        "/admin/gateway/routes/{name}/pause, post, reason, true",
        "/admin/gateway/routes/{name}, delete, name, false",
        "/admin/keys, get, group, false"
    })
    void membersOfARequestWithABodyAreInItsBody(String path, String verb, String member, boolean isInBody)
            throws Exception {
        try (Hub hub = hub()) {
            Map<?, ?> operation = member(member(member(document(hub), "paths"), path), verb);

            String body = String.valueOf(operation.get("requestBody"));
            assertThat(body.contains(member + "=")).as(body).isEqualTo(isInBody);
            assertThat(String.valueOf(operation.get("parameters")).contains("name=" + member + ","))
                    .isEqualTo(!isInBody);
        }
    }

    @Test
    void aSchemaWithoutMembersIsFound() {
        assertThat(isBare(Map.of("schema", Map.of("type", "object")))).isTrue();
        assertThat(isBare(List.of(Map.of("items", Map.of("type", "object"))))).isTrue();
        assertThat(isBare(Map.of("type", "object", "properties", Map.of()))).isFalse();
        assertThat(isBare(Map.of("type", "object", "additionalProperties", true)))
                .isFalse();
    }

    private static Map<?, ?> member(Object object, String name) {
        return (Map<?, ?>) requireNonNull(((Map<?, ?>) object).get(name), name);
    }

    private static Map<?, ?> document(Hub hub) throws IOException, InterruptedException {
        HttpRequest request =
                HttpRequest.newBuilder(URI.create(hub.url() + "/openapi.json")).build();
        try (HttpClient client = HttpClient.newHttpClient()) {
            return Json.read(
                    client.send(request, BodyHandlers.ofString()).body().getBytes(UTF_8), Map.class);
        }
    }

    /** Whether a schema has an object about whose members nothing is said. */
    private static boolean isBare(Object schema) {
        return switch (schema) {
            case Map<?, ?> members ->
                members.equals(Map.of("type", "object"))
                        || members.values().stream().anyMatch(TypedOperationsTest::isBare);
            case List<?> all -> all.stream().anyMatch(TypedOperationsTest::isBare);
            default -> false;
        };
    }
}
