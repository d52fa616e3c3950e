package dev.parley.protocol.json;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Texts of which some are whole numbers, such as positions. These are written as numbers, unless readers that keep numbers in floating point,
 * such as browsers, would round them; others are strings. Both are read.
 */
public final class NumberOrText extends Codecs.Described<String> {
    /** The codec. */
    public static final Codec<String> CODEC = new NumberOrText();

    /** Greatest number up to which a double has all whole numbers. */
    private static final long GREATEST = (1L << 53) - 1;

    private NumberOrText() {
        super(
                "a whole number from 0, or a string",
                others -> Map.of("anyOf", List.of(Map.of("type", "integer", "minimum", 0), Map.of("type", "string"))));
    }

    @Override
    public @Nullable String read(JsonParser in) {
        JsonToken token = in.currentToken();
        boolean isText = token == JsonToken.VALUE_STRING || token == JsonToken.VALUE_NUMBER_INT;
        if (!isText) {
            throw FieldPath.fault(in, "", "not a number or a string (expected: " + expected() + ")");
        }
        return in.getString();
    }

    @Override
    public void write(JsonGenerator out, String value) {
        if (isNumber(value)) {
            out.writeNumber(Long.parseLong(value));
        } else {
            out.writeString(value);
        }
    }

    private static boolean isNumber(String text) {
        return text.matches("0|[1-9][0-9]{0,15}") && Long.parseLong(text) <= GREATEST;
    }

    @Override
    public String parse(String text, String field) {
        return text;
    }
}
