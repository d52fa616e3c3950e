package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.TaskLog;
import dev.parley.store.database.Stubborn;
import dev.parley.testkit.TaskLogContract;
import java.nio.file.Path;
import java.time.InstantSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The log of tasks does all of this while its disk fails again and again. */
@Timeout(120)
@Tag("heavy")
final class FaultyTaskLogTest extends TaskLogContract {
    private static final Stubborn.Series FAILING = new Stubborn.Series();

    @TempDir
    Path directory = Path.of("");

    @Override
    protected TaskLog open(InstantSource clock, Once once) {
        return FAILING.open(directory, clock, once).log();
    }

    @AfterAll
    static void faultsHaveStruck() {
        assertThat(FAILING.refusals()).isGreaterThan(20);
    }
}
