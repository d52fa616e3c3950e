package dev.parley.interop;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import java.util.Map;

/**
 * What a foreign client found out about one operation.
 *
 * @param client its name and version
 * @param detail what it saw, or why it failed
 */
record Check(String client, String binding, String operation, boolean ok, String detail) {
    /** Reads a line that a client printed. */
    static Check parse(String line) {
        Map<?, ?> members = Json.read(line.getBytes(UTF_8), Map.class);
        return new Check(
                text(members, "client"),
                text(members, "binding"),
                text(members, "operation"),
                Boolean.TRUE.equals(members.get("ok")),
                text(members, "detail"));
    }

    /** The column of the table of results that this belongs to. */
    String column() {
        return client + " " + binding;
    }

    private static String text(Map<?, ?> members, String name) {
        return String.valueOf(members.get(name));
    }
}
