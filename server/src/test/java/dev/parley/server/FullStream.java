package dev.parley.server;

import dev.parley.protocol.Artifact;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Part;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A stream that always has another event of 64 KB. */
final class FullStream implements Feed<LoggedEvent> {
    private static final LoggedEvent EVENT = new LoggedEvent(
            1,
            new TaskArtifactUpdateEvent(
                    "t1", "c1", Artifact.of("a", Part.text("x".repeat(64 * 1024))), true, false, Map.of()));

    private final AtomicInteger taken = new AtomicInteger();
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);

    @Override
    public @Nullable List<LoggedEvent> next(Duration patience) {
        taken.incrementAndGet();
        begun.countDown();
        return closed.getCount() == 0 ? null : List.of(EVENT);
    }

    int taken() {
        return taken.get();
    }

    boolean isBegunWithin(Duration patience) throws InterruptedException {
        return begun.await(patience.toNanos(), TimeUnit.NANOSECONDS);
    }

    boolean isClosedWithin(Duration patience) throws InterruptedException {
        return closed.await(patience.toNanos(), TimeUnit.NANOSECONDS);
    }

    @Override
    public void close() {
        closed.countDown();
    }
}
