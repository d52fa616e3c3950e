package dev.parley.knowledge.sparql;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.protocol.A2AException;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever is asked as SPARQL, it is answered, or refused with its reason. */
final class SparqlQueryFuzzTest {
    static final Duration PATIENCE = Duration.ofSeconds(1);

    static final StatementsView VIEW = new StatementsView(
            Statement.of("ex:p1", "ex:status", Literal.of("active")),
            Statement.of("ex:p1", "ex:size", Literal.of(42)),
            Statement.of("ex:p1", "ex:label", Literal.of("Brücke", "de")),
            Statement.of("ex:p1", "ex:knows", Resource.of("ex:p2")),
            Statement.of("ex:p2", "ex:status", Literal.of("late")).in("ex:reports"));

    static Stream<byte[]> examples() {
        return Stream.of(
                        "PREFIX x: <ex:> SELECT ?s (COUNT(?o) AS ?n) { ?s x:size|x:knows+ ?o } GROUP BY ?s HAVING (?n > 1)",
                        "SELECT DISTINCT * { GRAPH ?g { ?s ?p ?o } OPTIONAL { ?o ?q ?r } } ORDER BY DESC(?s) LIMIT 3 OFFSET 1",
                        "ASK { { ?s ?p 'a'@de } UNION { ?s ?p \"1\"^^xsd:integer } MINUS { ?s ex:knows [] } }",
                        "CONSTRUCT { ?s ex:is ?v } WHERE { ?s ?p ?o BIND(CONCAT(STR(?o), \"\"\"x\"\"\") AS ?v) "
                                + "FILTER(REGEX(?v, \"^a.*\", \"i\") || ?o IN (1, 2.5, 1e3, true)) }",
                        "DESCRIBE ex:p1 ?x { ?x !(ex:a|^ex:b)/ex:c* ?y . FILTER NOT EXISTS { ?x ex:d (1 2 _:b) } }",
                        "SELECT ?y { VALUES (?x ?y) { (UNDEF <http://e/#>) } { SELECT (MAX(?z) AS ?x) { ?s ?p ?z } } }",
                        "BASE <http://e/> SELECT (REPLACE(STR(?s), '(.)', '$1-', 'i') AS ?r) "
                                + "(GROUP_CONCAT(DISTINCT ?o; SEPARATOR=', ') AS ?c) FROM NAMED <g> { ?s a ?o } GROUP BY ?s",
                        "SELECT * { SERVICE SILENT <http://127.0.0.1/> { ?s ?p ?o } } # \\u00e9",
                        "SELECT (IF(BOUND(?x), NOW() - ?x, xsd:dateTime('2026-01-05T10:00:00Z')) AS ?d) "
                                + "(SHA256(STRLANG('a', 'e.n')) AS ?h) { ?x ^ex:knows? _:b }")
                .map(text -> text.getBytes(UTF_8));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void queries(byte[] text) {
        try {
            Sparql.answer(VIEW, new String(text, UTF_8), Map.of(), PATIENCE);
        } catch (A2AException refused) {
            assertThat(refused.error()).isEqualTo(KnowledgeError.KNOWLEDGE_QUERY);
            assertThat(refused.metadata())
                    .hasEntrySatisfying(
                            "reason",
                            reason -> assertThat(reason)
                                    .isIn("syntax", "timeout", "too-much", "not-supported", "failed"));
        }
    }
}
