package dev.parley.protocol.json;

import dev.parley.protocol.InvalidField;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Codecs for closed choices. Safe for any thread. */
public final class WordCodecs {
    private WordCodecs() {}

    /** As {@code words}, which it writes; {@code read} understands more texts, and may throw {@link InvalidField}. */
    public static <E> Codec<E> reading(Codec<E> words, Function<String, ? extends @Nullable E> read) {
        return DescribedCodecs.like(words, Codecs.via(Codecs.TEXT, read, words::format));
    }
}
