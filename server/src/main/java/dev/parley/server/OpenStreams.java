package dev.parley.server;

import dev.parley.protocol.Feed;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/** The event streams that are being written, as many as may be. Safe for any thread. */
final class OpenStreams {
    private final Semaphore free;
    private final Set<Feed<?>> open = ConcurrentHashMap.newKeySet();
    private volatile boolean ended;

    OpenStreams(int max) {
        this.free = new Semaphore(max);
    }

    boolean full() {
        return free.availablePermits() == 0;
    }

    /** Returns false if there are too many streams already; nothing has happened then. */
    boolean enter(Feed<?> stream) {
        if (!free.tryAcquire()) {
            return false;
        }
        open.add(stream);
        if (ended) {
            stream.close();
        }
        return true;
    }

    void leave(Feed<?> stream) {
        if (open.remove(stream)) {
            free.release();
        }
    }

    int count() {
        return open.size();
    }

    /** Closes all streams, and each that enters later. */
    void endAll() {
        ended = true;
        open.forEach(Feed::close);
    }
}
