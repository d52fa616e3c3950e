package dev.parley.dialect.wire;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.CallContext;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * That a call was let in.
 *
 * @param caller who makes it
 * @param headers of the answer, whatever it will be, such as how many more calls are left
 * @param leave run once when the call has ended, streams included; on any thread, and must not block
 * @param stands whether the caller would be let in now, too: a stream outlasts its admission. Must not block
 */
public record Admission(CallContext caller, Map<String, String> headers, Runnable leave, BooleanSupplier stands) {
    public Admission {
        requireNonNull(caller, "caller");
        headers = Map.copyOf(headers);
        requireNonNull(leave, "leave");
        requireNonNull(stands, "stands");
    }

    /** Of a caller about whom nothing more is to be said. */
    public static Admission of(CallContext caller) {
        return new Admission(caller, Map.of(), () -> {}, () -> true);
    }
}
