package dev.parley.dialect.calls;

import dev.parley.dialect.answers.Dialect;
import dev.parley.dialect.answers.RpcEnvelope;
import dev.parley.dialect.legacy.KernelCard;
import dev.parley.dialect.legacy.LegacyDialect;
import dev.parley.dialect.operations.ExtensionRow;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.spi.Headers;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The endpoint of the Agentic Kernel, whose method names collide with those of A2A 0.1.
 *
 * <p>Errors of the protocol have status 200, because its client reads no others; what proxies and load balancers act on,
 * such as 401 and 503, shows in the status here as well.
 */
public final class Kernel extends RpcEdge {
    public static final String SUFFIX = "/kernel";

    private static final LegacyDialect DIALECT = LegacyDialect.KERNEL;

    private static final Pattern WRAPPED =
            Pattern.compile(Headers.EVENT_STREAM + "\\s*;\\s*profile\\s*=\\s*\"?jsonrpc\\b", Pattern.CASE_INSENSITIVE);

    public Kernel() {
        super(DIALECT, DIALECT.operations(), SUFFIX);
    }

    /** True for the methods of this dialect. */
    public static boolean has(String method) {
        return method.equals(KernelCard.GET_CARD) || DIALECT.operations().named(method) != null;
    }

    /** Its document shows JSON-RPC answers in streams, its client reads bare events. */
    @Override
    protected Dialect dialect(WireRequest request) {
        String accept = request.header("Accept");
        return accept != null && WRAPPED.matcher(accept).find() ? LegacyDialect.KERNEL_WRAPPED : DIALECT;
    }

    @Override
    public boolean isCard(WireRequest request) {
        return CardFile.isAt(request.path());
    }

    @Override
    protected byte[] card(WireRequest request, ServedAgent agent) {
        return KernelCard.write(agent.card());
    }

    @Override
    protected WireAnswer answer(RpcEnvelope envelope, Dialect spoken, ServedRequest request) {
        ServedAgent agent = request.agent();
        if (envelope.method().equals(KernelCard.GET_CARD)) {
            return request.framing().form().result(KernelCard.CARD, agent.card(), Map.of());
        }
        ExtensionRow own = agent.extensions().named(envelope.method());
        return own != null && own.protocol().uri().isEmpty()
                ? request.rpc(request.dialect(own, DIALECT), own, envelope)
                : request.rpc(spoken, row(envelope), envelope);
    }
}
