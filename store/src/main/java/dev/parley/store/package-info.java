/**
 * Keeps the logs of tasks, and webhooks, on disk.
 *
 * <pre>{@code
 * Store store = Store.open(Path.of("data"));
 * Engine engine = Engine.builder(store.log()).build(); // closes the store with itself
 * }</pre>
 */
@NullMarked
package dev.parley.store;

import org.jspecify.annotations.NullMarked;
