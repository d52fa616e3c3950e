package dev.parley.knowledge.sparql;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.protocol.A2AException;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever is sent as an update in SPARQL, it comes to changes of statements, or is refused with its reason. */
final class SparqlUpdateFuzzTest {
    static Stream<byte[]> examples() {
        return Stream.of(
                        "INSERT DATA { ex:p3 ex:knows ex:p1, [] ; a 'x'@en . GRAPH ex:reports { ex:p3 ex:size 4.5 } }",
                        "DELETE WHERE { GRAPH ?g { ?s ex:status ?o } } ; CLEAR SILENT GRAPH ex:reports",
                        "WITH ex:g DELETE { ?s ?p ?o } INSERT { ?s ex:was ?o } USING ex:h WHERE { ?s ?p ?o FILTER(?o > 1) }",
                        "DELETE DATA { ex:p1 ex:size 42 } ; MOVE ex:reports TO DEFAULT ; DROP ALL",
                        "PREFIX : <http://e/#> COPY :a TO :b ; ADD DEFAULT TO :c ; CREATE GRAPH :d",
                        "LOAD <file:///etc/passwd> INTO GRAPH ex:g",
                        "INSERT { ?s ex:n ?n } WHERE { SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s }")
                .map(text -> text.getBytes(UTF_8));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void updates(byte[] text) {
        try {
            Sparql.patches(SparqlQueryFuzzTest.VIEW, new String(text, UTF_8), 0.5, SparqlQueryFuzzTest.PATIENCE);
        } catch (A2AException refused) {
            assertThat(refused.error()).isEqualTo(KnowledgeError.KNOWLEDGE_UPDATE);
            assertThat(refused.metadata()).containsKey("reason");
        }
    }
}
