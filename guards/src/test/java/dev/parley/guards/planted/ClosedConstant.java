package dev.parley.guards.planted;

import java.io.StringReader;

/** Closes a constant. */
final class ClosedConstant {
    static final StringReader READER = new StringReader("");

    private ClosedConstant() {}

    static void end() {
        READER.close();
    }
}
