package dev.parley.registry.store;

import dev.parley.registry.Entry;
import java.time.Instant;
import java.util.Map;

/**
 * A change in the log of a registry.
 *
 * @param number position in the log
 * @param kind {@code registered}, {@code changed}, {@code deprecated}, {@code expired}, {@code renewed}, {@code health}, {@code trust}, {@code
 *     transferred}, {@code deleted}, {@code revoked}
 * @param details such as the difference of two versions
 * @param now the entry after the change
 */
public record Change(long number, Instant time, String kind, Map<String, Object> details, Entry now) {}
