package dev.parley.registry;

/**
 * Model that turns texts into vectors of their meaning, for searches in words that cards do not use. A jar names its implementation in
 * {@code META-INF/services/dev.parley.registry.Embedder}; without one, searches use words only.
 */
public interface Embedder {
    /** Name of the model; vectors of different models are not compared. */
    String model();

    /** A vector of length 1 for a text. Called on a platform thread; may compute for some milliseconds. */
    float[] embed(String text);
}
