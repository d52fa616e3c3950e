package dev.parley.knowledge.graphql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.KnowledgeOperation.Subscribe;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.protocol.A2AException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class GraphQlSubscriptionTest {
    private static final Statement DONE = new Statement(
            new Resource("ex:p1", "ex:Project"),
            "ex:status",
            Literal.of("done"),
            null,
            0.9,
            Map.of("sourceAgentId", "surveyor"));

    private final GraphQlQueries queries = new GraphQlQueries(
            new MemoryStore(new MemoryView()),
            group -> List.of(),
            (view, after, limit) -> StatementPage.empty(),
            GraphQlLimits.DEFAULTS,
            System::nanoTime,
            (group, work) -> work.run());

    private GraphQlSubscription subscription(String query, Map<String, @Nullable Object> variables) {
        return queries.prepare(Subscribe.graphql(query, variables));
    }

    private static Change change(Patch.Op op, Statement statement) {
        return new Change(op, statement, "c1", MemoryView.CONFIRMED, Map.of("taskId", "t-77"));
    }

    private boolean matches(String filter, Change change, List<Statement> replaced) {
        return subscription("subscription { knowledgeChanged(filter: " + filter + ") { op } }", Map.of())
                .filter()
                .matches(change, replaced, id -> id.equals("ex:p1") ? Set.of("ex:Site") : Set.of());
    }

    @ParameterizedTest
    @DisplayName("KG15 a subscription hears of what matches every field of its filter, by one element of each")
    @CsvSource(
            delimiter = '|',
            value = {
                "{} | true",
                "{predicates: \"ex:status\"} | true",
                "{predicates: [\"ex:other\", \"ex:status\"]} | true",
                "{predicates: [\"ex:other\"]} | false",
                "{subjects: [\"ex:p1\"], predicates: [\"ex:other\"]} | false",
                "{graphs: [\"default\"]} | true",
                "{graphs: [\"ex:archive\"]} | false",
                "{subjectTypes: [\"ex:Project\"]} | true",
                "{subjectTypes: [\"ex:Site\"]} | true",
                "{subjectTypes: [\"ex:Person\"]} | false",
                "{values: [\"active\", \"done\"]} | true",
                "{objects: [\"ex:x\"], values: [\"done\"]} | true",
                "{objects: [\"ex:x\"]} | false",
                "{values: [true]} | false",
                "{ops: [\"add\"]} | true",
                "{ops: [\"remove\", \"replace\"]} | false",
                "{minCertainty: 0.9} | true",
                "{minCertainty: 0.91} | false",
                "{sources: [\"surveyor\"]} | true",
                "{sources: [\"another\"]} | false",
            })
    void kg15(String filter, boolean matches) {
        assertThat(matches(filter, change(Patch.Op.ADD, DONE), List.of())).isEqualTo(matches);
    }

    @Test
    @DisplayName("KG15 what leaves is heard of by those who saw it")
    void kg15Leaving() {
        Statement active = Statement.of("ex:p1", "ex:status", Literal.of("active"));
        String filter = "{values: [\"active\"]}";

        assertThat(matches(filter, change(Patch.Op.REPLACE, DONE), List.of(active)))
                .isTrue();
        assertThat(matches(filter, change(Patch.Op.REPLACE, DONE), List.of(DONE)))
                .isFalse();
        assertThat(matches(filter, change(Patch.Op.REMOVE, active), List.of())).isTrue();
        assertThat(matches("{minCertainty: 0.5}", change(Patch.Op.ADD, active), List.of()))
                .isFalse();
    }

    @Test
    @DisplayName("KG15 filters may be variables")
    void kg15Variables() {
        var subscription = subscription(
                "subscription($f: StatementFilter) { knowledgeChanged(filter: $f) { op } }",
                Map.of("f", Map.of("predicates", List.of("rdf:type"), "ops", List.of("remove"))));

        assertThat(subscription.filter().ops()).containsExactly(Patch.Op.REMOVE);
        assertThat(subscription.filter().pattern().predicates())
                .containsExactly("http://www.w3.org/1999/02/22-rdf-syntax-ns#type");
    }

    @Test
    @DisplayName("KG14 a subscription's selection can be shown of each change")
    void kg14() {
        var view = new MemoryView().say("ex:p1", "ex:name", "bridge");
        var subscription = subscription(
                "subscription { change: knowledgeChanged { op changeId metadata statement { object { value } certainty "
                        + "subject { name: value(predicate: \"ex:name\") } } } }",
                Map.of());

        assertThat(subscription.project(change(Patch.Op.ADD, DONE), view))
                .hasToString("{change={op=add, changeId=c1, metadata={taskId=t-77}, statement={object={value=done}, "
                        + "certainty=0.9, subject={name=bridge}}}}");
    }

    @ParameterizedTest
    @DisplayName("KG16 what is no subscription is refused with -32012")
    @ValueSource(
            strings = {
                "subscription {",
                "{ graphs { name } }",
                "subscription { other { op } }",
                "subscription { knowledgeChanged }",
                "subscription { a: knowledgeChanged { op } b: knowledgeChanged { op } }",
                "subscription { knowledgeChanged { op } __typename }",
                "subscription { knowledgeChanged(filter: {nothing: 1}) { op } }",
                "subscription { knowledgeChanged(filter: {ops: [\"delete\"]}) { op } }",
                "subscription { knowledgeChanged(filter: {minCertainty: 2}) { op } }",
                "subscription { knowledgeChanged(filter: {values: [[1]]}) { op } }",
                "subscription { knowledgeChanged { op } } subscription B { knowledgeChanged { op } }",
                "subscription($no: Boolean = true) { knowledgeChanged @skip(if: $no) { op } }",
                "subscription { knowledgeChanged { statement { subject { statements(first: 1000) { nodes { subject { "
                        + "statements(first: 1000) { nodes { graph } } } } } } } } }",
            })
    void kg16(String query) {
        assertThatThrownBy(() -> subscription(query, Map.of())).isInstanceOfSatisfying(A2AException.class, refused -> {
            assertThat(refused.error()).isEqualTo(KnowledgeError.KNOWLEDGE_SUBSCRIPTION);
            assertThat(refused.metadata()).containsKeys("reason", "errors");
        });
    }
}
