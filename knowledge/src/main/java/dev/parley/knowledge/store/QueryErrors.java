package dev.parley.knowledge.store;

import static dev.parley.knowledge.store.StatementStore.PATIENCE;

import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.model.KnowledgeStoreException;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.InvalidField;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Maps failures of the store to errors of the extension. */
public final class QueryErrors {
    private static final Duration LATER = Duration.ofSeconds(1);

    /** After this time a store that is unavailable may be back. */
    private static final Duration AWAY = Duration.ofSeconds(5);

    private QueryErrors() {}

    /** As {@link #mapped(ErrorKind, Supplier)}, with KNOWLEDGE_QUERY. */
    public static <T> T mapped(Supplier<T> asking) {
        return mapped(KnowledgeError.KNOWLEDGE_QUERY, asking);
    }

    /**
     * Returns the result of {@code asking}.
     *
     * @throws A2AException {@code error} with a {@code reason} after a timeout, or if the group has too many running queries;
     *     INVALID_PARAMS for an {@link InvalidField}
     */
    public static <T> T mapped(ErrorKind error, Supplier<T> asking) {
        try {
            return asking.get();
        } catch (KnowledgeStoreException failure) {
            throw of(error, failure);
        } catch (InvalidField field) {
            throw A2AException.invalidParams(field.field(), field.problem());
        }
    }

    /** Refuses a request of a group that has too many running queries. */
    public static A2AException busy(ErrorKind error) {
        return A2AException.of(error, error.defaultMessage(), Map.of("reason", "busy"), List.of(), LATER);
    }

    /** Returns {@code error} with a {@code reason} after a timeout or for too many queries, UNAVAILABLE if the store is, else the failure itself. */
    public static RuntimeException of(ErrorKind error, KnowledgeStoreException failure) {
        if (failure.isTimeout()) {
            return A2AException.of(
                            error,
                            error.defaultMessage(),
                            Map.of("reason", "timeout", "limitMs", "" + PATIENCE.toMillis()))
                    .causedBy(failure);
        }
        if (failure.isBusy()) {
            return busy(error).causedBy(failure);
        }
        if (failure.isUnavailable()) {
            return A2AException.unavailable("The store of the knowledge graph is unavailable", AWAY)
                    .causedBy(failure);
        }
        return failure;
    }
}
