package dev.parley.mcp.hub;

import dev.parley.dialect.Json;
import dev.parley.dialect.spi.Headers;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireCall;
import dev.parley.dialect.spi.WireFace;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.json.JsonText;
import java.util.LinkedHashMap;
import java.util.Map;

/** Takes credentials for tasks from the page of url elicitations. The hub authenticates the user as any caller. */
final class CredentialFace implements WireFace {
    @Override
    public WireCall read(WireRequest request, AgentCard card, CallContext caller) {
        if (!request.path().isEmpty() || !request.method().equals("POST")) {
            throw A2AException.notAllowed(request.method(), "POST");
        }
        String type = request.header("Content-Type");
        if (type == null || !type.startsWith(Headers.JSON)) { // forms of other sites cannot send it
            throw A2AException.of(A2AError.CONTENT_TYPE_NOT_SUPPORTED, "Content-Type (expected: application/json)");
        }
        return WireCall.of(
                JsonText.request(request.body(), AuthorizeAgentTask.REQUEST),
                authorized -> answer(200, Map.of(), Map.of("done", true)));
    }

    @Override
    public WireAnswer.Whole error(WireRequest request, A2AException problem) {
        return answer(
                problem.error().httpStatus(), problem.headers(), Map.of("error", String.valueOf(problem.getMessage())));
    }

    private static WireAnswer.Whole answer(int status, Map<String, String> more, Map<String, Object> body) {
        var headers = new LinkedHashMap<>(more);
        headers.put("Content-Type", Headers.JSON);
        headers.put("Cache-Control", "no-store");
        return new WireAnswer.Whole(status, headers, Json.write(body));
    }
}
