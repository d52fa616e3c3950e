package dev.parley.store.shared;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.store.spi.StoreException;
import dev.parley.testkit.Eventually;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class BriefWaitTest {
    private final AtomicInteger begun = new AtomicInteger();
    private final Semaphore mayGoOn = new Semaphore(0);
    private final BriefWait wait = new BriefWait(() -> {
        begun.incrementAndGet();
        mayGoOn.acquireUninterruptibly();
    });

    @Test
    void aWriteIsAwaited() {
        mayGoOn.release();
        wait.run();
        assertThat(mayGoOn.availablePermits()).isZero();
    }

    @Test
    void aWriteThatIsStuckDelaysNoReaderForLongAndIsFollowedByOneForAllThatWaited() {
        wait.run();
        wait.run();
        wait.run();
        assertThat(begun).hasValue(1);

        mayGoOn.release(2);
        Eventually.holds("the write for the later readers", () -> begun.get() == 2);
        mayGoOn.release();
        wait.run();
        assertThat(begun).hasValue(3);
    }

    @Test
    void aWriteThatFailsIsFollowedByTheNext() {
        var failing = new BriefWait(() -> {
            if (begun.incrementAndGet() == 1) {
                throw new StoreException("planted");
            }
        });
        failing.run();
        failing.run();
        assertThat(begun).hasValue(2);
    }
}
