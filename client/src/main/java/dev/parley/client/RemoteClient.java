package dev.parley.client;

import dev.parley.client.ClientException.Problem;
import dev.parley.dialect.Transport;
import dev.parley.dialect.Transport.Broken;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.EventStream;
import dev.parley.protocol.KnowledgeEndpoint;
import dev.parley.protocol.Operation;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** An {@link AgentClient} by way of a {@link Transport}. Calls are tried again, and streams resumed, as over HTTP. */
final class RemoteClient implements AgentClient {
    private final HttpAgentClient.Means means;
    private final ClientSettings settings;
    private final AgentCard.Interface address;
    private final HttpUrl url;
    private final CardFinder.@Nullable Found found;
    private final Transport.Remote remote;
    private volatile AgentCard card;

    RemoteClient(
            HttpAgentClient.Means means,
            AgentCard card,
            AgentCard.Interface address,
            CardFinder.@Nullable Found found,
            Transport.Remote remote) {
        this.means = means;
        this.settings = means.settings();
        this.card = card;
        this.address = address;
        this.url = Transports.url(card, address);
        this.found = found;
        this.remote = remote;
    }

    @Override
    public AgentCard card() {
        return card;
    }

    @Override
    public AgentCard.Interface address() {
        return address;
    }

    @Override
    public AgentCard refreshCard() {
        if (found != null) {
            means.finder().again(found).ifPresent(now -> card = now.card());
        }
        return card;
    }

    @Override
    public AgentCard extendedCard() {
        card = call(new Operation.GetExtendedAgentCard(null), CallContext.anonymous());
        return card;
    }

    @Override
    public <R> R call(Operation.Call<R> operation, CallContext context) {
        return attempt(
                operation,
                context,
                left -> remote.call(
                        operation, extended(context).withDeadline(settings.now().plus(left)), headers(left)));
    }

    @Override
    public EventStream watch(Operation.Watch operation, CallContext context) {
        EventStream events =
                attempt(operation, context, left -> remote.watch(operation, extended(context), headers(left)));
        return new RemoteStream(this, operation, context, events);
    }

    /**
     * Subscribes in one attempt.
     *
     * @throws Trouble if another one may help
     */
    EventStream subscribe(Operation.SubscribeToTask operation, CallContext context)
            throws Trouble, InterruptedException {
        return once(settings.callTimeout(), left -> remote.watch(operation, extended(context), headers(left)));
    }

    /** For one attempt: a token may have to be fetched first. */
    private Map<String, String> headers(Duration left) throws Trouble, InterruptedException {
        return Transports.headers(settings, means.credentials().of(card, url, left));
    }

    private CallContext extended(CallContext context) {
        var extensions = new HashSet<>(settings.extensions());
        extensions.addAll(context.extensions());
        return context.withExtensions(extensions);
    }

    private <T> T attempt(Operation operation, CallContext context, Attempts.Attempt<T> attempt) {
        return means.attempts()
                .run(operation.isRepeatable(), settings.timeout(operation, context), left -> once(left, attempt));
    }

    private <T> T once(Duration left, Attempts.Attempt<T> attempt) throws Trouble, InterruptedException {
        try {
            return attempt.in(left);
        } catch (Broken broken) {
            ClientException verdict = told(broken);
            switch (broken.kind()) {
                case UNREACHABLE -> throw new Trouble(Trouble.Kind.NOT_SENT, null, verdict);
                case LOST -> throw new Trouble(Trouble.Kind.LOST, null, verdict);
                case TIMED_OUT, TOO_LARGE, INTERRUPTED -> throw verdict;
            }
            throw verdict;
        } catch (A2AException refusal) {
            if (refusal.error() == A2AError.UNAUTHENTICATED) {
                means.credentials().forgetTokens(); // one may have been revoked; the next call asks for another
            }
            if (refusal.error() == A2AError.UNAVAILABLE || refusal.error() == A2AError.RATE_LIMITED) {
                throw new Trouble(Trouble.Kind.NOT_NOW, refusal.retryAfter(), refusal);
            }
            throw refusal;
        }
    }

    @Override
    public KnowledgeEndpoint knowledge() {
        return new RemoteKnowledge(this, HttpKnowledge.Offer.of(card));
    }

    @Override
    public String knowledgeSchema() {
        return HttpKnowledge.Offer.of(card).schema(means, card, url);
    }

    /** Asks the agent's knowledge graph, as often as is safe and promising. */
    <T> T knowledge(boolean repeatable, CallContext context, BiFunction<KnowledgeEndpoint, CallContext, T> asked) {
        return means.attempts()
                .run(repeatable, settings.timeout(context), left -> once(left, now -> asked(now, context, asked)));
    }

    /**
     * Asks the agent's knowledge graph in one attempt.
     *
     * @throws Trouble if another one may help
     */
    <T> T knowledgeOnce(CallContext context, BiFunction<KnowledgeEndpoint, CallContext, T> asked)
            throws Trouble, InterruptedException {
        return once(settings.callTimeout(), left -> asked(left, context, asked));
    }

    private <T> T asked(Duration left, CallContext context, BiFunction<KnowledgeEndpoint, CallContext, T> asked)
            throws Trouble, InterruptedException {
        return asked.apply(
                remote.knowledge(headers(left)),
                extended(context).withDeadline(settings.now().plus(left)));
    }

    HttpAgentClient.Means means() {
        return means;
    }

    private ClientException told(Broken broken) {
        return told(address.url(), broken);
    }

    /** What it means to a caller that something is broken. */
    static ClientException told(String what, Broken broken) {
        var problem = switch (broken.kind()) {
            case UNREACHABLE -> Problem.UNREACHABLE;
            case LOST -> Problem.LOST;
            case TIMED_OUT -> Problem.TIMED_OUT;
            case TOO_LARGE -> Problem.ANSWER_TOO_LARGE;
            case INTERRUPTED -> Problem.INTERRUPTED;
        };
        return new ClientException(problem, what + ": " + broken.getMessage(), broken);
    }

    @Override
    public void close() {
        means.wire().close(); // first, so that streams know why they are cut
        remote.close();
    }
}
