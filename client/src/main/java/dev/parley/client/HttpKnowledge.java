package dev.parley.client;

import dev.parley.client.HttpWire.Answer;
import dev.parley.client.HttpWire.Request;
import dev.parley.dialect.KnowledgeBinding;
import dev.parley.dialect.KnowledgeExtension;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.KnowledgeEndpoint;
import dev.parley.protocol.KnowledgeOperation;
import dev.parley.protocol.KnowledgeOperation.Change;
import dev.parley.protocol.KnowledgeOperation.Subscribe;
import dev.parley.protocol.Operation;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/** Calls the operations of the knowledge graph extension that the card of an agent offers. */
final class HttpKnowledge {
    private final HttpAgentClient client;
    private final ClientSettings settings;
    private final Offer offer;

    HttpKnowledge(HttpAgentClient client, Offer offer) {
        this.client = client;
        this.settings = client.means().settings();
        this.offer = offer;
    }

    <R> R call(Operation.ExtensionCall<R> operation, CallContext context) {
        if (operation instanceof KnowledgeOperation.Query query) {
            offer.requireLanguage(query.language());
        }
        return client.attempt(operation.isRepeatable(), settings.timeout(context), (place, left) -> switch (place) {
            case Place.ByHttp http -> exchange(http, operation, context, left);
            case Place.ByTransport other -> {
                CallContext limited = context.withDeadline(settings.now().plus(left));
                yield client.remotes()
                        .ask(other, limited, left, (agent, caller, headers) -> agent.call(operation, caller, headers));
            }
        });
    }

    @SuppressWarnings("unchecked") // the extension has one operation that streams
    <E> Feed<E> watch(Operation.ExtensionWatch<E> operation, CallContext context) {
        offer.requireSubscriptions();
        return (Feed<E>) subscribe((Subscribe) operation, context);
    }

    private Feed<Change> subscribe(Subscribe subscription, CallContext context) {
        Feed<Change> first = client.attempt(
                true, settings.timeout(context), (place, left) -> open(place, subscription, context, left));
        return new ResumingChanges(
                settings,
                client.means().wire(),
                subscription,
                again -> open(client.place(), again, context, settings.callTimeout()),
                first);
    }

    private Feed<Change> open(Place place, Subscribe subscription, CallContext context, Duration left)
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
                                (agent, caller, headers) -> agent.watch(subscription, caller, headers));
        };
    }

    private <R> R exchange(Place.ByHttp place, Operation.ExtensionCall<R> operation, CallContext context, Duration left)
            throws Trouble, InterruptedException {
        KnowledgeBinding binding = binding(place);
        Request request = request(place, binding, operation, context, left);
        Answer answer = client.means().wire().exchange(request, settings.maxAnswerBytes(), left);
        try {
            return binding.result(operation, answer.status(), answer.body());
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
            Operation.Extension operation,
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
                            + " offers no knowledge graph (expected: " + KnowledgeEndpoint.EXTENSION_PATH
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
