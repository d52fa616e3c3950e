package dev.parley.knowledge.spi;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a reader may not look below: what these exclude does not exist in a {@link View}.
 *
 * @param certainty statements less certain, or of unknown certainty, are hidden; null or 0 for no floor
 * @param confirmedSince statements confirmed before are hidden; null for no floor
 * @param rules the first that fits a statement says whether it is seen
 * @param otherwise whether statements are seen that no rule fits
 */
public record Floors(
        @Nullable Double certainty, @Nullable Instant confirmedSince, List<Rule> rules, boolean otherwise) {
    /** Everything is seen. */
    public static final Floors NONE = new Floors(null, null, List.of(), true);

    public Floors {
        rules = List.copyOf(rules);
    }

    /** What fits {@code pattern}, and is less certain than {@code certaintyBelow} if that is given, is seen or hidden. */
    public record Rule(Pattern pattern, @Nullable Double certaintyBelow, boolean seen) {}
}
