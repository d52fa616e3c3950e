package dev.parley.server.helidon;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** State of an exchange that the clock and the thread that reads the connection see. */
abstract class ExchangeState {
    /** Deadline that does not pass, on the clock of {@link Connections}. */
    static final long NEVER = Long.MAX_VALUE;

    /** Time limit of a body that only a refusal needs, in nanoseconds. */
    public static final long SOON = TimeUnit.SECONDS.toNanos(1);

    private final int id;
    private final Thread thread = Thread.currentThread();
    private final @Nullable StreamThread stream;
    private volatile long bodyDeadline = NEVER;
    private volatile boolean gone;
    private volatile boolean received;
    private volatile @Nullable Runnable whenGone;
    // Only for the clock.
    private boolean seen;

    ExchangeState(int id, @Nullable StreamThread stream) {
        this.id = id;
        this.stream = stream;
    }

    /** Counts bytes of HTTP/1.1 that arrive while the request is handled. */
    abstract void pulled(int bytes);

    /** Whether the caller was admitted at any time. */
    abstract boolean wasAdmitted();

    /** The stream of HTTP/2. */
    final int id() {
        return id;
    }

    final Thread thread() {
        return thread;
    }

    final @Nullable StreamThread stream() {
        return stream;
    }

    /** The body must be here by {@code deadline}, on the clock of {@link Connections}. */
    final void bodyDeadline(long deadline) {
        bodyDeadline = deadline;
    }

    final long bodyDeadline() {
        return bodyDeadline;
    }

    /** The request has come in whole. */
    public final void received() {
        received = true;
    }

    /** Whether the request has come in whole, as far as this is known. */
    final boolean isReceived() {
        return received;
    }

    /** Runs {@code action} once the client is gone: soon, or now. */
    public final void whenGone(Runnable action) {
        whenGone = action;
        if (gone) {
            action.run();
        }
    }

    /** Whether the client has left. */
    public final boolean gone() {
        return gone;
    }

    /** The connection has ended. May be called more than once. */
    final void disconnected() {
        leave();
        thread.interrupt();
    }

    /** The client has reset the stream. */
    final void reset() {
        leave();
        if (stream != null) {
            stream.reset();
        }
    }

    private void leave() {
        gone = true;
        var action = whenGone;
        if (action != null) {
            action.run();
        }
    }

    /** Whether this is the second call. For the clock. */
    final boolean isSlow() {
        var slow = seen;
        seen = true;
        return slow;
    }
}
