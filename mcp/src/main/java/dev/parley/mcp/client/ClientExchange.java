package dev.parley.mcp.client;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * An open request, with the messages of the server that belong to it. The transport adds messages; one thread at a time takes them.
 */
final class ClientExchange {
    private static final int MOST_WAITING = 1_000;

    /** A message, or the failure after the last message. */
    private sealed interface Item {
        record Message(Map<String, @Nullable Object> json) implements Item {}

        record Broken(ServerFailure failure) implements Item {}
    }

    private final long id;
    private final LinkedBlockingQueue<Item> items = new LinkedBlockingQueue<>(MOST_WAITING + 1);
    private final AtomicReference<@Nullable ServerFailure> failure = new AtomicReference<>();
    private volatile @Nullable Runnable end;
    private volatile boolean closed;

    ClientExchange(long id) {
        this.id = id;
    }

    /** Id of the request, which is also its progress token. */
    long id() {
        return id;
    }

    /** Whether a message is the answer. */
    boolean isAnsweredBy(Map<String, @Nullable Object> message) {
        return Incoming.isAnswer(message) && Incoming.id(message.get("id")).equals(Long.toString(id));
    }

    /** Adds a message; waits while too many are waiting. */
    void put(Map<String, @Nullable Object> message) throws InterruptedException {
        items.put(new Item.Message(message));
    }

    /** Adds a message; without space it drops notifications, and fails the exchange for other messages. */
    void offer(Map<String, @Nullable Object> message) {
        if (items.size() < MOST_WAITING && items.offer(new Item.Message(message)) || !message.containsKey("id")) {
            return;
        }
        items.clear();
        fail(new ServerFailure(ServerFailure.Kind.INVALID_RESPONSE, "more than " + MOST_WAITING + " messages wait"));
    }

    /** Ends the exchange after its messages. The first failure is the one that counts. */
    void fail(ServerFailure reason) {
        if (failure.compareAndSet(null, reason)) {
            boolean unused =
                    items.offer(new Item.Broken(reason)); // without space, who takes the messages finds the reason
        }
    }

    /**
     * Takes the next message.
     *
     * @throws ServerFailure if there is none in time, or the connection is lost
     */
    Map<String, @Nullable Object> next(Duration limit) throws InterruptedException {
        ServerFailure reason = failure.get(); // before the messages, which come before it
        Item item = items.poll();
        if (item == null && reason != null) {
            throw reason;
        }
        return switch (item != null ? item : items.poll(Math.max(0, limit.toMillis()), TimeUnit.MILLISECONDS)) {
            case null -> throw new ServerFailure(ServerFailure.Kind.TIMEOUT, "no answer in time");
            case Item.Message(var json) -> json;
            case Item.Broken(var broken) -> throw broken;
        };
    }

    /** Sets the action that ends the request at the transport; runs it at once if the exchange has ended. */
    void onEnd(Runnable action) {
        end = action;
        if (closed) {
            action.run();
        }
    }

    /** Gives up the request. Idempotent. */
    void close() {
        closed = true;
        Runnable action = end;
        if (action != null) {
            end = null;
            action.run();
        }
    }
}
