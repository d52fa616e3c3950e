package dev.parley.knowledge.graphql;

import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.model.View;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Validated GraphQL subscription. */
public interface GraphQlSubscription {
    ChangeFilter filter();

    /**
     * Returns what the subscription selects of a change, as a query would be answered.
     *
     * @throws dev.parley.protocol.A2AException KNOWLEDGE_QUERY if that takes too long or is too much
     */
    Map<String, @Nullable Object> project(Change change, View view);
}
