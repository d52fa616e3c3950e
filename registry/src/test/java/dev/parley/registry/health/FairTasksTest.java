package dev.parley.registry.health;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FairTasksTest {
    private final CountDownLatch end = new CountDownLatch(1);

    private void waitForTheEnd() {
        try {
            end.await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void groupsWhoseTasksNeverEndDelayNoOther() throws Exception {
        var tasks = new FairTasks(16, 1_000);
        var running = new AtomicInteger();
        for (int i = 0; i < 900; i++) {
            for (String group : new String[] {"a", "b"}) {
                assertThat(tasks.add(group, () -> {
                            running.incrementAndGet();
                            waitForTheEnd();
                        }))
                        .isTrue();
            }
        }
        var done = new CountDownLatch(3);

        for (int i = 0; i < 3; i++) {
            tasks.add("c", done::countDown);
        }

        assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(running.get()).isLessThan(16);
        end.countDown();
    }

    @Test
    void tasksOfAGroupBeyondItsQueueAreRefused() {
        var tasks = new FairTasks(2, 3);

        int accepted = 0;
        for (int i = 0; i < 10; i++) {
            accepted += tasks.add("a", this::waitForTheEnd) ? 1 : 0;
        }

        assertThat(accepted).isEqualTo(4);
        end.countDown();
    }

    @Test
    void whatWaitsRunsAsPlacesBecomeFree() throws Exception {
        var tasks = new FairTasks(4, 1_000);
        var done = new CountDownLatch(500);

        for (int i = 0; i < 500; i++) {
            tasks.add("a", done::countDown);
        }

        assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
    }
}
