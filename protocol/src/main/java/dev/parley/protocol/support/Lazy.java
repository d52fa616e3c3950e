package dev.parley.protocol.support;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A value that the first caller makes, and for which others wait meanwhile. No lock is held while it is made, which may take a disk or a
 * network. If it cannot be made, that caller gets the failure, and the next one tries again. Safe for any thread.
 */
public final class Lazy<T> {
    private final Supplier<T> maker;
    private final AtomicReference<@Nullable CompletableFuture<T>> value = new AtomicReference<>();

    /** @param maker makes the value; it must not ask for it */
    public Lazy(Supplier<T> maker) {
        this.maker = maker;
    }

    /** Returns the value, and makes it if no caller has. An interruption does not end the wait, and is kept. */
    public T get() {
        T made = ifBegun();
        while (made == null) {
            var own = new CompletableFuture<T>();
            made = value.compareAndSet(null, own) ? make(own) : ifBegun();
        }
        return made;
    }

    /** Returns the value without waiting; null if it is not made. */
    public @Nullable T ifMade() {
        CompletableFuture<T> known = value.get();
        return known != null && known.state() == Future.State.SUCCESS ? known.resultNow() : null;
    }

    /** Returns the value, for which it waits if it is being made; null if no caller has begun to make it, or that fails. */
    public @Nullable T ifBegun() {
        CompletableFuture<T> known = value.get();
        try {
            return known == null ? null : known.join();
        } catch (CompletionException | CancellationException failed) {
            return null;
        }
    }

    private T make(CompletableFuture<T> own) {
        try {
            T made = maker.get();
            own.complete(made);
            return made;
        } catch (Throwable failure) { // also a checked one that is not declared: others would wait for ever
            value.set(null); // before others see the failure, as they try themselves then
            own.completeExceptionally(failure);
            throw failure;
        }
    }
}
