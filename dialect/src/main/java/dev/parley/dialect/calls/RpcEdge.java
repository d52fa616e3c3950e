package dev.parley.dialect.calls;

import dev.parley.dialect.answers.Dialect;
import dev.parley.dialect.answers.ResponseFraming;
import dev.parley.dialect.answers.RpcEnvelope;
import dev.parley.dialect.operations.OperationTable;
import dev.parley.dialect.operations.WireOperation;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;

/** A dialect of JSON-RPC at an address of its own, with its card, and perhaps other files, below. */
public abstract class RpcEdge implements Edge {
    private final Dialect dialect;
    private final OperationTable operations;
    private final String suffix;

    protected RpcEdge(Dialect dialect, OperationTable operations, String suffix) {
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
        return ResponseFraming.rpc(dialect, RpcEnvelope.idOf(request.body())).error(problem);
    }

    @Override
    public final WireAnswer answer(ServedRequest request) {
        WireRequest http = request.http();
        Dialect spoken = dialect(http);
        ResponseFraming unread = ResponseFraming.rpcWithoutId(spoken);
        request.framing().use(unread);
        if (!http.method().equals("POST")) { // no call
            request.framing()
                    .use(problem -> unread.error(problem, problem.error().httpStatus()));
        }
        if (isCard(http)) {
            return CardFile.answer(http, card(http, request.agent()));
        }
        if (!isRoot(http)) {
            return file(http, request.agent());
        }
        return answer(RpcEnvelope.read(http, spoken, request.caller(), request.framing()), spoken, request);
    }

    protected static boolean isRoot(WireRequest request) {
        return request.path().isEmpty() || request.path().equals("/");
    }

    /** The card of an agent in this dialect. */
    protected abstract byte[] card(WireRequest request, ServedAgent agent);

    /** Answers a request below the address of the calls, or throws. */
    protected WireAnswer file(WireRequest request, ServedAgent agent) {
        throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is nothing at this address");
    }

    /** The dialect of the answer to a request. */
    protected Dialect dialect(WireRequest request) {
        return dialect;
    }

    /** Answers a call, or throws. */
    protected abstract WireAnswer answer(RpcEnvelope envelope, Dialect spoken, ServedRequest request);

    /** The row of the operation that is called. */
    protected final WireOperation row(RpcEnvelope envelope) {
        WireOperation row = operations.named(envelope.method());
        if (row == null) {
            throw A2AException.of(
                    A2AError.METHOD_NOT_FOUND, A2AError.METHOD_NOT_FOUND.defaultMessage() + ": " + envelope.method());
        }
        return row;
    }
}
