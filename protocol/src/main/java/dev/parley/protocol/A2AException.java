package dev.parley.protocol;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Refusal or failure of an operation, with the error for the peer.
 *
 * <p>The message is for the other side: it must hold no secret, no stack and no path. It is cut where it gets too long, and
 * so is what is said of a field.
 */
public final class A2AException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** An invalid field, by its path in the request ({@code message.parts[0]}), and the expected value. */
    public record Violation(String field, String description) {
        public Violation {
            field = bearable(field);
            description = bearable(description);
        }
    }

    /** Messages repeat what a peer wrote, which may be as long as a request. */
    private static final int MAX_TEXT = 1000;

    private static final String CHALLENGE = "challenge";
    private static final String ALLOWED = "allowed";

    private final transient ErrorKind error;
    private final transient Map<String, String> metadata;
    private final transient List<Violation> violations;
    private final transient @Nullable Duration retryAfter;

    private A2AException(
            ErrorKind error,
            String message,
            Map<String, String> metadata,
            List<Violation> violations,
            @Nullable Duration retryAfter,
            @Nullable Throwable cause) {
        super(bearable(message), cause);
        this.error = error;
        this.metadata = Map.copyOf(metadata);
        this.violations = List.copyOf(violations);
        this.retryAfter = retryAfter;
    }

    private static String bearable(String text) {
        if (text.length() <= MAX_TEXT) {
            return text;
        }
        int end = Character.isHighSurrogate(text.charAt(MAX_TEXT - 1)) ? MAX_TEXT - 1 : MAX_TEXT;
        return text.substring(0, end) + "…";
    }

    public static A2AException of(ErrorKind error) {
        return of(error, error.defaultMessage());
    }

    public static A2AException of(ErrorKind error, String message) {
        return of(error, message, Map.of());
    }

    /** @param metadata goes into the ErrorInfo, next to the reason */
    public static A2AException of(ErrorKind error, String message, Map<String, String> metadata) {
        return new A2AException(error, message, metadata, List.of(), null, null);
    }

    /** An error with its public details; {@code retryAfter} is null if a retry is pointless. */
    public static A2AException of(
            ErrorKind error,
            String message,
            Map<String, String> metadata,
            List<Violation> violations,
            @Nullable Duration retryAfter) {
        return new A2AException(error, message, metadata, violations, retryAfter, null);
    }

    public static A2AException taskNotFound(String taskId) {
        return of(
                A2AError.TASK_NOT_FOUND, A2AError.TASK_NOT_FOUND.defaultMessage(), Map.of("taskId", bearable(taskId)));
    }

    public static A2AException invalidParams(String field, String description) {
        return invalidParams(List.of(new Violation(field, description)));
    }

    public static A2AException invalidParams(List<Violation> violations) {
        var first = violations.getFirst();
        return new A2AException(
                A2AError.INVALID_PARAMS,
                "Invalid parameters: " + first.field() + ": " + first.description(),
                Map.of(),
                violations,
                null,
                null);
    }

    /** Too much for now; the same call may succeed after {@code retryAfter}. */
    public static A2AException unavailable(String message, Duration retryAfter) {
        return new A2AException(A2AError.UNAVAILABLE, message, Map.of(), List.of(), retryAfter, null);
    }

    /**
     * There is something at this address, but not for this method.
     *
     * @param allowed the methods that it is for, as the header {@code Allow} has them
     */
    public static A2AException notAllowed(String method, String allowed) {
        return of(
                A2AError.METHOD_NOT_ALLOWED,
                "Method not allowed: " + method + " (expected: " + allowed + ")",
                Map.of(ALLOWED, allowed));
    }

    /**
     * The caller is not authenticated, or lacks a permission.
     *
     * @param challenge what to show instead, as the header {@code WWW-Authenticate} has it
     */
    public static A2AException refused(ErrorKind error, String message, String challenge) {
        return of(error, message, Map.of(CHALLENGE, challenge));
    }

    /** Returns this error with a cause for the log of this side, not for the peer. */
    public A2AException causedBy(Throwable cause) {
        return new A2AException(error, requireNonNull(getMessage()), metadata, violations, retryAfter, cause);
    }

    /** Returns this error with the message of another version of the protocol. */
    public A2AException inWords(UnaryOperator<String> fields, UnaryOperator<String> texts) {
        List<Violation> worded = violations.stream()
                .map(one -> new Violation(fields.apply(one.field()), texts.apply(one.description())))
                .toList();
        String message = worded.isEmpty()
                ? texts.apply(requireNonNull(getMessage()))
                : invalidParams(worded).getMessage();
        return new A2AException(error, requireNonNull(message), metadata, worded, retryAfter, getCause());
    }

    /** Returns this error with a pause before a retry. */
    public A2AException retryingAfter(Duration wait) {
        return new A2AException(error, requireNonNull(getMessage()), metadata, violations, wait, getCause());
    }

    public ErrorKind error() {
        return error;
    }

    public Map<String, String> metadata() {
        return metadata;
    }

    /** Required credentials, as in the header {@code WWW-Authenticate}; null if none would help. */
    public @Nullable String challenge() {
        return metadata.get(CHALLENGE);
    }

    /** Returns the allowed methods, in the form of the header {@code Allow}; null for other errors. */
    public @Nullable String allowed() {
        return error == A2AError.METHOD_NOT_ALLOWED ? metadata.get(ALLOWED) : null;
    }

    public List<Violation> violations() {
        return violations;
    }

    /** Pause before a retry; empty if a retry is pointless. */
    public @Nullable Duration retryAfter() {
        return retryAfter;
    }

    /** Headers of its answer over HTTP: {@code Retry-After}, {@code WWW-Authenticate} and {@code Allow}, as far as they apply. */
    public Map<String, String> headers() {
        var headers = new LinkedHashMap<String, String>();
        if (retryAfter != null) {
            headers.put(
                    "Retry-After",
                    Long.toString(Math.max(1, retryAfter.plusMillis(999).toSeconds())));
        }
        String challenge = challenge();
        if (challenge != null) {
            headers.put("WWW-Authenticate", challenge);
        } else if (error == A2AError.UNAUTHENTICATED) {
            headers.put("WWW-Authenticate", "Bearer realm=\"parley\""); // RFC 9110, section 15.5.2: each 401 has one
        }
        String allowed = allowed();
        if (allowed != null) {
            headers.put("Allow", allowed);
        }
        return headers;
    }
}
