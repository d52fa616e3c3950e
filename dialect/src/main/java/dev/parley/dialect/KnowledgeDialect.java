package dev.parley.dialect;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.protocol.A2AException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * How the knowledge graph extension tells errors. Its operations are no operations of A2A, so the table is empty.
 *
 * <p>Its schema fixes the messages, so what else there is to say goes into {@code data}.
 */
final class KnowledgeDialect extends Dialect {
    /** As published: {@code data} is an object or null. */
    static final KnowledgeDialect PUBLISHED = new KnowledgeDialect(false);

    /** As A2A 1.0 tells errors, for callers who have activated the extension. */
    static final KnowledgeDialect ACTIVATED = new KnowledgeDialect(true);

    /** The metadata that holds the errors of GraphQL, as JSON. */
    private static final String ERRORS = "errors";

    private static final String DETAIL = "detail";

    private final boolean typed;

    private KnowledgeDialect(boolean typed) {
        super("knowledge", new OperationTable(List.of(), Map.of()));
        this.typed = typed;
    }

    /** The same error with the message that the schema wants. */
    static A2AException fixed(A2AException problem) {
        String message = String.valueOf(problem.getMessage());
        var metadata = new LinkedHashMap<>(problem.metadata());
        if (!message.equals(problem.error().defaultMessage())
                && problem.violations().isEmpty()) {
            metadata.putIfAbsent(DETAIL, message);
        }
        return A2AException.of(
                problem.error(),
                problem.error().defaultMessage(),
                metadata,
                problem.violations(),
                problem.retryAfter());
    }

    @Override
    Telling telling() {
        return (event, out) -> {
            throw new IllegalStateException("the extension has no events of tasks");
        };
    }

    @Override
    Object rpcErrorData(A2AException problem) {
        if (typed) {
            return Problem.details(problem);
        }
        return switch (problem.error()) {
            // Of these the published schema says that data is there and null.
            case METHOD_NOT_FOUND,
                    TASK_NOT_FOUND,
                    TASK_NOT_CANCELABLE,
                    PUSH_NOTIFICATION_NOT_SUPPORTED,
                    UNSUPPORTED_OPERATION,
                    CONTENT_TYPE_NOT_SUPPORTED -> Codecs.NULL;
            default -> data(problem);
        };
    }

    private static Object data(A2AException problem) {
        var data = new TreeMap<String, @Nullable Object>();
        problem.metadata().forEach((name, value) -> data.put(name, name.equals(ERRORS) ? parsed(value) : value));
        if (!problem.violations().isEmpty()) {
            var violations = new ArrayList<Map<String, String>>();
            for (A2AException.Violation one : problem.violations()) {
                violations.add(Map.of("field", one.field(), "description", one.description()));
            }
            data.put("violations", violations);
        }
        if (problem.retryAfter() != null) {
            data.put("retryAfterSeconds", Math.max(1, problem.retryAfter().toSeconds()));
        }
        return data.isEmpty() ? Codecs.NULL : data;
    }

    private static Object parsed(String json) {
        try {
            return Json.read(json.getBytes(UTF_8), Codecs.FREE);
        } catch (A2AException text) {
            return json;
        }
    }
}
