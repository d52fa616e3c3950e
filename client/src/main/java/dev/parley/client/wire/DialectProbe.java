package dev.parley.client.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.client.spi.ClientException;
import dev.parley.client.wire.HttpWire.Answer;
import dev.parley.client.wire.HttpWire.Request;
import dev.parley.dialect.Json;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Capabilities;
import dev.parley.protocol.AgentCard.Interface;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what an agent speaks that shows no card, by calls that cannot do anything: each lacks what it would need.
 *
 * <p>A server that does not know a method answers -32601; any other answer of JSON-RPC means that the method is known.
 */
final class DialectProbe {
    private static final int METHOD_NOT_FOUND = -32601;
    private static final String CARD_OF_KERNEL = "agent/getCard";

    /** A method that only one version has, by that version; newest first. */
    private static final Map<String, String> METHODS = new LinkedHashMap<>();

    static {
        METHODS.put("1.0", "SendMessage");
        METHODS.put("0.3", "message/send");
        METHODS.put("0.1", "tasks/send");
    }

    private DialectProbe() {}

    /** Returns a card with the address and the dialects of the agent; null if it speaks no known dialect. */
    static @Nullable AgentCard of(HttpUrl url, Function<Request, Answer> wire) {
        Map<?, ?> shown = answer(url, CARD_OF_KERNEL, wire);
        if (shown != null && shown.get("result") instanceof Map<?, ?> card) {
            try {
                return Json.readCard(Json.write(card));
            } catch (A2AException noCard) {
                return null;
            }
        }
        if (shown == null) {
            return null; // no JSON-RPC server
        }
        for (var each : METHODS.entrySet()) {
            Map<?, ?> answer = answer(url, each.getValue(), wire);
            if (answer != null && !isUnknown(answer)) {
                return card(url, each.getKey());
            }
        }
        return null;
    }

    private static boolean isUnknown(Map<?, ?> answer) {
        return answer.get("error") instanceof Map<?, ?> error
                && Integer.valueOf(METHOD_NOT_FOUND).equals(error.get("code"));
    }

    private static @Nullable Map<?, ?> answer(HttpUrl url, String method, Function<Request, Answer> wire) {
        String call = "{\"jsonrpc\":\"2.0\",\"id\":\"probe\",\"method\":\"" + method + "\",\"params\":{}}";
        var headers = Map.of("Content-Type", "application/json", "Accept", "application/json");
        try {
            Map<?, ?> answer = Json.read(
                    wire.apply(new Request("POST", url, headers, call.getBytes(UTF_8)))
                            .body(),
                    Map.class);
            return answer.containsKey("jsonrpc") ? answer : null;
        } catch (A2AException | ClientException unreadable) {
            return null;
        }
    }

    private static AgentCard card(HttpUrl url, String version) {
        return new AgentCard(
                url.uri().getHost(),
                "",
                List.of(new Interface(url.uri().toString(), Interface.JSONRPC, null, version)),
                null,
                "",
                null,
                new Capabilities(true, true, List.of(), null),
                Map.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                null);
    }
}
