package dev.parley.knowledge.sparql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.sparql.ShaclShapes.Violation;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShaclShapesTest {
    private static final String PREFIXES = """
            @prefix sh: <http://www.w3.org/ns/shacl#> .
            @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
            @prefix ex: <ex:> .
            """;

    private static final ShaclShapes PROJECTS = ShaclShapes.parse(PREFIXES + """
            ex:ProjectShape a sh:NodeShape ; sh:targetClass ex:Project ;
                sh:property [ sh:path ex:status ; sh:minCount 1 ; sh:maxCount 1 ; sh:in ("active" "done") ] ;
                sh:property [ sh:path ex:size ; sh:datatype xsd:integer ; sh:minInclusive 0 ;
                              sh:message "a size is at least 0" ] ;
                sh:property [ sh:path ex:note ; sh:maxLength 3 ; sh:severity sh:Warning ] .
            """);

    @Test
    void findsNothingWrongWithWhatConforms() {
        assertThat(check(
                        PROJECTS,
                        Statement.of("ex:p1", Term.TYPE, Resource.of("ex:Project")),
                        Statement.of("ex:p1", "ex:status", Literal.of("active"))))
                .isEmpty();
        assertThat(check(PROJECTS, Statement.of("ex:p1", "ex:status", Literal.of("anything"))))
                .isEmpty();
        assertThat(check(ShaclShapes.NONE, Statement.of("ex:p1", "ex:status", Literal.of("anything"))))
                .isEmpty();
    }

    @Test
    void saysWhatIsWrongAndWhere() {
        assertThat(check(
                        PROJECTS,
                        Statement.of("ex:p1", Term.TYPE, Resource.of("ex:Project")),
                        Statement.of("ex:p1", "ex:status", Literal.of("active")),
                        Statement.of("ex:p1", "ex:size", Literal.of(-1))))
                .containsExactly(new Violation("ex:ProjectShape", "ex:p1", "ex:size", "a size is at least 0"));
    }

    @Test
    void matchesPatternsInTimeThatIsLinearInTheText() {
        ShaclShapes shapes = ShaclShapes.parse(PREFIXES + """
                ex:S a sh:NodeShape ; sh:targetSubjectsOf ex:code ;
                    sh:or ( [ sh:path ex:code ; sh:pattern "^(a+)+$" ] [ sh:path ex:code ; sh:pattern "^(b|b)+$" ] ) ;
                    sh:property [ sh:path ex:code ; sh:pattern "^(A*)*!$" ; sh:flags "i" ] .
                """);

        assertThat(check(shapes, Statement.of("ex:p1", "ex:code", Literal.of("a".repeat(10_000) + "!"))))
                .hasSize(1);
        assertThat(check(shapes, Statement.of("ex:p1", "ex:code", Literal.of("a".repeat(10_000)))))
                .singleElement()
                .satisfies(violation -> assertThat(violation.path()).isEqualTo("ex:code"));
    }

    @Test
    void refusesPatternsThatTakeBacktracking() {
        ShaclShapes shapes = ShaclShapes.parse(PREFIXES
                + "ex:S a sh:NodeShape ; sh:targetSubjectsOf ex:code ; sh:property [ sh:path ex:code ;"
                + " sh:pattern \"(a)\\\\1\" ] .");

        assertThatThrownBy(shapes::requireLinear)
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.error()).isEqualTo(A2AError.INVALID_PARAMS));
        assertThatThrownBy(() -> check(shapes, Statement.of("ex:p1", "ex:code", Literal.of("aa"))))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.metadata()).containsEntry("reason", "not-supported"));
    }

    @Test
    void countsWhatAllGraphsSayTogether() {
        assertThat(check(
                        PROJECTS,
                        Statement.of("ex:p1", Term.TYPE, Resource.of("ex:Project"))
                                .in("ex:types"),
                        Statement.of("ex:p1", "ex:status", Literal.of("active")),
                        Statement.of("ex:p1", "ex:status", Literal.of("active")).in("ex:again"),
                        Statement.of("ex:p1", "ex:status", Literal.of("done")).in("ex:reports")))
                .extracting(Violation::path)
                .containsExactly("ex:status");
    }

    @Test
    void findsTargetsBySubclasses() {
        assertThat(check(
                        PROJECTS,
                        Statement.of("ex:Bridge", Term.RDFS + "subClassOf", Resource.of("ex:Project")),
                        Statement.of("ex:p1", Term.TYPE, Resource.of("ex:Bridge"))))
                .extracting(Violation::shape)
                .containsExactly("ex:ProjectShape");
    }

    @Test
    void looksOnlyAtWhatItIsAskedAbout() {
        var view = new StatementsView(Statement.of("ex:p1", Term.TYPE, Resource.of("ex:Project")));

        assertThat(PROJECTS.check(view, view, List.of("ex:p2"), Duration.ofSeconds(10)))
                .isEmpty();
    }

    @Test
    void letsWarningsPass() {
        assertThat(check(
                        PROJECTS,
                        Statement.of("ex:p1", Term.TYPE, Resource.of("ex:Project")),
                        Statement.of("ex:p1", "ex:status", Literal.of("active")),
                        Statement.of("ex:p1", "ex:note", Literal.of("too long"))))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ex:S a sh:NodeShape ; sh:sparql [ sh:select 'SELECT $this { SERVICE <http://127.0.0.1:9/> {} }' ] .",
                "ex:S a sh:NodeShape ; sh:target [ a sh:SPARQLTarget ; sh:select 'SELECT ?this { ?this ?p ?o }' ] .",
                "ex:C a sh:ConstraintComponent ; sh:parameter [ sh:path ex:x ] ; sh:validator [ sh:ask 'ASK {}' ] .",
                "ex:S a sh:NodeShape ; sh:js [ ] .",
                "<ex:shapes> <http://www.w3.org/2002/07/owl#imports> <http://127.0.0.1:9/> .",
                "ex:S a sh:NodeShape ; sh:property [ sh:minCount 1 ] .",
                "ex:S a",
                "ex:S ex:p 'x'^^",
            })
    void refusesWhatIsNotPlainShacl(String turtle) {
        assertThatThrownBy(() -> ShaclShapes.parse(PREFIXES + turtle))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.error()).isEqualTo(A2AError.INVALID_PARAMS));
    }

    @Test
    void saysOfWhatIsHiddenWhichConstraintItBreaksAndNoMore() {
        var people = ShaclShapes.parse(PREFIXES + """
                ex:PersonShape a sh:NodeShape ; sh:targetClass ex:Person ; sh:closed true ;
                    sh:ignoredProperties ( <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> ) ;
                    sh:property [ sh:path ex:boss ; sh:property [ sh:path ex:salary ; sh:maxInclusive 5 ] ] ;
                    sh:property [ sh:path ex:salary ; sh:maxCount 1 ; sh:message "one salary" ] ;
                    sh:property [ sh:path ex:bonus ; sh:lessThan ex:salary ] ;
                    sh:property [ sh:path ex:note ; sh:maxLength 3 ] .
                """);
        List<Statement> seen = List.of(
                Statement.of("ex:p1", Term.TYPE, Resource.of("ex:Person")),
                Statement.of("ex:p1", "ex:bonus", Literal.of(9)),
                Statement.of("ex:p1", "ex:note", Literal.of("long")));
        List<Statement> hidden = List.of(
                Statement.of("ex:p1", "ex:boss", Resource.of("ex:eve")),
                Statement.of("ex:eve", "ex:salary", Literal.of(71)),
                Statement.of("ex:p1", "ex:salary", Literal.of(7)),
                Statement.of("ex:p1", "ex:salary", Literal.of(8)),
                Statement.of("ex:p1", "ex:disease", Literal.of("flu")));
        var all = new ArrayList<>(seen);
        all.addAll(hidden);

        List<Violation> told = people.check(
                new StatementsView(all.toArray(Statement[]::new)),
                new StatementsView(seen.toArray(Statement[]::new)),
                List.of("ex:p1"),
                Duration.ofSeconds(10));

        String secretly = ", by statements that are hidden";
        assertThat(told)
                .filteredOn(one -> !"ex:note".equals(one.path()))
                .extracting(Violation::path, Violation::message)
                .contains(
                        tuple("ex:salary", "one salary"),
                        tuple("ex:salary", "sh:MaxInclusiveConstraintComponent" + secretly),
                        tuple("ex:bonus", "sh:LessThanConstraintComponent" + secretly));
        assertThat(told)
                .filteredOn(one -> "ex:note".equals(one.path()))
                .extracting(Violation::message)
                .anySatisfy(message -> assertThat(message).contains("long"));
        assertThat(told.toString()).doesNotContain("ex:eve", "71", "7", "8", "disease", "flu");
    }

    @Test
    void endsShapesThatNeedThemselves() {
        var endless = ShaclShapes.parse(PREFIXES + """
                ex:S a sh:NodeShape ; sh:targetSubjectsOf ex:knows ; sh:property [ sh:path ex:knows ; sh:node ex:S ] .
                """);

        assertThat(check(endless, Statement.of("ex:p1", "ex:knows", Resource.of("ex:p1"))))
                .isEmpty();
    }

    private static List<Violation> check(ShaclShapes shapes, Statement... statements) {
        var view = new StatementsView(statements);
        return shapes.check(view, view, List.of("ex:p1"), Duration.ofSeconds(10));
    }
}
