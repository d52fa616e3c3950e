package dev.parley.client.calls;

import dev.parley.client.wire.AgentAddress;
import dev.parley.client.wire.AttemptFailure;
import dev.parley.client.wire.ClientSettings;
import dev.parley.client.wire.HttpWire.Answer;
import dev.parley.client.wire.HttpWire.Request;
import dev.parley.client.wire.Transports;
import dev.parley.dialect.ExtensionBinding;
import dev.parley.dialect.spi.Binding.Outgoing;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionProtocol;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Calls the operations of an extension that the card of an agent offers. Others fail before anything is sent. */
public final class HttpExtension {
    private final Calls calls;
    private final ClientSettings settings;
    private final ExtensionProtocol protocol;
    private final ExtensionMethod<?, ?> method;
    private final AgentCard.Extension entry;

    private HttpExtension(
            Calls calls, ExtensionProtocol protocol, ExtensionMethod<?, ?> method, AgentCard.Extension entry) {
        this.calls = calls;
        this.settings = calls.means().settings();
        this.protocol = protocol;
        this.method = method;
        this.entry = entry;
    }

    /** @throws A2AException UNSUPPORTED_OPERATION if the client does not know the operation, or the card does not offer it */
    public static HttpExtension of(Calls calls, Operation.Extension operation) {
        for (ExtensionProtocol protocol : calls.means().settings().protocols()) {
            for (ExtensionMethod<?, ?> method : protocol.methods()) {
                if (method.type().isInstance(operation) && method.name().equals(operation.name())) {
                    return of(calls, protocol, method, operation);
                }
            }
        }
        throw unsupported("The client does not know " + operation.name()
                + " (expected: an operation of an extension that the client was built with)");
    }

    private static HttpExtension of(
            Calls calls, ExtensionProtocol protocol, ExtensionMethod<?, ?> method, Operation.Extension operation) {
        AgentCard card = calls.place().card();
        AgentCard.Extension entry = card.capabilities().extensions().stream()
                .filter(one -> protocol.isUri(one.uri()))
                .findFirst()
                .orElseThrow(() -> unsupported("The agent " + card.name() + " does not offer " + operation.name()
                        + " (expected: " + protocol.uri() + " among the extensions of its card)"));
        protocol.style().requireOffered(operation, entry, card);
        return new HttpExtension(calls, protocol, method, entry);
    }

    public <R> R call(Operation.ExtensionCall<R> operation, CallContext context) {
        if (method.mediaType() != null) {
            return document(operation, context);
        }
        return calls.exchange(operation, settings.timeout(context), context, (http, left) -> {
            ExtensionBinding binding = binding(http);
            Request request = request(http, binding.request(operation, context), context, left);
            return calls.answer(request, left, answer -> binding.result(operation, answer.status(), answer.body()));
        });
    }

    /** A document is read over HTTP with any binding of the other operations. */
    private <R> R document(Operation.ExtensionCall<R> operation, CallContext context) {
        AgentCard card = calls.place().card();
        var binding = new ExtensionBinding(card.supportedInterfaces().getFirst(), entry, protocol);
        Outgoing outgoing = binding.request(operation, context);
        Means means = calls.means();
        return means.attempts().run(true, settings.timeout(context), left -> {
            var headers = new HashMap<>(Transports.headers(
                    settings, means.credentials().of(card, calls.place().url(), context, left)));
            headers.put("Accept", "*/*");
            Answer answer = means.wire()
                    .exchange(
                            new Request("GET", HttpUrl.of(outgoing.url()), headers, new byte[0]),
                            settings.maxAnswerBytes(),
                            left);
            return binding.result(operation, answer.status(), answer.body());
        });
    }

    public <E> Feed<E> watch(Operation.ExtensionWatch<E> operation, CallContext context) {
        Feed<E> first = calls.attempt(
                true, settings.timeout(context), (place, left) -> open(place, operation, null, context, left));
        return new ResumingElements<>(
                settings,
                calls.means().wire(),
                method,
                operation,
                (again, after) -> open(calls.place(), again, after, context, settings.callTimeout()),
                first);
    }

    private <E> Feed<E> open(
            AgentAddress place,
            Operation.ExtensionWatch<E> operation,
            @Nullable String after,
            CallContext context,
            Duration left)
            throws AttemptFailure, InterruptedException {
        return switch (place) {
            case AgentAddress.ByHttp http -> {
                ExtensionBinding binding = binding(http);
                Outgoing outgoing = binding.request(operation, context);
                Request request = request(
                        http,
                        new Outgoing(
                                outgoing.method(),
                                outgoing.url(),
                                resuming(outgoing.headers(), after),
                                outgoing.body(),
                                outgoing.id()),
                        context,
                        left);
                yield HttpElements.open(
                        calls,
                        request,
                        left,
                        headers -> headers.firstValue(protocol.style().positionHeader())
                                .orElse(null),
                        Set.of(),
                        (frame, type) -> binding.element(operation, frame.data()),
                        (status, type, body) -> binding.refusal(status, body));
            }
            // The deadline is one for the beginning, not for the stream.
            case AgentAddress.ByTransport other ->
                calls.remotes()
                        .ask(
                                other,
                                context.withDeadline(null),
                                left,
                                (agent, caller, headers) -> agent.watch(operation, caller, resuming(headers, after)));
        };
    }

    private ExtensionBinding binding(AgentAddress place) {
        return new ExtensionBinding(place.agent(), entry, protocol);
    }

    private static Map<String, String> resuming(Map<String, String> headers, @Nullable String after) {
        if (after == null) {
            return headers;
        }
        var resuming = new HashMap<>(headers);
        resuming.put("Last-Event-ID", after);
        return resuming;
    }

    private Request request(AgentAddress.ByHttp place, Outgoing outgoing, CallContext context, Duration left)
            throws AttemptFailure, InterruptedException {
        return place.request(outgoing, calls.means().credentials().of(place.card(), place.url(), context, left))
                .by(context);
    }

    private static A2AException unsupported(String message) {
        return A2AException.of(A2AError.UNSUPPORTED_OPERATION, message);
    }
}
