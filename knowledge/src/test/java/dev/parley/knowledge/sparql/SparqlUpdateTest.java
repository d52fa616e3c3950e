package dev.parley.knowledge.sparql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.protocol.A2AException;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SparqlUpdateTest {
    private static final Statement ACTIVE = Statement.of("ex:p1", "ex:status", Literal.of("active"));
    private static final Statement LATE =
            Statement.of("ex:p2", "ex:status", Literal.of("late")).in("ex:reports");

    private final StatementsView view = new StatementsView(ACTIVE, LATE);

    @Test
    void insertsData() {
        assertThat(patches("INSERT DATA { ex:p3 ex:knows ex:p1 . GRAPH ex:reports { ex:p3 ex:size 4 } }"))
                .containsExactly(
                        Patch.add(Statement.of("ex:p3", "ex:knows", Resource.of("ex:p1"))),
                        Patch.add(
                                Statement.of("ex:p3", "ex:size", Literal.of(4)).in("ex:reports")));
    }

    @Test
    void givesWhatItAddsACertainty() {
        assertThat(Sparql.patches(view, "INSERT DATA { ex:p3 ex:knows ex:p1 }", 0.7, Duration.ofSeconds(10)))
                .extracting(patch -> patch.statement().certainty())
                .containsExactly(0.7);
    }

    @Test
    void leavesAloneWhatIsThereAlready() {
        assertThat(patches("INSERT DATA { ex:p1 ex:status 'active' }")).isEmpty();
        assertThat(patches("DELETE DATA { ex:p1 ex:status 'active' } ; INSERT DATA { ex:p1 ex:status 'active' }"))
                .isEmpty();
    }

    @Test
    void deletesData() {
        assertThat(patches("DELETE DATA { ex:p1 ex:status 'active' . ex:p1 ex:status 'unknown' }"))
                .containsExactly(Patch.remove(ACTIVE));
        assertThat(patches("DELETE WHERE { GRAPH ?g { ?s ex:status ?o } }")).containsExactly(Patch.remove(LATE));
    }

    @Test
    void changesWhatAPatternFinds() {
        assertThat(patches("DELETE { ?s ex:status ?o } INSERT { ?s ex:was ?o } WHERE { ?s ex:status ?o }"))
                .containsExactly(
                        Patch.remove(ACTIVE), Patch.add(Statement.of("ex:p1", "ex:was", Literal.of("active"))));
        assertThat(patches("WITH ex:reports DELETE { ?s ex:status ?o } WHERE { ?s ex:status ?o }"))
                .containsExactly(Patch.remove(LATE));
        assertThat(patches("INSERT { ?s ex:seen true } USING ex:reports WHERE { ?s ex:status ?o }"))
                .containsExactly(Patch.add(Statement.of("ex:p2", "ex:seen", Literal.of(true))));
    }

    @Test
    void seesInLaterOperationsWhatEarlierOnesDid() {
        assertThat(patches("INSERT DATA { ex:p9 ex:status 'new' } ;"
                        + "DELETE { ?s ex:status 'new' } INSERT { ?s ex:status 'old' } WHERE { ?s ex:status 'new' }"))
                .containsExactly(Patch.add(Statement.of("ex:p9", "ex:status", Literal.of("old"))));
    }

    @Test
    void clearsAndDropsGraphs() {
        assertThat(patches("CLEAR DEFAULT")).containsExactly(Patch.remove(ACTIVE));
        assertThat(patches("DROP GRAPH ex:reports")).containsExactly(Patch.remove(LATE));
        assertThat(patches("CLEAR ALL")).containsExactlyInAnyOrder(Patch.remove(ACTIVE), Patch.remove(LATE));
        assertThat(patches("MOVE GRAPH ex:reports TO DEFAULT"))
                .containsExactlyInAnyOrder(Patch.remove(ACTIVE), Patch.remove(LATE), Patch.add(LATE.in(null)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"CLEAR DEFAULT", "CLEAR SILENT DEFAULT", "DROP ALL", "DELETE WHERE { ?s ?p ?o }"})
    void refusesToChangeMoreThanAnUpdateMay(String update) {
        var large = new StatementsView(IntStream.range(0, 1_001)
                .mapToObj(i -> Statement.of("ex:" + i, "ex:n", Literal.of(i)))
                .toList());

        assertThatThrownBy(() -> Sparql.patches(large, update, null, Duration.ofSeconds(10)))
                .isInstanceOfSatisfying(A2AException.class, refused -> {
                    assertThat(refused.error()).isEqualTo(KnowledgeError.KNOWLEDGE_UPDATE);
                    assertThat(refused.metadata()).containsEntry("reason", "too-many-changes");
                });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "LOAD <file:///etc/hostname>",
                "LOAD SILENT <http://127.0.0.1:9/> INTO GRAPH <ex:g>",
                "INSERT { ?s ?p ?o } WHERE { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }",
                "INSERT DATA { ex:a ex:b }",
                "SELECT * { ?s ?p ?o }"
            })
    void refusesWhatReachesOutAndWhatIsNoUpdate(String update) {
        assertThatThrownBy(() -> patches(update))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.error()).isEqualTo(KnowledgeError.KNOWLEDGE_UPDATE));
    }

    private List<Patch> patches(String update) {
        return Sparql.patches(view, update, null, Duration.ofSeconds(10));
    }
}
