package dev.parley.knowledge.sparql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.model.Pattern;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.model.View;
import dev.parley.knowledge.store.SqlStatementStore;
import dev.parley.store.database.Database;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** KG03, KG04, KG19: what is hidden from a caller is hidden from SPARQL and SHACL, however they ask. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SparqlReadFilterTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Instant NOW = Instant.parse("2026-01-05T10:00:00Z");
    private static final String SECRET = "hush";

    private Database database;
    private SqlStatementStore store;
    private Instant now = NOW;

    @BeforeAll
    void fill(@TempDir Path directory) {
        database = Database.open(directory);
        store = new SqlStatementStore(database, () -> now);
        now = NOW.minusSeconds(3_600);
        put(Statement.of("ex:old", "ex:name", Literal.of(SECRET)).withCertainty(1.0));
        now = NOW;
        put(Statement.of("ex:doubtful", "ex:name", Literal.of(SECRET)).withCertainty(0.4));
        put(Statement.of("ex:unknown", "ex:name", Literal.of(SECRET)));
        put(Statement.of("ex:p1", "ex:pay", Literal.of(SECRET)).in("ex:staff").withCertainty(1.0));
        for (String group : List.of("g", "others")) {
            put(group, Statement.of("ex:p1", "ex:knows", Resource.of("ex:old")).withCertainty(0.9));
            put(
                    group,
                    Statement.of("ex:p1", "ex:knows", Resource.of("ex:doubtful"))
                            .withCertainty(0.9));
            put(group, Statement.of("ex:p1", "ex:name", Literal.of("one")).withCertainty(0.9));
            put(
                    group,
                    Statement.of("ex:p1", Term.TYPE, Resource.of("ex:Project")).withCertainty(0.9));
        }
    }

    @AfterAll
    void close() {
        database.close();
    }

    private void put(Statement statement) {
        put("g", statement);
    }

    private void put(String group, Statement statement) {
        store.<Integer>write(group, writing -> {
            writing.put(statement);
            return 0;
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT * { ?s ?p ?o }",
                "SELECT * { ?s ?p \"hush\" }",
                "SELECT ?s { ?s ?p ?o FILTER(?o = \"hush\") }",
                "SELECT ?s { ?s ?x ?y FILTER EXISTS { ?s ?p \"hush\" } }",
                "SELECT * { ex:p1 (ex:knows|ex:name|^ex:knows|!ex:none)* ?o FILTER(?o = \"hush\") }",
                "SELECT * { GRAPH ?g { ?s ?p ?o } }",
                "SELECT * { GRAPH ex:staff { ?s ?p ?o } }",
                "SELECT * { GRAPH <urn:x-arq:UnionGraph> { ?s ?p ?o } }",
                "SELECT * FROM ex:staff FROM NAMED ex:staff { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }",
                "SELECT ?g { GRAPH ?g {} }",
                "CONSTRUCT WHERE { ?s ?p ?o }",
                "DESCRIBE ex:old ex:doubtful ex:unknown ex:p1",
                "DESCRIBE ?s { ?s ?p ?o }",
                "PREFIX s: <ex:st> SELECT * { GRAPH s:aff { ?s ?p ?o } }",
                "SELECT * { GRAPH <ex:\\u0073taff> { ?s ?p ?o } }",
                "BASE <ex:> SELECT * { GRAPH <staff> { ?s <p\\u0061y> ?o } }",
                "SELECT * { BIND(IRI(CONCAT(\"ex:\", \"staff\")) AS ?g) GRAPH ?g { ?s ?p ?o } }",
                "SELECT * { { SELECT ?g { GRAPH ?g { ?s ?p ?o } } } }",
                "SELECT (GROUP_CONCAT(?o) AS ?all) (MAX(?o) AS ?max) (SAMPLE(?s) AS ?one) { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }",
                "SELECT * { ?s !ex:none ?o . OPTIONAL { GRAPH ?g { ?s ?q ?r } } }",
                "CONSTRUCT { ?g ?p ?o } { GRAPH ?g { ?s ?p ?o } }",
                "DESCRIBE ?g ?s { GRAPH ?g { ?s ?p ?o } }",
            })
    void noQueryFindsWhatIsHidden(String query) {
        Object all = read(ReadFilter.NONE, view -> ask(view, query));
        Object seen = read(hiding(), view -> ask(view, query));

        assertThat(all.toString()).containsAnyOf(SECRET, "ex:staff", "ex:old");
        assertThat(seen.toString()).doesNotContain(SECRET, "ex:staff", "ex:unknown");
    }

    @Test
    void nothingThatIsHiddenIsCounted() {
        String count = "SELECT (COUNT(*) AS ?n) { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }";

        assertThat(read(ReadFilter.NONE, view -> ask(view, count)).toString()).contains("value=8");
        assertThat(read(hiding(), view -> ask(view, count)).toString()).contains("value=4");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ASK { ?s ?p \"hush\" }",
                "ASK { GRAPH ex:staff {} }",
                "ASK { GRAPH ?g { ?s ?p ?o } }",
                "SELECT (EXISTS { ?s ?p \"hush\" } AS ?e) {}",
                "SELECT (COUNT(DISTINCT ?g) AS ?n) { GRAPH ?g { ?s ?p ?o } }",
                "SELECT ?s (COUNT(?o) AS ?n) { ?s ?p ?o } GROUP BY ?s HAVING(COUNT(?o) > 0) ORDER BY ?s",
                "SELECT ?s { ?s ex:knows ?o FILTER NOT EXISTS { ?o ex:name ?n } }",
                "SELECT ?s { ?s ex:knows ?o MINUS { ?o ex:name \"hush\" . ?s ex:knows ?o } }",
                "SELECT (IF(EXISTS { GRAPH ?g { ?s ex:pay ?o } }, 1/0, 1) AS ?n) {}",
                "SELECT (COALESCE(MIN(?o), \"none\") AS ?n) { ?s ex:name ?o FILTER(?o > \"hus\") }",
            })
    void whatIsHiddenAnswersNoQuestion(String query) {
        Object seen = read(hiding(), view -> ask(view, query));
        Object without = store.read("others", ReadFilter.NONE, PATIENCE, view -> ask(view, query));

        assertThat(seen).isEqualTo(without);
    }

    @Test
    void noUpdateChangesWhatIsHidden() {
        List<?> patches = read(
                hiding(),
                view -> Sparql.patches(
                        view,
                        "DELETE { ?s ?p \"hush\" } INSERT { ?s ex:found true } WHERE { ?s ?p \"hush\" } ; DROP GRAPH ex:staff",
                        null,
                        PATIENCE));

        assertThat(patches).isEmpty();
    }

    @Test
    void noShapeSeesWhatIsHidden() {
        var shapes = ShaclShapes.parse("""
                @prefix sh: <http://www.w3.org/ns/shacl#> .
                <ex:S> a sh:NodeShape ; sh:targetNode <ex:p1> ;
                    sh:property [ sh:path <ex:pay> ; sh:minCount 1 ] .
                """);

        assertThat(this.<List<?>>read(ReadFilter.NONE, view -> shapes.check(view, view, List.of("ex:p1"), PATIENCE)))
                .isEmpty();
        assertThat(this.<List<?>>read(hiding(), view -> shapes.check(view, view, List.of("ex:p1"), PATIENCE)))
                .hasSize(1);
    }

    /** Hides the doubtful, the old, and the graph {@code ex:staff}. */
    private static ReadFilter hiding() {
        var staff = new ReadFilter.Rule(Pattern.ALL.in(List.of("ex:staff")), null, false);
        return new ReadFilter(0.8, NOW.minusSeconds(60), List.of(staff), true);
    }

    private <T> T read(ReadFilter readFilter, Function<View, T> question) {
        return store.read("g", readFilter, PATIENCE, question);
    }

    private static Object ask(View view, String query) {
        return Sparql.answer(view, query, Map.of(), PATIENCE).data();
    }
}
