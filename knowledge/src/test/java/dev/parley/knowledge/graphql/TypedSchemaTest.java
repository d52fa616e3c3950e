package dev.parley.knowledge.graphql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.graphql.GraphQlQueries.Answer;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.protocol.A2AException;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

final class TypedSchemaTest {
    private static final String SH = "http://www.w3.org/ns/shacl#";

    private final MemoryView view = new MemoryView();
    private final List<Runnable> background = new ArrayList<>();
    private long elapsed;
    private final GraphQlQueries queries = new GraphQlQueries(
            new MemoryStore(view),
            group -> List.of(),
            (seen, after, limit) -> StatementPage.empty(),
            GraphQlLimits.DEFAULTS,
            () -> elapsed,
            (group, work) -> background.add(work));

    private Answer answer(String query) {
        return queries.prepare(Query.graphql(query, Map.of()), "group", ReadFilter.NONE)
                .answer(view);
    }

    private Object data(String query) {
        return answer(query).data();
    }

    private String schema() {
        return queries.schema("group", ReadFilter.NONE);
    }

    private void sayProjects() {
        view.link("ex:p1", "rdf:type", "ex:Project")
                .say("ex:p1", "ex:status", "active")
                .say("ex:p1", "ex:name", Literal.of("bridge", "en"))
                .say("ex:p1", "ex:name", Literal.of("Brücke", "de"))
                .say("ex:p1", "ex:budget", 1200)
                .link("ex:p1", "ex:lead", "ex:ada")
                .link("ex:p2", "rdf:type", "ex:Project")
                .say("ex:p2", "ex:status", "done")
                .say("ex:p2", "ex:budget", 300)
                .link("ex:p2", "ex:lead", "ex:bob")
                .link("ex:ada", "rdf:type", "ex:Person")
                .say("ex:ada", "ex:name", "Ada")
                .link("ex:bob", "rdf:type", "ex:Person");
    }

    @Test
    @DisplayName("KG24 classes and predicates that are used become types and fields")
    void observed() {
        sayProjects();

        assertThat(data("{ projects(status: \"active\") { _id name status budget lead { _id name } } }"))
                .hasToString("{projects=[{_id=ex:p1, name=[bridge, Brücke], status=[active], budget=[1200], "
                        + "lead=[{_id=ex:ada, name=[Ada]}]}]}");
        assertThat(
                        data(
                                "{ projects(filter: {budget: {atLeast: 500}, status: {not: \"done\"}}) { name(language: \"de\") } }"))
                .hasToString("{projects=[{name=[Brücke]}]}");
        assertThat(data("{ projects(lead: \"ex:bob\") { _types } }")).hasToString("{projects=[{_types=[ex:Project]}]}");
        assertThat(data("{ projects(filter: {name: {exists: false}}) { _id } }"))
                .hasToString("{projects=[{_id=ex:p2}]}");
        assertThat(data("{ project(id: \"ex:p1\") { _id _entity { id } } none: project(id: \"ex:ada\") { _id } }"))
                .hasToString("{project={_id=ex:p1, _entity={id=ex:p1}}, none=null}");
        assertThat(
                        data(
                                "{ persons(first: 10) { leadOf { _id _statements(predicate: \"ex:status\") { nodes { object { value } } } } } }"))
                .hasToString("{persons=[{leadOf=[{_id=ex:p1, _statements={nodes=[{object={value=active}}]}}]}, "
                        + "{leadOf=[{_id=ex:p2, _statements={nodes=[{object={value=done}}]}}]}]}");
    }

    @Test
    @DisplayName("KG24 typed lists are ordered and paged")
    void paged() {
        sayProjects();

        var first = answer("{ projectsPage(orderBy: status, descending: true, first: 1) { nodes { _id } "
                + "pageInfo { hasNextPage endCursor } } }");
        assertThat(first.data())
                .hasToString("{projectsPage={nodes=[{_id=ex:p2}], pageInfo={hasNextPage=true, endCursor=1}}}");
        assertThat(data("{ projects(orderBy: status, descending: true, after: \"1\") { _id } }"))
                .hasToString("{projects=[{_id=ex:p1}]}");
        assertThat(answer("{ projects(first: 1) { _id } }").truncated()).isTrue();
        assertThat(answer("{ project(id: \"ex:p1\") { name(first: 1) } }").truncated())
                .isTrue();
    }

    @Test
    @DisplayName("KG24 values of typed fields are one question, however many fields and entities there are")
    void levels() {
        sayProjects();
        String query = "{ projects { name status budget lead { name leadOf { name status } } } }";
        data(query);
        view.questions();

        data(query);

        // projects; their values; the values of leads; what they lead; the values of that.
        assertThat(view.questions()).isEqualTo(5);
    }

    @Test
    @DisplayName("KG24 shapes say what is single, of which kind, and where a field leads")
    void shapes() {
        view.link("ex:ProjectShape", SH + "targetClass", "ex:Project")
                .link("ex:ProjectShape", SH + "property", "_:name")
                .link("_:name", SH + "path", "ex:name")
                .link("_:name", SH + "datatype", "xsd:string")
                .say("_:name", SH + "maxCount", 1)
                .link("ex:ProjectShape", SH + "property", "_:size")
                .link("_:size", "sh:path", "ex:size")
                .link("_:size", SH + "datatype", "xsd:double")
                .say("_:size", SH + "maxCount", 1)
                .link("ex:ProjectShape", SH + "property", "_:open")
                .link("_:open", SH + "path", "ex:open")
                .link("_:open", SH + "datatype", "xsd:boolean")
                .say("_:open", SH + "maxCount", 1)
                .link("ex:ProjectShape", SH + "property", "_:owner")
                .link("_:owner", SH + "path", "ex:owner")
                .link("_:owner", SH + "class", "ex:Firm")
                .say("_:owner", SH + "maxCount", 1)
                .link("ex:Firm", "rdf:type", "owl:Class")
                .link("ex:seat", "rdfs:domain", "ex:Firm")
                .link("ex:seat", "rdfs:range", "xsd:string")
                .link("ex:seat", "rdf:type", "owl:FunctionalProperty")
                .link("ex:p", "rdf:type", "ex:Project")
                .say("ex:p", "ex:name", "bridge")
                .say("ex:p", "ex:size", new Literal("1.5E2", Literal.DOUBLE, null))
                .say("ex:p", "ex:open", "perhaps")
                .link("ex:p", "ex:owner", "ex:f")
                .link("ex:f", "rdf:type", "ex:Firm")
                .say("ex:f", "ex:seat", "Berlin");

        assertThat(schema())
                .contains("name(language: [String!]): String\n", "size(language: [String!]): Number\n")
                .contains(
                        "open(language: [String!]): Boolean\n", "owner: Firm\n", "seat(language: [String!]): String\n")
                .contains("ownerOf(first: Int): [Project!]!");
        assertThat(data("{ project(id: \"ex:p\") { name size open owner { seat ownerOf { name } } } }"))
                .hasToString("{project={name=bridge, size=1.5E+2, open=null, owner={seat=Berlin, "
                        + "ownerOf=[{name=bridge}]}}}");
    }

    @Test
    @DisplayName("KG24 members of classes below belong to the class above, and have its fields")
    void subclasses() {
        view.link("ex:Agent", "rdf:type", "rdfs:Class")
                .link("ex:Robot", "rdfs:subClassOf", "ex:Agent")
                .link("ex:Robot", "rdf:type", "rdfs:Class")
                .link("ex:label", "rdfs:domain", "ex:Agent")
                .link("ex:label", "rdfs:range", "xsd:string")
                .link("ex:r1", "rdf:type", "ex:Robot")
                .say("ex:r1", "ex:label", "R1");

        assertThat(data("{ agents { _id label } robots { label } agent(id: \"ex:r1\") { _id } }"))
                .hasToString("{agents=[{_id=ex:r1, label=[R1]}], robots=[{label=[R1]}], agent={_id=ex:r1}}");
    }

    @Test
    @DisplayName("KG24 names that collide, or that GraphQL does not know, are changed")
    void names() {
        view.link("ex:e", "rdf:type", "ex:Entity")
                .link("ex:e", "rdf:type", "ex:Statement")
                .link("ex:e", "rdf:type", "http://example.org/2nd-class/")
                .link("ex:e", "rdf:type", "ex:日本")
                .link("ex:e", "rdf:type", "ex:a\"b\\c")
                .link("ex:x", "rdf:type", "http://example.org/one#Story")
                .link("ex:y", "rdf:type", "http://example.org/two#Story")
                .say("ex:y", "a:name", 1)
                .say("ex:y", "b:name", 2)
                .say("ex:y", "ex:first", 3)
                .say("ex:y", "ex:null", 4)
                .say("ex:y", "__ex", 5)
                .say("ex:y", "ex:_id", 6);

        assertThat(data("{ entities2 { _id } statements2 { _id } n2nd_classes { _id } things { _id } a_b_cs { _id } "
                        + "stories { _id } stories2 { _id name name2 first null2 ex id } }"))
                .hasToString("{entities2=[{_id=ex:e}], statements2=[{_id=ex:e}], n2nd_classes=[{_id=ex:e}], "
                        + "things=[{_id=ex:e}], a_b_cs=[{_id=ex:e}], stories=[{_id=ex:x}], stories2=[{_id=ex:y, "
                        + "name=[1], name2=[2], first=[3], null2=[4], ex=[5], id=[6]}]}");
        assertThat(data("{ stories2(filter: {first: {equal: 3}}, first: 1) { _id } }"))
                .hasToString("{stories2=[{_id=ex:y}]}");
    }

    @Test
    @DisplayName("KG24 a predicate that says both values and entities shows either")
    void mixed() {
        view.link("ex:b", "rdf:type", "ex:Book")
                .say("ex:b", "ex:author", "Anon")
                .link("ex:b", "ex:author", "ex:ada");

        assertThat(data("{ books { author { id value } } }"))
                .hasToString("{books=[{author=[{id=null, value=Anon}, {id=ex:ada, value=null}]}]}");
        assertThat(data("{ books(author: [{id: \"ex:ada\"}]) { _id } }")).hasToString("{books=[{_id=ex:b}]}");
    }

    @Test
    @DisplayName("KG23 the schema follows the graph without a restart")
    void follows() {
        sayProjects();
        assertThat(data("{ projects { _id } }")).isNotNull();
        view.link("ex:c", "rdf:type", "ex:Crane");

        // Who uses what is new need not wait.
        assertThat(data("{ cranes { _id } }")).hasToString("{cranes=[{_id=ex:c}]}");

        view.say("ex:c", "ex:height", 40);
        assertThat(data("{ cranes { _id } }")).isNotNull();
        assertThat(background).as("at most once a second").isEmpty();
        elapsed += Duration.ofSeconds(2).toNanos();
        assertThat(data("{ cranes { _id } }")).isNotNull();
        assertThat(background).hasSize(1);
        background.forEach(Runnable::run);
        assertThat(data("{ cranes { height } }")).hasToString("{cranes=[{height=[40]}]}");
        assertThat(schema()).contains("type Crane", "height(first: Int, language: [String!]): [Any!]!");
        assertThat(data("{ __type(name: \"Crane\") { name } cranes { _id } }"))
                .hasToString("{__type={name=Crane}, cranes=[{_id=ex:c}]}");
    }

    @Test
    @DisplayName("KG23 a change that adds no class and no predicate leaves the schema as it is")
    void stays() {
        sayProjects();
        data("{ projects { _id } }");
        view.say("ex:p2", "ex:status", "active").questions();

        assertThatThrownBy(() -> data("{ nothing }")).isInstanceOf(A2AException.class);
        view.questions();
        assertThatThrownBy(() -> data("{ nothing }")).isInstanceOf(A2AException.class);
        assertThat(view.questions()).as("an unchanged graph is not asked again").isZero();
    }

    @Test
    @DisplayName("KG24 a filter without values finds nothing, a null one does not matter")
    void emptyFilters() {
        sayProjects();

        assertThat(data("{ projects(status: []) { _id } }")).hasToString("{projects=[]}");
        assertThat(data("{ projects(status: null, first: 1) { budget } }"))
                .isEqualTo(Map.of("projects", List.of(Map.of("budget", List.of(new BigDecimal(1200))))));
    }
}
