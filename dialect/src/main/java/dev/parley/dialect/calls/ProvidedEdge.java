package dev.parley.dialect.calls;

import dev.parley.dialect.spi.DialectProvider;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireCall;
import dev.parley.dialect.spi.WireFace;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.dialect.wire.LargeBodies;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;

/** The dialect of a provider. */
public record ProvidedEdge(DialectProvider provider) implements Edge {
    @Override
    public String dialect() {
        return provider.name();
    }

    @Override
    public String suffix() {
        return provider.suffix();
    }

    @Override
    public boolean isCard(WireRequest request) {
        return provider.isPublic(request);
    }

    @Override
    public WireAnswer.Whole refusal(WireRequest request, A2AException problem) {
        return provider.error(request, problem);
    }

    @Override
    public WireAnswer answer(ServedRequest request) {
        return answer(provider, request, request.caller().withDialect(provider.name(), false));
    }

    /** Has the agent answer a request to a face of a caller. */
    public static WireAnswer answer(WireFace face, ServedRequest request, CallContext shown) {
        WireRequest http = request.http();
        AgentCard card = request.agent().card();
        request.framing().use(problem -> face.error(http, problem));
        WireAnswer.Whole document = face.document(http, card);
        if (document != null) {
            return document;
        }
        CallContext caller = ServedRequest.context(shown, http);
        WireCall call = LargeBodies.compute(http, caller, () -> face.read(http, card, caller));
        return request.agent()
                .exchange(
                        new WireCall(
                                call.operation(),
                                call.view(),
                                result -> LargeBodies.encode(
                                        result, caller, () -> call.answer().apply(result))),
                        caller,
                        http.body().length);
    }
}
