package dev.parley.activity.hub;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import dev.parley.protocol.A2AException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Answers that are shared by callers with the same question: at a change, all pages of the console read the same list. One search per question
 * runs at a time. One more waits for its end and answers all calls that arrived meanwhile, so an answer is never older than its call.
 * Safe for any thread.
 */
final class SharedAnswers<K, V> {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Duration LATER = Duration.ofSeconds(1);

    /** The running search for an answer, and the next one. */
    private static final class Line<V> {
        private CompletableFuture<V> running;
        private @Nullable CompletableFuture<V> next;

        Line(CompletableFuture<V> running) {
            this.running = running;
        }
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<K, Line<V>> lines = new HashMap<>();

    /**
     * Returns the answer of a search that begins after this call.
     *
     * @param search done on the thread of one of the callers
     */
    V of(K key, Supplier<V> search) {
        while (true) {
            var own = new CompletableFuture<V>();
            CompletableFuture<V> joined = null;
            CompletableFuture<V> before = null;
            Line<V> line;
            lock.lock();
            try {
                line = lines.get(key);
                if (line == null) {
                    line = new Line<>(own);
                    lines.put(key, line);
                } else if (line.next == null) {
                    line.next = own;
                    before = line.running;
                } else {
                    joined = line.next;
                }
            } finally {
                lock.unlock();
            }
            if (joined == null) {
                return searched(key, line, own, before, search);
            }
            try {
                return await(joined);
            } catch (CancellationException abandoned) {
                // The caller that was to search went away: another one does it.
            }
        }
    }

    private V searched(
            K key, Line<V> line, CompletableFuture<V> own, @Nullable CompletableFuture<V> before, Supplier<V> search) {
        try {
            if (before != null) {
                begin(line, own, before);
            }
            V answer = search.get();
            own.complete(answer);
            return answer;
        } catch (RuntimeException | Error failure) {
            if (Thread.currentThread().isInterrupted()) {
                own.cancel(false);
            } else {
                own.completeExceptionally(failure);
            }
            throw failure;
        } finally {
            lock.lock();
            try {
                // A search that ended before it ran (its patience did, or its caller went away) is still the next one.
                if (line.next != null && line.next.isDone()) {
                    line.next = null;
                }
                if (line.next == null && line.running.isDone()) {
                    lines.remove(key, line);
                }
            } finally {
                lock.unlock();
            }
        }
    }

    /** Waits for the search before. Calls that come from then on wait for the next one. */
    private void begin(Line<V> line, CompletableFuture<V> own, CompletableFuture<V> before) {
        boolean isOver = await(before.handle((answer, failure) -> true));
        lock.lock();
        try {
            if (isOver) {
                line.running = own;
                line.next = null;
            }
        } finally {
            lock.unlock();
        }
    }

    private static <T> T await(Future<T> answer) {
        try {
            return answer.get(PATIENCE.toNanos(), NANOSECONDS);
        } catch (TimeoutException late) {
            throw A2AException.unavailable("The answer took longer than " + PATIENCE.toSeconds() + " s", LATER)
                    .causedBy(late);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw A2AException.unavailable("The caller went away", LATER);
        } catch (ExecutionException failure) {
            switch (failure.getCause()) {
                case RuntimeException problem -> throw problem;
                case Error error -> throw error;
                case null, default -> throw new IllegalStateException("a supplier threw a checked exception", failure);
            }
        }
    }
}
