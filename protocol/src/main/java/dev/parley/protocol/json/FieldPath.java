package dev.parley.protocol.json;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.Excerpt;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.TokenStreamContext;

/** Names the place in a document where something is wrong, as {@code message.parts[0].text}. */
public final class FieldPath {
    private static final int SHOWN_CHARACTERS = 60;

    private FieldPath() {}

    /** Returns the error of the current value, with the expected one. */
    public static A2AException unexpected(JsonParser in, String expected) {
        return fault(in, "", shown(in) + " (expected: " + expected + ")");
    }

    /** Refuses a current value that does not begin as expected. */
    public static void require(JsonParser in, JsonToken first, String expected) {
        if (in.currentToken() != first) {
            throw unexpected(in, expected);
        }
    }

    /** A fault of {@code field} of the object that was just read, or of that object if {@code field} is empty. */
    public static A2AException fault(@Nullable JsonParser in, String field, String problem) {
        return A2AException.invalidParams(of(in, field), problem);
    }

    /** The fault of a key that its object has already. */
    static A2AException duplicate(JsonParser in) {
        return invalid("duplicate key " + of(in, ""));
    }

    /** The error for bytes that are no JSON, or not the strict kind that is read here. */
    static A2AException invalid(String problem) {
        return A2AException.of(A2AError.PARSE_ERROR, A2AError.PARSE_ERROR.defaultMessage() + ": " + problem);
    }

    /** The path of {@code field} in the object that was just read. */
    static String of(@Nullable JsonParser in, String field) {
        var path = new StringBuilder();
        if (in != null) {
            append(path, in.streamReadContext());
        }
        if (!field.isEmpty()) {
            path.append(path.isEmpty() ? "" : ".").append(field);
        }
        return path.isEmpty() ? "body" : path.toString();
    }

    private static void append(StringBuilder path, @Nullable TokenStreamContext context) {
        if (context == null || context.inRoot()) {
            return;
        }
        append(path, context.getParent());
        // A value just begun has no name or index of its own yet; its parent has named it.
        if (context.inArray() && context.hasCurrentIndex()) {
            path.append('[').append(context.getCurrentIndex()).append(']');
        } else if (context.inObject() && context.currentName() != null) {
            path.append(path.isEmpty() ? "" : ".").append(context.currentName());
        }
    }

    private static String shown(JsonParser in) {
        JsonToken token = in.currentToken();
        if (token == JsonToken.START_OBJECT) {
            return "an object";
        }
        if (token == JsonToken.START_ARRAY) {
            return "an array";
        }
        String text = in.getString();
        String start = Excerpt.of(text, SHOWN_CHARACTERS);
        return token == JsonToken.VALUE_STRING ? '"' + start + '"' : start;
    }
}
