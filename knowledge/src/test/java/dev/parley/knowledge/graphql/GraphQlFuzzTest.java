package dev.parley.knowledge.graphql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.protocol.A2AException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

final class GraphQlFuzzTest {
    private static final long SEED = 20_260_105;
    private static final int ROUNDS = 2_000;

    static final List<String> QUERIES = List.of(
            "query($t: String, $n: Int, $v: [Any!]) { entities(type: $t, where: {predicate: \"ex:size\", is: MORE, values: $v}, "
                    + "orderBy: \"ex:name\", first: $n) { nodes { id types } pageInfo { endCursor } } }",
            "query($f: StatementFilter, $n: Int) { statements(filter: $f, first: $n) { nodes { subject { id } predicate object "
                    + "{ id value type language entity { types } } graph certainty provenance confirmedAt } } graphs { name } }",
            "query($n: Int, $s: Boolean!) { sites(size: [1, 2], filter: {name: {contains: \"x\"}}, orderBy: name, first: $n) "
                    + "{ _id name size @skip(if: $s) next { nextOf { _id } } } }",
            "query($t: ID!, $n: Int) { entity(id: $t) { ...F } path(from: $t, to: \"ex:s2\", maxLength: $n) { graph } } "
                    + "fragment F on Entity { value(predicate: \"ex:name\", language: [\"en\"]) incoming { nodes { predicate } } }");

    private static final List<String> WORDS = List.of(
            "{",
            "}",
            "(",
            ")",
            "[",
            "]",
            "$n",
            "$v",
            ":",
            "!",
            "...",
            "@include(if: true)",
            "null",
            "\"\"",
            "-1",
            "1e999",
            "true",
            "first: 1",
            "__typename",
            "__schema { types { name } }",
            "mutation",
            "subscription",
            "fragment",
            "on",
            "\"\"\"",
            "#",
            "é",
            "\\");

    private static final List<@Nullable Object> VALUES = Arrays.asList(
            null,
            "ex:s1",
            "",
            0,
            5,
            -1,
            Long.MAX_VALUE,
            1.5,
            true,
            List.of(),
            List.of(1, "x", true),
            List.of(List.of()),
            Map.of(),
            Map.of("id", "ex:s1"),
            Map.of("value", Map.of("value", 1)),
            Map.of("subjects", List.of("")),
            Map.of("values", List.of(Map.of("value", 1, "type", "rdf:langString"))),
            Map.of("minCertainty", 7));

    @Test
    @DisplayName("KG18 KG24 whatever a query says, it is answered or refused with its code")
    void everyQueryIsAnsweredOrRefused() {
        var view = sites();
        var queries = queries(view);
        var random = new Random(SEED);
        int answered = 0;
        for (int round = 0; round < ROUNDS; round++) {
            var query = Query.graphql(text(random), variables(random));
            answered += isAnswered(queries, view, query) ? 1 : 0;
        }
        assertThat(answered).isPositive();
    }

    static MemoryView sites() {
        var view = new MemoryView();
        for (int site = 0; site < 4; site++) {
            view.link("ex:s" + site, "rdf:type", "ex:Site")
                    .say("ex:s" + site, "ex:name", "site " + site)
                    .say("ex:s" + site, "ex:size", site)
                    .link("ex:s" + site, "ex:next", "ex:s" + (site + 1) % 4);
        }
        return view;
    }

    static GraphQlQueries queries(MemoryView view) {
        return new GraphQlQueries(
                new MemoryStore(view),
                group -> List.of(),
                (seen, after, limit) -> StatementPage.empty(),
                GraphQlLimits.DEFAULTS,
                System::nanoTime,
                (group, work) -> work.run());
    }

    /** Returns false if a query was refused, which has to be said in the words of the extension. */
    static boolean isAnswered(GraphQlQueries queries, MemoryView view, Query query) {
        try {
            queries.prepare(query, "group", ReadFilter.NONE).answer(view);
            return true;
        } catch (A2AException refused) {
            assertThat(refused.error()).as("%s", query).isEqualTo(KnowledgeError.KNOWLEDGE_QUERY);
            assertThat(refused.metadata()).as("%s", query).containsKeys("reason", "errors");
            return false;
        } catch (RuntimeException fault) {
            throw new AssertionError(query.toString(), fault);
        }
    }

    private static String text(Random random) {
        var text = new StringBuilder(pick(random, QUERIES));
        for (int changes = random.nextInt(4); changes > 0; changes--) {
            int at = random.nextInt(text.length());
            switch (random.nextInt(3)) {
                case 0 -> text.insert(at, " " + pick(random, WORDS) + " ");
                case 1 -> text.delete(at, Math.min(text.length(), at + 1 + random.nextInt(12)));
                default -> text.setCharAt(at, (char) (' ' + random.nextInt(95)));
            }
        }
        return text.isEmpty() || text.toString().isBlank() ? "{" : text.toString();
    }

    private static Map<String, @Nullable Object> variables(Random random) {
        var variables = new HashMap<String, @Nullable Object>(Map.of(
                "t", "ex:s1", "n", 2, "v", List.of(1), "f", Map.of("predicates", List.of("ex:name")), "s", true));
        if (random.nextBoolean()) {
            variables.put(pick(random, List.of("t", "n", "v", "f", "s")), VALUES.get(random.nextInt(VALUES.size())));
        }
        return variables;
    }

    private static String pick(Random random, List<String> from) {
        return from.get(random.nextInt(from.size()));
    }
}
