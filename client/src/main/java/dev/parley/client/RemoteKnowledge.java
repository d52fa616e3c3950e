package dev.parley.client;

import dev.parley.client.HttpKnowledge.Offer;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.KnowledgeEndpoint;
import dev.parley.protocol.KnowledgeOperation.Query;
import dev.parley.protocol.KnowledgeOperation.QueryResult;
import dev.parley.protocol.KnowledgeOperation.Subscribe;
import dev.parley.protocol.KnowledgeOperation.Update;
import dev.parley.protocol.KnowledgeOperation.UpdateResult;
import java.util.List;

/** The knowledge graph of an agent that is called by way of a {@link dev.parley.dialect.Transport}. */
final class RemoteKnowledge implements KnowledgeEndpoint {
    private final RemoteClient client;
    private final ClientSettings settings;
    private final Offer offer;

    RemoteKnowledge(RemoteClient client, Offer offer) {
        this.client = client;
        this.settings = client.means().settings();
        this.offer = offer;
    }

    @Override
    public List<String> queryLanguages() {
        return offer.languages();
    }

    @Override
    public QueryResult query(Query query, CallContext context) {
        offer.requireLanguage(query.language());
        return client.knowledge(true, context, (graph, caller) -> graph.query(query, caller));
    }

    @Override
    public UpdateResult update(Update update, CallContext context) {
        return client.knowledge(false, context, (graph, caller) -> graph.update(update, caller));
    }

    @Override
    public Changes subscribe(Subscribe subscription, CallContext context) {
        offer.requireSubscriptions();
        // The deadline is one for the beginning, not for the stream.
        Changes first = client.knowledge(
                true, context, (graph, caller) -> graph.subscribe(subscription, caller.withDeadline(null)));
        return new ResumingChanges(
                settings,
                client.means().wire(),
                subscription,
                again -> client.knowledgeOnce(
                        context, (graph, caller) -> graph.subscribe(again, caller.withDeadline(null))),
                first);
    }
}
