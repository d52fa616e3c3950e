package dev.parley.cli.output;

import dev.parley.dialect.Json;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A problem as it is printed.
 *
 * <p>Source: a2a-cli specification 0.2, section 11.4 and appendix B.
 *
 * @param code the protocol's name of the error, or a {@link LocalError}'s
 * @param hint what to do next; null if there is nothing useful to say
 * @param a2aCode the code of the binding: a JSON-RPC number or an HTTP status; null if nothing was received
 */
public record Problem(
        String code,
        int exitStatus,
        String message,
        @Nullable String hint,
        @Nullable Object a2aCode) {

    public static Problem local(LocalError error, String message, @Nullable String hint) {
        return new Problem(error.code(), error.exitStatus(), message, hint, null);
    }

    public Problem withHint(@Nullable String other) {
        return new Problem(code, exitStatus, message, other, a2aCode);
    }

    public Problem prefixed(String text) {
        return new Problem(code, exitStatus, text + message, hint, a2aCode);
    }

    /** The error envelope, on one line. */
    public byte[] json() {
        Map<String, @Nullable Object> error = new LinkedHashMap<>();
        error.put("code", code);
        error.put("message", message);
        error.put("hint", hint);
        error.put("a2aCode", a2aCode);
        return Json.write(Map.of("error", error));
    }
}
