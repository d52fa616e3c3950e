package dev.parley.cli.output;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntSupplier;

/** Handler of Ctrl-C and SIGTERM. Safe for any thread. */
public final class Interruption {
    /** Leaves the exit status to the JVM: 128 and the number of the signal. */
    public static final int BY_SIGNAL = -1;

    private final AtomicReference<IntSupplier> reaction = new AtomicReference<>(() -> BY_SIGNAL);

    /** From now on {@code reaction} happens, once; it returns the exit status or {@link #BY_SIGNAL}. */
    public void react(IntSupplier reaction) {
        this.reaction.set(reaction);
    }

    public void clear() {
        react(() -> BY_SIGNAL);
    }

    /** The user or the system asked the program to stop. */
    public int signal() {
        return reaction.getAndSet(() -> BY_SIGNAL).getAsInt();
    }
}
