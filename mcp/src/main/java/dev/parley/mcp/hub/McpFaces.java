package dev.parley.mcp.hub;

import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireCall;
import dev.parley.dialect.spi.WireFace;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.mcp.server.McpFace;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import java.util.LinkedHashMap;
import java.util.function.Supplier;

/**
 * MCP as a protected resource: challenges name the metadata of the very address.
 *
 * <p>Source: RFC 9728, section 5.1; MCP 2026-07-28, Authorization.
 */
final class McpFaces implements WireFace {
    private static final String METADATA = "/.well-known/oauth-protected-resource";
    private static final String CHALLENGE = "WWW-Authenticate";

    private final McpFace mcp = new McpFace();
    private final Supplier<String> hub;

    McpFaces(Supplier<String> hub) {
        this.hub = hub;
    }

    @Override
    public WireCall read(WireRequest request, AgentCard card, CallContext caller) {
        return mcp.read(request, card, caller);
    }

    @Override
    public WireAnswer.Whole error(WireRequest request, A2AException problem) {
        WireAnswer.Whole answer = mcp.error(request, problem);
        String challenge = answer.headers().get(CHALLENGE);
        if (challenge == null) {
            return answer;
        }
        var headers = new LinkedHashMap<>(answer.headers());
        headers.put(CHALLENGE, here(challenge, request.arrival().path()));
        return new WireAnswer.Whole(answer.status(), headers, answer.body());
    }

    private String here(String challenge, String path) {
        String metadata = "resource_metadata=\"" + hub.get() + METADATA + path + '"';
        return challenge.contains("resource_metadata=")
                ? challenge.replaceFirst("resource_metadata=\"[^\"]*\"", metadata.replace("$", "\\$"))
                : challenge.replaceFirst("(Bearer realm=\"[^\"]*\")", "$1, " + metadata.replace("$", "\\$"));
    }
}
