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
import java.util.ArrayList;
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

    /** Words that an operation can send or read, and no other. */
    @ParameterizedTest
    @CsvSource({
        "/admin/settings, source, flag environment file code default",
        "/admin/knowledge/reviews, state, pending all",
        "/admin/privacy/agentReviews, kind, review note",
        "/activity/traces/{trace}, kind, task audit",
        "/activity/changes, kind, task progress agent audit calls hub gap position",
        "/activity/changes, change, hosted removed",
        "/one/connections, type, communicates_with delegated_to",
        "/one/connections, status, accepted completed failed canceled rejected",
        "/one/events, type, a2a_message_received a2a_message_sent a2a_task_delegated a2a_task_completed",
        "/one/workflows/{workflowId}, state, waiting running input-required completed failed skipped canceled",
        "/one/votes/{voteId}, outcome, decided tied undecided no-quorum",
        "/registry/agents, order, name -name change -change updated -updated created -created",
    })
    void closedChoicesListTheirWords(String path, String member, String words) throws Exception {
        try (Hub hub = hub()) {
            Map<?, ?> document = document(hub);

            var found = new ArrayList<List<?>>();
            addChoices(found, member, member(member(member(document, "paths"), path), "get"), document);
            assertThat(found).as(path).contains(List.of(words.split(" ")));
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

    /** Adds the lists of words of all members and parameters with a name. */
    private static void addChoices(List<List<?>> found, String name, Object part, Map<?, ?> document) {
        switch (part) {
            case Map<?, ?> members -> {
                if (members.get("$ref") instanceof String reference) {
                    Object schema = document;
                    for (String step : reference.substring(2).split("/")) {
                        schema = member(schema, step);
                    }
                    addChoices(found, name, schema, document);
                }
                if (members.get(name) instanceof Map<?, ?> schema && schema.get("enum") instanceof List<?> words) {
                    found.add(words);
                }
                if (name.equals(members.get("name"))
                        && members.get("schema") instanceof Map<?, ?> schema
                        && schema.get("enum") instanceof List<?> words) {
                    found.add(words);
                }
                members.values().forEach(each -> addChoices(found, name, each, document));
            }
            case List<?> all -> all.forEach(each -> addChoices(found, name, each, document));
            default -> {}
        }
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
