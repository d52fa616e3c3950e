package dev.parley.mcp.server;

import dev.parley.mcp.wire.McpMessage;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Feed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Messages on their way to a client that pulls them. A notification that still waits makes an equal one superfluous. Safe for any thread. */
final class Outbox implements Feed<HttpReply> {
    /** Above this number the oldest notification is dropped for a newer one. */
    static final int MAX_NOTIFICATIONS = 256;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Runnable onClose;
    private final List<HttpReply> replies = new ArrayList<>();
    private @Nullable A2AException failure;
    private boolean ended;
    private boolean closed;

    /** @param onClose called once when the reader closes it */
    Outbox(Runnable onClose) {
        this.onClose = onClose;
    }

    void send(McpMessage message) {
        lock.lock();
        try {
            if (ended || closed) {
                return;
            }
            HttpReply reply = HttpReply.of(message);
            if (message instanceof McpMessage.Notification) {
                if (replies.contains(reply)) {
                    return;
                }
                if (replies.size() >= MAX_NOTIFICATIONS) {
                    dropOldest();
                }
            }
            replies.add(reply);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void dropOldest() {
        for (int i = 0; i < replies.size(); i++) {
            if (replies.get(i).message() instanceof McpMessage.Notification) {
                replies.remove(i);
                return;
            }
        }
    }

    /** Ends it with an answer. */
    void end(HttpReply last) {
        finish(last, null);
    }

    /** Ends it without an answer. */
    void end() {
        finish(null, null);
    }

    void fail(A2AException problem) {
        finish(null, problem);
    }

    private void finish(@Nullable HttpReply last, @Nullable A2AException problem) {
        lock.lock();
        try {
            if (!ended) {
                ended = true;
                failure = problem;
                if (last != null) {
                    replies.add(last);
                }
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public @Nullable List<HttpReply> next(Duration patience) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = patience.toNanos();
            while (replies.isEmpty() && !ended && !closed && left > 0) {
                left = changed.awaitNanos(left);
            }
            if (!replies.isEmpty() && !closed) {
                List<HttpReply> all = List.copyOf(replies);
                replies.clear();
                return all;
            }
            if (failure != null && !closed) {
                throw failure;
            }
            return ended || closed ? null : List.of();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            replies.clear();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        onClose.run();
    }

    /** A feed of one answer. */
    static Feed<HttpReply> of(int status, @Nullable McpMessage message, Map<String, String> headers) {
        return Feed.of(List.of(new HttpReply(status, headers, message, true)));
    }
}
