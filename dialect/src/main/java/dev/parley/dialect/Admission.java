package dev.parley.dialect;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.CallContext;
import java.util.Map;

/**
 * That a call was let in.
 *
 * @param caller who makes it
 * @param headers of the answer, whatever it will be, such as how many more calls are left
 * @param leave run once when the call has ended, streams included; on any thread, and must not block
 */
public record Admission(CallContext caller, Map<String, String> headers, Runnable leave) {
    public Admission {
        requireNonNull(caller, "caller");
        headers = Map.copyOf(headers);
        requireNonNull(leave, "leave");
    }

    /** Of a caller about whom nothing more is to be said. */
    public static Admission of(CallContext caller) {
        return new Admission(caller, Map.of(), () -> {});
    }
}
