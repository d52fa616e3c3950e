package dev.parley.langchain4j;

import dev.parley.engine.Request;
import dev.parley.protocol.Feed;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Call of an agent whose service may call other agents. Those calls run on threads of the model, which an interruption of the agent does
 * not reach: the end of this call ends them. Safe for any thread.
 */
final class HostedCall {
    private final Request request;
    private final Set<Feed<?>> feeds = new HashSet<>();
    private boolean isOver;

    HostedCall(Request request) {
        this.request = request;
    }

    Request request() {
        return request;
    }

    /** Closes a feed at the end of this call, or now if it is over. */
    void add(Feed<?> feed) {
        synchronized (this) {
            if (!isOver) {
                feeds.add(feed);
                return;
            }
        }
        feed.close();
    }

    synchronized void remove(Feed<?> feed) {
        feeds.remove(feed);
    }

    synchronized boolean isOver() {
        return isOver;
    }

    void end() {
        List<Feed<?>> open;
        synchronized (this) {
            isOver = true;
            open = List.copyOf(feeds);
        }
        open.forEach(Feed::close);
    }
}
