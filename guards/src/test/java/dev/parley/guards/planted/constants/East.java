package dev.parley.guards.planted.constants;

/** A quarter of a ring of classes by constants only. */
final class East {
    static final String NAME = "east";

    private East() {}

    static boolean isBefore(String name) {
        return switch (name) {
            case South.NAME -> true;
            default -> false;
        };
    }
}
