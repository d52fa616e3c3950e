package dev.parley.protocol.settings;

import org.jspecify.annotations.Nullable;

/**
 * Value of a setting as text, and its source.
 *
 * @param value null if the setting is not set
 * @param origin the variable or the file; null for other sources
 */
public record EffectiveSetting(
        @Nullable String value, Source source, @Nullable String origin) {
    /** Kind of place from which a value comes. */
    public enum Source {
        FLAG,
        ENVIRONMENT,
        FILE,
        CODE,
        DEFAULT
    }
}
