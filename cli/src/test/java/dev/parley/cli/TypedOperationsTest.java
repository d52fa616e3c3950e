package dev.parley.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Map.entry;
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
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Operations of a hub with all extensions, by its {@code /openapi.json}. */
final class TypedOperationsTest {
    /**
     * Any values and objects of any members, by their places, in which an asterisk stands for any text: documents of others, and why this hub does
     * not describe them. The list only becomes shorter.
     */
    private static final Map<String, String> DOCUMENTS_OF_OTHERS = Map.ofEntries(
            entry("#*Task*.metadata", "callers, agents and extensions of A2A define its members"),
            entry("CancelTask.metadata", "as that of a task"),
            entry("#Message.metadata", "as that of a task"),
            entry("#Part.metadata", "as that of a task"),
            entry("#Part.data", "any JSON, which an agent or its caller writes"),
            entry("#Artifact.metadata", "as that of a task"),
            entry("Send*.metadata", "as that of a task"),
            entry("#AgentCard.capabilities.extensions.params", "each extension of a card has its own"),
            entry("#AgentCard.signatures.header", "of a JSON Web Signature, which its signer writes"),
            entry("activity/task.events.event", "a StreamResponse of A2A"),
            entry("admin/audit/query.rows.detail", "each action has its own, also those of extensions of others"),
            entry("admin/knowledge/rules*", "the document of rules, which an operator writes"),
            entry("*.statement*.provenance", "the source of a statement writes it"),
            entry("admin/privacy/reviews.reviews.update.metadata", "the author of an update writes it"),
            entry("admin/knowledge/reviews/list.reviews.update.metadata", "the author of an update writes it"),
            entry("knowledge/*.metadata", "callers of the extension for knowledge graphs define its members"),
            entry("knowledge/*.variables", "of a GraphQL query, which its caller names"),
            entry("knowledge/query.data", "the answer of a GraphQL query, whose members its caller names"),
            entry("knowledge/query.queryMetadata", "the extension for knowledge graphs leaves its members to servers"),
            entry(
                    "knowledge/subscribe.changeMetadata",
                    "the extension for knowledge graphs leaves its members to servers"),
            entry(
                    "admin/privacy/questions.questions.detail",
                    "what the log had at the time of the query, of any version"),
            entry("admin/privacy/agentVersions.agentVersions.entry", "an entry as it was stored, of any version"),
            entry("admin/mcp/tools.servers.tools.change", "the definition of a tool, which is MCP's"),
            entry(
                    "admin/mcp/tools.servers.tools.differences",
                    "by members of the definition of a tool, which is MCP's"),
            entry("#RegistryEntry.metadata", "its publisher writes it"),
            entry("registry/*.metadata", "the publisher of an entry writes it"),
            entry("registry/*.card", "the document of an entry, which is A2A's or of another format"),
            entry("registry/inspect.asV1", "a card of A2A"),
            entry("#RegistryChange.details", "of the change, also those of peers of other versions"),
            entry("one/events*.metadata.content", "the content of a message for a group, which its sender writes"),
            entry("one/definitions/*.document", "the definition of a workflow, which its user writes"),
            entry("one/workflows/*.origin", "members of the document of a run, with inputs that its user writes"),
            entry("one/workflows/*.result", "of agents"),
            entry("one/workflows/*.steps.choice", "a record in the metadata of a task, of any version"));

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

    @Test
    void onlyDocumentsOfOthersMayHaveAnyMembers() throws Exception {
        var open = new TreeSet<String>();
        try (Hub hub = hub()) {
            Map<?, ?> document = document(hub);
            member(member(document, "components"), "schemas")
                    .forEach((name, schema) -> addOpen(open, "#" + name, schema));
            member(document, "paths")
                    .forEach((path, verbs) -> ((Map<?, ?>) verbs).forEach((verb, operation) -> {
                        String name = String.valueOf(((Map<?, ?>) operation).get("operationId"));
                        ((Map<?, ?>) operation).forEach((part, schema) -> addOpen(open, name, schema));
                    }));
        }

        assertThat(open).as("any values and objects of any members").allMatch(place -> isOfOthers(place));
        assertThat(DOCUMENTS_OF_OTHERS.keySet())
                .as("places that are allowed")
                .allMatch(pattern -> open.stream().anyMatch(place -> fits(place, pattern)));
    }

    @ParameterizedTest
    @MethodSource("anything")
    void aPlantedObjectOfAnyMembersIsFound(Object others) {
        var open = new TreeSet<String>();
        Map<?, ?> planted = Map.of("type", "object", "additionalProperties", others);

        addOpen(
                open,
                "admin/keys",
                Map.of(
                        "content",
                        Map.of("application/json", Map.of("schema", Map.of("properties", Map.of("keys", planted))))));

        assertThat(open).containsExactly("admin/keys.keys");
        assertThat(open).noneMatch(place -> isOfOthers(place));
    }

    @Test
    void aPlantedMemberWithoutATypeIsFound() {
        var open = new TreeSet<String>();

        addOpen(
                open,
                "admin/keys",
                List.of(
                        Map.of(
                                "properties",
                                Map.of("count", Map.of("description", "anything"), "id", Map.of("type", "string"))),
                        Map.of("in", "query", "name", "after", "schema", Map.of()),
                        Map.of("properties", Map.of("rows", Map.of("type", "array", "items", Map.of())))));

        assertThat(open).containsExactly("admin/keys.after", "admin/keys.count", "admin/keys.rows");
    }

    private static Stream<Object> anything() {
        return Stream.of(true, Map.of());
    }

    private static boolean isOfOthers(String place) {
        return DOCUMENTS_OF_OTHERS.keySet().stream().anyMatch(pattern -> fits(place, pattern));
    }

    private static boolean fits(String place, String pattern) {
        return place.matches(Pattern.quote(pattern).replace("*", "\\E.*\\Q"));
    }

    /** Adds the places of any values, and of objects of any members: the operation or the named schema, and the names of members below it. */
    private static void addOpen(Set<String> open, String place, @Nullable Object part) {
        switch (part) {
            case Map<?, ?> members -> {
                boolean isParameter = members.get("in") instanceof String;
                if (isAnything(members.get("additionalProperties"))
                        || isAnything(members.get("items"))
                        || isAnything(members.get("schema"))) {
                    open.add(isParameter ? place + "." + members.get("name") : place);
                }
                members.forEach((name, schema) -> {
                    if (name.equals("properties") && schema instanceof Map<?, ?> properties) {
                        properties.forEach((member, each) -> {
                            if (isAnything(each)) {
                                open.add(place + "." + member);
                            }
                        });
                        properties.forEach((member, each) -> addOpen(open, place + "." + member, each));
                    } else {
                        addOpen(open, isParameter ? place + "." + members.get("name") : place, schema);
                    }
                });
            }
            case List<?> all -> all.forEach(each -> addOpen(open, place, each));
            case null, default -> {}
        }
    }

    /** Whether a schema has no conditions. */
    private static boolean isAnything(@Nullable Object schema) {
        return Boolean.TRUE.equals(schema)
                || schema instanceof Map<?, ?> conditions
                        && Set.of("description").containsAll(conditions.keySet());
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
        assertThat(isBare(Map.of("type", "object", "description", "anything"))).isTrue();
        assertThat(isBare(Map.of("type", "object", "properties", Map.of()))).isFalse();
    }

    /** Adds the lists of words of all members and parameters with a name. */
    private static void addChoices(List<List<?>> found, String name, Object part, Map<?, ?> document) {
        switch (part) {
            case Map<?, ?> members -> {
                if (members.get("$ref") instanceof String reference) {
                    Object schema = document;
                    for (String step : reference.substring(2).split("/", -1)) {
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
                "object".equals(members.get("type"))
                                && Set.of("type", "description").containsAll(members.keySet())
                        || members.values().stream().anyMatch(TypedOperationsTest::isBare);
            case List<?> all -> all.stream().anyMatch(TypedOperationsTest::isBare);
            default -> false;
        };
    }
}
