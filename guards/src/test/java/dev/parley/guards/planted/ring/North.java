package dev.parley.guards.planted.ring;

/** A quarter of a ring of classes. */
record North(East next) {}
