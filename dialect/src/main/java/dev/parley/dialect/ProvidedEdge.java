package dev.parley.dialect;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import java.util.Set;

/** The dialect of a provider. */
record ProvidedEdge(DialectProvider provider) implements Edge {
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
        Set<String> extensions = WireCall.extensions(request);
        String trace = request.header(Dialects.TRACE);
        CallContext context = caller.withDialect(provider.name(), false).withExtensions(extensions);
        return provider.answer(
                request,
                agent.card(),
                agent.door().apply(agent.endpoint()),
                trace == null ? context : context.withTraceparent(trace));
    }
}
