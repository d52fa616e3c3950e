package dev.parley.registry.store;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Conditions on rows {@code e} of the table {@code registry_entry} in SQL: what a caller may see, and a filter.
 *
 * @param values of its parameters, in their order
 */
public record Conditions(String where, List<@Nullable Object> values) {}
