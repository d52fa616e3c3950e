package dev.parley.dialect.grpc;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.Durations;
import dev.parley.dialect.grpc.rpc.BadRequest;
import dev.parley.dialect.grpc.rpc.ErrorInfo;
import dev.parley.dialect.grpc.rpc.RetryInfo;
import dev.parley.dialect.spi.Transport.Broken;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.A2AException.Violation;
import dev.parley.protocol.ErrorKind;
import io.grpc.Metadata;
import io.grpc.Status;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Error at the end of a call, read from its status and details. The reason decides which error it is, since peers differ in the status. */
final class Refusal {
    private static final Metadata.Key<byte[]> DETAILS =
            Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);
    /** Servers of 0.3 put the name of an error before the message, and have no reason. */
    private static final Pattern NAMED = Pattern.compile("(\\w+)Error\\b.*", Pattern.DOTALL);

    private Refusal() {}

    static RuntimeException of(Status status, @Nullable Metadata trailers) {
        return of(status, trailers, A2AError.UNSUPPORTED_OPERATION, List.of());
    }

    /**
     * @param unmet error for FAILED_PRECONDITION without a reason
     * @param own errors of extensions
     */
    static RuntimeException of(Status status, @Nullable Metadata trailers, A2AError unmet, List<ErrorKind> own) {
        List<Any> details = details(trailers);
        ErrorInfo info = first(details, ErrorInfo.class);
        ErrorKind named = info == null ? named(status.getDescription()) : known(info.getReason(), own);
        if (named == null) {
            RuntimeException broken = broken(status);
            if (broken != null) {
                return broken;
            }
        }
        ErrorKind error = named == null ? byCode(status, unmet) : named;
        String message = status.getDescription() == null ? error.defaultMessage() : status.getDescription();
        RetryInfo retry = first(details, RetryInfo.class);
        return A2AException.of(
                error,
                message,
                info == null ? Map.of() : info.getMetadataMap(),
                violations(first(details, BadRequest.class)),
                retry == null ? null : Duration.ofMillis(Durations.toMillis(retry.getRetryDelay())));
    }

    private static @Nullable RuntimeException broken(Status status) {
        Throwable cause = status.getCause();
        String message = status.getDescription() == null ? status.getCode().name() : status.getDescription();
        return switch (status.getCode()) {
            case UNAVAILABLE ->
                new Broken(
                        isBeforeSending(cause) ? Broken.Kind.UNREACHABLE : Broken.Kind.LOST,
                        cause == null || cause.getMessage() == null ? message : message + ": " + cause.getMessage(),
                        cause);
            case DEADLINE_EXCEEDED -> new Broken(Broken.Kind.TIMED_OUT, "the deadline has passed", cause);
            case CANCELLED ->
                new Broken(
                        Thread.currentThread().isInterrupted() ? Broken.Kind.INTERRUPTED : Broken.Kind.LOST,
                        message,
                        cause);
            case RESOURCE_EXHAUSTED ->
                message.contains("exceeds maximum size") ? new Broken(Broken.Kind.TOO_LARGE, message, cause) : null;
            // The peer does not speak gRPC, or stopped in the middle.
            case INTERNAL, UNKNOWN -> cause == null ? null : new Broken(Broken.Kind.LOST, message, cause);
            default -> null;
        };
    }

    private static boolean isBeforeSending(@Nullable Throwable cause) {
        return cause instanceof ConnectException
                || cause instanceof UnknownHostException
                || cause instanceof SSLException;
    }

    private static A2AError byCode(Status status, A2AError unmet) {
        return switch (status.getCode()) {
            case NOT_FOUND -> A2AError.TASK_NOT_FOUND;
            case INVALID_ARGUMENT, OUT_OF_RANGE -> A2AError.INVALID_PARAMS;
            case FAILED_PRECONDITION -> unmet;
            case UNIMPLEMENTED ->
                A2AError.METHOD_NOT_FOUND; // an agent would have said of what it cannot do that it is that
            case UNKNOWN, INTERNAL -> isNoGrpc(status) ? A2AError.METHOD_NOT_FOUND : A2AError.INTERNAL;
            case UNAUTHENTICATED -> A2AError.UNAUTHENTICATED;
            case PERMISSION_DENIED -> A2AError.PERMISSION_DENIED;
            case RESOURCE_EXHAUSTED -> A2AError.RATE_LIMITED;
            default -> A2AError.INTERNAL;
        };
    }

    /** True for a refusal over plain HTTP, by a server or proxy without gRPC. */
    private static boolean isNoGrpc(Status status) {
        return status.getDescription() != null && status.getDescription().startsWith("HTTP status code 4");
    }

    private static @Nullable ErrorKind named(@Nullable String message) {
        Matcher name = NAMED.matcher(message == null ? "" : message);
        return name.matches() ? known(name.group(1).replaceAll("(?<=[a-z])(?=[A-Z])", "_"), List.of()) : null;
    }

    private static @Nullable ErrorKind known(String name, List<ErrorKind> own) {
        return Stream.concat(Stream.of(A2AError.values()), own.stream())
                .filter(error -> error.name().equalsIgnoreCase(name))
                .findFirst()
                .orElse(null);
    }

    private static List<Any> details(@Nullable Metadata trailers) {
        byte[] bytes = trailers == null ? null : trailers.get(DETAILS);
        try {
            return bytes == null
                    ? List.of()
                    : dev.parley.dialect.grpc.rpc.Status.parseFrom(bytes).getDetailsList();
        } catch (InvalidProtocolBufferException damaged) {
            return List.of();
        }
    }

    private static <D extends com.google.protobuf.Message> @Nullable D first(List<Any> details, Class<D> type) {
        for (Any detail : details) {
            try {
                if (detail.is(type)) {
                    return detail.unpack(type);
                }
            } catch (InvalidProtocolBufferException damaged) {
                return null;
            }
        }
        return null;
    }

    private static List<Violation> violations(@Nullable BadRequest request) {
        var violations = new ArrayList<Violation>();
        if (request != null) {
            request.getFieldViolationsList()
                    .forEach(one -> violations.add(new Violation(one.getField(), one.getDescription())));
        }
        return violations;
    }
}
