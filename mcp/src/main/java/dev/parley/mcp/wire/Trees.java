package dev.parley.mcp.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Access to JSON as maps and lists. */
public final class Trees {
    private Trees() {}

    /** The object of a text of JSON. */
    public static Map<String, @Nullable Object> json(String text) {
        return JsonText.read(text.getBytes(UTF_8), Codecs.STRUCT);
    }

    /** The members of a value of the model, which may be changed. */
    public static <T> Map<String, @Nullable Object> of(Codec<T> codec, T value) {
        return new LinkedHashMap<>(map(codec.toJson(value)));
    }

    /** A copy with another member. */
    public static Map<String, @Nullable Object> with(
            Map<String, @Nullable Object> object, String name, @Nullable Object value) {
        var copy = new LinkedHashMap<>(object);
        copy.put(name, value);
        return copy;
    }

    /** An object; empty if the value is not an object. */
    @SuppressWarnings("unchecked") // objects of JSON have texts as names
    public static Map<String, @Nullable Object> map(@Nullable Object value) {
        return value instanceof Map<?, ?> map ? (Map<String, @Nullable Object>) map : Map.of();
    }

    /** An object; empty if the member is missing or another value. */
    public static Map<String, @Nullable Object> map(Map<String, @Nullable Object> object, String name) {
        return map(object.get(name));
    }

    /** The objects of a list; other elements are left out. */
    public static List<Map<String, @Nullable Object>> maps(Map<String, @Nullable Object> object, String name) {
        return list(object.get(name)).stream()
                .filter(Map.class::isInstance)
                .map(each -> map(each))
                .toList();
    }

    /** The texts of a list; other elements are left out. */
    public static List<String> texts(Map<String, @Nullable Object> object, String name) {
        return texts(list(object.get(name)));
    }

    /** The texts of a list; other elements are left out. */
    static List<String> texts(List<?> list) {
        return list.stream()
                .filter(String.class::isInstance)
                .map(String.class::cast)
                .toList();
    }

    /** A list; empty if the value is not a list. */
    public static List<?> list(@Nullable Object value) {
        return value instanceof List<?> list ? list : List.of();
    }

    /** A text; null if the value is not a text. */
    public static @Nullable String text(@Nullable Object value) {
        return value instanceof String text ? text : null;
    }

    /** A text; null if the member is missing or another value. */
    public static @Nullable String text(Map<String, @Nullable Object> object, String name) {
        return text(object.get(name));
    }

    /** A text that is not empty; null if the member is missing or another value. */
    public static @Nullable String filled(Map<String, @Nullable Object> object, String name) {
        return object.get(name) instanceof String text && !text.isEmpty() ? text : null;
    }

    /** A number; the default if the member is missing or another value. */
    public static long number(Map<String, @Nullable Object> object, String name, long otherwise) {
        return object.get(name) instanceof Number number ? number.longValue() : otherwise;
    }

    /** Objects by name; members of other types are left out. */
    public static Map<String, Map<String, @Nullable Object>> objects(@Nullable Object value) {
        var objects = new LinkedHashMap<String, Map<String, @Nullable Object>>();
        map(value).forEach((name, member) -> {
            if (member instanceof Map<?, ?>) {
                objects.put(name, map(member));
            }
        });
        return objects;
    }
}
