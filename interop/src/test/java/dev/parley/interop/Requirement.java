package dev.parley.interop;

import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

/** What tests here need, and not every machine has. */
public final class Requirement {
    private Requirement() {}

    /** Skips the test, unless the system property {@code parley.interop.required} is {@code true}: then it has failed. */
    public static void missing(String reason) {
        if (Boolean.getBoolean("parley.interop.required")) {
            fail(reason);
        }
        abort(reason);
    }
}
