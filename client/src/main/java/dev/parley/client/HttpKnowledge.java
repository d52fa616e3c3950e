package dev.parley.client;

import dev.parley.client.HttpWire.Answer;
import dev.parley.client.HttpWire.Request;
import dev.parley.dialect.KnowledgeBinding;
import dev.parley.dialect.KnowledgeExtension;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.KnowledgeEndpoint;
import dev.parley.protocol.KnowledgeOperation;
import dev.parley.protocol.KnowledgeOperation.Query;
import dev.parley.protocol.KnowledgeOperation.QueryResult;
import dev.parley.protocol.KnowledgeOperation.Subscribe;
import dev.parley.protocol.KnowledgeOperation.Update;
import dev.parley.protocol.KnowledgeOperation.UpdateResult;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.function.BiFunction;

/** The knowledge graph of an agent that is called. */
final class HttpKnowledge implements KnowledgeEndpoint {
    private interface Reader<T> {
        T read(KnowledgeBinding binding, int status, byte[] body);
    }

    private final HttpAgentClient client;
    private final ClientSettings settings;
    private final Offer offer;

    HttpKnowledge(HttpAgentClient client, Offer offer) {
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
        return exchange(
                query, context, true, KnowledgeBinding::queryResult, (graph, caller) -> graph.query(query, caller));
    }

    @Override
    public UpdateResult update(Update update, CallContext context) {
        return exchange(
                update,
                context,
                false,
                KnowledgeBinding::updateResult,
                (graph, caller) -> graph.update(update, caller));
    }

    @Override
    public Changes subscribe(Subscribe subscription, CallContext context) {
        offer.requireSubscriptions();
        Changes first = client.attempt(
                true, settings.timeout(context), (place, left) -> open(place, subscription, context, left));
        return new ResumingChanges(
                settings,
                client.means().wire(),
                subscription,
                again -> open(client.place(), again, context, settings.callTimeout()),
                first);
    }

    private Changes open(Place place, Subscribe subscription, CallContext context, Duration left)
            throws Trouble, InterruptedException {
        return switch (place) {
            case Place.ByHttp http -> {
                KnowledgeBinding binding = binding(http);
                yield HttpChanges.open(client, binding, request(http, binding, subscription, context, left), left);
            }
            // The deadline is one for the beginning, not for the stream.
            case Place.ByTransport other ->
                client.remotes()
                        .ask(
                                other,
                                context.withDeadline(null),
                                left,
                                (agent, caller, headers) ->
                                        agent.knowledge(headers).subscribe(subscription, caller));
        };
    }

    private <T> T exchange(
            KnowledgeOperation operation,
            CallContext context,
            boolean repeatable,
            Reader<T> reader,
            BiFunction<KnowledgeEndpoint, CallContext, T> asked) {
        return client.attempt(repeatable, settings.timeout(context), (place, left) -> switch (place) {
            case Place.ByHttp http -> exchange(http, operation, context, left, reader);
            case Place.ByTransport other -> {
                CallContext limited = context.withDeadline(settings.now().plus(left));
                yield client.remotes()
                        .ask(
                                other,
                                limited,
                                left,
                                (agent, caller, headers) -> asked.apply(agent.knowledge(headers), caller));
            }
        });
    }

    private <T> T exchange(
            Place.ByHttp place, KnowledgeOperation operation, CallContext context, Duration left, Reader<T> reader)
            throws Trouble, InterruptedException {
        KnowledgeBinding binding = binding(place);
        Request request = request(place, binding, operation, context, left);
        Answer answer = client.means().wire().exchange(request, settings.maxAnswerBytes(), left);
        try {
            return reader.read(binding, answer.status(), answer.body());
        } catch (A2AException problem) {
            throw client.refusal(request, answer.status(), answer.headers(), problem);
        }
    }

    private KnowledgeBinding binding(Place place) {
        return new KnowledgeBinding(place.agent(), offer.entry());
    }

    private Request request(
            Place.ByHttp place,
            KnowledgeBinding binding,
            KnowledgeOperation operation,
            CallContext context,
            Duration left)
            throws Trouble, InterruptedException {
        return place.request(
                binding.request(operation, context),
                client.means().credentials().of(place.card(), place.url(), left));
    }

    /** Capabilities of the card; operations that it does not offer fail before anything is sent. */
    record Offer(String agent, AgentCard.Extension entry, boolean streaming) {
        /** @throws A2AException UNSUPPORTED_OPERATION if it offers no knowledge graph */
        static Offer of(AgentCard card) {
            AgentCard.Extension entry = KnowledgeExtension.in(card)
                    .orElseThrow(() -> unsupported("The agent " + card.name()
                            + " offers no knowledge graph (expected: " + EXTENSION_PATH
                            + " among the extensions of its card, or the flag knowledgeGraph)"));
            return new Offer(
                    card.name(), entry, Boolean.TRUE.equals(card.capabilities().streaming()));
        }

        List<String> languages() {
            List<String> said = KnowledgeExtension.languages(entry);
            return said.isEmpty() ? List.of(KnowledgeOperation.GRAPHQL) : said;
        }

        void requireLanguage(String language) {
            if (!languages().contains(language)) {
                throw unsupported("The agent " + agent + " knows no " + language + " (expected: "
                        + String.join(" or ", languages()) + ")");
            }
        }

        void requireSubscriptions() {
            if (!streaming || !KnowledgeExtension.hasSubscriptions(entry)) {
                throw unsupported("The agent " + agent + " does not stream changes (expected: streaming in its card)");
            }
        }

        /** Fetches the schema from where the card says that it is, by the means of the agent at {@code url}. */
        String schema(HttpAgentClient.Means means, AgentCard card, HttpUrl url) {
            String at = KnowledgeExtension.schemaUrl(entry)
                    .orElseThrow(() -> unsupported("The card of " + agent + " does not say where the schema is"));
            ClientSettings settings = means.settings();
            return means.attempts().run(true, settings.callTimeout(), left -> {
                var headers = Transports.headers(settings, means.credentials().of(card, url, left));
                Answer answer = means.wire()
                        .exchange(
                                new Request("GET", HttpUrl.of(at), headers, new byte[0]),
                                settings.maxAnswerBytes(),
                                left);
                if (answer.status() != 200) {
                    throw new KnowledgeBinding(card.supportedInterfaces().getFirst(), entry)
                            .refusal(answer.status(), answer.body());
                }
                return new String(answer.body(), StandardCharsets.UTF_8);
            });
        }

        private static A2AException unsupported(String message) {
            return A2AException.of(A2AError.UNSUPPORTED_OPERATION, message);
        }
    }
}
