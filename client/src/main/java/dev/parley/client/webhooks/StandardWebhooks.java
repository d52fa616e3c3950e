package dev.parley.client.webhooks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.protocol.support.Hmac;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Signs webhooks, and for their receivers tells genuine ones from others. Safe for any thread.
 *
 * <p>Source: Standard Webhooks 1.0, symmetric signatures ({@code v1}).
 */
public final class StandardWebhooks {
    /** Tolerance for the clocks of sender and receiver, and for the time of the delivery. */
    public static final Duration TOLERANCE = Duration.ofMinutes(5);

    static final String ID = "webhook-id";
    static final String TIMESTAMP = "webhook-timestamp";
    static final String SIGNATURE = "webhook-signature";

    private static final String SECRET_PREFIX = "whsec_";
    private static final String VERSION = "v1,";
    private static final int MIN_SECRET_BYTES = 24;
    private static final int MAX_SECRET_BYTES = 64;
    private static final int MAX_SIGNATURES = 16;

    /** Result of the verification of a webhook's signature. */
    public sealed interface Verdict {
        /** A valid signature. A repeated {@code id} is a repeated delivery of the same event. */
        record Genuine(String id, Instant at) implements Verdict {}

        /** An invalid signature. {@code reason} is for the receiver's log, not for the sender. */
        record Rejected(String reason) implements Verdict {}
    }

    private final List<SecretKeySpec> keys;

    private StandardWebhooks(List<SecretKeySpec> keys) {
        this.keys = keys;
    }

    /**
     * Signs and verifies with {@code secrets}. To change a secret without a gap, give both for a while: a sent message
     * has a signature by each, a received one needs one of them.
     *
     * @param secrets at least one: base64 of 24 to 64 bytes, with or without {@code whsec_} before it
     * @throws IllegalArgumentException if one is something else
     */
    public static StandardWebhooks of(List<String> secrets) {
        if (secrets.isEmpty()) {
            throw new IllegalArgumentException("secrets: none (expected: at least one)");
        }
        return new StandardWebhooks(secrets.stream().map(StandardWebhooks::key).toList());
    }

    /** Returns a new random secret in the form {@code whsec_…}. */
    public static String newSecret() {
        byte[] bytes = new byte[32];
        new SecureRandom().nextBytes(bytes);
        return SECRET_PREFIX + Base64.getEncoder().encodeToString(bytes);
    }

    private static SecretKeySpec key(String secret) {
        String text = secret.startsWith(SECRET_PREFIX) ? secret.substring(SECRET_PREFIX.length()) : secret;
        byte[] bytes;
        try {
            bytes = Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException e) {
            // Without the cause: its message would quote a character of the secret.
            throw new IllegalArgumentException("webhook secret: no base64 (expected: whsec_ and base64)");
        }
        if (bytes.length < MIN_SECRET_BYTES || bytes.length > MAX_SECRET_BYTES) {
            throw new IllegalArgumentException("webhook secret: " + bytes.length + " bytes (expected: "
                    + MIN_SECRET_BYTES + " to " + MAX_SECRET_BYTES + ")");
        }
        return Hmac.key(bytes);
    }

    /** Returns the three headers that sign {@code body} as sent {@code at} under {@code id}. */
    public Map<String, String> sign(String id, Instant at, byte[] body) {
        String timestamp = Long.toString(at.getEpochSecond());
        String signatures = keys.stream()
                .map(key -> VERSION + Base64.getEncoder().encodeToString(signature(key, id, timestamp, body)))
                .collect(Collectors.joining(" "));
        return Map.of(ID, id, TIMESTAMP, timestamp, SIGNATURE, signatures);
    }

    /**
     * Tells whether a webhook that was received is genuine and fresh. A receiver that must not act twice also remembers
     * the ids of the last ten minutes.
     *
     * @param headers a header's value by its lower-case name, null if absent
     * @param body exactly as received
     * @param now the receiver's time
     */
    public Verdict verify(Function<String, @Nullable String> headers, byte[] body, Instant now) {
        String id = headers.apply(ID);
        String timestamp = headers.apply(TIMESTAMP);
        String signatures = headers.apply(SIGNATURE);
        if (id == null || id.isEmpty() || timestamp == null || signatures == null) {
            return new Verdict.Rejected("not signed");
        }
        Instant at = instant(timestamp);
        if (at == null) {
            return new Verdict.Rejected("timestamp unreadable");
        }
        if (Duration.between(at, now).abs().compareTo(TOLERANCE) > 0) {
            return new Verdict.Rejected("too old, or from the future");
        }
        boolean genuine = Arrays.stream(signatures.split(" ", MAX_SIGNATURES))
                .filter(signature -> signature.startsWith(VERSION))
                .map(signature -> decoded(signature.substring(VERSION.length())))
                .anyMatch(signature -> isByOneOfUs(signature, id, timestamp, body));
        return genuine ? new Verdict.Genuine(id, at) : new Verdict.Rejected("signature does not fit");
    }

    private boolean isByOneOfUs(byte[] signature, String id, String timestamp, byte[] body) {
        return keys.stream().anyMatch(key -> MessageDigest.isEqual(signature, signature(key, id, timestamp, body)));
    }

    private static byte[] decoded(String base64) {
        try {
            return Base64.getDecoder().decode(base64);
        } catch (IllegalArgumentException e) {
            return new byte[0]; // equals no signature
        }
    }

    private static @Nullable Instant instant(String seconds) {
        try {
            return Instant.ofEpochSecond(Long.parseLong(seconds));
        } catch (NumberFormatException | DateTimeException e) {
            return null;
        }
    }

    private static byte[] signature(SecretKeySpec key, String id, String timestamp, byte[] body) {
        return Hmac.of(key, (id + "." + timestamp + ".").getBytes(UTF_8), requireNonNull(body, "body"));
    }
}
