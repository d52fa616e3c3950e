package dev.parley.dialect;

import static dev.parley.dialect.Exchange.frames;
import static dev.parley.dialect.Exchange.whole;
import static dev.parley.dialect.Wire.bytes;
import static dev.parley.dialect.Wire.text;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.spi.WireAnswer;
import dev.parley.knowledge.api.KnowledgeEndpoint;
import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.KnowledgeExtension;
import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.QueryResult;
import dev.parley.knowledge.api.KnowledgeOperation.Subscribe;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.knowledge.api.KnowledgeProtocol;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.ErrorKind;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class KnowledgeTest {
    private static final String URI = "https://hub.example" + KnowledgeEndpoint.EXTENSION_PATH;
    private static final String CHANGE_ID = "3f0c1a52-9c1e-4a53-8f6e-7f2b8f6f0a11";
    private static final String ASK = "{'query':'{ graphs { id } }'}";
    private static final String WATCH = "{'subscriptionQuery':'subscription { knowledgeChanged { op } }'}";
    private static final Change CHANGE = new Change(
            Patch.Op.REPLACE,
            Statement.of("ex:p1", "ex:status", Literal.of("done")),
            CHANGE_ID,
            Instant.parse("2026-01-05T10:00:03Z"),
            Map.of("taskId", "t-77"));

    private final ScriptedKnowledge graph = new ScriptedKnowledge();
    private final Exchange exchange = new Exchange()
            .inEveryDialect()
            .with(KnowledgeProtocol.EXTENSION, graph.endpoint())
            .with(card(true));

    private static AgentCard card(boolean withKnowledge) {
        return Json.read(
                bytes("{\"name\":\"a\",\"supportedInterfaces\":[{\"url\":\"https://hub.example/agents/a\","
                        + "\"protocolBinding\":\"JSONRPC\",\"protocolVersion\":\"1.0\"}],\"capabilities\":{\"streaming\":true"
                        + (withKnowledge
                                ? ",\"extensions\":[{\"uri\":\"" + URI
                                        + "\",\"params\":{\"queryLanguages\":[\"graphql\",\"sparql\"]}}]"
                                : "")
                        + "}}"),
                AgentCard.class);
    }

    private WireAnswer call(String method, String params) {
        return exchange.rpc(
                ("{'jsonrpc':'2.0','id':'q1','method':'" + method + "','params':" + params + "}").replace('\'', '"'));
    }

    private Tree answer(String method, String params) {
        return Tree.of(whole(call(method, params)));
    }

    private Tree update(String statement) {
        return answer("knowledge/update", "{'mutations':[{'op':'add','statement':" + statement + "}]}");
    }

    private Tree card(String path) {
        return Tree.of(exchange.rest("GET", path));
    }

    // ---- Cards

    @Test
    void kg01TheOldCardHasTheFlags() {
        Tree capabilities = card("/.well-known/agent.json").at("capabilities");

        assertThat(capabilities.at("knowledgeGraph").value()).isEqualTo(true);
        assertThat(capabilities.at("knowledgeGraphQueryLanguages").value()).isEqualTo(List.of("graphql", "sparql"));
    }

    @Test
    void kg01AnAgentWithoutKnowledgeSaysSo() {
        exchange.with(card(false));

        Tree capabilities = card("/.well-known/agent.json").at("capabilities");

        assertThat(capabilities.at("knowledgeGraph").value()).isEqualTo(false);
        assertThat(capabilities.at("knowledgeGraphQueryLanguages").value()).isEqualTo(List.of());
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.0", "0.3", ""})
    void kg01NewerCardsHaveAnExtensionInstead(String version) {
        if (!version.isEmpty()) {
            exchange.with("A2A-Version", version);
        }

        Tree capabilities = card("/.well-known/agent-card.json").at("capabilities");

        assertThat(capabilities.at("extensions", 0, "uri").text()).isEqualTo(URI);
        assertThat(capabilities.at("knowledgeGraph").isAbsent()).isTrue();
        assertThat(capabilities.at("knowledgeGraphQueryLanguages").isAbsent()).isTrue();
    }

    @Test
    void kg01TheFlagsOfAForeignCardAreReadAsTheExtension() {
        AgentCard read = Json.readCard(bytes("{\"name\":\"a\",\"url\":\"http://h/\",\"version\":\"1\",\"skills\":[],"
                + "\"capabilities\":{\"streaming\":true,\"knowledgeGraph\":true,"
                + "\"knowledgeGraphQueryLanguages\":[\"graphql\"]}}"));

        assertThat(KnowledgeExtension.in(read)).hasValueSatisfying(entry -> {
            assertThat(KnowledgeExtension.languages(entry)).containsExactly("graphql");
            assertThat(KnowledgeExtension.hasSubscriptions(entry)).isTrue();
        });
    }

    // ---- Query

    @ParameterizedTest
    @ValueSource(strings = {"1.0", "0.3", "0.2", "0.1", ""})
    void everyVersionOfA2AMayAsk(String version) {
        graph.found = new QueryResult(Map.of("graphs", List.of()), Map.of("executionMs", 4));
        if (!version.isEmpty()) {
            exchange.with("A2A-Version", version);
        }

        WireAnswer.Whole answer = whole(call("knowledge/query", ASK));

        assertThat(answer.status()).isEqualTo(200);
        assertThat(text(answer.body()))
                .isEqualTo("{\"jsonrpc\":\"2.0\",\"id\":\"q1\",\"result\":{\"data\":{\"graphs\":[]},"
                        + "\"queryMetadata\":{\"executionMs\":4}}}");
    }

    @Test
    void aQueryIsReadWhole() {
        answer(
                "knowledge/query",
                "{'query':'{ x }','variables':{'t':'ex:P'},'requiredCertainty':0.8,'maxAgeSeconds':3600,"
                        + "'taskId':'t-77','sessionId':'s-1','metadata':{'token':'x'},'surprise':1,'queryLanguage':null}");

        assertThat(graph.asked)
                .isEqualTo(new Query(
                        "{ x }",
                        "graphql",
                        Map.of("t", "ex:P"),
                        0.8,
                        Duration.ofHours(1),
                        "t-77",
                        "s-1",
                        Map.of("token", "x")));
    }

    @Test
    void kg06TheLanguageIsGraphqlUnlessSaidOtherwise() {
        answer("knowledge/query", ASK);
        assertThat(graph.asked)
                .isInstanceOfSatisfying(
                        Query.class, query -> assertThat(query.language()).isEqualTo("graphql"));

        Tree refused = answer("knowledge/query", "{'query':'x','queryLanguage':'cypher'}");
        assertThat(refused.at("error", "code").value()).isEqualTo(-32602);
        assertThat(refused.at("error", "data", "violations", 0, "field").text()).isEqualTo("queryLanguage");
    }

    @Test
    void anEmptyResultIsAResult() {
        graph.found = new QueryResult(null, Map.of());

        assertThat(answer("knowledge/query", ASK).at("result").value()).isEqualTo(Map.of());
    }

    // ---- Update

    @Test
    void anUpdateIsAnsweredWithWhatBecameOfIt() {
        graph.updated = new UpdateResult(false, 0, List.of("ex:p1"), "Rejected - Constraint Violation", "too many");

        assertThat(update("{'subject':{'id':'ex:e1'},'predicate':{'id':'p'},'object':{'id':'ex:e2'}}")
                        .at("result")
                        .value())
                .isEqualTo(Map.of(
                        "success",
                        false,
                        "statementsAffected",
                        0,
                        "affectedIds",
                        List.of("ex:p1"),
                        "verificationStatus",
                        "Rejected - Constraint Violation",
                        "verificationDetails",
                        "too many"));
        assertThat(graph.asked).isEqualTo(Update.of(Patch.add(Statement.of("ex:e1", "p", Resource.of("ex:e2")))));
    }

    @ParameterizedTest
    @CsvSource({"1.5", "-0.1", "'\"high\"'"})
    void kg12ACertaintyOutOfRangeIsRefusedByItsPath(String certainty) {
        Tree answer = update(
                "{'subject':{'id':'s'},'predicate':{'id':'p'},'object':{'value':1},'certainty':" + certainty + "}");

        assertThat(answer.at("error", "code").value()).isEqualTo(-32602);
        assertThat(answer.at("error", "message").text()).isEqualTo("Invalid parameters");
        assertThat(answer.at("error", "data", "violations", 0, "field").text())
                .isEqualTo("mutations[0].statement.certainty");
        assertThat(graph.asked).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "{'id':'x','value':1}", "{'value':null}"})
    void kg13AnObjectHasEitherAnIdOrAValue(String object) {
        Tree answer = update("{'subject':{'id':'s'},'predicate':{'id':'p'},'object':" + object + "}");

        assertThat(answer.at("error", "code").value()).isEqualTo(-32602);
        assertThat(answer.at("error", "data", "violations", 0, "field").text())
                .isEqualTo("mutations[0].statement.object");
    }

    static Stream<Arguments> terms() {
        return Stream.of(
                Arguments.of("{\"id\":\"ex:e1\"}", Resource.of("ex:e1")),
                Arguments.of("{\"id\":\"ex:e1\",\"type\":\"ex:Thing\"}", new Resource("ex:e1", "ex:Thing")),
                Arguments.of("{\"value\":\"text\"}", Literal.of("text")),
                Arguments.of("{\"value\":true}", Literal.of(true)),
                Arguments.of("{\"value\":42}", Literal.of(42)),
                Arguments.of("{\"value\":4.20}", Literal.of(new BigDecimal("4.20"))),
                Arguments.of(
                        "{\"value\":\"007\",\"type\":\"" + Literal.INTEGER + "\"}",
                        new Literal("007", Literal.INTEGER, null)),
                Arguments.of(
                        "{\"value\":\"2026-01-05\",\"type\":\"" + Term.XSD + "date\"}",
                        new Literal("2026-01-05", Term.XSD + "date", null)),
                Arguments.of(
                        "{\"value\":\"Hallo\",\"type\":\"" + Literal.LANG_STRING + "\",\"language\":\"de\"}",
                        Literal.of("Hallo", "de")));
    }

    @ParameterizedTest
    @MethodSource("terms")
    void kg13TypedValuesSurviveARoundTrip(String json, Term term) {
        String statement = "{\"subject\":{\"id\":\"s\"},\"predicate\":{\"id\":\"p\"},\"object\":" + json + "}";

        assertThat(Json.read(bytes(statement), Statement.class).object()).isEqualTo(term);
        assertThat(text(Json.write(Statement.of("s", "p", term)))).isEqualTo(statement);
    }

    @Test
    void moreThanAThousandPatchesAreRefused() {
        String patch = "{'op':'add','statement':{'subject':{'id':'s'},'predicate':{'id':'p'},'object':{'value':1}}}";
        String patches = String.join(
                ",", IntStream.rangeClosed(0, 1000).mapToObj(i -> patch).toList());

        Tree answer = answer("knowledge/update", "{'mutations':[" + patches + "]}");

        assertThat(answer.at("error", "data", "violations", 0, "field").text()).isEqualTo("mutations");
    }

    @Test
    void aRequestOfMoreThanAMebibyteIsTooLarge() {
        WireAnswer.Whole answer = whole(call("knowledge/query", "{'query':'" + "x".repeat(1 << 20) + "'}"));

        assertThat(answer.status()).isEqualTo(413);
        assertThat(graph.asked).isNull();
    }

    // ---- Subscribe

    @Test
    void kg14AChangeIsOneFrameOfOneLine() throws InterruptedException {
        graph.changes = List.of(CHANGE);

        WireAnswer answer = call("knowledge/subscribe", WATCH);

        assertThat(answer.headers())
                .containsEntry("Content-Type", "text/event-stream")
                .containsEntry("Cache-Control", "no-cache");
        assertThat(frames(answer))
                .isEqualTo("data: {\"jsonrpc\":\"2.0\",\"id\":\"q1\",\"result\":{\"op\":\"replace\",\"statement\":"
                        + "{\"subject\":{\"id\":\"ex:p1\"},\"predicate\":{\"id\":\"ex:status\"},"
                        + "\"object\":{\"value\":\"done\"}},\"changeId\":\"" + CHANGE_ID
                        + "\",\"timestamp\":\"2026-01-05T10:00:03.000Z\","
                        + "\"changeMetadata\":{\"taskId\":\"t-77\"}}}\n\n");
    }

    @Test
    void kg14AStreamTellsWhereItBegins() {
        assertThat(call("knowledge/subscribe", WATCH).headers())
                .containsEntry("Knowledge-Position", "3f0c1a52-9c1e-4a53-8f6e-7f2b8f6f0a00");
    }

    @Test
    void whatWasThereBeforeIsNotToBeResumedBehind() throws InterruptedException {
        graph.changes = List.of(
                new Change(CHANGE.op(), CHANGE.statement(), CHANGE_ID, CHANGE.timestamp(), Map.of("snapshot", true)));

        String frames = frames(exchange.send("POST", "/kg:subscribe", bytes(WATCH.replace('\'', '"'))));

        assertThat(frames).startsWith("data: {");
    }

    @Test
    void whoActivatesTheExtensionGetsIdsAndResumesByThem() throws InterruptedException {
        graph.changes = List.of(CHANGE);
        exchange.with("A2A-Extensions", URI).with("Last-Event-ID", CHANGE_ID);

        WireAnswer answer = call("knowledge/subscribe", WATCH);

        assertThat(answer.headers()).containsEntry("A2A-Extensions", URI);
        assertThat(frames(answer)).startsWith("id: " + CHANGE_ID + "\ndata: {");
        assertThat(graph.asked)
                .isInstanceOfSatisfying(
                        Subscribe.class,
                        subscribe -> assertThat(subscribe.metadata()).containsEntry("afterChangeId", CHANGE_ID));
    }

    @ParameterizedTest
    @CsvSource({
        "KNOWLEDGE_SUBSCRIPTION, 400, -32012",
        "ALIGNMENT_VIOLATION, 403, -32013",
        "UNSUPPORTED_OPERATION, 501, -32004",
        "UNAVAILABLE, 503, -32603",
        "INTERNAL, 500, -32603"
    })
    void kg16ARefusedSubscriptionHasTheStatusOfItsError(String error, int status, int code) {
        graph.failure = A2AException.of(kind(error));

        WireAnswer.Whole answer = whole(call("knowledge/subscribe", WATCH));

        assertThat(answer.status()).isEqualTo(status);
        assertThat(Tree.of(answer).at("error", "code").value()).isEqualTo(code);
        assertThat(answer.headers()).containsEntry("Content-Type", "application/json");
    }

    @Test
    void kg16ASubscriptionThatCannotBeReadIsABadRequest() {
        assertThat(whole(call("knowledge/subscribe", "{}")).status()).isEqualTo(400);
    }

    @Test
    void kg16ASubscriptionBeyondTheQuotaMaySucceedLater() {
        graph.failure = A2AException.of(KnowledgeError.KNOWLEDGE_SUBSCRIPTION).retryingAfter(Duration.ofSeconds(5));

        WireAnswer.Whole answer = whole(call("knowledge/subscribe", WATCH));

        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.headers()).containsEntry("Retry-After", "5");
    }

    @Test
    void kg17AStreamThatBreaksEndsWithTheError() {
        var events = (WireAnswer.Events) call("knowledge/subscribe", WATCH);
        var problem =
                A2AException.of(KnowledgeError.KNOWLEDGE_SUBSCRIPTION, "too slow", Map.of("reason", "slow-consumer"));

        String frame = text(events.failure().apply(problem));

        assertThat(frame)
                .isEqualTo("data: {\"jsonrpc\":\"2.0\",\"id\":\"q1\",\"error\":{\"code\":-32012,"
                        + "\"message\":\"Knowledge subscription failed\",\"data\":{\"detail\":\"too slow\","
                        + "\"reason\":\"slow-consumer\"}}}\n\n");
    }

    // ---- Errors

    @ParameterizedTest
    @CsvSource({
        "KNOWLEDGE_QUERY, -32010, Knowledge query failed, 400",
        "KNOWLEDGE_UPDATE, -32011, 'Knowledge update failed (e.g., conflict, constraint violation)', 409",
        "ALIGNMENT_VIOLATION, -32013, Operation violates alignment constraints, 403",
        "INTERNAL, -32603, Internal error, 500",
        "UNSUPPORTED_OPERATION, -32004, This operation is not supported, 501"
    })
    void kg18ErrorsAreFoundUnderStatus200UnlessTheStrictOneIsWanted(
            String error, int code, String message, int strict) {
        graph.failure = A2AException.of(kind(error), "something particular", Map.of("reason", "why"));

        WireAnswer.Whole published = whole(call("knowledge/query", ASK));
        WireAnswer.Whole strictly = whole(exchange.with(KnowledgeProtocol.STRICT, graph.endpoint())
                .rpc("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"knowledge/query\",\"params\":{\"query\":\"x\"}}"));

        assertThat(published.status()).isEqualTo(200);
        assertThat(strictly.status()).isEqualTo(strict);
        assertThat(Tree.of(published).at("error", "code").value()).isEqualTo(code);
        assertThat(Tree.of(published).at("error", "message").text()).isEqualTo(message);
    }

    @Test
    void kg18ErrorsOfGraphqlAreAListInTheData() {
        graph.failure = A2AException.of(
                KnowledgeError.KNOWLEDGE_QUERY,
                KnowledgeError.KNOWLEDGE_QUERY.defaultMessage(),
                Map.of("errors", "[{\"message\":\"no such field\"}]"));

        Tree answer = answer("knowledge/query", ASK);

        assertThat(answer.at("error", "data", "errors", 0, "message").text()).isEqualTo("no such field");
    }

    @Test
    void whoActivatesTheExtensionGetsTypedDetails() {
        graph.failure = A2AException.of(KnowledgeError.ALIGNMENT_VIOLATION, "no", Map.of("ruleId", "r1"));
        exchange.with("X-A2A-Extensions", URI);

        Tree detail = answer("knowledge/query", ASK).at("error", "data", 0);

        assertThat(detail.at("@type").text()).isEqualTo("type.googleapis.com/google.rpc.ErrorInfo");
        assertThat(detail.at("reason").text()).isEqualTo("ALIGNMENT_VIOLATION");
        assertThat(detail.at("metadata", "ruleId").text()).isEqualTo("r1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"knowledge/query", "knowledge/update", "knowledge/subscribe"})
    void kg28WithoutTheCapabilityThereIsNoSuchMethod(String method) {
        Exchange without = new Exchange().with(card(false));

        WireAnswer.Whole answer = whole(without.rpc(
                "{\"jsonrpc\":\"2.0\",\"id\":\"q1\",\"method\":\"" + method + "\",\"params\":{\"query\":\"x\"}}"));

        assertThat(answer.status()).isEqualTo(404);
        assertThat(text(answer.body()))
                .isEqualTo("{\"jsonrpc\":\"2.0\",\"id\":\"q1\",\"error\":{\"code\":-32601,"
                        + "\"message\":\"Method not found\",\"data\":null}}");
    }

    // ---- REST

    @ParameterizedTest
    @ValueSource(strings = {"/kg:query", "/tenant/kg:query", "/v1/kg:query"})
    void aQueryOverRestIsAnsweredBare(String path) {
        graph.found = new QueryResult(Map.of("graphs", List.of()), Map.of());

        WireAnswer.Whole answer = exchange.rest("POST", path, ASK.replace('\'', '"'));

        assertThat(answer.status()).isEqualTo(200);
        assertThat(text(answer.body())).isEqualTo("{\"data\":{\"graphs\":[]}}");
    }

    @Test
    void changesOverRestAreBareToo() throws InterruptedException {
        graph.changes = List.of(CHANGE);

        String frames = frames(exchange.send("POST", "/kg:subscribe", bytes(WATCH.replace('\'', '"'))));

        assertThat(frames)
                .startsWith("id: " + CHANGE_ID + "\ndata: {\"op\":\"replace\"")
                .endsWith("}\n\n");
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "KNOWLEDGE_QUERY, -, 400, INVALID_ARGUMENT",
                "KNOWLEDGE_UPDATE, conflict, 409, ABORTED",
                "KNOWLEDGE_UPDATE, forbidden, 403, ABORTED",
                "ALIGNMENT_VIOLATION, -, 403, PERMISSION_DENIED",
                "RATE_LIMITED, -, 429, RESOURCE_EXHAUSTED"
            })
    void errorsOverRestHaveTheirStatus(String kind, String reason, int status, String name) {
        ErrorKind error = kind(kind);
        graph.failure =
                A2AException.of(error, error.defaultMessage(), reason == null ? Map.of() : Map.of("reason", reason));

        WireAnswer.Whole answer = exchange.rest("POST", "/kg:query", ASK.replace('\'', '"'));

        assertThat(answer.status()).isEqualTo(status);
        assertThat(Tree.of(answer).at("error", "status").text()).isEqualTo(name);
        assertThat(Tree.of(answer).at("error", "details", 0, "reason").text()).isEqualTo(error.name());
    }

    @Test
    void kg23TheSchemaIsServed() {
        WireAnswer.Whole answer = exchange.rest("GET", "/kg/schema.graphql");

        assertThat(answer.headers()).containsEntry("Content-Type", "application/graphql; charset=utf-8");
        assertThat(text(answer.body())).contains("type Query");
    }

    @Test
    void aPathBesideTheBindingIsNoneOfIt() {
        assertThat(exchange.rest("POST", "/kg:forget", "{}").status()).isEqualTo(404);
        assertThat(exchange.rest("GET", "/kg:query").status()).isEqualTo(405);
    }

    private static ErrorKind kind(String name) {
        return KnowledgeProtocol.EXTENSION.errors().stream()
                .filter(error -> error.name().equals(name))
                .findFirst()
                .orElseGet(() -> A2AError.valueOf(name));
    }
}
