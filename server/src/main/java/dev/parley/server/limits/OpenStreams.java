package dev.parley.server.limits;

import dev.parley.protocol.Feed;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Open event streams, up to a limit. A group has at most {@value #SHARE} times as many as are free: 7/8 of the limit if it
 * is the only group. Safe for any thread.
 */
public final class OpenStreams {
    private static final int SHARE = 7;

    private final int max;
    private final Map<Feed<?>, String> open = new ConcurrentHashMap<>();
    private final Map<String, Integer> byGroup = new HashMap<>();
    private volatile int all;
    private volatile boolean ended;

    /** Creates a limit of so many streams. */
    public OpenStreams(int max) {
        this.max = max;
    }

    /** True if the limit of streams is reached. */
    public boolean full() {
        return all >= max;
    }

    /** Returns false if there are too many streams already, or too many of the group; nothing has happened then. */
    public boolean enter(String group, Feed<?> stream) {
        synchronized (byGroup) {
            if (byGroup.getOrDefault(group, 0) >= (long) SHARE * (max - all)) {
                return false;
            }
            byGroup.merge(group, 1, Integer::sum);
            all++;
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
            synchronized (byGroup) {
                byGroup.merge(group, -1, (before, change) -> before + change == 0 ? null : before + change);
                all--;
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
