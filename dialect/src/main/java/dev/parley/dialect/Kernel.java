package dev.parley.dialect;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The endpoint of the Agentic Kernel, whose method names collide with those of A2A 0.1.
 *
 * <p>Errors of the protocol have status 200, because its client reads no others; what proxies and load balancers act on,
 * such as 401 and 503, shows in the status here as well.
 */
final class Kernel implements Edge {
    static final String SUFFIX = "/kernel";

    private static final LegacyDialect DIALECT = LegacyDialect.KERNEL;

    /** The one method that is no operation. */
    static final String GET_CARD = "agent/getCard";

    private static final Pattern WRAPPED =
            Pattern.compile(Dialects.EVENT_STREAM + "\\s*;\\s*profile\\s*=\\s*\"?jsonrpc\\b", Pattern.CASE_INSENSITIVE);

    private final Dialects dialects;

    Kernel(Dialects dialects) {
        this.dialects = dialects;
    }

    /** True for the methods of this dialect. */
    static boolean has(String method) {
        return method.equals(GET_CARD) || DIALECT.operations().named(method) != null;
    }

    /** Its document shows JSON-RPC answers in streams, its client reads bare events. */
    private static boolean wrapsFrames(WireRequest request) {
        String accept = request.header("Accept");
        return accept != null && WRAPPED.matcher(accept).find();
    }

    @Override
    public String dialect() {
        return DIALECT.name();
    }

    @Override
    public String suffix() {
        return SUFFIX;
    }

    @Override
    public boolean isCard(WireRequest request) {
        return CardFile.isAt(request.path());
    }

    @Override
    public WireAnswer.Whole refusal(WireRequest request, A2AException problem) {
        return Form.rpc(DIALECT, Envelope.idOf(request.body())).error(problem);
    }

    @Override
    public WireAnswer answer(WireRequest request, ServedAgent agent, CallContext caller, Framing framing) {
        LegacyDialect dialect = wrapsFrames(request) ? LegacyDialect.KERNEL_WRAPPED : DIALECT;
        Form form = framing.use(Form.rpc(dialect, Envelope.NO_ID));
        if (CardFile.isAt(request.path())) {
            return CardFile.answer(request, KernelCard.write(agent.card()));
        }
        if (!request.path().isEmpty() && !request.path().equals("/")) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is nothing at this address");
        }
        Dialects.requirePost(request);
        if (!Dialects.isJson(request.header("Content-Type"))) {
            return Dialects.wrongContentType(form, request);
        }
        Envelope envelope = Envelope.read(request, caller);
        form = framing.use(Form.rpc(dialect, envelope.id()));
        if (envelope.problem() != null && !envelope.anonymous()) {
            throw envelope.problem();
        }
        if (envelope.method().equals(GET_CARD)) {
            return form.result(KernelCard.CARD, agent.card(), Map.of());
        }
        ExtensionRow row = agent.extensions().named(envelope.method());
        if (row != null && row.protocol().uri().isEmpty()) {
            return dialects.extension(row, DIALECT, request, agent, caller).answerRpc(envelope, form);
        }
        WireOperation asked = DIALECT.operations().named(envelope.method());
        if (asked == null) {
            throw A2AException.of(
                    A2AError.METHOD_NOT_FOUND, A2AError.METHOD_NOT_FOUND.defaultMessage() + ": " + envelope.method());
        }
        Operation operation = envelope.params(asked.request(), request, caller);
        return WireCall.of(dialect, asked, operation, form, request).exchange(agent, caller);
    }
}
