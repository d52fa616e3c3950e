package dev.parley.server.helidon;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class StreamThreadsTest {
    private final List<Runnable> submitted = new ArrayList<>();
    private final StreamThreads streams =
            new StreamThreads(submitted::add, 100, new AtomicInteger(), () -> null, ended -> {});

    @Test
    void theReaderWaitsForADecisionAboutEachRequest() throws InterruptedException {
        streams.execute(() -> {});
        streams.execute(() -> {});
        var reader = Thread.ofPlatform().start(() -> streams.awaitDecided(TimeUnit.DAYS.toNanos(1)));

        submitted.getFirst().run();
        assertThat(reader.join(Duration.ofMillis(50))).isFalse();

        submitted.getLast().run();
        assertThat(reader.join(Duration.ofSeconds(30))).isTrue();
    }

    @Test
    void aRequestThatWaitsForItsBodyHoldsUpNoReader() {
        streams.execute(() -> {
            requireNonNull(streams.current()).decided();
            streams.awaitDecided(TimeUnit.DAYS.toNanos(1)); // returns before the stream ends
        });

        submitted.getFirst().run();
    }

    @Test
    void theReaderWaitsNoLongerThanTheBound() {
        streams.execute(() -> {});

        streams.awaitDecided(TimeUnit.MILLISECONDS.toNanos(1));

        assertThat(streams.count()).isOne();
    }
}
