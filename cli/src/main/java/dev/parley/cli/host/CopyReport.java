package dev.parley.cli.host;

import dev.parley.cli.output.Output;
import java.time.Duration;
import java.util.function.Supplier;

/** Progress of a copy, with the time that the rest needs: at a terminal at once, in a log now and then. For one thread. */
final class CopyReport {
    private static final long SHOWN = Duration.ofMillis(200).toNanos();
    private static final long NOTED = Duration.ofSeconds(10).toNanos();

    private final Output output;
    private final long begun = System.nanoTime();
    private long shown = begun;
    private long noted = begun;

    CopyReport(Output output) {
        this.output = output;
    }

    /** Shows that {@code copied} of {@code all} is done, unless it has shown something just now. */
    void show(long copied, long all, Supplier<String> text) {
        long now = System.nanoTime();
        if (now - shown < SHOWN) {
            return;
        }
        shown = now;
        long left = Math.max(0, all - copied);
        String time = copied == 0
                ? ""
                : ", about "
                        + Duration.ofNanos((long) ((double) (now - begun) / copied * left))
                                .toSeconds()
                        + " s left";
        output.progress(text.get() + time);
        if (now - noted >= NOTED) {
            noted = now;
            output.noteBesideTerminal(text.get() + time);
        }
    }

    /** Shows bytes of a copy in mebibytes. */
    void bytes(String what, long copied, long all) {
        show(copied, all, () -> what + ": " + (copied >> 20) + " of " + (Math.max(copied, all) >> 20) + " MiB");
    }
}
