package dev.parley.load;

import java.io.PrintStream;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** One line that says how a run comes along, written over and over on a terminal, and nowhere else. */
final class LoadProgress {
    private static final String CLEAR_LINE = "\r\u001b[2K";

    private final PrintStream err;
    private final boolean terminal;
    private boolean shown;

    LoadProgress(PrintStream err, boolean terminal) {
        this.err = err;
        this.terminal = terminal;
    }

    /** @param measured nanoseconds since counting began; negative before */
    void show(LoadPlan plan, LoadTally tally, long measured) {
        long seconds = TimeUnit.NANOSECONDS.toSeconds(measured);
        if (measured < 0) {
            show("warming up, " + (1 - seconds) + " s");
            return;
        }
        long count = plan.kind() == LoadKind.STREAM ? tally.events() : tally.requests();
        long errors =
                tally.errors().values().stream().mapToLong(Long::longValue).sum();
        show(String.format(
                Locale.ROOT,
                "%d of %d s · %,.0f %s/s · p99 %.2f ms%s",
                seconds,
                plan.duration().toSeconds(),
                count * 1e9 / Math.max(measured, 1),
                plan.kind() == LoadKind.STREAM ? "events" : "requests",
                tally.latency().getValueAtPercentile(99) / 1e6,
                errors == 0 ? "" : String.format(Locale.ROOT, " · %,d errors", errors)));
    }

    void show(String line) {
        if (terminal) {
            shown = true;
            err.print(CLEAR_LINE + line);
            err.flush();
        }
    }

    /** Removes the line. */
    void clear() {
        if (shown) {
            shown = false;
            err.print(CLEAR_LINE);
            err.flush();
        }
    }
}
