package dev.parley.protocol.json;

import dev.parley.protocol.InvalidField;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;

/** Codecs that are described as others, because they read more than these or read it in their own way. Safe for any thread. */
public final class DescribedCodecs {
    private DescribedCodecs() {}

    /** As {@code codec}, with the schema and the expectation of another one. */
    public static <T> Codec<T> like(Codec<?> described, Codec<T> codec) {
        return new Codecs.Described<>(described.expected(), described::schema) {
            @Override
            public @Nullable T read(JsonParser in) {
                return codec.read(in);
            }

            @Override
            public void write(JsonGenerator out, T value) {
                codec.write(out, value);
            }

            @Override
            public boolean readsNull() {
                return codec.readsNull();
            }

            @Override
            public @Nullable T parse(List<String> texts, String field) {
                return codec.parse(texts, field);
            }

            @Override
            public @Nullable T parse(String text, String field) {
                return codec.parse(text, field);
            }

            @Override
            public String format(T value) {
                return codec.format(value);
            }
        };
    }

    /**
     * A codec that decides itself which values it reads.
     *
     * @param read gets values as {@link Codecs#FREE} reads them, and may throw {@link InvalidField}
     * @param write returns a value that fits the description
     */
    public static <T> Codec<T> like(
            Codec<?> described, Function<Object, ? extends @Nullable T> read, Function<T, Object> write) {
        return like(described, Codecs.via(Codecs.FREE, read, write));
    }

    /** A value of one of several kinds, such as {@link Codecs#FREE} reads and writes it, without a check. */
    public static Codec<Object> anyOf(Codec<?>... kinds) {
        String expected = Stream.of(kinds).map(Codec::expected).collect(Collectors.joining(" or "));
        return new Codecs.Described<Object>(
                expected, others -> Map.of("anyOf", Stream.of(kinds).map(others).toList())) {
            @Override
            public @Nullable Object read(JsonParser in) {
                return Codecs.FREE.read(in);
            }

            @Override
            public void write(JsonGenerator out, Object value) {
                Codecs.FREE.write(out, value);
            }
        };
    }
}
