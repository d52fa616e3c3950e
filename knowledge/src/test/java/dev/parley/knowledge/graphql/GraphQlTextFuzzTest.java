package dev.parley.knowledge.graphql;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.dialect.Json;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.InvalidField;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever is asked as GraphQL, it is answered, or refused with its reason. */
final class GraphQlTextFuzzTest {
    private static final String VARIABLES =
            "{\"t\":\"ex:s1\",\"n\":2,\"v\":[1,true,\"x\"],\"f\":{\"predicates\":[\"ex:name\"]},\"s\":true}";

    private final MemoryView view = GraphQlFuzzTest.sites();
    private final GraphQlQueries queries = GraphQlFuzzTest.queries(view);

    /** A query, and on its last line the variables. */
    static Stream<byte[]> examples() {
        return Stream.concat(
                        GraphQlFuzzTest.QUERIES.stream(),
                        Stream.of("{ __schema { types { name fields { name type { ofType { name } } } } } }"))
                .map(query -> (query + "\n" + VARIABLES).getBytes(UTF_8));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void questions(byte[] bytes) {
        String text = new String(bytes, UTF_8);
        int end = Math.max(0, text.lastIndexOf('\n'));
        try {
            var query = Query.graphql(text.substring(0, end), variables(text.substring(end)));
            GraphQlFuzzTest.isAnswered(queries, view, query);
        } catch (InvalidField empty) {
            // Readers of requests refuse it before the graph is asked.
            return;
        }
    }

    @SuppressWarnings("unchecked") // names of JSON are strings
    private static Map<String, @Nullable Object> variables(String json) {
        try {
            return Json.read(json.getBytes(UTF_8), Map.class);
        } catch (A2AException none) {
            return Map.of();
        }
    }
}
