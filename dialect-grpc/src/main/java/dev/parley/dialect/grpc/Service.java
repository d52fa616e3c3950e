package dev.parley.dialect.grpc;

import com.google.protobuf.Message;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.TaskWatch;
import dev.parley.protocol.support.Excerpt;
import io.grpc.Status.Code;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One version of A2A as gRPC knows it.
 *
 * @param dialect the version, as {@link dev.parley.protocol.CallContext#dialect} names it
 * @param versions what {@code a2a-version} may be
 * @param extensions the metadata that names extensions
 * @param codes the gRPC status of each error
 * @param streams what becomes of a stream before it is shown
 */
record Service(
        String dialect,
        List<String> versions,
        String extensions,
        Map<Class<?>, Rpc<?, ?, ?, ?>> rpcs,
        Function<ErrorKind, Code> codes,
        BiFunction<Feed<LoggedEvent>, TaskWatch, Feed<LoggedEvent>> streams) {
    static final String VERSION = "a2a-version";

    Service(
            String dialect,
            List<String> versions,
            String extensions,
            List<Rpc<?, ?, ?, ?>> rpcs,
            Function<ErrorKind, Code> codes,
            BiFunction<Feed<LoggedEvent>, TaskWatch, Feed<LoggedEvent>> streams) {
        this(
                dialect,
                versions,
                extensions,
                rpcs.stream().collect(Collectors.toMap(Rpc::type, Function.identity())),
                codes,
                streams);
    }

    /** The operation as a client sends it. */
    @SuppressWarnings("unchecked") // by the table
    <R> Rpc<Operation, R, Message, Message> rpc(Operation operation) {
        var rpc = rpcs.get(operation.getClass());
        if (rpc == null) {
            throw A2AException.of(
                    A2AError.UNSUPPORTED_OPERATION,
                    operation.name() + " is not known in the version that the agent speaks");
        }
        return (Rpc<Operation, R, Message, Message>) rpc;
    }

    /** The version that a client names; null if peers of it know no such thing. */
    @Nullable
    String named() {
        return dialect.equals(CallContext.V1) ? dialect : null;
    }

    /**
     * Refuses a call for another version than this service's: the messages may look alike and mean something else.
     *
     * @param asked the value of {@code a2a-version}; several are separated by commas
     */
    void requireVersion(@Nullable String asked, boolean mustBeSaid) {
        if (asked == null || asked.isBlank()) {
            if (mustBeSaid) {
                throw notSupported("0.3");
            }
            return;
        }
        for (String one : asked.split(",", -1)) {
            for (String version : versions) {
                if (one.trim().equals(version) || one.trim().matches(version.replace(".", "\\.") + "\\.\\d+")) {
                    return;
                }
            }
        }
        throw notSupported(asked);
    }

    private A2AException notSupported(String asked) {
        String supported = String.join(",", versions);
        return A2AException.of(
                A2AError.VERSION_NOT_SUPPORTED,
                A2AError.VERSION_NOT_SUPPORTED.defaultMessage() + ": " + Excerpt.of(asked, 20) + " (expected: "
                        + supported + ")",
                Map.of("supportedVersions", supported));
    }
}
