package dev.parley.cli.host;

import static java.util.Objects.requireNonNull;

import dev.parley.command.CommandException;
import dev.parley.hub.Hub;
import dev.parley.protocol.retry.Backoff;
import dev.parley.store.spi.Ending;
import dev.parley.store.spi.StoreException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The current hub of a process and its successors. A hub that may no longer use its database stays open, and refuses requests, until its
 * successor has opened the database. Safe for any thread.
 */
final class HubSuccession {
    private static final Backoff STARTS = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(30));

    /** Time that a stop waits for the start of a successor, whose database may not answer. */
    private static final Duration LONGEST_START = Duration.ofSeconds(10);

    private final Function<Hub, Supplier<Hub>> successor;
    private final Consumer<String> notes;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private @Nullable Hub current;
    private @Nullable Ending ending;
    /** Thread that starts a hub; null if none does. */
    private @Nullable Thread starting;

    private boolean stopping;

    /**
     * @param successor returns the start of a hub's successor, which is called until it succeeds
     * @param notes receives lines for operators
     */
    HubSuccession(Function<Hub, Supplier<Hub>> successor, Consumer<String> notes) {
        this.successor = successor;
        this.notes = notes;
    }

    /** Starts the first hub; returns null if the process stops meanwhile. Its other failures are thrown. */
    @Nullable
    Hub begin(Supplier<Hub> start) {
        if (!begins()) {
            return null;
        }
        try {
            Hub first = start.get();
            change(() -> current = first);
            first.onEnding(this::ended);
            return first;
        } catch (RuntimeException failure) {
            if (isStopping()) {
                return null;
            }
            throw failure;
        } finally {
            started();
        }
    }

    /**
     * Replaces each hub that ends, until {@link #stop}.
     *
     * @throws CommandException if the next one does not start for another reason than its database; the last one is closed then
     */
    void serve() throws InterruptedException {
        try {
            while (awaitEnding()) {
                replace();
            }
        } catch (RuntimeException failure) {
            requireNonNull(hub()).close();
            throw failure;
        }
    }

    /** Closes the hub, and a successor that is starting. */
    void stop() {
        change(() -> stopping = true);
        Hub last = hub();
        if (last != null) {
            last.close();
        }
        awaitStart();
        Hub started = hub();
        if (started != null && started != last) {
            started.close();
        }
    }

    private void ended(Ending why) {
        change(() -> ending = why);
    }

    /** Returns false if the process stops. */
    private boolean awaitEnding() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (ending == null && !stopping) {
                changed.await();
            }
            return !stopping;
        } finally {
            lock.unlock();
        }
    }

    private void replace() throws InterruptedException {
        Supplier<Hub> start = successor.apply(requireNonNull(hub()));
        String reason = "";
        for (int failures = 1; begins(); failures++) {
            try {
                begun(start.get());
                return;
            } catch (CommandException refused) {
                if (!isOfDatabase(refused)) {
                    throw refused;
                }
                if (!reason.equals(refused.message())) {
                    reason = refused.message();
                    notes.accept(reason);
                }
            } finally {
                started();
            }
            pause(STARTS.after(failures, null));
        }
    }

    private void begun(Hub next) {
        Ending why = requireNonNull(ending);
        change(() -> {
            current = next;
            ending = null;
        });
        notes.accept("hub " + next.url() + " began anew: " + why.words());
        next.bootstrapKey().ifPresent(key -> notes.accept("bootstrap key: " + key + " (scope admin; shown this once)"));
        next.onEnding(this::ended);
    }

    private static boolean isOfDatabase(CommandException refused) {
        return Stream.iterate(refused, Objects::nonNull, Throwable::getCause)
                .anyMatch(StoreException.class::isInstance);
    }

    /** Returns false if the process stops. */
    private boolean begins() {
        lock.lock();
        try {
            starting = stopping ? null : Thread.currentThread();
            return !stopping;
        } finally {
            lock.unlock();
        }
    }

    private void started() {
        change(() -> starting = null);
        if (isStopping()) {
            var unused = Thread.interrupted(); // it was for the start
        }
    }

    private boolean isStopping() {
        lock.lock();
        try {
            return stopping;
        } finally {
            lock.unlock();
        }
    }

    private @Nullable Hub hub() {
        lock.lock();
        try {
            return current;
        } finally {
            lock.unlock();
        }
    }

    private void change(Runnable change) {
        lock.lock();
        try {
            change.run();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void pause(Duration pause) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            for (long left = pause.toNanos(); left > 0 && !stopping; ) {
                left = changed.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    private void awaitStart() {
        lock.lock();
        try {
            Thread starter = starting;
            if (starter != null) {
                starter.interrupt(); // it may wait for its turn
            }
            for (long left = LONGEST_START.toNanos(); left > 0 && starting != null; ) {
                left = changed.awaitNanos(left);
            }
        } catch (InterruptedException impatient) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }
}
