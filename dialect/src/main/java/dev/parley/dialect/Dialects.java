package dev.parley.dialect;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;

/** Answers requests in the dialect in which they came. Safe for any thread. */
public final class Dialects {
    private final DialectSettings settings;

    public Dialects(DialectSettings settings) {
        this.settings = settings;
    }

    /**
     * Answers a request to an agent. Never throws: what goes wrong becomes an error answer, and is logged once if it is
     * this side's fault.
     *
     * @param caller who calls; extensions and trace are filled in from the request
     */
    public WireAnswer answer(WireRequest request, ServedAgent agent, CallContext caller) {
        throw new UnsupportedOperationException(settings + " " + request + agent + caller);
    }

    /** Returns the error answer to a request that reaches no agent, or whose body was refused unread. */
    public WireAnswer.Whole problem(WireRequest request, A2AException problem) {
        throw new UnsupportedOperationException(request.path(), problem);
    }
}
