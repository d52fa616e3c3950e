package dev.parley.server;

import dev.parley.protocol.A2AException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** An agent's work that lasts until a test lets it go on, or its caller has gone. */
final class Wait implements Runnable {
    private final Semaphore entered = new Semaphore(0);
    private final CountDownLatch mayGo = new CountDownLatch(1);
    private final CountDownLatch interrupted = new CountDownLatch(1);

    @Override
    public void run() {
        entered.release();
        try {
            mayGo.await();
        } catch (InterruptedException e) {
            interrupted.countDown();
            Thread.currentThread().interrupt();
            throw A2AException.unavailable("The caller has gone", Duration.ofSeconds(1));
        }
    }

    boolean isInterruptedWithin(Duration patience) throws InterruptedException {
        return interrupted.await(patience.toNanos(), TimeUnit.NANOSECONDS);
    }

    void awaitEntered() throws InterruptedException {
        if (!entered.tryAcquire(30, TimeUnit.SECONDS)) {
            throw new AssertionError("no call has come");
        }
    }

    void end() {
        mayGo.countDown();
    }
}
