package dev.parley.registry.spi;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Conditions on rows in SQL: what a caller may see, and a filter.
 *
 * @param where one expression, for {@code WHERE}
 * @param values of its parameters, in their order
 */
public record Conditions(String where, List<@Nullable Object> values) {}
