package dev.parley.cli.host;

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
 * The hub of a process, and those that replace it one after the other. A hub that may not use its database any more stays open, to refuse
 * requests, until the next one has the database. Safe for any thread.
 */
final class HubSuccession {
    private static final Backoff STARTS = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(30));

    /** Time that a stop waits for a start that is under way, whose database may not answer. */
    private static final Duration UNDER_WAY = Duration.ofSeconds(10);

    private final Function<Hub, Supplier<Hub>> successor;
    private final Consumer<String> notes;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private Hub current;
    private @Nullable Ending ending;
    private boolean starting;
    private boolean stopping;

    /**
     * @param successor returns the start of the hub that replaces one, which is called until it does not fail
     * @param notes receives lines for operators
     */
    HubSuccession(Hub first, Function<Hub, Supplier<Hub>> successor, Consumer<String> notes) {
        this.current = first;
        this.successor = successor;
        this.notes = notes;
        first.onEnding(this::ended);
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
            hub().close();
            throw failure;
        }
    }

    /** Closes the hub, and that of a start that is under way. */
    void stop() {
        change(() -> stopping = true);
        Hub last = hub();
        last.close();
        awaitStart();
        if (hub() != last) {
            hub().close();
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
        Supplier<Hub> start = successor.apply(hub());
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
                change(() -> starting = false);
            }
            pause(STARTS.after(failures, null));
        }
    }

    private void begun(Hub next) {
        Ending why = Objects.requireNonNull(ending);
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
        change(() -> starting = !stopping);
        return starting;
    }

    private Hub hub() {
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
            for (long left = UNDER_WAY.toNanos(); left > 0 && starting; ) {
                left = changed.awaitNanos(left);
            }
        } catch (InterruptedException impatient) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }
}
