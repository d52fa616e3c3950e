package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.spi.TaskLog;
import dev.parley.testkit.TaskLogContract;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The log of tasks does all of this while its disk fails again and again. */
@Timeout(120)
final class FaultyTaskLogTest extends TaskLogContract {
    private static final AtomicInteger REFUSALS = new AtomicInteger();
    private static final AtomicLong SEEDS = new AtomicLong();

    @TempDir
    Path directory = Path.of("");

    @Override
    protected TaskLog open(InstantSource clock) {
        var stubborn = new Stubborn(SEEDS.incrementAndGet(), REFUSALS);
        return stubborn.log(Store.open(directory, clock, AtRest.PLAIN, stubborn.faults()::wrap)
                .log());
    }

    @AfterAll
    static void faultsHaveStruck() {
        assertThat(REFUSALS).hasValueGreaterThan(20);
    }
}
