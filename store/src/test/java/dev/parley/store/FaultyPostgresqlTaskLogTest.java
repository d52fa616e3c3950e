package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.TaskLog;
import dev.parley.store.database.Stubborn;
import dev.parley.testkit.TaskLogContract;
import java.time.InstantSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/** The log of tasks does all of this while connections to its PostgreSQL break again and again. */
@Timeout(120)
@Tag("heavy")
final class FaultyPostgresqlTaskLogTest extends TaskLogContract {
    private static final Stubborn.Series FAILING = new Stubborn.Series();

    @Override
    protected TaskLog open(InstantSource clock, Once once) {
        return FAILING.openPostgresql(clock, once).log();
    }

    @AfterAll
    static void faultsHaveStruck() {
        assertThat(FAILING.strikes()).isGreaterThan(20);
    }
}
