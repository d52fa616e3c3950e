package dev.parley.protocol.settings;

import org.jspecify.annotations.Nullable;

/**
 * Value of a setting as text, and its source.
 *
 * @param value null if the setting is not set
 * @param source {@code flag}, {@code environment}, {@code file}, {@code code} or {@code default}
 * @param origin the variable or the file; null for other sources
 */
public record EffectiveSetting(
        @Nullable String value, String source, @Nullable String origin) {}
