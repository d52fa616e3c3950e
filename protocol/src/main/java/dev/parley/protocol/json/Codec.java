package dev.parley.protocol.json;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.extension.JsonForm;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;

/**
 * JSON of one kind of value, in both directions, read from and written to streams of tokens: a {@link JsonForm} without a tree in
 * between. Stateless.
 */
public interface Codec<T> extends JsonForm<T> {
    /** Expectation for error messages, such as {@code a string}. */
    String expected();

    /**
     * Reads the value whose first token is the current one, and stays on its last. Null means that the value is as good
     * as absent.
     *
     * @throws A2AException INVALID_PARAMS naming the place
     */
    @Nullable
    T read(JsonParser in);

    void write(JsonGenerator out, T value);

    @Override
    default T fromJson(@Nullable Object json) {
        return TreeCodec.ofTree(this, json);
    }

    @Override
    default @Nullable Object toJson(T value) {
        return TreeCodec.toTree(this, value);
    }

    /**
     * Reads a query parameter or a piece of a path.
     *
     * @throws A2AException INVALID_PARAMS naming {@code field}
     */
    default @Nullable T parse(String text, String field) {
        throw A2AException.invalidParams(field, "not possible outside of a body");
    }

    /**
     * Reads a query parameter that may be repeated.
     *
     * @param texts one or more
     * @throws A2AException INVALID_PARAMS naming {@code field}
     */
    default @Nullable T parse(List<String> texts, String field) {
        if (texts.size() > 1) {
            throw A2AException.invalidParams(field, "given " + texts.size() + " times (expected: once)");
        }
        return parse(texts.getFirst(), field);
    }

    /** The opposite of {@link #parse(String, String)}. */
    default String format(T value) {
        return value.toString();
    }

    /**
     * JSON Schema of the values as they are written; empty for any.
     *
     * @param others returns the schema of another codec, or a reference to it
     */
    default Map<String, Object> schema(Function<Codec<?>, Map<String, Object>> others) {
        return Map.of();
    }

    /** JSON Schema of the values, with those of all codecs that it is made of. */
    default Map<String, Object> schema() {
        return schema(Codec::schema);
    }

    /** True if JSON null is a value here; everywhere else it means absent. */
    default boolean readsNull() {
        return false;
    }
}
