package dev.parley.registry.faces;

import dev.parley.dialect.spi.Headers;
import dev.parley.dialect.spi.RequestHead;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireCall;
import dev.parley.dialect.spi.WireFace;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.extension.WireDocument;
import dev.parley.registry.FaceProtocol;
import dev.parley.registry.FaceProtocol.FaceCall;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Cards of registered agents at the well-known addresses of their own host names: of the agent whose URN has the host of the request as its
 * publisher.
 *
 * @param hosts whether there is such an agent
 * @param errors form of errors
 */
record HostCards(Predicate<String> hosts, WireFace errors) implements WireFace {
    private static String host(RequestHead arrival) {
        String host = arrival.header("Host");
        return host == null ? "" : host.replaceFirst(":[0-9]*$", "").toLowerCase(Locale.ROOT);
    }

    @Override
    public boolean answers(RequestHead arrival) {
        return hosts.test(host(arrival));
    }

    @Override
    public boolean isPublic(WireRequest request) {
        return true;
    }

    @Override
    public boolean isForAllOrigins() {
        return true;
    }

    @Override
    public WireCall read(WireRequest request, AgentCard card, CallContext caller) {
        request.requirePage();
        var call = new FaceCall(FaceProtocol.HOST_CARD, Map.of("host", host(request.arrival())));
        return WireCall.of(
                call,
                result -> JsonFace.cached(
                        request, Headers.JSON, Map.of("Vary", "Host"), true, ((WireDocument) result).bytes()));
    }

    @Override
    public WireAnswer.Whole error(WireRequest request, A2AException problem) {
        return errors.error(request, problem);
    }
}
