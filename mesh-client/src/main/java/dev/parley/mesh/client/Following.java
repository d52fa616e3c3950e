package dev.parley.mesh.client;

import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.mesh.MeshContent;
import dev.parley.mesh.MeshContent.Acceptance;
import dev.parley.mesh.MeshContent.Failure;
import dev.parley.mesh.MeshContent.Outcome;
import dev.parley.mesh.MeshContent.Rejection;
import dev.parley.mesh.MeshContent.Result;
import dev.parley.protocol.Feed;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Messages about one delegation, for their reader. */
final class Following implements Delegated {
    private static final int MOST_UNREAD = 1000;

    private final String correlationId;
    private final Runnable onClose;
    private final CompletableFuture<Result> result = new CompletableFuture<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final ArrayDeque<MeshContent> unread = new ArrayDeque<>();
    private final Semaphore answers = new Semaphore(0);
    private @Nullable Acceptance acceptance;
    private boolean ended;

    Following(String correlationId, Runnable onClose) {
        this.correlationId = correlationId;
        this.onClose = onClose;
    }

    void accepted(Acceptance answer) {
        this.acceptance = answer;
    }

    /** Takes a message. True if it is the last. */
    boolean take(MeshContent content) {
        boolean last = switch (content) {
            case Result end -> end.status() != Outcome.PARTIAL;
            case Rejection ignored -> true;
            case Failure failure -> !failure.retryable();
            default -> false;
        };
        lock.lock();
        try {
            if (ended) {
                return true;
            }
            if (unread.size() == MOST_UNREAD) {
                unread.removeFirst();
            }
            unread.add(content);
            ended = last;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        if (last) {
            switch (content) {
                case Result end -> result.complete(end);
                case Rejection rejection -> result.completeExceptionally(OneException.of(rejection));
                case Failure failure -> result.completeExceptionally(OneException.of(failure));
                default -> throw new IllegalStateException(content.toString());
            }
            onClose.run();
        }
        return last;
    }

    /** Ends this without a result. */
    void fail(RuntimeException problem) {
        lock.lock();
        try {
            ended = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        result.completeExceptionally(problem);
        onClose.run();
    }

    /** Waits until the question of the task is answered by this client, at most for a time. */
    void awaitAnswer(Duration longest) throws InterruptedException {
        var unused = answers.tryAcquire(longest.toNanos(), TimeUnit.NANOSECONDS);
    }

    void answered() {
        answers.release();
    }

    boolean isEnded() {
        return result.isDone();
    }

    @Override
    public String correlationId() {
        return correlationId;
    }

    @Override
    public Acceptance acceptance() {
        Acceptance answer = acceptance;
        if (answer == null) {
            throw new IllegalStateException("not accepted yet");
        }
        return answer;
    }

    @Override
    public CompletableFuture<Result> result() {
        return result.copy();
    }

    @Override
    public Feed<MeshContent> updates() {
        return new Feed<>() {
            @Override
            public @Nullable List<MeshContent> next(Duration patience) throws InterruptedException {
                return Following.this.next(patience);
            }

            @Override
            public void close() {
                Following.this.close();
            }
        };
    }

    private @Nullable List<MeshContent> next(Duration patience) throws InterruptedException {
        long left = patience.toNanos();
        lock.lockInterruptibly();
        try {
            while (unread.isEmpty() && !ended && left > 0) {
                left = changed.awaitNanos(left);
            }
            if (unread.isEmpty()) {
                return ended ? null : List.of();
            }
            var next = new ArrayList<>(unread);
            unread.clear();
            return next;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        fail(new ClientException(Problem.CLOSED, "the delegation has been closed"));
    }
}
