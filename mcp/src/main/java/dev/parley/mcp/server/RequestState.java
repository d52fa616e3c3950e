package dev.parley.mcp.server;

import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.json.CanonicalJson;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.protocol.support.AesGcm;
import dev.parley.protocol.support.Sha256;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * State of a request that waits for its user, in the hands of the client: encrypted, and bound to the caller, the request and a time.
 * Nothing is kept here, so that any hub with the key reads it.
 *
 * <p>Source: MCP 2026-07-28, Multi Round-Trip Requests.
 */
final class RequestState {
    static final Duration LIFETIME = Duration.ofHours(1);
    static final int MAX_CHARACTERS = 64 << 10;

    private static final byte[] PURPOSE = "parley mcp requestState 1".getBytes(UTF_8);

    /** @param until second of the epoch */
    private record Sealed(String state, long until, String request, String caller) {
        static final Codec<Sealed> CODEC = ObjectCodec.<Sealed>of()
                .required("state", TEXT, Sealed::state)
                .required("until", COUNT, Sealed::until)
                .required("request", TEXT, Sealed::request)
                .required("caller", TEXT, Sealed::caller)
                .as(v -> new Sealed(v.next(), v.next(), v.next(), v.next()));
    }

    private final byte[] key;
    private final InstantSource clock;

    RequestState(byte[] key, InstantSource clock) {
        this.key = key.clone();
        this.clock = clock;
    }

    /** Seals a state for the repetition of a request. */
    String seal(String state, String method, Invocation request, CallContext caller) {
        var content = new Sealed(
                state, clock.instant().plus(LIFETIME).getEpochSecond(), digest(method, request), owner(caller));
        byte[] sealed = AesGcm.seal(key, PURPOSE, JsonText.write(Sealed.CODEC, content), 0);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(sealed);
    }

    /**
     * Opens what a client has sent.
     *
     * @throws McpException INVALID_PARAMS if it was changed, has expired, or belongs to another caller or request
     */
    String open(String sealed, String method, Invocation request, CallContext caller) {
        if (sealed.length() <= MAX_CHARACTERS) {
            try {
                byte[] container = Base64.getUrlDecoder().decode(sealed);
                if (container.length > AesGcm.NONCE_BYTES) {
                    Sealed content = JsonText.read(AesGcm.open(key, PURPOSE, container, 0), Sealed.CODEC);
                    if (clock.instant().isBefore(Instant.ofEpochSecond(content.until))
                            && digest(method, request).equals(content.request)
                            && owner(caller).equals(content.caller)) {
                        return content.state;
                    }
                }
            } catch (IllegalArgumentException | GeneralSecurityException | A2AException changed) {
                // Answered as any other wrong state, so that a client learns nothing from the difference.
            }
        }
        throw new McpException(
                McpException.INVALID_PARAMS,
                "requestState: changed, expired, or of another request (expected: the one of the last result)");
    }

    /** Name of a caller among all of a hub. */
    static String owner(CallContext caller) {
        return caller.scope().group() + "\n" + caller.caller();
    }

    private static String digest(String method, Invocation call) {
        var request = new TreeMap<String, @Nullable Object>(
                Map.of("method", method, "name", call.name(), "arguments", call.arguments()));
        request.put("uri", null); // as in states of earlier versions, which clients may still hold
        return Base64.getEncoder().encodeToString(Sha256.of(CanonicalJson.of(request)));
    }
}
