package dev.parley.server.limits;

import dev.parley.protocol.Feed;
import dev.parley.protocol.support.FairShare;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Open event streams, up to a limit. A group has at most seven times as many as are free: 7/8 of the limit if it
 * is the only group. Safe for any thread.
 */
public final class OpenStreams {
    private final Map<Feed<?>, String> open = new ConcurrentHashMap<>();
    /** Guarded by itself. */
    private final FairShare places;

    private volatile boolean full;
    private volatile boolean ended;

    /** Creates a limit of so many streams. */
    public OpenStreams(int max) {
        this.places = FairShare.sevenEighths(max);
        this.full = max <= 0;
    }

    /** True if the limit of streams is reached. */
    public boolean full() {
        return full;
    }

    /** Returns false if there are too many streams already, or too many of the group; nothing has happened then. */
    public boolean enter(String group, Feed<?> stream) {
        synchronized (places) {
            if (!places.hasRoom(group)) {
                return false;
            }
            places.take(group);
            full = places.free() <= 0;
        }
        open.put(stream, group);
        if (ended) {
            stream.close();
        }
        return true;
    }

    /** Gives the place of a stream back. */
    public void leave(Feed<?> stream) {
        String group = open.remove(stream);
        if (group != null) {
            synchronized (places) {
                places.giveBack(group);
                full = places.free() <= 0;
            }
        }
    }

    /** The number of open streams. */
    public int count() {
        return open.size();
    }

    /** Closes all streams, and each that enters later. */
    public void endAll() {
        ended = true;
        Set.copyOf(open.keySet()).forEach(Feed::close);
    }
}
