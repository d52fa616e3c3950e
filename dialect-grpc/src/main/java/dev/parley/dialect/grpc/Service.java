package dev.parley.dialect.grpc;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.Excerpt;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import io.grpc.Status.Code;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;
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
        List<Rpc<?, ?, ?, ?>> rpcs,
        Function<ErrorKind, Code> codes,
        UnaryOperator<Feed<LoggedEvent>> streams) {
    static final String VERSION = "a2a-version";

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
