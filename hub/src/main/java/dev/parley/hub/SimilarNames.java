package dev.parley.hub;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Finds names of agents that a reader may take for each other, such as {@code echo} and {@code ech0}. For one thread. */
final class SimilarNames {
    private final Map<String, String> byLook = new HashMap<>();

    /** Adds a name, and returns one that was added before and looks like it. */
    Optional<String> add(String name) {
        String other = byLook.putIfAbsent(look(name), name);
        return Optional.ofNullable(other).filter(known -> !known.equals(name));
    }

    /** Skeleton of a name, without differences that are easily overlooked. */
    private static String look(String name) {
        return name.toLowerCase(Locale.ROOT)
                .replaceAll("[._-]", "")
                .replace('0', 'o')
                .replace('1', 'l')
                .replace('i', 'l')
                .replace('5', 's')
                .replace("rn", "m")
                .replace("vv", "w");
    }
}
