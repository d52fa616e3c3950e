package dev.parley.knowledge.graphql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.changes.ChangeLog;
import dev.parley.knowledge.graphql.GraphQlQueries.Answer;
import dev.parley.knowledge.model.KnowledgeStoreException;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.protocol.A2AException;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class GraphQlQueriesTest {
    private final Map<String, Change> log = new HashMap<>();
    private final MemoryView view = new MemoryView()
            .link("ex:p1", "rdf:type", "ex:Project")
            .add(Statement.of("ex:p1", "ex:status", Literal.of("active")).withCertainty(0.95))
            .say("ex:p1", "ex:budget", 1200)
            .say("ex:p1", "ex:open", true)
            .say("ex:p1", "ex:name", Literal.of("bridge", "en-GB"))
            .say("ex:p1", "ex:name", Literal.of("Brücke", "de"))
            .link("ex:p1", "ex:lead", "ex:ada")
            .link("ex:p2", "rdf:type", "ex:Project")
            .add(Statement.of("ex:p2", "ex:status", Literal.of("done"))
                    .in("ex:archive")
                    .withProvenance(Map.of("sourceAgentId", "surveyor")))
            .say("ex:p2", "ex:budget", 300)
            .link("ex:p2", "ex:lead", "ex:bob")
            .link("ex:ada", "ex:knows", "ex:bob")
            .say("ex:bob", "ex:name", "Bob");

    private final ChangeLog changes = (seen, after, limit) -> {
        if (after != null && !log.containsKey(after)) {
            throw new IllegalArgumentException("after: " + after + " (expected: a change that is remembered)");
        }
        return new StatementPage<>(List.copyOf(log.values()), null);
    };
    private final GraphQlQueries queries = queries(changes, System::nanoTime);

    private GraphQlQueries queries(ChangeLog changes, LongSupplier nanoTime) {
        return new GraphQlQueries(
                new MemoryStore(view),
                group -> List.of(),
                changes,
                GraphQlLimits.DEFAULTS,
                nanoTime,
                (group, work) -> work.run());
    }

    private GraphQlQueries.Prepared prepare(Query query) {
        return queries.prepare(query, "group", ReadFilter.NONE);
    }

    private Answer answer(String query, Map<String, @Nullable Object> variables) {
        return prepare(Query.graphql(query, variables)).answer(view);
    }

    private Object data(String query) {
        return answer(query, Map.of()).data();
    }

    private void refused(String reason, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(A2AException.class, refusal -> {
            assertThat(refusal.error()).isEqualTo(KnowledgeError.KNOWLEDGE_QUERY);
            assertThat(refusal.metadata()).containsEntry("reason", reason);
            assertThat(refusal.metadata().get("errors")).startsWith("[{").contains("\"message\":");
        });
    }

    @Test
    @DisplayName("KG02 a query with variables is answered in the shape that it asks for")
    void kg02() {
        var answer = answer("""
                query($t: String!, $p: String! = "ex:status") {
                  entities(type: $t, first: 10) { nodes { id statements(predicate: $p) { nodes { object { value } certainty } } } }
                }
                """, Map.of("t", "ex:Project"));

        var certainty = new HashMap<String, @Nullable Object>();
        certainty.put("object", Map.of("value", "done"));
        certainty.put("certainty", null);
        assertThat(answer.data())
                .isEqualTo(Map.of(
                        "entities",
                        Map.of(
                                "nodes",
                                List.of(
                                        Map.of(
                                                "id",
                                                "ex:p1",
                                                "statements",
                                                Map.of(
                                                        "nodes",
                                                        List.of(Map.of(
                                                                "object",
                                                                Map.of("value", "active"),
                                                                "certainty",
                                                                0.95)))),
                                        Map.of("id", "ex:p2", "statements", Map.of("nodes", List.of(certainty)))))));
        assertThat(answer.truncated()).isFalse();
        assertThat(answer.errors()).isEmpty();
    }

    @Test
    @DisplayName("KG24 entities, statements, paths, graphs and changes can be asked for")
    void kg24() {
        assertThat(data("{ entity(id: \"ex:p1\") { id types status: value(predicate: \"ex:status\") "
                        + "budget: value(predicate: \"ex:budget\") open: value(predicate: \"ex:open\") "
                        + "lead: value(predicate: \"ex:lead\") none: value(predicate: \"ex:none\") } }"))
                .hasToString(
                        "{entity={id=ex:p1, types=[ex:Project], status=active, budget=1200, open=true, lead=ex:ada, "
                                + "none=null}}");
        assertThat(data(
                        "{ statements(filter: {graphs: [\"ex:archive\"], sources: \"surveyor\"}) { nodes { subject { id } "
                                + "predicate graph provenance confirmedAt } pageInfo { hasNextPage endCursor } } }"))
                .hasToString("{statements={nodes=[{subject={id=ex:p2}, predicate=ex:status, graph=ex:archive, "
                        + "provenance={sourceAgentId=surveyor}, confirmedAt=2026-01-05T10:00:00Z}], "
                        + "pageInfo={hasNextPage=false, endCursor=null}}}");
        assertThat(data("{ path(from: \"ex:p1\", to: \"ex:bob\") { predicate object { id entity { id } } } }"))
                .hasToString("{path=[{predicate=ex:lead, object={id=ex:ada, entity={id=ex:ada}}}, "
                        + "{predicate=ex:knows, object={id=ex:bob, entity={id=ex:bob}}}]}");
        assertThat(data("{ graphs { name statements } }"))
                .hasToString("{graphs=[{name=default, statements=12}, {name=ex:archive, statements=1}]}");

        log.put(
                "c1",
                new Change(
                        Patch.Op.REPLACE,
                        Statement.of("ex:p1", "ex:status", Literal.of("done")),
                        "c1",
                        MemoryView.CONFIRMED,
                        Map.of("taskId", "t")));
        assertThat(data(
                        "{ changes(after: \"c1\") { nodes { changeId op timestamp metadata statement { object { value type } "
                                + "subject { budget: value(predicate: \"ex:budget\") } } } } }"))
                .hasToString("{changes={nodes=[{changeId=c1, op=replace, timestamp=2026-01-05T10:00:00Z, "
                        + "metadata={taskId=t}, statement={object={value=done, "
                        + "type=http://www.w3.org/2001/XMLSchema#string}, subject={budget=1200}}}]}}");
    }

    @Test
    @DisplayName("KG24 what points at an entity is found from its side")
    void kg24Incoming() {
        assertThat(data("{ entity(id: \"ex:bob\") { incoming { nodes { subject { id } predicate } } "
                        + "led: incoming(predicate: \"ex:lead\") { nodes { subject { id } } } } }"))
                .hasToString("{entity={incoming={nodes=[{subject={id=ex:p2}, predicate=ex:lead}, "
                        + "{subject={id=ex:ada}, predicate=ex:knows}]}, led={nodes=[{subject={id=ex:p2}}]}}}");
    }

    @Test
    @DisplayName("KG24 entities can be searched, filtered and ordered")
    void kg24Filters() {
        assertThat(
                        data(
                                "{ entities(type: \"ex:Project\", orderBy: \"ex:status\", descending: true) { nodes { id } } }"))
                .hasToString("{entities={nodes=[{id=ex:p2}, {id=ex:p1}]}}");
        assertThat(data("{ entities(where: {predicate: \"ex:budget\", is: MORE, values: 500}) { nodes { id } } }"))
                .hasToString("{entities={nodes=[{id=ex:p1}]}}");
        assertThat(data("{ entities(type: \"ex:Project\", where: [{predicate: \"ex:lead\", values: [{id: \"ex:ada\"}], "
                        + "not: true}]) { nodes { id } } }"))
                .hasToString("{entities={nodes=[{id=ex:p2}]}}");
        assertThat(data("{ entities(text: \"BRÜCK\") { nodes { id } } }"))
                .hasToString("{entities={nodes=[{id=ex:p1}]}}");
        assertThat(data("{ statements(filter: {values: [true, {value: \"Brücke\", language: \"de\"}]}) "
                        + "{ nodes { predicate object { language } } } }"))
                .hasToString("{statements={nodes=[{predicate=ex:open, object={language=null}}, "
                        + "{predicate=ex:name, object={language=de}}]}}");
    }

    @Test
    @DisplayName("KG02 KG13 variables may be any value, and mean what they mean in a query")
    void kg02Variables() {
        String query = "query($v: [Any!]) { statements(filter: {values: $v}) { nodes { subject { id } predicate } } }";
        var values = List.of("done", true, new BigDecimal("1200"), Map.of("value", "Brücke", "language", "de"));
        assertThat(answer(query, Map.of("v", values)).data())
                .hasToString("{statements={nodes=[{subject={id=ex:p1}, predicate=ex:budget}, "
                        + "{subject={id=ex:p1}, predicate=ex:open}, {subject={id=ex:p1}, predicate=ex:name}, "
                        + "{subject={id=ex:p2}, predicate=ex:status}]}}");
    }

    @Test
    @DisplayName("KG24 a value is shown in the language that is wanted most")
    void kg24Languages() {
        assertThat(
                        data(
                                "{ entity(id: \"ex:p1\") { de: value(predicate: \"ex:name\", language: [\"de\"]) "
                                        + "en: value(predicate: \"ex:name\", language: \"en\") "
                                        + "fr: value(predicate: \"ex:name\", language: [\"fr\", \"de\"]) "
                                        + "all: values(predicate: \"ex:name\") one: values(predicate: \"ex:name\", language: \"en\") } }"))
                .hasToString("{entity={de=Brücke, en=bridge, fr=Brücke, all=[bridge, Brücke], one=[bridge]}}");
    }

    @Test
    @DisplayName("KG24 what nothing is known of is null, what is only pointed at is not")
    void kg24Unknown() {
        assertThat(
                        data(
                                "{ a: entity(id: \"ex:nobody\") { id statements { nodes { predicate } } } "
                                        + "b: entity(id: \"ex:ada\") { id } c: entity(id: \"ex:bob\") { x: id } d: entity(id: \"ex:nobody\") { id } }"))
                .hasToString("{a=null, b={id=ex:ada}, c={x=ex:bob}, d=null}");
    }

    @Test
    @DisplayName("KG24 the store is asked once for each field of each level, however many entities there are")
    void kg24Levels() {
        String query = """
                { entities(type: "ex:Site", first: 50) { nodes {
                    id types name: value(predicate: "ex:name") size: value(predicate: "ex:size")
                    next: statements(predicate: "ex:next", first: 2) { nodes { object { entity {
                      types
                      back: incoming(predicate: "ex:next", first: 2) { nodes { subject { types } } }
                      name: value(predicate: "ex:name")
                    } } } }
                } } }
                """;

        var few = sites(2);
        prepare(Query.graphql(query, Map.of())).answer(few);
        var many = sites(50);
        var answer = prepare(Query.graphql(query, Map.of())).answer(many);

        // entities; types, values and next of each; types, incoming and values of those; types of those.
        assertThat(many.questions()).isEqualTo(8).isEqualTo(few.questions());
        assertThat(answer.data().toString()).contains("site 49", "site 0");
    }

    @Test
    @DisplayName("KG24 one entity with its statements is one question")
    void kg24OneEntity() {
        view.questions();
        data("{ entity(id: \"ex:p1\") { id __typename statements { nodes { predicate object { value } } } } }");
        assertThat(view.questions()).isEqualTo(1);
    }

    private static MemoryView sites(int count) {
        var sites = new MemoryView();
        for (int site = 0; site < count; site++) {
            sites.link("ex:s" + site, "rdf:type", "ex:Site")
                    .say("ex:s" + site, "ex:name", "site " + site)
                    .say("ex:s" + site, "ex:size", site)
                    .link("ex:s" + site, "ex:next", "ex:s" + (site + 1) % count);
        }
        return sites;
    }

    @Test
    @DisplayName("KG24 pages follow each other, and a page that was cut off is reported")
    void kg24Pages() {
        var first = answer("{ entities(first: 2) { nodes { id } pageInfo { hasNextPage endCursor } } }", Map.of());
        assertThat(first.truncated()).isTrue();
        assertThat(first.data())
                .hasToString("{entities={nodes=[{id=ex:p1}, {id=ex:p2}], pageInfo={hasNextPage=true, endCursor=2}}}");

        var second = answer("query($c: String) { entities(first: 2, after: $c) { nodes { id } } }", Map.of("c", "2"));
        assertThat(second.truncated()).isFalse();
        assertThat(second.data()).hasToString("{entities={nodes=[{id=ex:ada}, {id=ex:bob}]}}");

        assertThat(answer("{ entity(id: \"ex:p1\") { statements(first: 1) { nodes { predicate } } } }", Map.of())
                        .truncated())
                .isTrue();
    }

    @Test
    @DisplayName("KG24 fragments, aliases, skipped fields and type names are understood")
    void kg24Language() {
        assertThat(answer("""
                                query Q($no: Boolean!) {
                                  one: entity(id: "ex:ada") { ...F }
                                  two: entity(id: "ex:bob") { ...F __typename }
                                }
                                fragment F on Entity { id s: statements @skip(if: $no) { nodes { predicate } }
                                  ... on Entity @include(if: $no) { types } }
                                """, Map.of("no", true)).data())
                .hasToString("{one={id=ex:ada, types=[]}, two={id=ex:bob, types=[], __typename=Entity}}");
    }

    @Test
    @DisplayName("KG24 the same object under two aliases shows what each of them asks for")
    void kg24Aliases() {
        assertThat(
                        data(
                                "{ statements(filter: {subjects: \"ex:ada\"}) { nodes { "
                                        + "a: subject { x: value(predicate: \"ex:knows\") } b: subject { x: value(predicate: \"ex:none\") } } } }"))
                .hasToString("{statements={nodes=[{a={x=ex:bob}, b={x=null}}]}}");
    }

    @Test
    @DisplayName("KG24 a field that fails is null and named in the errors; the others are answered")
    void kg24PartialErrors() {
        var answer = answer(
                "{ changes(after: \"x\") { nodes { op } } path(from: \"a\", to: \"b\", maxLength: 9) { predicate } "
                        + "graphs { name } }",
                Map.of());

        assertThat(answer.data()).containsEntry("changes", null).containsEntry("path", null);
        assertThat(answer.data().get("graphs")).isNotNull();
        assertThat(answer.errors())
                .extracting(error -> error.get("path"))
                .containsExactly(List.of("changes"), List.of("path"));
        refused("execution", () -> answer("{ changes(after: \"x\") { nodes { op } } }", Map.of()));
        refused("execution", () -> answer("{ entities(first: 0) { nodes { id } } }", Map.of()));
    }

    @Test
    @DisplayName("KG23 the schema can be read as text and by introspection, together with data")
    void kg23() {
        assertThat(queries.schema("group", ReadFilter.NONE))
                .contains("type Query", "type Subscription", "knowledgeChanged(filter: StatementFilter): Change");
        assertThat(data("{ __type(name: \"Term\") { fields { name } } graphs { name } }"))
                .hasToString("{__type={fields=[{name=id}, {name=value}, {name=type}, {name=language}, {name=entity}]}, "
                        + "graphs=[{name=default}, {name=ex:archive}]}");
        var whole = answer(graphql.introspection.IntrospectionQuery.INTROSPECTION_QUERY, Map.of());
        assertThat(whole.errors()).isEmpty();
        assertThat(whole.data().toString()).contains("StatementFilter");
    }

    @ParameterizedTest
    @DisplayName("KG24 what graphql-java makes of an answer is the answer")
    @ValueSource(
            strings = {
                "{ a: entity(id: \"ex:p1\") { __typename x: types statements { __typename nodes { __typename object { id value } "
                        + "certainty provenance } pageInfo { hasNextPage } } } }",
                "{ entities { nodes { id b: value(predicate: \"ex:budget\") v: values(predicate: \"ex:name\") } } graphs { statements } }",
                "{ path(from: \"ex:p1\", to: \"ex:bob\") { subject { id } } none: path(from: \"ex:bob\", to: \"ex:p1\") { graph } }",
            })
    void answersAreWhatTheSchemaSays(String query) {
        var schema = GraphQlSchema.of("", GraphQlLimits.DEFAULTS);
        var prepared = schema.prepare(
                query,
                GraphQlSchema.parse(query, GraphQlLimits.DEFAULTS),
                graphql.language.OperationDefinition.Operation.QUERY);
        var data = answer(query, Map.of()).data();

        var executed = schema.introspect(prepared, Map.of(), data);

        assertThat(executed.getErrors()).isEmpty();
        assertThat(executed.<Object>getData()).isEqualTo(data).hasToString(data.toString());
    }

    @Test
    @DisplayName("KG18 KG24 what is no query is refused with the errors of GraphQL")
    void kg18() {
        refused("syntax", () -> answer("{ entity(", Map.of()));
        refused("validation", () -> answer("{ nothing }", Map.of()));
        refused("validation", () -> answer("{ entity(id: [\"a\", \"b\"]) { id } }", Map.of()));
        refused("validation", () -> answer("query($i: ID!) { entity(id: $i) { id } }", Map.of()));
        refused(
                "validation",
                () -> answer("query($n: Int) { entities(first: $n) { nodes { id } } }", Map.of("n", "x")));
        refused(
                "validation",
                () -> answer(
                        "{ entity(id: \"a\") { ...A } } fragment A on Entity { ...B } "
                                + "fragment B on Entity { ...A }",
                        Map.of()));
        refused("operation", () -> answer("mutation { add }", Map.of()));
        refused("operation", () -> answer("subscription { knowledgeChanged { op } }", Map.of()));
        refused("operation", () -> answer("query A { graphs { name } } query B { graphs { name } }", Map.of()));
        refused("operation", () -> answer("fragment A on Entity { id }", Map.of()));
        refused("operation", () -> answer("type A { a: Int }", Map.of()));
    }

    @Test
    @DisplayName("KG24 queries that are too deep, wide, long or slow are refused")
    void kg24Limits() {
        String deep = "subject { statements(first: 1) { nodes { ";
        refused(
                "depth",
                () -> answer(
                        "{ statements(first: 1) { nodes { " + deep.repeat(4) + "graph" + " } } }".repeat(4) + " } } }",
                        Map.of()));
        refused(
                "complexity",
                () -> answer("{ entities(first: 1000) { nodes { statements { nodes { graph } } } } }", Map.of()));
        refused(
                "complexity",
                () -> answer(
                        "query($n: Int) { entities { nodes { statements(first: $n) { nodes { graph } } } } }",
                        Map.of("n", 1000)));
        var aliases = new StringBuilder("{");
        for (int alias = 0; alias < 60; alias++) {
            aliases.append(" a").append(alias).append(": entities { nodes { id } }");
        }
        refused("complexity", () -> answer(aliases + "}", Map.of()));
        var bomb = new StringBuilder("{ graphs { ...F0 } } fragment F20 on GraphInfo { name }");
        for (int level = 0; level < 20; level++) {
            bomb.append(" fragment F")
                    .append(level)
                    .append(" on GraphInfo { ...F")
                    .append(level + 1)
                    .append(" ... on GraphInfo { ...F")
                    .append(level + 1)
                    .append(" } }");
        }
        refused("validation", () -> answer(bomb.toString(), Map.of()));
        refused("validation", () -> answer("{ graphs { " + "name ".repeat(2_000) + "} }", Map.of()));
        refused("syntax", () -> answer("{ graphs { " + "name ".repeat(15_000) + "} }", Map.of()));
        refused("size", () -> answer("{ graphs { name } } #" + "x".repeat(100_000), Map.of()));
        refused("syntax", () -> answer("{ a(b: " + "[".repeat(4_000) + "]".repeat(4_000) + ") }", Map.of()));
    }

    @Test
    @DisplayName("KG24 a query that takes too long is given up, whoever takes the time")
    void kg24Time() {
        var elapsed = new AtomicLong();
        var slow =
                queries(changes, () -> elapsed.addAndGet(Duration.ofSeconds(6).toNanos()));
        var query = Query.graphql("{ entities { nodes { statements(first: 1) { nodes { graph } } } } }", Map.of());
        refused("timeout", () -> slow.prepare(query, "group", ReadFilter.NONE).answer(view));

        ChangeLog impatient = (seen, after, limit) -> {
            throw new KnowledgeStoreException("too long", new IllegalStateException(), true);
        };
        var asking = queries(impatient, System::nanoTime);
        var log = Query.graphql("{ changes { nodes { op } } }", Map.of());
        refused("timeout", () -> asking.prepare(log, "group", ReadFilter.NONE).answer(view));
    }

    @Test
    @DisplayName("KG24 a path is searched only among so many things, and never in circles")
    void kg24Path() {
        view.link("ex:bob", "ex:knows", "ex:ada").link("ex:ada", "ex:knows", "ex:ada");
        assertThat(data("{ path(from: \"ex:ada\", to: \"ex:p1\", maxLength: 8) { graph } }"))
                .hasToString("{path=null}");
        assertThat(data("{ path(from: \"ex:ada\", to: \"ex:ada\") { graph } }")).hasToString("{path=[]}");
        assertThat(data("{ path(from: \"ex:p1\", to: \"ex:bob\", maxLength: 1) { graph } }"))
                .hasToString("{path=null}");

        var star = new MemoryView();
        for (int ray = 0; ray < 150; ray++) {
            star.link("ex:hub", "ex:to", "ex:r" + ray);
            for (int end = 0; end < 100; end++) {
                star.link("ex:r" + ray, "ex:to", "ex:e" + ray + "-" + end);
            }
        }
        var query = Query.graphql("{ path(from: \"ex:hub\", to: \"ex:far\") { graph } graphs { name } }", Map.of());
        assertThat(prepare(query).answer(star).errors().toString()).contains("more than 10000 things");
    }

    @Test
    @DisplayName("KG13 numbers and times come back as they were said")
    void kg13() {
        view.say("ex:n", "ex:pi", new Literal("3.10", Literal.DECIMAL, null))
                .say("ex:n", "ex:at", new Literal("2026-01-05", Term.XSD + "date", null));
        var values = Map.<String, Object>of("pi", new BigDecimal("3.10"), "at", "2026-01-05");
        assertThat(data("{ entity(id: \"ex:n\") { pi: value(predicate: \"ex:pi\") at: value(predicate: \"ex:at\") } }"))
                .isEqualTo(Map.of("entity", values));
    }
}
