package dev.parley.interop;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import java.util.Locale;
import java.util.Map;

/**
 * What was found out about one operation: by a foreign client, or by ours with a foreign server.
 *
 * @param foreigner the name and version of what others have made
 * @param dialect the version of the protocol that it speaks
 * @param detail what it saw, why it failed, or why it has no such thing
 */
record Check(String foreigner, String dialect, String binding, String operation, Result result, String detail) {
    /** How it went. */
    enum Result {
        PASSED,
        FAILED,
        /** The client has no way to ask for it, or the server none to answer. */
        NOT_OFFERED;

        /** The word for it, as clients print it. */
        String word() {
            return name().toLowerCase(Locale.ROOT).replace('_', ' ');
        }
    }

    /** Reads a line that a client printed. */
    static Check parse(String line) {
        Map<?, ?> members = Json.read(line.getBytes(UTF_8), Map.class);
        String result = text(members, "result");
        return new Check(
                text(members, "client"),
                text(members, "dialect"),
                text(members, "binding"),
                text(members, "operation"),
                Result.valueOf(result.toUpperCase(Locale.ROOT).replace(' ', '_')),
                text(members, "detail"));
    }

    /** The column of the table of results that this belongs to. */
    String column() {
        return binding.isEmpty() ? foreigner : foreigner + " " + binding;
    }

    private static String text(Map<?, ?> members, String name) {
        return String.valueOf(members.get(name));
    }
}
