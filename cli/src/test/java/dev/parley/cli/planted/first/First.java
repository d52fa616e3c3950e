package dev.parley.cli.planted.first;

import dev.parley.cli.planted.second.Second;

/** Half of a cycle of packages. */
public record First(Second other) {}
