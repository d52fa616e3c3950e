package dev.parley.guards.planted.constants;

import static dev.parley.guards.planted.constants.North.NAME;

/** A quarter of a ring of classes by constants only. */
final class West {
    static final String FROM = NAME;

    private West() {}
}
