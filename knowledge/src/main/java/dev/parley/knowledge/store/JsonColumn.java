package dev.parley.knowledge.store;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * JSON in columns, without escapes on which functions of PostgreSQL fail, for all rows that they are asked of. U+0000 is stored as in other
 * texts, and half of a surrogate pair, which is no character, as U+FFFD.
 */
public final class JsonColumn {
    private static final String ESCAPED = "\\u0000";

    /** The escape after an even number of backslashes: others are characters of the text. */
    private static final Pattern NUL = Pattern.compile("(?<!\\\\)((?:\\\\\\\\)*)\\\\u0000");

    /** The escape of half a pair: a whole one is written as its character. */
    private static final Pattern HALF = Pattern.compile("(?<!\\\\)((?:\\\\\\\\)*)\\\\u[Dd][89A-Fa-f][0-9A-Fa-f]{2}");

    private JsonColumn() {}

    public static String of(Object value) {
        String json = new String(Json.write(value), StandardCharsets.UTF_8);
        if (json.contains(ESCAPED)) {
            json = NUL.matcher(json).replaceAll("$1\0");
        }
        return json.contains("\\uD") ? HALF.matcher(json).replaceAll("$1\uFFFD") : json;
    }

    public static <T> T read(String column, Class<T> type) {
        return Json.read(column.replace("\0", ESCAPED).getBytes(StandardCharsets.UTF_8), type);
    }

    /** Reads an object. */
    @SuppressWarnings("unchecked") // the members of a JSON object have names
    public static Map<String, @Nullable Object> object(String column) {
        return read(column, Map.class);
    }

    public static List<?> list(String column) {
        return (List<?>) requireNonNull(object("{\"list\":" + column + "}").get("list"));
    }
}
