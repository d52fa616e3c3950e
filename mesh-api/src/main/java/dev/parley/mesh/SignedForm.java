package dev.parley.mesh;

import dev.parley.mesh.Envelope.Signature;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.json.CanonicalJson;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The form of a message that is signed: its canonical JSON without {@code metadata.security.signature}.
 *
 * <p>Source: RFC 8785.
 */
public final class SignedForm {
    /** Limit of the age of a signed message, and of the difference between the clocks of sender and receiver. */
    public static final Duration MAX_AGE = Duration.ofMinutes(5);

    private static final String METADATA = "metadata";
    private static final String SECURITY = "security";
    private static final String SIGNATURE = "signature";

    private SignedForm() {}

    /**
     * The signed form of a message.
     *
     * @param message as it was received, with members that this version does not know
     * @throws dev.parley.protocol.A2AException INVALID_PARAMS if it has no canonical form
     */
    public static byte[] of(Map<?, ?> message) {
        return CanonicalJson.of(without(message, METADATA, SECURITY, SIGNATURE));
    }

    /**
     * Signs a message.
     *
     * @param signer returns the detached JWS of a form
     */
    public static Envelope sign(Envelope envelope, Function<byte[], String> signer) {
        // With some signature, so that the form has the members around it.
        byte[] form = of(EnvelopeModel.members(envelope.signed(new Signature("-", new byte[0]))));
        return envelope.signed(new Signature(signer.apply(form), form));
    }

    /**
     * Requires the timestamp of a signed message to be of now.
     *
     * @throws InvalidField if it is missing, or differs by more than {@link #MAX_AGE}
     */
    public static void requireFresh(Envelope envelope, Instant now) {
        Instant timestamp = envelope.timestamp();
        if (timestamp == null) {
            throw InvalidField.of("timestamp", "missing (expected: the time of sending, as the message is signed)");
        }
        if (Duration.between(timestamp, now).abs().compareTo(MAX_AGE) > 0) {
            throw InvalidField.of(
                    "timestamp",
                    timestamp.toEpochMilli() + " (expected: at most " + MAX_AGE.toMinutes() + " minutes from "
                            + now.toEpochMilli() + ", as the message is signed)");
        }
    }

    private static Map<String, @Nullable Object> without(Map<?, ?> object, String name, String... path) {
        var rest = new LinkedHashMap<String, @Nullable Object>();
        object.forEach((key, value) -> rest.put(String.valueOf(key), value));
        if (path.length == 0) {
            rest.remove(name);
        } else if (rest.get(name) instanceof Map<?, ?> inner) {
            rest.put(name, without(inner, path[0], Arrays.copyOfRange(path, 1, path.length)));
        }
        return rest;
    }
}
