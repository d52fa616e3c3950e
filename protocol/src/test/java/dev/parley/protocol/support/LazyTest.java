package dev.parley.protocol.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class LazyTest {
    private final AtomicInteger made = new AtomicInteger();

    @Test
    void isMadeByTheFirstCaller() {
        var once = new Lazy<>(made::incrementAndGet);

        assertThat(once.ifMade()).isNull();
        assertThat(once.ifBegun()).isNull();
        assertThat(once.get()).isEqualTo(1);
        assertThat(once.get()).isEqualTo(1);
        assertThat(once.ifMade()).isEqualTo(1);
        assertThat(once.ifBegun()).isEqualTo(1);
    }

    @Test
    void othersWaitWhileItIsMade() throws Exception {
        var begun = new CountDownLatch(1);
        var goOn = new CompletableFuture<Integer>();
        var once = new Lazy<>(() -> {
            made.incrementAndGet();
            begun.countDown();
            return goOn.join();
        });

        CompletableFuture<Integer> first = CompletableFuture.supplyAsync(once::get, Thread::startVirtualThread);
        begun.await();
        CompletableFuture<Integer> second = CompletableFuture.supplyAsync(once::get, Thread::startVirtualThread);
        CompletableFuture<Integer> third = CompletableFuture.supplyAsync(once::ifBegun, Thread::startVirtualThread);
        assertThat(once.ifMade()).isNull();
        goOn.complete(7);

        assertThat(first.get(10, TimeUnit.SECONDS)).isEqualTo(7);
        assertThat(second.get(10, TimeUnit.SECONDS)).isEqualTo(7);
        assertThat(third.get(10, TimeUnit.SECONDS)).isEqualTo(7);
        assertThat(made).hasValue(1);
    }

    @Test
    void whoWaitedForAFailureTriesAgain() throws Exception {
        var begun = new CountDownLatch(1);
        var goOn = new CompletableFuture<Integer>();
        var once = new Lazy<>(() -> {
            if (made.incrementAndGet() > 1) {
                return 7;
            }
            begun.countDown();
            return goOn.join();
        });

        CompletableFuture<Integer> first = CompletableFuture.supplyAsync(once::get, Thread::startVirtualThread);
        begun.await();
        CompletableFuture<Integer> second = CompletableFuture.supplyAsync(once::get, Thread::startVirtualThread);
        goOn.completeExceptionally(new IllegalStateException("no disk"));

        assertThatThrownBy(() -> first.get(10, TimeUnit.SECONDS)).hasRootCauseMessage("no disk");
        assertThat(second.get(10, TimeUnit.SECONDS)).isEqualTo(7);
        assertThat(once.get()).isEqualTo(7);
    }
}
