package dev.parley.client.calls;

import dev.parley.client.wire.AttemptFailure;
import dev.parley.client.wire.ClientSettings;
import dev.parley.client.wire.HttpWire;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A stream of an extension that goes on after the last element with an id, and before the first one after where it began. One that
 * is cut before there is either begins anew.
 */
final class ResumingElements<E> extends ResumingFeed<E> {
    /** Opens the stream in one attempt. */
    interface Subscribing<E> {
        /** @param after id of the element after which the stream goes on; null for its beginning */
        Feed<E> open(Operation.ExtensionWatch<E> operation, @Nullable String after)
                throws AttemptFailure, InterruptedException;
    }

    private static final int ENDS = 3;

    private final ExtensionMethod<Operation.Extension, Object> method;
    private final Operation.ExtensionWatch<E> operation;
    private final Subscribing<E> subscribing;
    private final @Nullable String begin;
    private @Nullable String after;
    private boolean hasLast;
    /** Connections since the last element. */
    private int connections;

    @SuppressWarnings("unchecked") // the functions of a method meet only what belongs to it
    ResumingElements(
            ClientSettings settings,
            HttpWire wire,
            ExtensionMethod<?, ?> method,
            Operation.ExtensionWatch<E> operation,
            Subscribing<E> subscribing,
            Feed<E> first) {
        super(settings, wire, first);
        this.method = (ExtensionMethod<Operation.Extension, Object>) method;
        this.operation = operation;
        this.subscribing = subscribing;
        this.begin = first.position();
        this.after = this.method.resumesFromPosition(operation) ? begin : null;
    }

    @Override
    public @Nullable String position() {
        return begin;
    }

    @Override
    String name() {
        return "the subscription";
    }

    @Override
    List<E> shown(List<E> news) {
        E last = news.getLast();
        String id = last == null ? null : method.id(last);
        if (id != null) {
            after = id;
        }
        connections = 0;
        hasLast = last != null && method.isLast(last);
        return news;
    }

    /**
     * After its last element a stream is done. One that does not say which that is, is done when the agent ends it again and again
     * without an element in between; an agent that is stopped ends its streams, too.
     */
    @Override
    boolean isDone(boolean orderly) {
        return hasLast || orderly && connections >= ENDS;
    }

    @Override
    @SuppressWarnings("unchecked") // a method resumes an operation by one of the same type
    Opening<E> again(RuntimeException cause) {
        connections++;
        String id = after;
        var next = id == null ? operation : (Operation.ExtensionWatch<E>) method.after(operation, id);
        // Not every request has a member for the id, so the header carries it, too.
        return () -> subscribing.open(next, id);
    }
}
