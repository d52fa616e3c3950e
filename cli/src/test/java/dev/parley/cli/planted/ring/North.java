package dev.parley.cli.planted.ring;

/** A quarter of a ring of classes. */
record North(East next) {}
