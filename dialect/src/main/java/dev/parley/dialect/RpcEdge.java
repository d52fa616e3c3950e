package dev.parley.dialect;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;

/** A dialect of JSON-RPC at an address of its own, with its card, and perhaps other files, below. */
abstract class RpcEdge implements Edge {
    private final Dialect dialect;
    private final OperationTable operations;
    private final String suffix;

    RpcEdge(Dialect dialect, OperationTable operations, String suffix) {
        this.dialect = dialect;
        this.operations = operations;
        this.suffix = suffix;
    }

    @Override
    public final String dialect() {
        return dialect.name();
    }

    @Override
    public final String suffix() {
        return suffix;
    }

    @Override
    public final WireAnswer.Whole refusal(WireRequest request, A2AException problem) {
        return Form.rpc(dialect, Envelope.idOf(request.body())).error(problem);
    }

    @Override
    public final WireAnswer answer(WireRequest request, ServedAgent agent, CallContext caller, Framing framing) {
        Dialect spoken = dialect(request);
        framing.use(Form.rpc(spoken, Form.NO_ID));
        if (isCard(request)) {
            return CardFile.answer(request, card(request, agent));
        }
        if (!isRoot(request)) {
            return file(request, agent);
        }
        return answer(Envelope.read(request, spoken, caller, framing), spoken, request, agent, caller, framing);
    }

    static boolean isRoot(WireRequest request) {
        return request.path().isEmpty() || request.path().equals("/");
    }

    /** The card of an agent in this dialect. */
    abstract byte[] card(WireRequest request, ServedAgent agent);

    /** Answers a request below the address of the calls, or throws. */
    WireAnswer file(WireRequest request, ServedAgent agent) {
        throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is nothing at this address");
    }

    /** The dialect of the answer to a request. */
    Dialect dialect(WireRequest request) {
        return dialect;
    }

    /** Answers a call, or throws. */
    abstract WireAnswer answer(
            Envelope envelope,
            Dialect spoken,
            WireRequest request,
            ServedAgent agent,
            CallContext caller,
            Framing framing);

    /** The row of the operation that is called. */
    final WireOperation row(Envelope envelope) {
        WireOperation row = operations.named(envelope.method());
        if (row == null) {
            throw A2AException.of(
                    A2AError.METHOD_NOT_FOUND, A2AError.METHOD_NOT_FOUND.defaultMessage() + ": " + envelope.method());
        }
        return row;
    }
}
