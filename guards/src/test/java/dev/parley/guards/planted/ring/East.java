package dev.parley.guards.planted.ring;

/** A quarter of a ring of classes. */
record East(South next) {}
