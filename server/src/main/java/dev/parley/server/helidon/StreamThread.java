package dev.parley.server.helidon;

import dev.parley.server.limits.FairScheduler;
import org.jspecify.annotations.Nullable;

/**
 * The thread of one HTTP/2 stream, and the sections of it that a reset of the stream must not interrupt.
 *
 * <p>An interrupt during a write to the socket closes the socket, and with it all other streams of the connection; one
 * while the body is read may lose bytes of the connection's window. The interrupt waits for the end of either. A reset
 * ends the reading of a body without an interrupt.
 */
final class StreamThread {
    private final Thread thread;
    private final Runnable whenDecided;
    private boolean decided;
    private boolean writing;
    private boolean reading;
    private boolean reset;
    private boolean interrupted;
    private FairScheduler.@Nullable Early share;
    private int together;

    /** @param whenDecided run once it is known whether the caller is admitted, or when the thread waits for the body to know it */
    StreamThread(Thread thread, Runnable whenDecided) {
        this.thread = thread;
        this.whenDecided = whenDecided;
    }

    /** Records that the request waits for no decision any more. Only for the thread itself; may be called more than once. */
    void decided() {
        if (!decided) {
            decided = true;
            whenDecided.run();
        }
    }

    /** The exchange of the stream has this share of the processors. Only for the thread itself. */
    void keep(FairScheduler.@Nullable Early share) {
        this.share = share;
    }

    FairScheduler.@Nullable Early takeShare() {
        var taken = share;
        share = null;
        return taken;
    }

    /** The answer that begins now has so many bytes, all of which may be sent. Only for the thread itself. */
    void answerTogether(int bytes) {
        together = bytes;
    }

    /**
     * Returns whether a frame can wait for the next one of the same answer, which follows at once. Only for the thread
     * itself, about each frame that it sends.
     */
    boolean waitsForNext(int type, int flags, int length) {
        boolean waits = together > 0
                && (flags & Frames.END_STREAM) == 0
                && (type == Frames.HEADERS || type == Frames.DATA && length == together);
        if (!waits) {
            together = 0;
        }
        return waits;
    }

    /** The client has reset the stream. For any thread. */
    synchronized void reset() {
        if (writing || reading) {
            reset = true;
        } else {
            thread.interrupt();
        }
    }

    synchronized void beginReading() {
        reading = true;
    }

    synchronized void endReading() {
        reading = false;
        interruptIfReset();
    }

    synchronized void beginWriting() {
        writing = true;
        interrupted = Thread.interrupted();
    }

    synchronized void endWriting() {
        writing = false;
        if (interrupted) {
            thread.interrupt();
        }
        interruptIfReset();
    }

    private void interruptIfReset() {
        if (reset && !writing && !reading) {
            reset = false;
            thread.interrupt();
        }
    }
}
