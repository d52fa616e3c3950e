package dev.parley.mesh;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import dev.parley.protocol.InvalidField;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A ONE message: an envelope with sender, receiver, content, and how it is to be treated.
 *
 * @param messageId unique for each sender; the same id with the same content means the same message
 * @param correlationId common to the messages about one delegation
 * @param timestamp when it was sent; null in a message that does not say
 * @param to the receiver
 */
public record Envelope(
        String messageId,
        @Nullable String correlationId,
        @Nullable Instant timestamp,
        Party from,
        Party to,
        Body message,
        Handling metadata) {
    /** The one version of the protocol. */
    public static final String VERSION = "1.0";

    /** Media type of content that is JSON. */
    public static final String JSON = "application/json";

    /** Media type of content that is encrypted for its receiver. */
    public static final String ENCRYPTED = "application/jose";

    /**
     * A sender or a receiver.
     *
     * @param endpoint address that takes its messages
     * @param capabilities informative; they grant no rights
     */
    public record Party(String agentId, String endpoint, List<String> capabilities) {
        public Party {
            requireText(agentId, "agentId");
            requireNonNull(endpoint, "endpoint");
            capabilities = List.copyOf(capabilities);
        }

        /** The host of the endpoint, in lower case; null if it has none. */
        public @Nullable String host() {
            try {
                String host = new URI(endpoint).getHost();
                return host == null ? null : host.toLowerCase(Locale.ROOT);
            } catch (URISyntaxException malformed) {
                return null;
            }
        }

        /** A party without capabilities. */
        public static Party of(String agentId, String endpoint) {
            return new Party(agentId, endpoint, List.of());
        }
    }

    /**
     * The content.
     *
     * @param content JSON (maps, lists, texts, numbers, truth values) if the media type is JSON, else a text; binary content is a text
     *     in base64
     */
    public record Body(MessageType type, @Nullable Object content, String mimeType) {
        public Body {
            requireNonNull(type, "type");
            requireText(mimeType, "mimeType");
        }
    }

    /** Order among the tasks of an agent that wait. */
    public enum Priority {
        LOW,
        MEDIUM,
        HIGH,
        CRITICAL;

        /** The word on the wire. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * Signature of a message.
     *
     * @param jws detached JWS, in compact form
     * @param form the bytes that it signs, made of the message as it was received: {@link SignedForm}
     */
    public record Signature(String jws, byte[] form) {
        public Signature {
            requireText(jws, "signature");
            requireNonNull(form, "form");
        }
    }

    /**
     * Address for reports about encrypted content, whose own callback cannot be read on the way.
     *
     * @param key public key of the sender, as a JWK, for which their content is encrypted
     */
    public record Reply(String callback, Map<String, @Nullable Object> key) {
        public Reply {
            requireText(callback, "callback");
            requireNonNull(key, "key");
        }
    }

    /**
     * Treatment of a message: priority, time limit, retries, encryption and reports.
     *
     * @param timeout longest time of the work from its acceptance; null for none
     * @param retryPolicy how the sender and the receiver repeat deliveries; null for the default
     * @param reply how to report about encrypted content; null if its sender reads the task
     * @param signature null if it is not signed
     */
    public record Handling(
            Priority priority,
            @Nullable Duration timeout,
            @Nullable RetryPolicy retryPolicy,
            boolean encrypted,
            @Nullable Reply reply,
            @Nullable Signature signature) {
        /** Medium priority, no time limit, no signature. */
        public static final Handling DEFAULT = new Handling(Priority.MEDIUM, null, null, false, null, null);

        public Handling {
            requireNonNull(priority, "priority");
            if (timeout != null && !timeout.isPositive()) {
                throw InvalidField.of("timeout", timeout.toMillis() + " (expected: at least 1 ms)");
            }
        }
    }

    public Envelope {
        requireText(messageId, "messageId");
        requireNonNull(from, "from");
        requireNonNull(to, "to");
        requireNonNull(message, "message");
        requireNonNull(metadata, "metadata");
    }

    /** This message with a signature. */
    public Envelope signed(Signature signature) {
        return with(new Handling(
                metadata.priority,
                metadata.timeout,
                metadata.retryPolicy,
                metadata.encrypted,
                metadata.reply,
                signature));
    }

    /** This message with other content. */
    public Envelope with(Body body) {
        return new Envelope(messageId, correlationId, timestamp, from, to, body, metadata);
    }

    /** Encrypts content for its receiver. */
    @FunctionalInterface
    public interface Encryption {
        String encrypt(byte[] content, String sender, String receiver);
    }

    /** This message with its content encrypted. Each encryption has another result. */
    public Envelope encrypted(Encryption keys) {
        String jwe = keys.encrypt(Json.write(message.content()), from.agentId, to.agentId);
        return with(new Body(message.type(), jwe, ENCRYPTED))
                .with(new Handling(
                        metadata.priority,
                        metadata.timeout,
                        metadata.retryPolicy,
                        true,
                        metadata.reply,
                        metadata.signature));
    }

    /** This message with another address and key for reports about its content. */
    public Envelope replying(Reply reply) {
        return with(new Handling(
                metadata.priority,
                metadata.timeout,
                metadata.retryPolicy,
                metadata.encrypted,
                reply,
                metadata.signature));
    }

    /** This message as sent at another time. */
    public Envelope at(Instant time) {
        return new Envelope(messageId, correlationId, time, from, to, message, metadata);
    }

    /** Headers of HTTP that repeat members, as far as their characters fit into headers. */
    public Map<String, String> headers() {
        var headers = new LinkedHashMap<String, String>();
        headers.put("X-A2A-Version", VERSION);
        put(headers, "X-Message-Id", messageId);
        put(headers, "X-Agent-Id", from.agentId);
        put(headers, "X-Correlation-Id", correlationId);
        return headers;
    }

    private static void put(Map<String, String> headers, String name, @Nullable String value) {
        if (value != null && value.matches("[\\x21-\\x7e]{1,256}")) {
            headers.put(name, value);
        }
    }

    private Envelope with(Handling handling) {
        return new Envelope(messageId, correlationId, timestamp, from, to, message, handling);
    }

    private static void requireText(@Nullable String value, String field) {
        if (requireNonNull(value, field).isBlank()) {
            throw InvalidField.of(field, "must not be empty");
        }
    }
}
