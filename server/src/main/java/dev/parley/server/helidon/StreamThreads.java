package dev.parley.server.helidon;

import dev.parley.server.limits.FairScheduler;
import io.helidon.http.http2.Http2ErrorCode;
import io.helidon.http.http2.Http2Exception;
import java.util.List;
import java.util.Map;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs the streams of one HTTP/2 connection, each on a thread of its own, and interrupts them when the connection is gone.
 *
 * <p>A stream's thread waits inside Helidon for the rest of its request, before and after our handler. Helidon ends that
 * wait when the client ends or resets the stream, but not when the connection ends. Helidon takes its threads from the
 * executor of the connection's context, which is why this is an executor. See docs/adr/0015.
 *
 * <p>One interrupt is not enough: Helidon loses it if it comes while a stream waits for its turn to write a frame, and then waits
 * for the rest of the request all the same. So the clock of {@link Connections} interrupts again what has not ended.
 */
final class StreamThreads extends AbstractExecutorService {
    private final Executor executor;
    private final int most;
    private final AtomicInteger runningOfAll;
    private final Supplier<FairScheduler.@Nullable Early> share;
    private final Consumer<StreamThreads> ending;
    private final Map<Thread, StreamThread> running = new ConcurrentHashMap<>();
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger undecided = new AtomicInteger();
    private volatile @Nullable Thread reader;
    private volatile boolean gone;

    /**
     * Creates the executor.
     *
     * @param most threads at a time; more than that end the connection
     * @param runningOfAll counts the threads of all connections
     * @param share waits for a share of the processors
     * @param ending receives this executor when its connection is gone
     */
    StreamThreads(
            Executor executor,
            int most,
            AtomicInteger runningOfAll,
            Supplier<FairScheduler.@Nullable Early> share,
            Consumer<StreamThreads> ending) {
        this.executor = executor;
        this.most = most;
        this.runningOfAll = runningOfAll;
        this.share = share;
        this.ending = ending;
    }

    /** The calling thread, if it runs a stream. */
    @Nullable
    StreamThread current() {
        return running.get(Thread.currentThread());
    }

    /** The number of streams that run, or will soon. */
    int count() {
        return begun.get();
    }

    /** Interrupts all streams until they end; each that begins later ends at once. */
    void interruptAll() {
        gone = true;
        interruptRunning();
        ending.accept(this);
    }

    /** Interrupts the streams that run, once. */
    void interruptRunning() {
        running.keySet().forEach(Thread::interrupt);
    }

    /**
     * Runs a stream.
     *
     * @throws Http2Exception if too many streams of the connection are running, counting those that the client has reset
     *     and have handlers that have not returned yet
     */
    @Override
    public void execute(Runnable stream) {
        if (begun.get() >= most) {
            throw new Http2Exception(Http2ErrorCode.ENHANCE_YOUR_CALM, "Too many streams opened and reset");
        }
        begun.incrementAndGet();
        undecided.incrementAndGet();
        executor.execute(() -> run(stream));
    }

    private void run(Runnable stream) {
        var thread = Thread.currentThread();
        var own = new StreamThread(thread, this::decided);
        running.put(thread, own);
        runningOfAll.incrementAndGet();
        try {
            // After the thread has been entered: interruptAll either finds it, or has set the flag before.
            if (!gone) {
                own.keep(share.get());
            }
            // Most streams of a flood come to this point after their client has gone.
            if (!gone) {
                stream.run();
            }
        } finally {
            var unused = own.takeShare();
            if (unused != null) {
                unused.end().run();
            }
            own.decided();
            running.remove(thread);
            begun.decrementAndGet();
            runningOfAll.decrementAndGet();
        }
    }

    private void decided() {
        var waiting = reader;
        if (undecided.decrementAndGet() == 0 && waiting != null) {
            LockSupport.unpark(waiting);
        }
    }

    /**
     * Waits until the requests that have begun are admitted or refused, or wait for their bodies, but not longer than so many
     * nanoseconds. Only for the thread that reads the connection.
     */
    void awaitDecided(long nanos) {
        reader = Thread.currentThread();
        long end = System.nanoTime() + nanos;
        for (long left = nanos;
                left > 0 && undecided.get() > 0 && !Thread.currentThread().isInterrupted(); ) {
            LockSupport.parkNanos(this, left);
            left = end - System.nanoTime();
        }
    }

    @Override
    public void shutdown() {
        interruptAll();
    }

    @Override
    public List<Runnable> shutdownNow() {
        interruptAll();
        return List.of();
    }

    @Override
    public boolean isShutdown() {
        return gone;
    }

    @Override
    public boolean isTerminated() {
        return gone && running.isEmpty();
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
        return isTerminated();
    }
}
