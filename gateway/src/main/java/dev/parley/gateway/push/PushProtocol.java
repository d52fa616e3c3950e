package dev.parley.gateway.push;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireCall;
import dev.parley.dialect.spi.WireFace;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.engine.AgentExtension;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.JsonForm;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The operation by which remote agents notify, and its requests at {@value PushRelay#PATH}. */
public final class PushProtocol {
    /** Name of the operation, which is open to callers without credentials of the hub. */
    public static final String DELIVER = "gateway/deliver";

    private static final String OK = "{}";

    /** Notification of a remote agent. */
    record Deliver(String relay, String token, @Nullable String delivery, String body)
            implements Operation.ExtensionCall<Map<?, ?>> {
        @Override
        public String name() {
            return DELIVER;
        }

        /** Has neither the token nor the content. */
        @Override
        public String toString() {
            return "Deliver[" + relay + "]";
        }
    }

    private PushProtocol() {}

    /** The extension of the gateway with this operation. */
    static AgentExtension extension(String uri, String description, Notices notices) {
        JsonForm<Deliver> request = JsonForm.object(
                json -> new Deliver(
                        text(json.get("relay")),
                        text(json.get("token")),
                        json.get("delivery") == null ? null : text(json.get("delivery")),
                        text(json.get("body"))),
                deliver -> Map.of("relay", deliver.relay()));
        JsonForm<Map<?, ?>> answer = JsonForm.object(json -> json, map -> Map.of());
        ExtensionProtocol protocol =
                ExtensionProtocol.of(uri, ExtensionMethod.call(DELIVER, Deliver.class, request, answer));
        return AgentExtension.of(protocol, description).call(Deliver.class, (deliver, caller) -> {
            notices.take(
                    deliver.relay(),
                    deliver.token(),
                    deliver.delivery(),
                    deliver.body().getBytes(UTF_8));
            return Map.of();
        });
    }

    private static String text(@Nullable Object value) {
        return value == null ? "" : value.toString();
    }

    /** Requests of remote agents. */
    public static WireFace face() {
        return new WireFace() {
            @Override
            public boolean isPublic(WireRequest request) {
                return true;
            }

            @Override
            public WireCall read(WireRequest request, AgentCard card, CallContext caller) {
                if (!request.method().equals("POST")) {
                    throw A2AException.notAllowed(request.method(), "POST");
                }
                String token = request.header("X-A2A-Notification-Token");
                var deliver = new Deliver(
                        request.path().replaceFirst("^/", ""),
                        token == null ? text(request.header("A2A-Notification-Token")) : token,
                        request.header("webhook-id"),
                        new String(request.body(), UTF_8));
                return WireCall.of(deliver, done -> answer(200, OK));
            }

            @Override
            public WireAnswer.Whole error(WireRequest request, A2AException problem) {
                return answer(problem.error().httpStatus(), "");
            }
        };
    }

    private static WireAnswer.Whole answer(int status, String body) {
        return new WireAnswer.Whole(status, Map.of("Content-Type", "application/json"), body.getBytes(UTF_8));
    }
}
