package dev.parley.hub;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.knowledge.api.KnowledgeEndpoint;
import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.KnowledgeExtension;
import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.Subscribe;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.SharedKnowledge;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import dev.parley.protocol.Task;
import dev.parley.protocol.extension.ExtensionUri;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The rows of the knowledge graph that show on the wire, against a whole hub. Each test has its rows in its name. */
@Timeout(180)
@Tag("heavy")
class KnowledgeMatrixTest {
    private static final CallContext CALLER = CallContext.anonymous();
    private static final String STATUS = "ex:status";
    private static final Statement DONE = Statement.of("ex:p1", STATUS, Literal.of("done"));
    private static final String ASK = "query($id: ID!) { entity(id: $id) { value(predicate: \"ex:status\") } }";
    private static final Map<String, @Nullable Object> P1 = Map.of("id", "ex:p1");
    private static final String WATCH =
            "subscription { knowledgeChanged(filter: {predicates: [\"ex:status\"]}) { changeId } }";

    private static final Agent WITH = Agent.named("with", "Has a knowledge graph")
            .uses(SharedKnowledge.VIEW)
            .handle((request, reply) -> {
                UpdateResult told = request.extension(SharedKnowledge.VIEW)
                        .update("because", Patch.add(Statement.of("ex:p2", STATUS, Literal.of(request.text()))));
                reply.complete(String.valueOf(told.verificationStatus()));
            });
    private static final Agent WITHOUT =
            Agent.named("without", "Knows nothing").handle((request, reply) -> reply.complete(request.text()));

    private final HttpClient http = HttpClient.newHttpClient();
    final Hub hub = stored(Hub.builder()
                    .agents(WITH, WITHOUT)
                    .grpcOnCards(true)
                    .port(0)
                    .drain(Duration.ofSeconds(1)))
            .start();

    /** Sets where the hub keeps its data. */
    HubBuilder stored(HubBuilder builder) {
        return builder.inMemory();
    }

    @AfterEach
    void close() {
        hub.close();
        http.close();
    }

    private AgentClient client(String binding) {
        return AgentClient.builder().prefer(binding).connect(hub.agentUrl("with"));
    }

    private HttpResponse<String> get(String url) throws IOException, InterruptedException {
        return http.send(HttpRequest.newBuilder(URI.create(url)).build(), BodyHandlers.ofString());
    }

    private HttpRequest post(String url, String json) {
        return HttpRequest.newBuilder(URI.create(url))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(json.replace('\'', '"')))
                .build();
    }

    private HttpResponse<String> call(String agent, String method, String params)
            throws IOException, InterruptedException {
        return http.send(
                post(
                        hub.agentUrl(agent),
                        "{'jsonrpc':'2.0','id':'q1','method':'" + method + "','params':" + params + "}"),
                BodyHandlers.ofString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"JSONRPC", "HTTP+JSON", "GRPC"})
    void kg14kg15kg25EveryBindingAsksChangesAndWatches(String binding) throws InterruptedException {
        try (AgentClient client = client(binding)) {
            assertThat(client.address().protocolBinding()).isEqualTo(binding);
            KnowledgeEndpoint graph = KnowledgeExtension.endpoint(client, client.card());
            try (Feed<Change> changes = graph.subscribe(Subscribe.graphql(WATCH, Map.of()), CALLER)) {
                graph.update(Update.of(Patch.add(Statement.of("ex:p1", "ex:other", Literal.of(1)))), CALLER);
                UpdateResult result = graph.update(Update.of(Patch.add(DONE)), CALLER);

                assertThat(result.success()).isTrue();
                assertThat(result.affectedIds()).containsExactly("ex:p1");
                assertThat(graph.query(Query.graphql(ASK, P1), CALLER).data())
                        .isEqualTo(Map.of("entity", Map.of("value", "done")));
                List<Change> seen = changes.next(Duration.ofSeconds(20));
                assertThat(seen).singleElement().satisfies(change -> {
                    assertThat(change.op()).isEqualTo(Patch.Op.ADD);
                    assertThat(change.statement().object()).isEqualTo(Literal.of("done"));
                });
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"JSONRPC", "HTTP+JSON", "GRPC"})
    void kg18EveryBindingTellsWhatIsWrong(String binding) {
        try (AgentClient client = client(binding)) {
            assertThatThrownBy(() -> KnowledgeExtension.endpoint(client, client.card())
                            .query(Query.graphql("{ nothing }", Map.of()), CALLER))
                    .isInstanceOfSatisfying(
                            A2AException.class,
                            refused -> assertThat(refused.error()).isEqualTo(KnowledgeError.KNOWLEDGE_QUERY));
            assertThatThrownBy(() -> KnowledgeExtension.endpoint(client, client.card())
                            .subscribe(Subscribe.graphql("{ nothing }", Map.of()), CALLER))
                    .isInstanceOfSatisfying(
                            A2AException.class,
                            refused -> assertThat(refused.error()).isEqualTo(KnowledgeError.KNOWLEDGE_SUBSCRIPTION));
        }
    }

    @Test
    void kg31SparqlIsListedAndAnswered() {
        try (AgentClient client = client("JSONRPC")) {
            KnowledgeEndpoint graph = KnowledgeExtension.endpoint(client, client.card());
            graph.update(Update.of(Patch.add(DONE)), CALLER);

            assertThat(graph.queryLanguages()).containsExactly("graphql", "sparql");
            assertThat(graph.query(Query.sparql("ASK { <ex:p1> <ex:status> \"done\" }"), CALLER)
                            .data())
                    .isEqualTo(Map.of("head", Map.of(), "boolean", true));
        }
    }

    @Test
    void kg14AStreamIsAnsweredAsClientsOfTheFirstPublicationReadIt() throws IOException, InterruptedException {
        HttpResponse<InputStream> answer = http.send(
                post(
                        hub.agentUrl("with"),
                        "{'jsonrpc':'2.0','id':'s9','method':'knowledge/subscribe','params':{'subscriptionQuery':"
                                + "'subscription { knowledgeChanged { op } }'}}"),
                BodyHandlers.ofInputStream());
        call("with", "knowledge/update", "{'mutations':[" + add("ex:p1", STATUS, "'done'") + "]}");

        try (InputStream frames = answer.body()) {
            assertThat(answer.headers().firstValue("Content-Type")).hasValue("text/event-stream");
            assertThat(answer.headers().firstValue("Cache-Control")).hasValue("no-cache");
            String frame = new String(frames.readNBytes(60), StandardCharsets.UTF_8);
            String expected = "data: {\"jsonrpc\":\"2.0\",\"id\":\"s9\",\"result\":{\"op\":\"add\",\"statement\"";
            assertThat(frame.replaceFirst("^(: keep-alive\n\n)+", "")).startsWith(expected.substring(0, 44));
        }
    }

    private static String add(String subject, String predicate, String value) {
        return "{'op':'add','statement':{'subject':{'id':'" + subject + "'},'predicate':{'id':'" + predicate
                + "'},'object':{'value':" + value + "}}}";
    }

    @Test
    void kg16ABadSubscriptionIsABadRequest() throws IOException, InterruptedException {
        HttpResponse<String> answer = call("with", "knowledge/subscribe", "{'subscriptionQuery':'{ x }'}");

        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.body()).contains("\"code\":-32012");
    }

    @Test
    void kg16AnAgentThatDoesNotStreamOffersNoSubscriptions() throws IOException, InterruptedException {
        hub.host(Agent.named("whole", "Shares what it knows, at once")
                .uses(SharedKnowledge.VIEW)
                .streaming(false)
                .handle((request, reply) -> reply.complete("done")));

        AgentCard card = Json.readCard(get(hub.agentUrl("whole") + "/.well-known/agent-card.json")
                .body()
                .getBytes(StandardCharsets.UTF_8));
        AgentCard.Extension entry = KnowledgeExtension.in(card).orElseThrow();
        assertThat(entry.params()).containsEntry("subscriptions", false);
        assertThat(String.valueOf(entry.params().get("methods"))).doesNotContain("subscribe");
        String params = "{'subscriptionQuery':'subscription { knowledgeChanged { op } }'}";
        HttpResponse<String> rpc = call("whole", "knowledge/subscribe", params);
        assertThat(rpc.statusCode()).isEqualTo(501);
        assertThat(rpc.body()).contains("\"code\":-32004");
        HttpResponse<String> rest =
                http.send(post(hub.agentUrl("whole") + "/kg:subscribe", params), BodyHandlers.ofString());
        assertThat(rest.statusCode()).isEqualTo(501);
        try (AgentClient client = AgentClient.builder().prefer("GRPC").connect(hub.agentUrl("whole"))) {
            assertThatThrownBy(() -> KnowledgeExtension.endpoint(client, client.card())
                            .subscribe(Subscribe.graphql(WATCH, Map.of()), CALLER))
                    .isInstanceOf(A2AException.class);
        }
        assertThat(call("whole", "knowledge/query", "{'query':'{ graphs { name } }'}")
                        .statusCode())
                .isEqualTo(200);
    }

    @Test
    void theListOfExtensionsHasTheMethodsOfTheGraph() throws IOException, InterruptedException {
        assertThat(get(hub.url() + "/extensions").body())
                .contains("[\"knowledge/query\",\"knowledge/subscribe\",\"knowledge/update\"]");
    }

    @ParameterizedTest
    @CsvSource({"knowledge/query", "knowledge/update", "knowledge/subscribe"})
    void kg28AnAgentWithoutKnowledgeHasNoSuchMethods(String method) throws IOException, InterruptedException {
        HttpResponse<String> answer = call("without", method, "{}");

        assertThat(answer.statusCode()).isEqualTo(404);
        assertThat(answer.body()).contains("\"code\":-32601").contains("\"data\":null");
    }

    @Test
    void kg01OnlyWhoHasKnowledgeSaysSo() throws IOException, InterruptedException {
        assertThat(get(hub.agentUrl("with") + "/.well-known/agent.json").body())
                .contains("\"knowledgeGraph\":true")
                .contains("\"knowledgeGraphQueryLanguages\":[\"graphql\",\"sparql\"]");
        assertThat(get(hub.agentUrl("without") + "/.well-known/agent.json").body())
                .contains("\"knowledgeGraph\":false")
                .contains("\"knowledgeGraphQueryLanguages\":[]");
    }

    @Test
    void kg22kg23WhatTheCardPointsToIsThere() throws IOException, InterruptedException {
        AgentCard card = Json.readCard(get(hub.agentUrl("with") + "/.well-known/agent-card.json")
                .body()
                .getBytes(StandardCharsets.UTF_8));
        AgentCard.Extension entry = KnowledgeExtension.in(card).orElseThrow();

        assertThat(get(hub.url() + ExtensionUri.path(entry.uri(), "")).body())
                .startsWith("# Knowledge graph extension");
        String schema = get(String.valueOf(entry.params().get("jsonSchemaUrl"))).body();
        assertThat(Json.read(schema.getBytes(StandardCharsets.UTF_8), Map.class).get("$schema"))
                .isEqualTo("https://json-schema.org/draft/2020-12/schema");
        assertThat(get(String.valueOf(entry.params().get("schemaUrl"))).body()).contains("type Query");
        try (AgentClient client = client("GRPC")) {
            assertThat(KnowledgeExtension.endpoint(client, client.card()).schema(CALLER))
                    .contains("type Query");
        }
    }

    @Test
    void kg21AChangeForATaskIsShownOnIt() {
        try (AgentClient client = client("JSONRPC")) {
            Task task = (Task) client.send("seen");
            assertThat(task.text()).isEqualTo("Verified");

            assertThat(client.task(task.id()).metadata().get("knowledgeChanges"))
                    .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.LIST)
                    .hasSize(1);
            KnowledgeExtension.endpoint(client, client.card())
                    .update(Update.of(Patch.add(DONE)).forTask(task.id()), CALLER);
            assertThat(client.task(task.id()).metadata().get("knowledgeChanges"))
                    .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.LIST)
                    .hasSize(2);
        }
    }

    @Test
    void anAgentThatIsHostedLaterHasKnowledgeToo() {
        try (Hub late = Hub.builder()
                .agents(WITHOUT)
                .inMemory()
                .port(0)
                .drain(Duration.ofSeconds(1))
                .start()) {
            late.host(WITH);

            try (AgentClient client = AgentClient.connect(late.agentUrl("with"))) {
                assertThat(((Task) client.send("seen")).text()).isEqualTo("Verified");
                assertThat(KnowledgeExtension.endpoint(client, client.card())
                                .query(Query.graphql(ASK, Map.of("id", "ex:p2")), CALLER)
                                .data())
                        .isEqualTo(Map.of("entity", Map.of("value", "seen")));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"JSONRPC", "HTTP+JSON", "GRPC"})
    void kg14EveryBindingTellsWhereASubscriptionBegins(String binding) throws InterruptedException {
        try (AgentClient client = client(binding)) {
            KnowledgeEndpoint graph = KnowledgeExtension.endpoint(client, client.card());
            String begin;
            try (Feed<Change> changes = graph.subscribe(Subscribe.graphql(WATCH, Map.of()), CALLER)) {
                begin = requireNonNull(changes.position());
            }
            graph.update(Update.of(Patch.add(DONE)), CALLER);

            try (Feed<Change> changes =
                    graph.subscribe(Subscribe.graphql(WATCH, Map.of()).with(Map.of("afterChangeId", begin)), CALLER)) {
                assertThat(changes.next(Duration.ofSeconds(20)))
                        .singleElement()
                        .satisfies(change -> assertThat(change.statement().saysTheSameAs(DONE))
                                .isTrue());
            }
        }
    }

    // ---- Inside messages

    private Message carrying(String method, Map<String, Object> params) {
        String uri = hub.url() + KnowledgeEndpoint.EXTENSION_PATH;
        var part = new Part.Data(params, null, null, Map.of(uri + "/method", method));
        return new Message("m-" + method, Role.USER, List.of(part), null, null, Map.of(), List.of(uri), List.of());
    }

    @Test
    void anUpdateAndAQueryInsideMessagesAreAnsweredWithArtifacts() {
        try (AgentClient client = client("JSONRPC")) {
            Object patch = Json.read(Json.write(Patch.add(DONE)), Map.class);
            Task updated = (Task) client.send(carrying("knowledge/update", Map.of("mutations", List.of(patch))));
            Task asked = (Task) client.send(carrying("knowledge/query", Map.of("query", ASK, "variables", P1)));

            assertThat(data(updated)).containsEntry("success", true).containsEntry("statementsAffected", 1);
            assertThat(data(asked).get("data")).isEqualTo(Map.of("entity", Map.of("value", "done")));
        }
    }

    @Test
    void aMistakeInsideAMessageFailsItsTaskAndSaysWhy() {
        try (AgentClient client = client("JSONRPC")) {
            Task asked = (Task) client.send(carrying("knowledge/query", Map.of("query", "{ nothing }")));

            assertThat(asked.state().isTerminal()).isTrue();
            assertThat(data(asked).get("error"))
                    .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.MAP)
                    .containsEntry("code", -32010);
        }
    }

    @Test
    void aSubscriptionInsideAMessageStreamsItsChanges() throws InterruptedException {
        try (AgentClient client = client("JSONRPC");
                var stream = client.watch(
                        new Operation.SendStreamingMessage(
                                null,
                                carrying("knowledge/subscribe", Map.of("subscriptionQuery", WATCH)),
                                Operation.SendConfiguration.DEFAULTS,
                                Map.of()),
                        CALLER)) {
            var events = stream.next(Duration.ofSeconds(20));
            while (!String.valueOf(events).contains("Watching")) {
                events = requireNonNull(stream.next(Duration.ofSeconds(20)));
            }
            KnowledgeExtension.endpoint(client, client.card()).update(Update.of(Patch.add(DONE)), CALLER);

            events = requireNonNull(stream.next(Duration.ofSeconds(20)));
            assertThat(String.valueOf(events)).contains("changeId").contains("ex:status");
        }
    }

    private static Map<String, Object> data(Task task) {
        Part part = task.artifacts().getFirst().parts().getFirst();
        var data = new LinkedHashMap<String, Object>();
        ((Map<?, ?>) requireNonNull(((Part.Data) part).data()))
                .forEach((name, value) -> data.put(String.valueOf(name), value));
        return data;
    }
}
