package dev.parley.guards.planted.recoveries;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A class that waits for a time, without a back-off. */
public final class Waits {
    private Waits() {}

    static boolean await(CountDownLatch end) throws InterruptedException {
        return end.await(1, TimeUnit.SECONDS);
    }
}
