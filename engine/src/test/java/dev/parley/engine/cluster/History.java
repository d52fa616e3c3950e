package dev.parley.engine.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** What has happened in a simulation, if it is to be told. */
final class History {
    /** A promise that was broken. */
    static final class Violation extends AssertionError {
        private static final long serialVersionUID = 1L;

        Violation(String words) {
            super(words);
        }
    }

    private static final long MILLION = 1_000_000;

    private final LongSupplier nanos;
    private final boolean isKept;
    private final List<String> lines = new ArrayList<>();

    History(LongSupplier nanos, boolean isKept) {
        this.nanos = nanos;
        this.isKept = isKept;
    }

    void add(Supplier<String> line) {
        if (isKept) {
            lines.add("%,9d ms  %s".formatted(nanos.getAsLong() / MILLION, line.get()));
        }
    }

    List<String> lines() {
        return lines;
    }
}
