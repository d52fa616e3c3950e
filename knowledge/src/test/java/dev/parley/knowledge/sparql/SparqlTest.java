package dev.parley.knowledge.sparql;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.ErrorKind;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("heavy")
class SparqlTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final StatementsView view = new StatementsView(
            Statement.of("ex:p1", "ex:status", Literal.of("active")),
            Statement.of("ex:p1", "ex:size", Literal.of(42)),
            Statement.of("ex:p1", "ex:label", Literal.of("Brücke", "de")),
            Statement.of("ex:p1", "ex:knows", Resource.of("ex:p2")),
            Statement.of("ex:p2", "ex:status", Literal.of("done")),
            Statement.of("ex:p2", "ex:status", Literal.of("late")).in("ex:reports"));

    /** KG31: SPARQL as further language. */
    @Test
    void kg31AnswersSelectAsSparqlResultsInJson() {
        Object data = ask("PREFIX x: <ex:> SELECT ?s ?size WHERE { ?s x:size ?size }");

        assertThat(data)
                .isEqualTo(Map.of(
                        "head",
                        Map.of("vars", List.of("s", "size")),
                        "results",
                        Map.of(
                                "bindings",
                                List.of(Map.of(
                                        "s",
                                        Map.of("type", "uri", "value", "ex:p1"),
                                        "size",
                                        Map.of(
                                                "type", "literal",
                                                "value", "42",
                                                "datatype", Literal.INTEGER))))));
    }

    @Test
    void takesPrefixesThatNobodyDeclaredAsTheyAreWritten() {
        assertThat(values("SELECT ?v { ex:p1 ex:knows/ex:status ?v }")).containsExactly("done");
    }

    @Test
    void takesIrisAsTheyAreWritten() {
        var plain = new StatementsView(Statement.of("p", "knows", Resource.of("q")));

        assertThat(values(plain, "SELECT ?v { <p> <knows> ?v }")).containsExactly("q");
    }

    @Test
    void keepsLanguages() {
        assertThat(ask("SELECT ?v { ex:p1 ex:label ?v }").toString()).contains("Brücke", "xml:lang=de");
        assertThat(values("SELECT ?v { ?v ex:label \"Brücke\"@de }")).containsExactly("ex:p1");
        assertThat(values("SELECT ?v { ?v ex:label \"Brücke\" }")).isEmpty();
    }

    @Test
    void asksWithinNamedGraphs() {
        assertThat(values("SELECT ?v { GRAPH ex:reports { ex:p2 ex:status ?v } }"))
                .containsExactly("late");
        assertThat(values("SELECT ?v { GRAPH ?v { ?s ?p ?o } }")).containsExactly("ex:reports");
        assertThat(values("SELECT ?v FROM ex:reports { ?s ex:status ?v }")).containsExactly("late");
        assertThat(values("SELECT ?v { ex:p2 ex:status ?v }")).containsExactly("done");
    }

    @Test
    void answersAsk() {
        assertThat(ask("ASK { ex:p1 ex:size 42 }")).isEqualTo(Map.of("head", Map.of(), "boolean", true));
    }

    @Test
    void answersConstructWithStatements() {
        assertThat(ask("CONSTRUCT { ?s ex:is ?o } { ?s ex:label|ex:size|ex:knows ?o }"))
                .asInstanceOf(InstanceOfAssertFactories.LIST)
                .containsExactlyInAnyOrder(
                        said("ex:p1", "ex:is", Map.of("value", new BigDecimal(42))),
                        said("ex:p1", "ex:is", Map.of("id", "ex:p2")),
                        said(
                                "ex:p1",
                                "ex:is",
                                Map.of("value", "Brücke", "type", Literal.LANG_STRING, "language", "de")));
    }

    @Test
    void describesWhatAllGraphsSayOfAnEntity() {
        assertThat(ask("DESCRIBE ex:p2"))
                .asInstanceOf(InstanceOfAssertFactories.LIST)
                .containsExactlyInAnyOrder(
                        said("ex:p2", "ex:status", Map.of("value", "done")),
                        said("ex:p2", "ex:status", Map.of("value", "late")));
    }

    private static Map<String, Object> said(String subject, String predicate, Object object) {
        return Map.of("subject", Map.of("id", subject), "predicate", Map.of("id", predicate), "object", object);
    }

    @Test
    void bindsVariablesAsTerms() {
        String query = "SELECT ?v { ?s ?p ?o . BIND(?p AS ?v) }";

        assertThat(values(query, Map.of("s", Map.of("id", "ex:p1"), "o", 42))).containsExactly("ex:size");
        assertThat(values(query, Map.of("s", Map.of("id", "ex:p1"), "o", "active")))
                .containsExactly("ex:status");
        assertThat(values(query, Map.of("o", Map.of("value", "42", "type", "xsd:integer"))))
                .containsExactly("ex:size");
        assertThat(values(query, Map.of("o", Map.of("value", "Brücke", "language", "de"))))
                .containsExactly("ex:label");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "active\" } UNION { ?s ?p ?o } #",
                "active' . ?x ?y ?z . '",
                "ex:p1> <ex:status> ?v } #",
                "?o",
                "\\u0022 } UNION { ?s ?p ?o } #"
            })
    void neverReadsAVariableAsText(String hostile) {
        String query = "SELECT ?v { ?v ex:status ?o }";

        assertThat(values(query, Map.of("o", hostile))).isEmpty();
        assertThat(values(query, Map.of("o", Map.of("id", hostile)))).isEmpty();
        assertThat(values(query, Map.of("o", Map.of("value", hostile, "type", hostile))))
                .isEmpty();
        assertRefused(() -> values(query, Map.of(hostile, "x")), A2AError.INVALID_PARAMS);
    }

    @Test
    void refusesVariablesThatAreNoTerms() {
        assertRefused(() -> values("SELECT ?v { ?v ?p ?o }", Map.of("o", List.of(1))), A2AError.INVALID_PARAMS);
        assertRefused(
                () -> values("SELECT ?v { ?v ?p ?o }", Map.of("o", Map.of("id", "x", "value", 1))),
                A2AError.INVALID_PARAMS);
        assertRefused(() -> values("SELECT ?v { ?v ?p ?o }", Map.of("o", Map.of("id", ""))), A2AError.INVALID_PARAMS);
    }

    @Test
    void leavesVariablesWithoutValueOpen() {
        Map<String, @Nullable Object> open = new HashMap<>();
        open.put("o", null);

        assertThat(values("SELECT ?v { ex:p1 ex:knows ?v }", open)).containsExactly("ex:p2");
    }

    @Test
    void saysWhereAQueryIsWrong() {
        assertThatThrownBy(() -> ask("SELECT ?v {\n ?v ex:status }"))
                .isInstanceOfSatisfying(A2AException.class, refused -> {
                    assertThat(refused.error()).isEqualTo(KnowledgeError.KNOWLEDGE_QUERY);
                    assertThat(refused.getMessage()).isEqualTo("Knowledge query failed");
                    assertThat(refused.metadata()).containsEntry("reason", "syntax");
                    assertThat(refused.metadata().get("detail"))
                            .contains("line 2")
                            .doesNotContain("\n");
                });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "INSERT DATA { ex:a ex:b ex:c }",
                "SELECT * { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }",
                "SELECT * { SERVICE SILENT <http://127.0.0.1:9/> { ?s ?p ?o } }",
                "SELECT (<http://jena.apache.org/ARQ/jsFunction#eval>(1) AS ?v) {}",
                "SELECT * { ?s ?p ?o FILTER EXISTS { { SELECT * { SERVICE ?s { ?s ?p ?o } } } } }",
            })
    void refusesWhatReachesOut(String query) {
        assertRefused(() -> ask(query), KnowledgeError.KNOWLEDGE_QUERY);
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://127.0.0.1:9/data.ttl", "file:///etc/hostname"})
    void findsNothingInGraphsOfOtherPlaces(String url) {
        assertThat(values("SELECT ?v FROM <" + url + "> { ?v ?p ?o }")).isEmpty();
        assertThat(values("SELECT ?v FROM NAMED <" + url + "> { GRAPH ?g { ?v ?p ?o } }"))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "<java:org.apache.jena.sparql.function.library.sysprop>(\"java.home\")",
                "<http://jena.apache.org/ARQ/function#sysprop>(\"java.home\")",
                "<java:java.lang.Runtime>(\"ls\")"
            })
    void knowsNoFunctionsOfJava(String call) {
        assertThat(values("SELECT ?v { BIND(" + call + " AS ?v) }")).isEmpty();
    }

    @Test
    void knowsNoPredicatesOfJava() {
        assertThat(values("SELECT ?v { ?v <java:org.apache.jena.sparql.pfunction.library.versionARQ> ?x }"))
                .isEmpty();
        assertThat(values("SELECT ?v { ?v <http://jena.apache.org/ARQ/property#versionARQ> ?x }"))
                .isEmpty();
    }

    @Test
    void castsAndComparesValues() {
        assertThat(values("SELECT ?v { ?s ex:size ?n FILTER(?n > 41.5) BIND(xsd:string(?n) AS ?v) }"))
                .containsExactly("42");
    }

    @Test
    void stopsAfterTenThousandRows() {
        var large = numbers(12_000);

        Sparql.Answer all = Sparql.answer(large, "SELECT ?v { ?s ex:n ?v }", Map.of(), PATIENCE);
        Sparql.Answer some = Sparql.answer(large, "SELECT ?v { ?s ex:n ?v } LIMIT 9000", Map.of(), PATIENCE);

        assertThat(all.truncated()).isTrue();
        assertThat(column(all.data())).hasSize(10_000);
        assertThat(some.truncated()).isFalse();
        assertThat(values(large, "SELECT (COUNT(*) AS ?v) { ?s ex:n ?n }")).containsExactly("12000");
    }

    @Test
    void stopsAfterEightMebibytes() {
        Literal long1 = Literal.of("x".repeat(1 << 20));
        var large = new StatementsView(IntStream.range(0, 20)
                .mapToObj(i -> Statement.of("ex:" + i, "ex:text", long1))
                .toList());

        Sparql.Answer answer = Sparql.answer(large, "SELECT ?v { ?s ex:text ?v }", Map.of(), PATIENCE);

        assertThat(answer.truncated()).isTrue();
        assertThat(column(answer.data())).hasSize(8);
    }

    @Test
    void stopsReadingAfterSoMuchText() {
        Literal page = Literal.of("x".repeat(1 << 20));
        var library = new StatementsView(IntStream.range(0, 200)
                .mapToObj(i -> Statement.of("ex:" + i, "ex:text", page))
                .toList());

        assertThatThrownBy(() -> Sparql.answer(library, "SELECT ?v { ?s ex:text ?v } ORDER BY ?v", Map.of(), PATIENCE))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.metadata()).containsEntry("reason", "too-much"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT (COUNT(*) AS ?v) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }",
                "SELECT ?v { { SELECT * { ?a ?b ?c } } { SELECT * { ?d ?e ?v } } { SELECT * { ?g ?h ?i } } } ORDER BY ?a",
                "SELECT (COUNT(*) AS ?v) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?k ((((!ex:x|^!ex:x)*)*)*)* ?j }",
            })
    void endsWhatTakesTooLongOrTooMuch(String query) {
        var large = numbers(500);

        assertThatThrownBy(() -> Sparql.answer(large, query, Map.of(), Duration.ofMillis(1_500)))
                .isInstanceOfSatisfying(A2AException.class, refused -> {
                    assertThat(refused.error()).isEqualTo(KnowledgeError.KNOWLEDGE_QUERY);
                    assertThat(refused.metadata().get("reason")).isIn("timeout", "too-much");
                });
    }

    @ParameterizedTest
    @CsvSource({"{, ?s ?p ?o, }", "FILTER(, TRUE, )"})
    void refusesGroupsAndExpressionsThatAreNestedTooDeeplyAsTooMuch(String open, String within, String close) {
        String deep = open + open.substring(open.length() - 1).repeat(40_000) + within + close.repeat(40_001);

        assertThatThrownBy(() -> ask("SELECT * { " + deep + " }"))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.metadata())
                                .containsEntry("reason", "too-much")
                                .containsEntry("detail", "it is nested too deeply"));
        assertThatThrownBy(() -> Sparql.patches(
                        new StatementsView(List.of()), "INSERT {} WHERE { " + deep + " }", null, PATIENCE))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.metadata()).containsEntry("reason", "too-much"));
    }

    @ParameterizedTest
    @CsvSource({
        "'(.*a){20}$', false",
        "'(a*)*b', false",
        "'^(a+)+$', false",
        "'^(a|a)*!$', true",
        "'(a?){50}a{50}', true"
    })
    void matchesInTimeThatIsLinearInTheText(String regex, boolean matches) {
        String text = "a".repeat(20_000) + "!";

        assertThat(values("SELECT ?v { BIND(REGEX(\"%s\", \"%s\") AS ?v) }".formatted(text, regex)))
                .containsExactly(String.valueOf(matches));
        assertThat(values("SELECT ?v { BIND(REPLACE(\"%s\", \"%s\", \"\") = \"%s\" AS ?v) }"
                        .formatted(text, regex, text)))
                .containsExactly(String.valueOf(!matches));
    }

    @ParameterizedTest
    @CsvSource({
        "(a)\\\\1, not-supported",
        "(?=a), not-supported",
        "'((a{100}){100}){100}', too-much",
        "'(a{1000}){1000}', too-much",
        "'(((a{0,10}){0,10}){0,10}){0,100}', too-much"
    })
    void refusesExpressionsThatTakeBacktrackingOrRepeatWithoutMeasure(String regex, String reason) {
        assertThatThrownBy(() -> ask("SELECT ?v { BIND(REGEX(\"aa\", \"%s\") AS ?v) }".formatted(regex)))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.metadata()).containsEntry("reason", reason));
    }

    @Test
    void knowsTheFlagsOfRegularExpressions() {
        assertThat(values("SELECT ?v { BIND(REGEX(\"a.b\", \"A.B\", \"iq\") AS ?v) }"))
                .containsExactly("true");
        assertThat(values("SELECT ?v { BIND(REGEX(\"axb\", \"a.b\", \"q\") AS ?v) }"))
                .containsExactly("false");
        assertThat(values("SELECT ?v { BIND(REGEX(\"ab\", \"a [b ]\", \"x\") AS ?v) }"))
                .containsExactly("true");
        assertThat(values("SELECT ?v { BIND(REGEX(\"a\\nb\", \"^b$\", \"m\") AS ?v) }"))
                .containsExactly("true");
        assertThat(values("SELECT ?v { BIND(REGEX(\"a\\nb\", \"a.b\", \"s\") AS ?v) }"))
                .containsExactly("true");
        assertThat(values("SELECT ?v { BIND(REPLACE(\"Brücke\"@de, \"Ü\", \"ue\", \"i\") AS ?v) }"))
                .containsExactly("Bruecke");
    }

    @ParameterizedTest
    @CsvSource({"'\"0123456789\"', 'CONCAT(?x, ?x)'", "12345, ?x * ?x", "0.1, ?x * ?x"})
    void endsTextsAndNumbersThatDoubleThemselves(String first, String doubled) {
        var doubling = new StringBuilder("SELECT ?v { BIND(%s AS ?v0)".formatted(first));
        for (int i = 0; i < 40; i++) {
            doubling.append("BIND(%s AS ?v%d)".formatted(doubled.replace("?x", "?v" + i), i + 1));
        }

        assertThatThrownBy(() -> ask(doubling + "}"))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.metadata()).containsEntry("reason", "too-much"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"xsd:integer(?o)", "xsd:dateTime(?o)", "STRDT(?o, xsd:decimal)"})
    void readsNoNumberThatHasAsManyDigitsAsATextHasCharacters(String number) {
        var digits = new StatementsView(List.of(Statement.of("ex:s", "ex:digits", Literal.of("7".repeat(1 << 20)))));

        assertThatThrownBy(() -> Sparql.answer(
                        digits, "SELECT ?v { ?s ex:digits ?o BIND(%s AS ?v) }".formatted(number), Map.of(), PATIENCE))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.metadata()).containsEntry("reason", "too-much"));
        assertThat(values("SELECT (xsd:integer(\"42\") * STRDT(\"2\", xsd:integer) AS ?v) {}"))
                .containsExactly("84");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"CONTAINS(?o, ?w)", "STRBEFORE(?o, ?w) = \"x\"", "STRAFTER(?o, ?w) = \"x\"", "REGEX(?o, ?w)"})
    void endsSearchesForTextsThatAreAlmostEverywhere(String search) {
        var texts = new StatementsView(List.of(Statement.of("ex:s", "ex:text", Literal.of("a".repeat(1 << 20)))));

        assertThatThrownBy(() -> Sparql.answer(
                        texts,
                        "SELECT ?s { ?s ex:text ?o FILTER(%s) }".formatted(search),
                        Map.of("w", "a".repeat(1 << 19) + "b"),
                        Duration.ofMillis(500)))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.metadata().get("reason")).isIn("timeout", "too-much"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "fn:matches(\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\", \"(.*a){20}$\")",
                "fn:replace(\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\", \"(.*a){20}$\", \"\")",
                "fn:concat(\"a\", \"b\")",
                "math:pow(10, 1000000000)",
                "fn:apply(\"http://www.w3.org/2005/xpath-functions/math#pow\", 10, 1000000000)"
            })
    void hasNoFunctionsOfXPathThatAreUnguarded(String call) {
        assertThat(values("PREFIX fn: <http://www.w3.org/2005/xpath-functions#> PREFIX math:"
                        + " <http://www.w3.org/2005/xpath-functions/math#> SELECT ?v { BIND(" + call + " AS ?v) }"))
                .isEmpty();
    }

    @Test
    void endsTextsThatManyRowsMake() {
        Literal longText = Literal.of("x".repeat(1 << 20));
        var large = new StatementsView(IntStream.range(0, 30)
                .mapToObj(i -> Statement.of("ex:" + i, i < 10 ? "ex:text" : "ex:n", i < 10 ? longText : Literal.of(i)))
                .toList());

        assertThatThrownBy(() -> Sparql.answer(
                        large, "SELECT (GROUP_CONCAT(?a) AS ?v) { ?x ex:text ?a . ?y ex:n ?b }", Map.of(), PATIENCE))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.metadata()).containsEntry("reason", "too-much"));
        assertThat(values("SELECT (GROUP_CONCAT(?o; SEPARATOR=\"+\") AS ?v) { ex:p1 ex:status|ex:size ?o }"))
                .first()
                .asString()
                .contains("active", "+", "42");
    }

    @Test
    void readsNoRequestThatTakesMinutesToRead() {
        String digits = "7".repeat(900_000);
        String regex = "b" + "a".repeat(900_000);

        assertRefused(() -> ask("SELECT * { FILTER(" + digits + " > 1) }"), KnowledgeError.KNOWLEDGE_QUERY);
        assertRefused(
                () -> ask("SELECT * { FILTER(REGEX(\"a\", \"" + regex + "\")) }"), KnowledgeError.KNOWLEDGE_QUERY);
        for (String update : List.of(
                "INSERT DATA { ex:s ex:p " + digits + " }",
                "DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER Regex (?o, \"" + regex + "\") }")) {
            assertRefused(() -> Sparql.patches(view, update, null, PATIENCE), KnowledgeError.KNOWLEDGE_UPDATE);
        }
        assertThat(Sparql.patches(view, "INSERT DATA { ex:s ex:p \"" + regex + "\" }", null, PATIENCE))
                .hasSize(1);
    }

    @Test
    void refusesLanguagesThatAreNone() {
        assertThatThrownBy(() -> ask("SELECT (SHA256(STRLANG('a', 'e.n')) AS ?hash) {}"))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.metadata()).containsEntry("reason", "failed"));
    }

    @Test
    void refusesQueriesThatAreNestedTooDeeply() {
        String deep = "{".repeat(45_000) + "}".repeat(45_000);

        assertRefused(() -> ask("SELECT * " + deep), KnowledgeError.KNOWLEDGE_QUERY);
    }

    @Test
    void replacesAndMatchesTexts() {
        assertThat(values("SELECT ?v { BIND(REPLACE(\"abcabc\", \"b(c)\", \"$1-\") AS ?v) }"))
                .containsExactly("ac-ac-");
        assertThat(values("SELECT ?v { ?v ex:status ?o FILTER(REGEX(?o, \"ACT\", \"i\")) }"))
                .containsExactly("ex:p1");
        assertThat(values("SELECT ?v { ?v ?p ?o FILTER(!REGEX(?o, \"ACT\", \"i\")) }"))
                .containsExactlyInAnyOrder("ex:p1", "ex:p2");
    }

    private static StatementsView numbers(int count) {
        return new StatementsView(IntStream.range(0, count)
                .mapToObj(i -> Statement.of("ex:" + i, "ex:n", Literal.of(i)))
                .toList());
    }

    private static void assertRefused(Runnable asking, ErrorKind error) {
        assertThatThrownBy(asking::run)
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.error()).isEqualTo(error));
    }

    private Object ask(String query) {
        return Sparql.answer(view, query, Map.of(), PATIENCE).data();
    }

    private List<String> values(String query) {
        return values(view, query);
    }

    private List<String> values(String query, Map<String, @Nullable Object> variables) {
        return column(Sparql.answer(view, query, variables, PATIENCE).data());
    }

    private static List<String> values(StatementsView view, String query) {
        return column(Sparql.answer(view, query, Map.of(), PATIENCE).data());
    }

    /** The values that {@code ?v} has. */
    private static List<String> column(Object data) {
        var bindings = (List<?>) member(member(data, "results"), "bindings");
        return bindings.stream()
                .filter(row -> ((Map<?, ?>) row).containsKey("v"))
                .map(row -> member(member(row, "v"), "value").toString())
                .toList();
    }

    private static Object member(Object object, String name) {
        return requireNonNull(((Map<?, ?>) object).get(name), name);
    }
}
