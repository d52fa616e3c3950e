package dev.parley.knowledge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** KG19: who asks for something forbidden by its name is told so, however the name is written. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ForbiddenNamesTest {
    private static final CallContext CALLER = CallContext.anonymous();

    private Graph graph;

    @BeforeAll
    void open(@TempDir Path directory) {
        graph = Graph.open(directory);
        graph.rules(
                CALLER.scope().group(),
                Alignment.read("{\"rules\":[{\"id\":\"pay\",\"effect\":\"forbid\",\"match\":"
                        + "{\"predicate\":[\"ex:pay\",\"rdf:type\"]}},"
                        + "{\"id\":\"staff\",\"effect\":\"forbid\",\"match\":{\"graph\":\"ex:staff\"}}]}"));
    }

    @AfterAll
    void close() {
        graph.close();
    }

    private static void assertForbidden(ThrowingCallable asking) {
        assertThatThrownBy(asking)
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.error()).isEqualTo(KnowledgeError.ALIGNMENT_VIOLATION));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT * { ?s ex:pay ?o }",
                "SELECT * { ?s <ex:pay> ?o }",
                "SELECT * { ?s <ex:p\\u0061y> ?o }",
                "SELECT * { ?s <ex:\\U00000070ay> ?o }",
                "PREFIX x: <ex:> SELECT * { ?s x:pay ?o }",
                "PREFIX : <ex:p> SELECT * { ?s :ay ?o }",
                "PREFIX x: <ex:> SELECT * { ?s x:p\\u0061y ?o }",
                "BASE <ex:> SELECT * { ?s <pay> ?o }",
                "SELECT * { ?s (ex:a|^(ex:b/ex:pay))* ?o }",
                "SELECT * { ?s !(ex:a|^ex:pay) ?o }",
                "SELECT * { ?s a ?o }",
                "SELECT * { ?s rdf:type/ex:b ?o }",
                "SELECT * { { SELECT ?o { ?s ex:pay ?o } } }",
                "SELECT * { ?s ?p ?o FILTER EXISTS { ?s ex:pay ?o } }",
                "SELECT * { ?s ?p ?o FILTER(?p = ex:pay) }",
                "SELECT * { ?s ?p ?o FILTER(STR(?p) = \"ex:pay\") }",
                "SELECT * { BIND(IRI('''ex:\\u0070ay''') AS ?p) ?s ?p ?o }",
                "SELECT * { VALUES ?p { ex:pay } ?s ?p ?o }",
                "SELECT * FROM <ex:staff> { ?s ?p ?o }",
                "PREFIX x: <ex:st> SELECT * FROM NAMED x:aff { GRAPH ?g { ?s ?p ?o } }",
                "SELECT * { GRAPH ex:staff { ?s ?p ?o } }",
                "CONSTRUCT { ?s ex:pay ?o } { ?s ex:b ?o }",
                "DESCRIBE ex:pay",
                "SELECT (COUNT(ex:pay) AS ?n) { ?s ?p ?o }"
            })
    void inSparql(String query) {
        assertForbidden(() -> graph.query(Query.sparql(query), CALLER));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "PREFIX x: <ex:> DELETE WHERE { ?s x:pay ?o }",
                "PREFIX x: <ex:> WITH x:staff DELETE { ?s ?p ?o } INSERT { ?s ex:b ?o } WHERE { ?s ?p ?o }",
                "INSERT { ?s ex:b ?o } USING <ex:st\\u0061ff> WHERE { ?s ?p ?o }",
                "COPY ex:staff TO ex:open",
                "INSERT DATA { ex:s <ex:p\\u0061y> 1 }"
            })
    void inSparqlUpdates(String update) {
        assertForbidden(() -> graph.update(new Update(List.of(), update, null, null, null, null, Map.of()), CALLER));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{ statements(filter: {predicates: [\"ex:pay\"]}) { nodes { graph } } }",
                "{ statements(filter: {predicates: [\"ex:p\\u0061y\"]}) { nodes { graph } } }",
                "{ statements(filter: {predicates: [\"\"\"ex:pay\"\"\"]}) { nodes { graph } } }",
                "{ statements(filter: {predicates: [\"rdf:type\"]}) { nodes { graph } } }",
                "{ x: statements(filter: {graphs: [\"ex:staff\"]}) @skip(if: false) { nodes { graph } } }",
                "{ entity(id: \"ex:s\") { ...F } } fragment F on Entity { value(predicate: \"ex:\\u{70}ay\") }",
                "query($p: String = \"ex:pay\") { entity(id: \"ex:s\") { statements(predicate: $p) { nodes { graph } } } }",
                "{ entities(orderBy: \"ex:pay\") { nodes { id } } }",
            })
    void inGraphQl(String query) {
        assertForbidden(() -> graph.query(Query.graphql(query, Map.of()), CALLER));
    }

    @Test
    void inVariables() {
        String graphql = "query($f: StatementFilter) { statements(filter: $f) { nodes { graph } } }";

        assertForbidden(() ->
                graph.query(Query.graphql(graphql, Map.of("f", Map.of("predicates", List.of("ex:pay")))), CALLER));
        assertForbidden(() -> graph.query(Query.graphql(graphql, Map.of("f", Map.of("graphs", "ex:staff"))), CALLER));
        assertForbidden(() -> graph.query(
                new Query(
                        "SELECT * { ?s ?p ?o }",
                        Query.SPARQL,
                        Map.of("p", Map.of("id", "ex:pay")),
                        null,
                        null,
                        null,
                        null,
                        Map.of()),
                CALLER));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT * { ?s ex:payment ?o FILTER(?o != \"ex:pay rise\") }",
                "SELECT * { GRAPH ex:staffing { ?a ex:b ?o } }",
                "# ex:pay\nSELECT * { ?s ex:b ?o }"
            })
    void notWhatOnlyBeginsLikeIt(String query) {
        assertThat(graph.query(Query.sparql(query), CALLER).data()).isNotNull();
    }
}
