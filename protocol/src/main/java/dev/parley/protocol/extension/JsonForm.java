package dev.parley.protocol.extension;

import dev.parley.protocol.InvalidField;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * JSON form of the values of one type, in both directions. JSON is in Java: maps, lists, texts, numbers, truth values and null.
 * Stateless.
 *
 * @param <T> type of the values
 */
public interface JsonForm<T> {
    /**
     * Reads a value.
     *
     * @throws InvalidField if a member is missing or wrong
     */
    T fromJson(@Nullable Object json);

    /** Writes a value. */
    @Nullable
    Object toJson(T value);

    /** Members of a value as parameters of a request, each {@linkplain RestParameter.Place#MEMBER in its body}; empty if they are not described. */
    default List<RestParameter> parameters() {
        return List.of();
    }

    /** Returns the form of a type with JSON objects as values. */
    static <T> JsonForm<T> object(
            Function<Map<String, @Nullable Object>, T> read, Function<T, Map<String, @Nullable Object>> write) {
        return new JsonForm<>() {
            @Override
            public T fromJson(@Nullable Object json) {
                if (!(json instanceof Map<?, ?> object)) {
                    throw InvalidField.of("", "no object (expected: an object)");
                }
                var members = new LinkedHashMap<String, @Nullable Object>();
                object.forEach((name, value) -> members.put(String.valueOf(name), value));
                return read.apply(members);
            }

            @Override
            public @Nullable Object toJson(T value) {
                return write.apply(value);
            }
        };
    }
}
