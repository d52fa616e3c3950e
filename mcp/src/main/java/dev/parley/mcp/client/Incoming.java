package dev.parley.mcp.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A text of a server, such as a line of its output, as the client understands it. */
sealed interface Incoming {
    /** The value of a member, after its name. */
    Pattern VALUE = Pattern.compile("\\s*+:\\s*+\"?+([^\"\\\\,}\\s]{1,100}+)");

    record Message(Map<String, @Nullable Object> json) implements Incoming {}

    /**
     * A message that cannot be read, so that its request has to end.
     *
     * @param id of the message; null if it has none, or none that can be found
     * @param method null for an answer
     */
    record Damaged(@Nullable String id, @Nullable String method, String problem) implements Incoming {}

    /** Not meant as a message. */
    record Noise() implements Incoming {}

    /** Reads a text. A byte order mark is overlooked, and an answer may lack the version of JSON-RPC. */
    static Incoming of(byte[] bytes) {
        String text = new String(bytes, UTF_8).strip();
        text = text.startsWith("\ufeff") ? text.substring(1).strip() : text;
        if (!text.startsWith("{") && !text.startsWith("[")) {
            return new Noise();
        }
        try {
            Map<String, @Nullable Object> json = JsonText.request(text.getBytes(UTF_8), Codecs.STRUCT);
            boolean isAnswer =
                    json.containsKey("id") && (json.containsKey("result") || json.get("error") instanceof Map);
            return "2.0".equals(json.get("jsonrpc")) || isAnswer ? new Message(json) : new Noise();
        } catch (A2AException malformed) {
            return text.contains("\"jsonrpc\"") ? damaged(text, malformed) : new Noise();
        }
    }

    private static Damaged damaged(String text, A2AException malformed) {
        String problem = malformed.violations().isEmpty()
                ? String.valueOf(malformed.getMessage())
                : malformed.violations().getFirst().description();
        return new Damaged(
                member(text, "id").filter(id -> !id.equals("null")).orElse(null),
                member(text, "method").orElse(null),
                problem);
    }

    /** The beginning of a member of the outermost object, as far as the text can be followed. */
    private static Optional<String> member(String text, String name) {
        int outermost = text.startsWith("[") ? 2 : 1;
        int level = 0;
        for (int i = 0; i < text.length(); i++) {
            switch (text.charAt(i)) {
                case '{', '[' -> level++;
                case '}', ']' -> level--;
                case '"' -> {
                    int end = end(text, i);
                    if (end == text.length()) {
                        return Optional.empty();
                    }
                    if (level == outermost && end == i + name.length() + 1 && text.startsWith(name, i + 1)) {
                        Matcher value = VALUE.matcher(text).region(end + 1, text.length());
                        if (value.lookingAt()) {
                            return Optional.of(value.group(1));
                        }
                    }
                    i = end;
                }
                default -> {}
            }
        }
        return Optional.empty();
    }

    /** Where the string that begins at a place ends. */
    private static int end(String text, int begin) {
        for (int i = begin + 1; i < text.length(); i++) {
            switch (text.charAt(i)) {
                case '\\' -> i++;
                case '"' -> {
                    return i;
                }
                default -> {}
            }
        }
        return text.length();
    }

    /** An id of a message as text; numbers may have been written with a fraction. */
    static String id(@Nullable Object id) {
        return id instanceof Number number && number.doubleValue() == number.longValue()
                ? Long.toString(number.longValue())
                : String.valueOf(id);
    }

    /** Whether a message answers a request; else it is a request or a notification of the server. */
    static boolean isAnswer(Map<String, @Nullable Object> message) {
        return !(message.get("method") instanceof String);
    }

    /** Whether an answer is an error of a request that the server could not read. */
    static boolean isErrorWithoutId(Map<String, @Nullable Object> message) {
        return isAnswer(message)
                && message.get("id") == null
                && !Trees.map(message, "error").isEmpty();
    }
}
