package dev.parley.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.networknt.schema.Error;
import com.networknt.schema.InputFormat;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SchemaRegistryConfig;
import com.networknt.schema.SpecificationVersion;
import dev.parley.client.AgentClient;
import dev.parley.client.spi.WireListener;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.knowledge.Alignment;
import dev.parley.knowledge.Graph;
import dev.parley.knowledge.api.KnowledgeEndpoint;
import dev.parley.knowledge.api.KnowledgeExtension;
import dev.parley.knowledge.api.KnowledgeOperation;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.Subscribe;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.SharedKnowledge;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.hub.KnowledgeSource;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** KG22: what is said about a knowledge graph fits the JSON Schema that the hub serves. */
@Timeout(60)
final class KnowledgeSchemaTest {
    private static final CallContext CALLER = CallContext.anonymous();
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final String WATCH = "subscription { knowledgeChanged { changeId } }";

    private final HttpClient http = HttpClient.newHttpClient();
    private Graph graph;
    private Hub hub;
    private SchemaRegistry schemas;

    @BeforeEach
    void start(@TempDir Path directory) throws IOException, InterruptedException {
        graph = Graph.open(directory);
        hub = Hub.builder()
                .agents(Agent.named("with", "Has a knowledge graph")
                        .uses(SharedKnowledge.VIEW)
                        .handle((request, reply) -> reply.complete(request.text())))
                .extension(new KnowledgeSource().graph(graph))
                .inMemory()
                .port(0)
                .drain(Duration.ofSeconds(1))
                .start();
        String served = get(hub.url() + KnowledgeExtension.SCHEMA_PATH);
        schemas = SchemaRegistry.withDefaultDialect(
                SpecificationVersion.DRAFT_2020_12,
                builder -> builder.schemas(Map.of("urn:parley:knowledge-graph:v1", served))
                        .schemaRegistryConfig(SchemaRegistryConfig.builder()
                                .formatAssertionsEnabled(true)
                                .build()));
    }

    @AfterEach
    void close() {
        hub.close();
        http.close();
    }

    private String get(String url) throws IOException, InterruptedException {
        return http.send(HttpRequest.newBuilder(URI.create(url)).build(), BodyHandlers.ofString())
                .body();
    }

    private List<Error> faults(String type, Object value) {
        String json = value instanceof String text ? text : new String(Json.write(value), UTF_8);
        return schemas.getSchema(SchemaLocation.of("urn:parley:knowledge-graph:v1#" + type))
                .validate(json, InputFormat.JSON);
    }

    private void assertFits(String type, Object value) {
        assertThat(faults("/$defs/" + type, value)).as("%s: %s", type, value).isEmpty();
    }

    /** What a client has sent and received. */
    private static final class Overheard implements WireListener {
        final List<String> requests = Collections.synchronizedList(new ArrayList<>());
        final List<String> answers = Collections.synchronizedList(new ArrayList<>());
        final List<String> events = Collections.synchronizedList(new ArrayList<>());

        @Override
        public void sending(long exchange, String method, String url, Map<String, List<String>> headers, String body) {
            if (method.equals("POST")) {
                requests.add(body);
            }
        }

        @Override
        public void received(long exchange, int status, Map<String, List<String>> headers, String body) {
            answers.add(body);
        }

        @Override
        public void event(long exchange, @Nullable String id, String data) {
            events.add(data);
        }

        @Override
        public void retrying(String reason, Duration wait) {}
    }

    /** Everything that a statement can have. */
    private static Statement[] statements() {
        var full = new Statement(
                new Resource("ex:p1", "ex:Project"),
                "ex:lead",
                new Resource("ex:ann", "ex:Person"),
                "ex:plan",
                0.5,
                Map.of("page", 7));
        return new Statement[] {
            full,
            Statement.of("ex:p1", "ex:name", Literal.of("Brücke", "de")),
            Statement.of("ex:p1", "ex:size", Literal.of(new BigDecimal("1.50"))),
            Statement.of("ex:p1", "ex:open", Literal.of(true)),
            Statement.of("ex:p1", "ex:since", new Literal("2026-01-05", "xsd:date", null))
        };
    }

    private AgentClient client(String binding, WireListener listener) {
        return AgentClient.builder().prefer(binding).listener(listener).connect(hub.agentUrl("with"));
    }

    /** Does everything once, and most of it wrong once as well. */
    private void converse(AgentClient client) throws InterruptedException {
        KnowledgeEndpoint knowledge = KnowledgeExtension.endpoint(client, client.card());
        try (Feed<KnowledgeOperation.Change> changes =
                knowledge.subscribe(Subscribe.graphql(WATCH, Map.of()), CALLER)) {
            for (Statement one : statements()) {
                knowledge.update(Update.of(Patch.add(one)).saying("me", "because"), CALLER);
            }
            knowledge.update(Update.of(Patch.replace(statements()[1]), Patch.remove(statements()[0])), CALLER);
            knowledge.update(
                    new Update(
                            List.of(),
                            "DELETE { ?s <ex:open> ?o } WHERE { ?s <ex:open> ?o }",
                            null,
                            null,
                            "t-1",
                            null,
                            Map.of("idempotencyKey", "k")),
                    CALLER);
            for (int seen = 0; seen < 8; ) {
                seen += requireNonNull(changes.next(SOON)).size();
            }
            knowledge.query(
                    Query.graphql("query($id: ID!) { entity(id: $id) { id } }", Map.of("id", "ex:p1"))
                            .atLeast(0.5, Duration.ofHours(1)),
                    CALLER);
            knowledge.query(Query.sparql("CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"), CALLER);
            assertThatThrownBy(() -> knowledge.query(Query.graphql("{ nothing }", Map.of()), CALLER))
                    .isInstanceOf(A2AException.class);
            assertThatThrownBy(() -> knowledge.update(
                            Update.of(Patch.add(statements()[1])).with(Map.of("ifRevision", -1)), CALLER))
                    .isInstanceOf(A2AException.class);
            graph.rules("default", Alignment.read("{\"rules\":[{\"id\":\"r\",\"effect\":\"forbid\"}]}"));
            assertThatThrownBy(() -> changes.next(SOON)).isInstanceOf(A2AException.class);
            assertThatThrownBy(() -> knowledge.update(Update.of(Patch.add(statements()[1])), CALLER))
                    .isInstanceOf(A2AException.class);
        }
    }

    @Test
    void kg22EverythingOverJsonRpcFits() throws InterruptedException {
        var overheard = new Overheard();
        try (AgentClient client = client("JSONRPC", overheard)) {
            converse(client);
        }

        assertThat(overheard.requests).hasSizeGreaterThan(10).allSatisfy(request -> {
            assertThat(faults("", request)).as(request).isEmpty();
        });
        assertThat(overheard.answers)
                .filteredOn(answer -> answer.contains("\"jsonrpc\""))
                .hasSizeGreaterThan(10)
                .allSatisfy(answer -> assertFits(
                        answer.contains("\"success\"") ? "KnowledgeUpdateResponse" : "KnowledgeQueryResponse", answer));
        assertThat(overheard.events)
                .hasSize(9)
                .allSatisfy(event -> assertFits("KnowledgeSubscriptionEvent", event))
                .last()
                .asString()
                .contains("-32012");
    }

    @Test
    void kg22EverythingOverRestFits() throws InterruptedException {
        var overheard = new Overheard();
        try (AgentClient client = client("HTTP+JSON", overheard)) {
            converse(client);
        }

        assertThat(overheard.requests)
                .hasSizeGreaterThan(10)
                .allSatisfy(request -> assertFits(
                        request.contains("\"subscriptionQuery\"")
                                ? "KnowledgeSubscribeParams"
                                : request.contains("\"query\"") ? "KnowledgeQueryParams" : "KnowledgeUpdateParams",
                        request));
        assertThat(overheard.answers)
                .filteredOn(answer -> answer.startsWith("{\"success\"") || answer.startsWith("{\"data\""))
                .hasSizeGreaterThan(7)
                .allSatisfy(answer -> assertFits(
                        answer.contains("\"success\"")
                                ? "KnowledgeUpdateResponseResult"
                                : "KnowledgeQueryResponseResult",
                        answer));
        assertThat(overheard.events.subList(0, 8)).allSatisfy(event -> assertFits("KnowledgeGraphChangeEvent", event));
    }

    @Test
    void kg22WhatCardsSayFits() throws IOException, InterruptedException {
        Map<?, ?> card = read(get(hub.agentUrl("with") + "/.well-known/agent-card.json"));
        List<?> extensions = (List<?>) requireNonNull(capabilities(card).get("extensions"));
        Map<?, ?> entry = (Map<?, ?>) extensions.getFirst();

        assertFits("CardParams", requireNonNull(entry.get("params")));
        assertFits("CardFlags", capabilities(read(get(hub.agentUrl("with") + "/.well-known/agent.json"))));
    }

    private static Map<?, ?> read(String json) {
        return Json.read(json.getBytes(UTF_8), Map.class);
    }

    private static Map<?, ?> capabilities(Map<?, ?> card) {
        return (Map<?, ?>) requireNonNull(card.get("capabilities"));
    }

    private String call(String request) throws IOException, InterruptedException {
        return http.send(
                        HttpRequest.newBuilder(URI.create(hub.agentUrl("with")))
                                .header("Content-Type", "application/json")
                                .POST(HttpRequest.BodyPublishers.ofString(request))
                                .build(),
                        BodyHandlers.ofString())
                .body();
    }

    private static String request(String method, String params) {
        return "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"knowledge/" + method + "\",\"params\":"
                + params.replace('\'', '"') + "}";
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    query | {}
                    query | {'query':''}
                    query | {'query':7}
                    query | {'query':'{ graphs { name } }','queryLanguage':'cypher'}
                    query | {'query':'{ graphs { name } }','requiredCertainty':1.5}
                    query | {'query':'{ graphs { name } }','requiredCertainty':'high'}
                    query | {'query':'{ graphs { name } }','maxAgeSeconds':-1}
                    query | {'query':'{ graphs { name } }','variables':[]}
                    update | {}
                    update | {'mutations':{}}
                    update | {'mutations':[{'op':'add'}]}
                    update | {'mutations':[{'op':'put','statement':{'subject':{'id':'s'},'predicate':{'id':'p'},'object':{'id':'o'}}}]}
                    update | {'mutations':[{'op':'add','statement':{'predicate':{'id':'p'},'object':{'id':'o'}}}]}
                    update | {'mutations':[{'op':'add','statement':{'subject':{'id':''},'predicate':{'id':'p'},'object':{'id':'o'}}}]}
                    update | {'mutations':[{'op':'add','statement':{'subject':{'id':'s'},'predicate':'p','object':{'id':'o'}}}]}
                    update | {'mutations':[{'op':'add','statement':{'subject':{'id':'s'},'predicate':{'id':'p'},'object':{}}}]}
                    update | {'mutations':[{'op':'add','statement':{'subject':{'id':'s'},'predicate':{'id':'p'},'object':{'id':'o','value':1}}}]}
                    update | {'mutations':[{'op':'add','statement':{'subject':{'id':'s'},'predicate':{'id':'p'},'object':{'value':[1]}}}]}
                    update | {'mutations':[{'op':'add','statement':{'subject':{'id':'s'},'predicate':{'id':'p'},'object':{'id':'o'},'certainty':-0.1}}]}
                    update | {'mutations':[{'op':'add','statement':{'subject':{'id':'s'},'predicate':{'id':'p'},'object':{'id':'o'},'provenance':7}}]}
                    update | {'mutations':[{'op':'add','statement':{'subject':{'id':'s'},'predicate':{'id':'p'},'object':{'id':'o'}}}],'sparql':'CLEAR ALL'}
                    subscribe | {}
                    subscribe | {'subscriptionQuery':''}
                    subscribe | {'subscriptionQuery':'subscription { knowledgeChanged { op } }','queryLanguage':'sparql'}
                    """)
    void kg22WhatDoesNotFitIsRefused(String method, String params) throws IOException, InterruptedException {
        String request = request(method, params);

        assertThat(faults("", request)).isNotEmpty();
        String answer = call(request);
        assertThat(answer).contains("\"code\":-32602");
        assertFits("KnowledgeQueryResponse", answer);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'mutations':[]}",
                "{'mutations':[{'op':'add','statement':{'subject':{'id':'s'},'predicate':{'id':'p'},'object':{'id':'o'}}}]}",
                "{'mutations':[{'op':'add','statement':{'subject':{'id':'s','type':null},'predicate':{'id':'p'},'object':{'value':false},'graph':null,'certainty':null,'provenance':null}}],'taskId':null,'metadata':null}"
            })
    void kg22WhatFitsIsDone(String params) throws IOException, InterruptedException {
        String request = request("update", params);

        assertThat(faults("", request)).isEmpty();
        assertThat(call(request)).contains("\"success\":true");
    }
}
