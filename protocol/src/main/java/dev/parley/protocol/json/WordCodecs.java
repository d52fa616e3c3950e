package dev.parley.protocol.json;

import dev.parley.protocol.InvalidField;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;

/** Codecs for closed choices. Safe for any thread. */
public final class WordCodecs {
    private WordCodecs() {}

    /** As {@code words}, which it writes; {@code read} understands more texts, and may throw {@link InvalidField}. */
    public static <E> Codec<E> reading(Codec<E> words, Function<String, ? extends @Nullable E> read) {
        Codec<E> texts = Codecs.via(Codecs.TEXT, read, words::format);
        return new Codecs.Lenient<>(words) {
            @Override
            public @Nullable E read(JsonParser in) {
                return texts.read(in);
            }

            @Override
            public @Nullable E parse(List<String> given, String field) {
                return texts.parse(given, field);
            }

            @Override
            public @Nullable E parse(String text, String field) {
                return texts.parse(text, field);
            }
        };
    }
}
