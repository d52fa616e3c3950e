package dev.parley.dialect.wire;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.CallContext;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * Result of a successful authentication.
 *
 * @param caller the caller
 * @param headers of every answer, such as the remaining calls of a limit
 * @param leave action at the end of the call, streams included; runs once, on any thread, and must not block
 * @param stands returns true while the caller would still be admitted, because a stream outlasts its admission; must not block
 */
public record AuthenticationResult(
        CallContext caller, Map<String, String> headers, Runnable leave, BooleanSupplier stands) {
    public AuthenticationResult {
        requireNonNull(caller, "caller");
        headers = Map.copyOf(headers);
        requireNonNull(leave, "leave");
        requireNonNull(stands, "stands");
    }

    /** Result without headers and without an action at the end of the call. */
    public static AuthenticationResult of(CallContext caller) {
        return new AuthenticationResult(caller, Map.of(), () -> {}, () -> true);
    }
}
