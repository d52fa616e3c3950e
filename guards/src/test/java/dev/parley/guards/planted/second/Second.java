package dev.parley.guards.planted.second;

import dev.parley.guards.planted.first.First;

/** Half of a cycle of packages. */
public record Second(First other) {}
