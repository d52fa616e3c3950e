package dev.parley.mcp.wire;

import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Codecs for messages of other programs: a value of another type is as good as absent. */
public final class Lenient {
    public static final Codec<String> TEXT = of(String.class);
    public static final Codec<Boolean> BOOLEAN = of(Boolean.class);
    public static final Codec<Number> DECIMAL = of(Number.class);
    public static final Codec<Long> NUMBER = Codecs.via(
            Codecs.FREE, value -> value instanceof Number number ? (Long) number.longValue() : null, value -> value);
    public static final Codec<Map<String, @Nullable Object>> OBJECT =
            Codecs.via(Codecs.FREE, value -> value instanceof Map<?, ?> ? Trees.map(value) : null, value -> value);

    public static final Codec<List<String>> TEXTS =
            Codecs.via(Codecs.FREE, value -> value instanceof List<?> list ? Trees.texts(list) : null, value -> value);

    private Lenient() {}

    private static <T> Codec<T> of(Class<T> type) {
        return Codecs.via(Codecs.FREE, value -> type.isInstance(value) ? type.cast(value) : null, value -> value);
    }
}
