package dev.parley.knowledge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.QueryResult;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** GraphQL over the database. */
final class GraphQlGraphTest {
    private static final CallContext ADA = CallContext.of("ada", new Scope("builders", "ada"));
    private static final CallContext BOB = CallContext.of("bob", new Scope("builders", "bob"));
    private static final CallContext STRANGER = CallContext.of("eve", new Scope("others", "eve"));

    private final Graph graph;

    GraphQlGraphTest(@TempDir Path directory) {
        graph = Graph.open(directory);
    }

    @BeforeEach
    void say() {
        say("ex:p1", "rdf:type", Resource.of("ex:Project"), null);
        say("ex:p1", "ex:status", Literal.of("active"), 0.9);
        say("ex:p1", "ex:salary", Literal.of(5_000), 0.9);
        say("ex:p1", "ex:lead", Resource.of("ex:ada"), null);
        say("ex:p2", "rdf:type", Resource.of("ex:Project"), null);
        say("ex:p2", "ex:status", Literal.of("done"), 0.4);
        say("ex:ada", "rdf:type", Resource.of("ex:Person"), null);
        say("ex:ada", "ex:name", Literal.of("Ada", "en"), null);
    }

    @AfterEach
    void close() {
        graph.close();
    }

    private void say(String subject, String predicate, Term object, @Nullable Double certainty) {
        graph.update(
                Update.of(Patch.add(Statement.of(subject, predicate, object).withCertainty(certainty))), ADA);
    }

    private QueryResult query(String query, CallContext caller) {
        return graph.query(Query.graphql(query, Map.of()), caller);
    }

    private String data(String query) {
        return String.valueOf(query(query, ADA).data());
    }

    @Test
    @DisplayName("KG03 KG05 what is not certain enough is neither found nor shown, only counted")
    void kg03() {
        var result = graph.query(
                Query.graphql(
                                "{ entities(where: {predicate: \"ex:status\", is: EXISTS}) { nodes { id statements"
                                        + "(predicate: \"ex:status\") { nodes { object { value } certainty } } } } }",
                                Map.of())
                        .atLeast(0.8, null),
                ADA);

        assertThat(String.valueOf(result.data()))
                .isEqualTo(
                        "{entities={nodes=[{id=ex:p1, statements={nodes=[{object={value=active}, certainty=0.9}]}}]}}");
        assertThat(result.metadata()).containsKeys("executionMs", "asOf", "revision", "sources", "truncated");
    }

    @Test
    @DisplayName("KG06 a query in no language that there is is refused")
    void kg06() {
        var cypher = new Query("MATCH (n)", "cypher", Map.of(), null, null, null, null, Map.of());

        assertThatThrownBy(() -> graph.query(cypher, ADA))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.error()).isEqualTo(A2AError.INVALID_PARAMS));
    }

    @Test
    @DisplayName("KG23 KG24 classes are types as soon as they are used, and only in their group")
    void types() {
        assertThat(data("{ projects(status: \"active\") { _id status lead { name leadOf { _id } } } }"))
                .isEqualTo("{projects=[{_id=ex:p1, status=[active], lead=[{name=[Ada], leadOf=[{_id=ex:p1}]}]}]}");
        assertThat(data("{ projects(filter: {status: {not: \"active\"}}, orderBy: status) { _id } }"))
                .isEqualTo("{projects=[{_id=ex:p2}]}");

        say("ex:c", "rdf:type", Resource.of("ex:Crane"), null);
        say("ex:c", "ex:height", Literal.of(40), null);

        assertThat(data("{ cranes { height } }")).isEqualTo("{cranes=[{height=[40]}]}");
        assertThat(graph.schema(ADA)).contains("type Crane");
        assertThat(graph.schema(STRANGER)).doesNotContain("Crane").contains("type Entity");
        assertThatThrownBy(() -> query("{ cranes { height } }", STRANGER)).isInstanceOf(A2AException.class);
    }

    @Test
    @DisplayName("KG19 KG23 the schema does not tell of what its reader may not see")
    void hidden() {
        graph.shapes("builders", """
                @prefix sh: <http://www.w3.org/ns/shacl#> .
                <ex:ProjectShape> a sh:NodeShape ; sh:targetClass <ex:Project> ;
                  sh:property [ sh:path <ex:salary> ; sh:maxCount 1 ] .
                """);
        graph.rules(
                "builders",
                Alignment.read("{\"rules\":[{\"id\":\"pay\",\"on\":\"query\",\"effect\":\"redact\","
                        + "\"match\":{\"predicate\":\"ex:salary\",\"principal\":\"bob\"}}]}"));

        assertThat(graph.schema(ADA)).contains("salary");
        assertThat(graph.schema(BOB)).doesNotContain("salary").contains("status");
        assertThat(String.valueOf(
                        query("{ project(id: \"ex:p1\") { salary } }", ADA).data()))
                .contains("5000");
        assertThatThrownBy(() -> query("{ project(id: \"ex:p1\") { salary } }", BOB))
                .isInstanceOf(A2AException.class);
        assertThat(String.valueOf(query("{ entity(id: \"ex:p1\") { value(predicate: \"ex:salary\") } }", BOB)
                        .data()))
                .isEqualTo("{entity={value=null}}");
    }

    @Test
    @DisplayName("KG23 shapes of a group shape its schema at once")
    void shapes() {
        assertThat(data("{ project(id: \"ex:p1\") { status } }")).isEqualTo("{project={status=[active]}}");

        graph.shapes("builders", """
                @prefix sh: <http://www.w3.org/ns/shacl#> .
                @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
                <ex:ProjectShape> a sh:NodeShape ; sh:targetClass <ex:Project> ;
                  sh:property [ sh:path <ex:status> ; sh:maxCount 1 ; sh:datatype xsd:string ] ;
                  sh:property [ sh:path <ex:lead> ; sh:maxCount 1 ; sh:class <ex:Person> ] .
                """);

        assertThat(data("{ project(id: \"ex:p1\") { status lead { name(language: \"en\") } } }"))
                .isEqualTo("{project={status=active, lead={name=[Ada]}}}");
    }

    @Test
    @DisplayName("KG24 pages of the database follow each other, at the root and below")
    void pages() {
        var first = query("{ entities(first: 2) { nodes { id } pageInfo { endCursor } } }", ADA);
        assertThat(first.metadata()).containsEntry("truncated", true);
        String cursor = String.valueOf(first.data()).replaceAll(".*endCursor=([^}]*)}.*", "$1");

        var second = graph.query(
                Query.graphql(
                        "query($c: String) { entities(first: 2, after: $c) { nodes { id } } }", Map.of("c", cursor)),
                ADA);
        assertThat(second.data()).isEqualTo(Map.of("entities", Map.of("nodes", List.of(Map.of("id", "ex:p2")))));
        assertThatThrownBy(() -> query("{ entities(after: \"not one\") { nodes { id } } }", ADA))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.metadata()).containsEntry("reason", "execution"));
    }

    @Test
    @DisplayName(
            "KG19 whoever names a forbidden predicate by its field is refused, whether there is such a field or not")
    void forbidden() {
        graph.rules(
                "builders",
                Alignment.read("{\"rules\":[{\"id\":\"pay\",\"on\":\"query\",\"effect\":\"forbid\",\"match\":"
                        + "{\"predicate\":[\"ex:salary\",\"ex:boss\"],\"principal\":\"bob\"}}]}"));

        for (String query : List.of(
                "{ projects { salary } }",
                "{ projects { a: salary2 } }",
                "{ projects(salary: 5000) { _id } }",
                "{ projects(filter: {salary: {atLeast: 1}}) { _id } }",
                "{ projects(orderBy: salary) { _id } }",
                "{ persons { boss { _id } bossOf { _id } } }")) {
            assertThatThrownBy(() -> query(query, BOB)).isInstanceOfSatisfying(A2AException.class, refused -> {
                assertThat(refused.error()).isEqualTo(KnowledgeError.ALIGNMENT_VIOLATION);
                assertThat(refused.metadata()).containsEntry("ruleId", "pay");
            });
        }
        assertThat(String.valueOf(query("{ projects { status } }", BOB).data())).contains("active");
        assertThat(String.valueOf(query("{ salary: graphs { name } }", BOB).data()))
                .isEqualTo("{salary=[{name=default}]}");
        assertThat(data("{ projects { salary } }")).contains("5000");
    }
}
