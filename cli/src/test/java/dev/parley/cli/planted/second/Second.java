package dev.parley.cli.planted.second;

import dev.parley.cli.planted.first.First;

/** Half of a cycle of packages. */
public record Second(First other) {}
