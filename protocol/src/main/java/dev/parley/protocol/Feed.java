package dev.parley.protocol;

import java.time.Duration;
import java.util.AbstractList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Ordered events for one reader.
 *
 * <p>The reader pulls, so a slow reader delays no other. For one thread at a time, except {@link
 * #close()}, which any thread may call and which wakes a waiting {@link #next}.
 *
 * @param <E> type of the elements
 */
public interface Feed<E> extends AutoCloseable {
    /**
     * Returns the elements since the last call; waits for one if there is none.
     *
     * @return at least one element; an empty list if nothing happened within {@code patience}; null once this has ended
     * @throws A2AException if it had to end
     * @throws InterruptedException if the waiting thread was interrupted; this can still be read
     */
    @Nullable
    List<E> next(Duration patience) throws InterruptedException;

    /**
     * The place after which this began, as its operation takes it to go on after a cut before anything has come; null if that is not
     * known.
     */
    default @Nullable String position() {
        return null;
    }

    /** Pause that the source wants before it is connected to again; null for any. */
    default @Nullable Duration retry() {
        return null;
    }

    /** Ends the feed for its reader; the task behind it goes on. Idempotent. */
    @Override
    void close();

    /** A feed of elements that are there already, which ends after the last one. An element is taken when the reader pulls it. */
    static <E> Feed<E> of(Iterable<E> elements) {
        Iterator<E> rest = elements.iterator();
        return new Feed<>() {
            private volatile boolean closed;

            @Override
            public @Nullable List<E> next(Duration patience) {
                return closed || !rest.hasNext() ? null : List.of(rest.next());
            }

            @Override
            public void close() {
                closed = true;
            }
        };
    }

    /** This, and {@code end} runs once when it is closed for the first time. */
    default Feed<E> onClose(Runnable end) {
        Feed<E> from = this;
        var open = new AtomicBoolean(true);
        return new Feed<>() {
            @Override
            public @Nullable List<E> next(Duration patience) throws InterruptedException {
                return from.next(patience);
            }

            @Override
            public @Nullable String position() {
                return from.position();
            }

            @Override
            public void close() {
                if (open.compareAndSet(true, false)) {
                    end.run();
                }
                from.close();
            }
        };
    }

    /** Returns this feed with converted elements. Each is converted when it is taken out of its list, so that only one need exist. */
    default <F> Feed<F> as(Function<? super E, ? extends F> form) {
        Feed<E> from = this;
        return new Feed<>() {
            @Override
            public @Nullable List<F> next(Duration patience) throws InterruptedException {
                List<E> next = from.next(patience);
                return next == null
                        ? null
                        : new AbstractList<>() {
                            @Override
                            public F get(int index) {
                                return form.apply(next.get(index));
                            }

                            @Override
                            public int size() {
                                return next.size();
                            }
                        };
            }

            @Override
            public @Nullable String position() {
                return from.position();
            }

            @Override
            public void close() {
                from.close();
            }
        };
    }
}
