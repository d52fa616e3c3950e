package dev.parley.cli.output;

import dev.parley.dialect.Json;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** JSON for people: two spaces per level. */
public final class PrettyJson {
    private PrettyJson() {}

    public static String of(@Nullable Object value) {
        var text = new StringBuilder();
        append(text, value, "\n");
        return text.toString();
    }

    private static void append(StringBuilder text, @Nullable Object value, String newLine) {
        String deeper = newLine + "  ";
        if (value instanceof Map<?, ?> members && !members.isEmpty()) {
            text.append('{');
            for (Iterator<? extends Map.Entry<?, ?>> i = members.entrySet().iterator(); i.hasNext(); ) {
                Map.Entry<?, ?> member = i.next();
                text.append(deeper)
                        .append(plain(String.valueOf(member.getKey())))
                        .append(": ");
                append(text, member.getValue(), deeper);
                text.append(i.hasNext() ? "," : newLine);
            }
            text.append('}');
        } else if (value instanceof List<?> elements && !elements.isEmpty()) {
            text.append('[');
            for (Iterator<?> i = elements.iterator(); i.hasNext(); ) {
                text.append(deeper);
                append(text, i.next(), deeper);
                text.append(i.hasNext() ? "," : newLine);
            }
            text.append(']');
        } else {
            text.append(plain(value));
        }
    }

    private static String plain(@Nullable Object value) {
        return new String(Json.write(value), StandardCharsets.UTF_8);
    }
}
