package dev.parley.server.limits;

import dev.parley.protocol.Feed;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A stream without elements that lasts until it is closed. */
public final class EmptyStream implements Feed<Object> {
    private final CountDownLatch closed = new CountDownLatch(1);

    @Override
    public @Nullable List<Object> next(Duration patience) throws InterruptedException {
        return closed.await(patience.toNanos(), TimeUnit.NANOSECONDS) ? null : List.of();
    }

    @Override
    public void close() {
        closed.countDown();
    }
}
