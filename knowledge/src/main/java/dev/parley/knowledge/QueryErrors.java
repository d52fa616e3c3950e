package dev.parley.knowledge;

import static dev.parley.knowledge.SqlStatementStore.PATIENCE;

import dev.parley.knowledge.spi.KnowledgeStoreException;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.InvalidField;
import java.util.Map;
import java.util.function.Supplier;

/** Tells what goes wrong in the store as what it means for a query. */
final class QueryErrors {
    private QueryErrors() {}

    /**
     * Returns what {@code asking} finds.
     *
     * @throws A2AException KNOWLEDGE_QUERY if it takes too long, INVALID_PARAMS for an {@link InvalidField}
     */
    static <T> T mapped(Supplier<T> asking) {
        try {
            return asking.get();
        } catch (KnowledgeStoreException failure) {
            if (failure.isTimeout()) {
                throw A2AException.of(
                                A2AError.KNOWLEDGE_QUERY,
                                A2AError.KNOWLEDGE_QUERY.defaultMessage(),
                                Map.of("reason", "timeout", "limitMs", "" + PATIENCE.toMillis()))
                        .causedBy(failure);
            }
            throw failure;
        } catch (InvalidField field) {
            throw A2AException.invalidParams(field.field(), field.problem());
        }
    }
}
