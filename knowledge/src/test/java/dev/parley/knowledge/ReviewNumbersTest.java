package dev.parley.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Numbers of reviews, over restarts. */
@Timeout(60)
class ReviewNumbersTest {
    private static CallContext caller(String name) {
        return CallContext.of(name, new Scope("group", name));
    }

    private static String held(Graph graph, String caller) {
        graph.update(Update.of(Patch.add(Statement.of("ex:p1", "ex:status", Literal.of(caller)))), caller(caller));
        return graph.reviews("group", null, null, 10).items().getLast().id();
    }

    @Test
    void theNumberOfAReviewThatWasErasedIsNotGivenAgain(@TempDir Path directory) {
        String first;
        try (Graph graph = Graph.open(directory)) {
            graph.rules(
                    "group", Alignment.read("{\"rules\":[{\"id\":\"r\",\"effect\":\"review\",\"on\":\"update\"}]}"));
            first = held(graph, "alice");
            graph.erase("alice", false, caller("operator"));
        }

        try (Graph graph = Graph.open(directory)) {
            assertThat(Long.parseLong(held(graph, "bob"))).isGreaterThan(Long.parseLong(first));
        }
    }
}
