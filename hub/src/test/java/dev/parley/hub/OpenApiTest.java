package dev.parley.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.Error;
import com.networknt.schema.InputFormat;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Shown;
import dev.parley.hub.admin.AdminOperations;
import dev.parley.knowledge.api.SharedKnowledge;
import dev.parley.trust.Authentication;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.SpecVersion;
import io.swagger.v3.parser.OpenAPIV3Parser;
import io.swagger.v3.parser.core.models.SwaggerParseResult;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The document at {@code /openapi.json}: valid, true, and without what its reader may not know. */
@Timeout(90)
final class OpenApiTest {
    private static final String[] V1 = {"A2A-Version", "1.0", "Accept", "application/json"};

    private final SchemaRegistry schemas =
            SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12, builder -> {});

    @TempDir
    private Path data;

    private HubBuilder hub() {
        return Hub.builder()
                .data(data)
                .port(0)
                .agents(
                        Agent.named("echo", "Says it again")
                                .uses(SharedKnowledge.VIEW)
                                .handle((request, reply) -> {
                                    if (request.text().equals("wait")) {
                                        reply.askForInput("What else?");
                                    } else {
                                        reply.complete(request.text());
                                    }
                                }),
                        Agent.named("silent", "Does not stream")
                                .streaming(false)
                                .handle((request, reply) -> reply.complete(request.text())));
    }

    private static Shown document(Outsider outsider, String... headers) throws Exception {
        HttpResponse<String> answer = outsider.get("/openapi.json", headers);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Type")).contains("application/json");
        return Shown.of(answer.body());
    }

    private static String json(@Nullable Object value) {
        return new String(Json.write(value), UTF_8);
    }

    private static OpenAPI parsed(Shown document) {
        SwaggerParseResult result = new OpenAPIV3Parser().readContents(json(document.value()), null, null);
        assertThat(result.getMessages()).isEmpty();
        assertThat(result.getOpenAPI().getSpecVersion()).isEqualTo(SpecVersion.V31);
        return result.getOpenAPI();
    }

    @Test
    void theDocumentIsValidAndHasEachOperationOnce() throws Exception {
        try (Hub hub = hub().start()) {
            Shown document = document(new Outsider(hub.url()));

            OpenAPI parsed = parsed(document);

            List<String> ids = parsed.getPaths().values().stream()
                    .flatMap(path -> path.readOperations().stream())
                    .map(Operation::getOperationId)
                    .toList();
            assertThat(ids)
                    .doesNotHaveDuplicates()
                    .containsAll(dev.parley.protocol.Operation.NAMES.stream()
                            .filter(name -> !name.equals("GetExtendedAgentCard")) // which no agent here has
                            .toList())
                    .contains("knowledge/query", "knowledge/update", "knowledge/subscribe")
                    .contains("admin/tasks/unreadable");
            assertThat(document.at("servers", 0, "url").text()).isEqualTo(hub.url());
        }
    }

    @Test
    void theValidatorFindsAPlantedFault() throws Exception {
        try (Hub hub = hub().start()) {
            String damaged = json(document(new Outsider(hub.url())).value())
                    .replaceFirst("\"operationId\":\"GetTask\"", "\"operationIdentifier\":\"GetTask\"");

            assertThat(new OpenAPIV3Parser().readContents(damaged, null, null).getMessages())
                    .singleElement()
                    .asString()
                    .contains("operationIdentifier");
        }
    }

    @Test
    void schemasAreSchemas() throws Exception {
        try (Hub hub = hub().start()) {
            Shown document = document(new Outsider(hub.url()));
            var metaSchema = schemas.getSchema(SchemaLocation.of("https://json-schema.org/draft/2020-12/schema"));

            for (Object schema : schemasOf(document.value(), new ArrayList<>())) {
                List<Error> errors = metaSchema.validate(json(schema), InputFormat.JSON);
                assertThat(errors).as(json(schema)).isEmpty();
            }
        }
    }

    /** All values of members {@code schema} and {@code schemas}. */
    private static List<Object> schemasOf(@Nullable Object value, List<Object> found) {
        if (value instanceof Map<?, ?> map) {
            map.forEach((name, member) -> {
                if (name.equals("schema")) {
                    found.add(member);
                } else if (name.equals("schemas")) {
                    found.addAll(((Map<?, ?>) member).values());
                }
                schemasOf(member, found);
            });
        } else if (value instanceof List<?> list) {
            list.forEach(one -> schemasOf(one, found));
        }
        return found;
    }

    /** Checks an answer against what the document says of the operation. */
    private void assertTrue(Shown document, String verb, String path, HttpResponse<String> answer) {
        assertThat(answer.statusCode()).as(path + answer.body()).isEqualTo(200);
        Shown schema = document.at("paths", path, verb, "responses", "200", "content", "application/json", "schema");
        assertThat(schema.value()).as(path).isNotNull();
        var whole = new LinkedHashMap<String, Object>();
        ((Map<?, ?>) schema.value()).forEach((name, value) -> whole.put(String.valueOf(name), value));
        whole.put("components", document.at("components").value());
        List<Error> errors = schemas.getSchema(json(whole), InputFormat.JSON).validate(answer.body(), InputFormat.JSON);
        assertThat(errors).as(path + " " + answer.body()).isEmpty();
        // Also members that no schema forbids have to be described.
        Map<?, ?> described = schema.at("properties").value() instanceof Map<?, ?> map ? map : Map.of();
        if (!described.isEmpty()) {
            assertThat(Shown.of(answer.body()).names()).as(path).allMatch(described::containsKey);
        }
    }

    @Test
    void answersOfAgentsAreAsDescribed() throws Exception {
        try (Hub hub = hub().webhookAllow(List.of("127.0.0.1")).start()) {
            var outsider = new Outsider(hub.url());
            Shown document = document(outsider);
            String agent = "/agents/echo";
            String agents = "/agents/{agent}";
            var sent = outsider.post(
                    agent + "/message:send",
                    "{'message':{'messageId':'m1','role':'ROLE_USER','parts':[{'text':'wait'}]}}",
                    V1);
            String task = Shown.of(sent.body()).at("task", "id").text();
            String hooks = "/tasks/" + task + "/pushNotificationConfigs";
            String described = agents + "/tasks/{taskId}/pushNotificationConfigs";

            assertTrue(document, "post", agents + "/message:send", sent);
            assertTrue(document, "get", agents + "/tasks/{id}", outsider.get(agent + "/tasks/" + task, V1));
            assertTrue(document, "get", agents + "/tasks", outsider.get(agent + "/tasks?includeArtifacts=true", V1));
            assertTrue(
                    document,
                    "post",
                    described,
                    outsider.post(agent + hooks, "{'id':'h1','url':'http://127.0.0.1:1/'}", V1));
            assertTrue(document, "get", described + "/{id}", outsider.get(agent + hooks + "/h1", V1));
            assertTrue(document, "get", described, outsider.get(agent + hooks, V1));
            assertTrue(
                    document,
                    "post",
                    agents + "/tasks/{id}:cancel",
                    outsider.post(agent + "/tasks/" + task + ":cancel", "{}", V1));
            String card = "/.well-known/agent-card.json";
            assertTrue(document, "get", agents + card, outsider.get(agent + card, V1));
        }
    }

    @Test
    void answersOfTheAdministrationAreAsDescribed() throws Exception {
        try (Hub hub =
                hub().authentication(Authentication.named(List.of("required"))).start()) {
            var outsider = new Outsider(hub.url());
            String[] admin = {"X-Api-Key", hub.bootstrapKey().orElseThrow()};
            Shown document = document(outsider, admin);
            var made = outsider.post("/admin/keys", "{'group':'T1','principal':'ann','scopes':['x']}", admin);
            String key = "/admin/keys/" + Shown.of(made.body()).at("id").text();

            assertTrue(document, "post", "/admin/keys", made);
            assertTrue(document, "post", "/admin/keys/{id}/rotate", outsider.post(key + "/rotate", "{}", admin));
            assertTrue(document, "post", "/admin/keys/{id}/revoke", outsider.post(key + "/revoke", "{}", admin));
            for (String change : List.of("disable", "enable")) {
                assertTrue(
                        document,
                        "post",
                        "/admin/users/{group}/{name}/" + change,
                        outsider.post("/admin/users/T1/ann/" + change, "{}", admin));
            }
            for (String path : document.at("paths").names()) {
                if (path.startsWith("/admin/")
                        && !path.contains("{")
                        && document.at("paths", path).has("get")) {
                    String query = path.startsWith("/admin/privacy/") ? "?group=T1&principal=ann" : "";
                    assertTrue(document, "get", path, outsider.get(path + query, admin));
                }
            }
        }
    }

    @Test
    void eachOperationOfTheTableHasAHandlerAndIsDescribed() throws Exception {
        try (Hub hub = hub().start()) {
            var ids = parsed(document(new Outsider(hub.url()))).getPaths().values().stream()
                    .flatMap(path -> path.readOperations().stream())
                    .map(Operation::getOperationId)
                    .toList();

            assertThat(ids).containsAll(AdminOperations.names());
        }
    }

    @Test
    void agentsWhoseCardsAreProtectedAreLeftOut() throws Exception {
        try (Hub hub = hub().authentication(Authentication.named(List.of("required")))
                .protectCards(true)
                .start()) {
            var outsider = new Outsider(hub.url());
            String key = hub.bootstrapKey().orElseThrow();

            Shown stranger = document(outsider);
            Shown caller = document(outsider, "X-Api-Key", key);

            assertThat(stranger.text()).doesNotContain("echo").doesNotContain("/agents/");
            assertThat(caller.at("paths", "/agents/{agent}/message:send", "post", "parameters", 0, "schema", "enum")
                            .value())
                    .isEqualTo(List.of("echo", "silent"));
            assertThat(caller.at("paths", "/agents/{agent}/message:stream", "post", "parameters", 0, "schema", "enum")
                            .value())
                    .isEqualTo(List.of("echo"));
            assertThat(caller.at("components", "securitySchemes").names()).isNotEmpty();
            assertThat(caller.text()).doesNotContain(key);
            parsed(stranger);
            parsed(caller);
        }
    }

    @Test
    void aPortForOperatorsDescribesTheAdministrationAndTheOtherOneTheAgents() throws Exception {
        try (Hub hub = hub().adminPort(0).start()) {
            Shown operators = document(new Outsider(hub.adminUrl()));
            Shown others = document(new Outsider(hub.url()));

            assertThat(operators.at("paths").names())
                    .contains("/admin/audit")
                    .noneMatch(path -> path.contains("agents"));
            assertThat(operators.at("servers", 0, "url").text()).isEqualTo(hub.adminUrl());
            assertThat(others.at("paths").names()).noneMatch(path -> path.startsWith("/admin"));
            parsed(operators);
            parsed(others);
        }
    }
}
