package dev.parley.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.scheduling.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Limits of any length, in a time that passes as fast as it is looked at. */
final class FarLimitsTest {
    private record Expected(long nanos, int number) {}

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void limitsOfManySecondsAreReachedAtTheirTimesAndThoseThatWereDroppedAreNot(long seed) {
        var random = new Random(seed);
        var threads = new SimulatedThreads(random);
        var process = threads.process();
        var limits = new TimeLimits(process, process.timer("limits"));
        var expected = new ArrayList<Expected>();
        var reached = new ArrayList<Expected>();
        process.start("setter", () -> {
            var dropped = new ArrayList<TimeLimits.Limit>();
            for (int i = 0; i < 2_000; i++) {
                int number = i;
                long nanos = random.nextLong(Duration.ofSeconds(100).toNanos());
                TimeLimits.Limit limit =
                        limits.in(Duration.ofNanos(nanos), () -> reached.add(new Expected(threads.now(), number)));
                if (random.nextBoolean()) {
                    expected.add(new Expected(nanos, number));
                } else {
                    dropped.add(limit);
                }
            }
            dropped.forEach(TimeLimits.Limit::drop);
            dropped.forEach(TimeLimits.Limit::drop); // a second time has no effect
        });

        threads.run(Duration.ofSeconds(200), () -> false);

        expected.sort(Comparator.comparingLong(Expected::nanos));
        assertThat(reached).isEqualTo(expected);
    }
}
