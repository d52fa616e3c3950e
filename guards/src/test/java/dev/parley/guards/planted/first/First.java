package dev.parley.guards.planted.first;

import dev.parley.guards.planted.second.Second;

/** Half of a cycle of packages. */
public record First(Second other) {}
