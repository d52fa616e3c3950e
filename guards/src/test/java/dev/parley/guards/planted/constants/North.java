package dev.parley.guards.planted.constants;

/** A quarter of a ring of classes by constants only. */
final class North {
    static final String NAME = "north";

    private North() {}

    static String next() {
        return "then " + East.NAME;
    }
}
