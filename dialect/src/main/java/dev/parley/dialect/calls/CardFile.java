package dev.parley.dialect.calls;

import dev.parley.dialect.answers.Version;
import dev.parley.dialect.legacy.KernelCard;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.served.ServedCard;
import dev.parley.dialect.spi.Headers;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.Sha256;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Set;

/**
 * The public card at its well-known addresses.
 *
 * <p>Source: A2A specification 1.0, sections 8.2 and 8.6.
 */
public final class CardFile {
    private static final String BEFORE_V03 = "/.well-known/agent.json";

    /** The address of 1.0 and 0.3, and the one where older clients look. */
    private static final Set<String> PATHS = Set.of("/.well-known/agent-card.json", BEFORE_V03);

    private static final String CACHING = "public, max-age=60";

    private CardFile() {}

    public static boolean isAt(String path) {
        return PATHS.contains(path);
    }

    public static WireAnswer.Whole answer(WireRequest request, ServedAgent agent) {
        return answer(request, variant(request, agent));
    }

    /** The card of the version that was asked for, or else one that readers of every version understand. */
    private static byte[] variant(WireRequest request, ServedAgent agent) {
        ServedCard card = agent.served();
        if (agent.speaksKernelAtRoot() && request.path().equals(BEFORE_V03)) {
            return KernelCard.write(agent.card());
        }
        boolean older = agent.speaks("0.3") || agent.speaks("0.1");
        if (!older) {
            return card.v1();
        }
        String accept = request.header("Accept");
        if (request.path().equals(BEFORE_V03)) {
            return card.beforeV03();
        }
        return switch (Version.of(request, agent.dialects())) {
            case V1 -> card.v1();
            case V03, V01 -> card.v03();
            case UNSAID -> accept != null && accept.contains(Headers.A2A_JSON) ? card.v1() : card.union();
        };
    }

    public static WireAnswer.Whole answer(WireRequest request, byte[] body) {
        if (!request.method().equals("GET") && !request.method().equals("HEAD")) {
            throw A2AException.notAllowed(request.method(), "GET, HEAD");
        }
        String tag = '"' + hash(body) + '"';
        var headers = new LinkedHashMap<String, String>();
        headers.put("ETag", tag);
        headers.put("Cache-Control", CACHING);
        headers.put("Vary", "A2A-Version, Accept");
        if (request.hasVersion(tag)) {
            return new WireAnswer.Whole(304, headers, new byte[0]);
        }
        String accept = request.header("Accept");
        headers.put(
                "Content-Type", accept != null && accept.contains(Headers.A2A_JSON) ? Headers.A2A_JSON : Headers.JSON);
        return new WireAnswer.Whole(200, headers, body);
    }

    private static String hash(byte[] body) {
        return HexFormat.of().formatHex(Sha256.of(body), 0, 16);
    }
}
