package dev.parley.protocol.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class ChangeCountTest {
    private final ChangeCount changes = new ChangeCount();

    @Test
    void aReaderWaitsForTheNextChange() throws Exception {
        long before = changes.count();
        CompletableFuture<Long> reader = CompletableFuture.supplyAsync(
                () -> {
                    try {
                        changes.await(before, TimeUnit.HOURS.toNanos(1));
                        return changes.count();
                    } catch (InterruptedException stopped) {
                        throw new IllegalStateException(stopped);
                    }
                },
                Thread::startVirtualThread);

        changes.add();

        assertThat(reader.get(10, TimeUnit.SECONDS)).isEqualTo(before + 1);
    }

    @Test
    void aChangeSinceTheCountEndsTheWaitAtOnce() throws InterruptedException {
        long before = changes.count();
        changes.add();

        changes.await(before, TimeUnit.HOURS.toNanos(1));
    }

    @Test
    void theWaitEndsWithItsTime() throws InterruptedException {
        changes.await(changes.count(), 1);

        assertThat(changes.count()).isZero();
    }

    @Test
    void anInterruptionEndsTheWait() {
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> changes.await(changes.count(), TimeUnit.HOURS.toNanos(1)))
                .isInstanceOf(InterruptedException.class);
    }
}
