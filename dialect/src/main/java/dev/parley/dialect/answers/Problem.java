package dev.parley.dialect.answers;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.A2AException.Violation;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.support.Excerpt;
import dev.parley.protocol.support.TemporaryFailure;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The details of an error on the wire, in both directions: {@code error.data} of JSON-RPC, {@code error.details} of
 * REST.
 *
 * <p>Source: A2A specification 1.0, sections 9.5 and 11.6; google/rpc/error_details.proto.
 */
public final class Problem {
    private static final System.Logger LOG = System.getLogger("dev.parley.dialect");

    public static final String DETAILS = "details";

    /** Errors that have an HTTP status also over JSON-RPC: proxies and load balancers act on them. */
    public static final Set<A2AError> HTTP_ERRORS = EnumSet.of(
            A2AError.UNAUTHENTICATED,
            A2AError.PERMISSION_DENIED,
            A2AError.METHOD_NOT_ALLOWED,
            A2AError.PAYLOAD_TOO_LARGE,
            A2AError.RATE_LIMITED,
            A2AError.QUOTA_EXCEEDED,
            A2AError.UNAVAILABLE);

    private static final String TYPE = "@type";
    private static final String ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo";
    private static final String BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest";
    private static final String RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo";
    private static final int MAX_TEXT = 1000;
    private static final Duration LATER = Duration.ofSeconds(1);
    private static final Duration PASSING_PAUSE = Duration.ofMinutes(1);
    private static final AtomicLong NEXT_PASSING = new AtomicLong(System.nanoTime());
    private static final String DOMAIN = "a2a-protocol.org";

    private Problem() {}

    /**
     * Returns the error for the peer, and logs the rest of the failure.
     *
     * @return {@code failure} itself if it was meant for the peer; an UNAVAILABLE error that says no more if it will pass by
     *     itself; else an INTERNAL error that says nothing but a reference into the log
     */
    public static A2AException of(Throwable failure) {
        if (failure instanceof A2AException problem) {
            Throwable cause = problem.getCause();
            if (cause != null && A2AError.of(cause) == A2AError.UNAVAILABLE) {
                logPassing(problem);
            } else if (cause != null && problem.error().httpStatus() >= 500) {
                LOG.log(System.Logger.Level.ERROR, problem.getMessage(), problem);
            }
            return problem;
        }
        if (A2AError.of(failure) == A2AError.UNAVAILABLE) {
            logPassing(failure);
            String reason = TemporaryFailure.reasonOf(failure)
                    .map(words -> ": " + words)
                    .orElse("");
            return A2AException.unavailable("The data cannot be read or written at present" + reason, LATER);
        }
        String reference =
                HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
        LOG.log(System.Logger.Level.ERROR, "internal error, reference " + reference, failure);
        return A2AException.of(
                A2AError.INTERNAL, A2AError.INTERNAL.defaultMessage() + " (reference " + reference + ")");
    }

    /**
     * Logs a failure that passes by itself. The store logs when its disk fails and when it is well again; a line for each call
     * that is refused meanwhile would fill the log, and the disk, so there is one a minute.
     */
    private static void logPassing(Throwable failure) {
        long now = System.nanoTime();
        long due = NEXT_PASSING.get();
        if (now - due >= 0 && NEXT_PASSING.compareAndSet(due, now + PASSING_PAUSE.toNanos())) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "calls are answered UNAVAILABLE; more of them are logged at DEBUG for a minute",
                    failure);
        } else {
            LOG.log(System.Logger.Level.DEBUG, "a call is answered UNAVAILABLE", failure);
        }
    }

    /**
     * The name that the error has in the Java SDK of 0.3: {@code io.a2a.spec.TaskNotFoundError}. The specification names
     * none, and its clients know an error over REST by nothing else, as others do by the code.
     */
    public static String nameInJava(ErrorKind error) {
        if (error == A2AError.PARSE_ERROR) {
            return "io.a2a.spec.JSONParseError";
        }
        var name = new StringBuilder("io.a2a.spec.");
        if (error == A2AError.EXTENDED_AGENT_CARD_NOT_CONFIGURED) {
            return name.append("AuthenticatedExtendedCardNotConfiguredError").toString();
        }
        for (String word : error.name().split("_", -1)) {
            name.append(word.charAt(0)).append(word.substring(1).toLowerCase(Locale.ROOT));
        }
        return name.append("Error").toString();
    }

    public static List<Map<String, Object>> details(A2AException problem) {
        var details = new ArrayList<Map<String, Object>>();
        var info = new LinkedHashMap<String, Object>();
        info.put(TYPE, ERROR_INFO);
        info.put("reason", problem.error().name());
        info.put("domain", DOMAIN);
        if (!problem.metadata().isEmpty()) {
            info.put("metadata", problem.metadata());
        }
        details.add(info);
        if (!problem.violations().isEmpty()) {
            details.add(Map.of(
                    TYPE,
                    BAD_REQUEST,
                    "fieldViolations",
                    problem.violations().stream()
                            .map(one -> Map.of("field", one.field(), "description", one.description()))
                            .toList()));
        }
        Duration retryAfter = problem.retryAfter();
        if (retryAfter != null) {
            details.add(Map.of(
                    TYPE,
                    RETRY_INFO,
                    "retryDelay",
                    new BigDecimal(BigInteger.valueOf(retryAfter.toMillis()), 3)
                                    .stripTrailingZeros()
                                    .toPlainString() + "s"));
        }
        return details;
    }

    /** Returns the error of A2A, or of an extension that modules of the program provide. */
    public static @Nullable A2AException read(int status, byte[] body) {
        return read(status, body, ExtensionErrors.INSTALLED);
    }

    /**
     * Returns the error that a peer tells in an answer or event; null if it tells none.
     *
     * <p>What it is, says the reason; else the JSON-RPC code; else the HTTP status. Peers differ in the last.
     *
     * @param own errors of the extension that the operation belongs to
     */
    public static @Nullable A2AException read(int status, byte[] body, List<ErrorKind> own) {
        Map<?, ?> answer;
        try {
            answer = JsonText.read(body, Codecs.STRUCT);
        } catch (A2AException noObject) {
            return null;
        }
        // Release candidates of 1.0 told errors over REST as problem documents (RFC 9457), without a wrapper.
        boolean document = answer.get("type") instanceof String && answer.get("title") instanceof String;
        // Over REST, SDKs of 0.3 put the name of the error where later versions have its details, or wrap nothing at
        // all.
        boolean bare = answer.get("message") instanceof String
                && (answer.get("error") instanceof String || answer.get("code") instanceof Integer);
        if (!(answer.get("error") instanceof Map<?, ?>) && !document && !bare) {
            A2AException worded = worded(answer);
            return worded == null ? detailed(status, answer) : worded;
        }
        Map<?, ?> error = document || bare ? answer : (Map<?, ?>) requireNonNull(answer.get("error"));
        Object data = error.get(error.get("data") == null ? DETAILS : "data");
        List<Map<?, ?>> details = maps(data instanceof Map<?, ?> members ? members.get(DETAILS) : data);
        String message = text(error.get(document ? "detail" : "message"));
        ErrorKind kind = kind(status, error, details, own);
        return A2AException.of(
                kind,
                message.isEmpty() ? kind.defaultMessage() : message,
                metadata(details),
                violations(details),
                retryAfter(details));
    }

    /**
     * The details of FastAPI, on which many agents stand: a text, or a list of faults with their places.
     *
     * @return null for others
     */
    private static @Nullable A2AException detailed(int status, Map<?, ?> answer) {
        Object detail = answer.get("detail");
        if (status < 400 || detail == null) {
            return null;
        }
        A2AError kind = kind(status);
        if (detail instanceof String text && !text.isBlank()) {
            return A2AException.of(kind, text(text) + " (HTTP status " + status + ")");
        }
        var violations = new ArrayList<Violation>();
        for (Map<?, ?> fault : maps(detail)) {
            if (fault.get("msg") instanceof String problem) {
                String place = fault.get("loc") instanceof List<?> steps
                        ? steps.stream().map(String::valueOf).collect(Collectors.joining("."))
                        : "body";
                violations.add(new Violation(text(place), text(problem)));
            }
        }
        if (violations.isEmpty()) {
            return null;
        }
        String worded = violations.stream()
                .map(fault -> fault.field() + ": " + fault.description())
                .collect(Collectors.joining("; "));
        return A2AException.of(
                kind,
                kind.defaultMessage() + " (HTTP status " + status + "): " + text(worded),
                Map.of(),
                violations,
                null);
    }

    /** The Python SDK of 0.3 tells over REST nothing but the message, in the words of the specification. */
    private static @Nullable A2AException worded(Map<?, ?> answer) {
        String message = text(answer.get("message"));
        for (A2AError one : A2AError.values()) {
            if (answer.size() == 1 && one.defaultMessage().equalsIgnoreCase(message)) {
                return A2AException.of(one, message);
            }
        }
        return null;
    }

    /**
     * Returns the error of an HTTP status with a body that tells none.
     *
     * @param words of the body; see {@link dev.parley.protocol.support.Excerpt}
     */
    public static A2AException of(int status, String words) {
        A2AError kind = kind(status);
        return A2AException.of(kind, kind.defaultMessage() + " (HTTP status " + status + "): " + words);
    }

    private static ErrorKind kind(int status, Map<?, ?> error, List<Map<?, ?>> details, List<ErrorKind> own) {
        String named = details.stream()
                .map(detail -> text(detail.get("reason")))
                .filter(reason -> !reason.isEmpty())
                .findFirst()
                // The problem documents end their type in the name: https://…/errors/task-not-found.
                .orElseGet(() -> text(error.get("type")).replaceFirst(".*/", "").replace('-', '_'));
        Object inJava = error.get("error");
        List<ErrorKind> kinds = new ArrayList<>(List.of(A2AError.values()));
        kinds.addAll(own);
        for (ErrorKind one : kinds) {
            if (one.name().equalsIgnoreCase(named) || nameInJava(one).equals(inJava)) {
                return one;
            }
        }
        Object code = error.get("code");
        for (ErrorKind one : kinds) {
            // Errors of the transport have no code of their own, so there the status knows more.
            if (code instanceof Integer number && number == one.code() && !HTTP_ERRORS.contains(kind(status))) {
                return one;
            }
        }
        boolean inBody = "NOT_FOUND".equals(error.get("status"));
        return inBody ? A2AError.TASK_NOT_FOUND : kind(status);
    }

    private static A2AError kind(int status) {
        return switch (status) {
            case 400, 422 -> A2AError.INVALID_PARAMS;
            case 401 -> A2AError.UNAUTHENTICATED;
            case 403 -> A2AError.PERMISSION_DENIED;
            case 404, 410 -> A2AError.METHOD_NOT_FOUND;
            case 405 -> A2AError.METHOD_NOT_ALLOWED;
            case 409 -> A2AError.TASK_NOT_CANCELABLE;
            case 413 -> A2AError.PAYLOAD_TOO_LARGE;
            case 415 -> A2AError.CONTENT_TYPE_NOT_SUPPORTED;
            case 429 -> A2AError.RATE_LIMITED;
            case 507 -> A2AError.QUOTA_EXCEEDED;
            case 501 -> A2AError.UNSUPPORTED_OPERATION;
            case 408, 502, 503, 504 -> A2AError.UNAVAILABLE;
            default -> status >= 500 ? A2AError.INTERNAL : A2AError.INVALID_AGENT_RESPONSE;
        };
    }

    private static Map<String, String> metadata(List<Map<?, ?>> details) {
        var metadata = new LinkedHashMap<String, String>();
        for (Map<?, ?> detail : details) {
            if (ERROR_INFO.equals(detail.get(TYPE)) && detail.get("metadata") instanceof Map<?, ?> members) {
                members.forEach((name, value) -> metadata.put(text(name), text(value)));
            }
        }
        return metadata;
    }

    private static List<Violation> violations(List<Map<?, ?>> details) {
        var violations = new ArrayList<Violation>();
        for (Map<?, ?> detail : details) {
            for (Map<?, ?> one : maps(detail.get("fieldViolations"))) {
                violations.add(new Violation(text(one.get("field")), text(one.get("description"))));
            }
        }
        return violations;
    }

    private static @Nullable Duration retryAfter(List<Map<?, ?>> details) {
        for (Map<?, ?> detail : details) {
            String delay = text(detail.get("retryDelay"));
            if (delay.matches("\\d{1,9}(\\.\\d{1,9})?s")) {
                BigDecimal seconds = new BigDecimal(delay.substring(0, delay.length() - 1));
                return Duration.ofMillis(seconds.movePointRight(3).longValue());
            }
        }
        return null;
    }

    /** The objects in a list that a peer wrote. */
    private static List<Map<?, ?>> maps(@Nullable Object list) {
        var maps = new ArrayList<Map<?, ?>>();
        if (list instanceof List<?> elements) {
            for (Object element : elements) {
                if (element instanceof Map<?, ?> map) {
                    maps.add(map);
                }
            }
        }
        return maps;
    }

    /** Text of a peer, cut to a bounded length. */
    private static String text(@Nullable Object written) {
        return written == null ? "" : Excerpt.of(written.toString(), MAX_TEXT);
    }
}
