package dev.parley.dialect.calls;

import dev.parley.dialect.answers.Framing;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.spi.DialectProvider;
import dev.parley.dialect.wire.WireAnswer;
import dev.parley.dialect.wire.WireRequest;
import dev.parley.protocol.A2AException;
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
    public WireAnswer answer(WireRequest request, ServedAgent agent, CallContext caller, Framing framing)
            throws Exception {
        framing.use(problem -> provider.error(request, problem));
        CallContext context = WireCall.context(caller.withDialect(provider.name(), false), request);
        return provider.answer(request, agent.card(), agent.door().apply(agent.endpoint()), context);
    }
}
