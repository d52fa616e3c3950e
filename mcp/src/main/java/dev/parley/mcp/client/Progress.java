package dev.parley.mcp.client;

import org.jspecify.annotations.Nullable;

/** Receives reports about the progress of a call. */
@FunctionalInterface
public interface Progress {
    Progress NONE = (progress, total, message) -> {};

    void report(double progress, @Nullable Double total, @Nullable String message);
}
