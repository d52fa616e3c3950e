package dev.parley.guards.planted.constants;

/** A quarter of a ring of classes by constants only. */
final class South {
    static final String NAME = "south";
    static final String NEXT = West.FROM;

    private South() {}
}
