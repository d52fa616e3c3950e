package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.store.database.Stubborn;
import dev.parley.testkit.PushStoreContract;
import java.nio.file.Path;
import java.time.InstantSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Webhooks are kept while their disk fails again and again. */
@Timeout(120)
final class FaultyPushStoreTest extends PushStoreContract {
    private static final Stubborn.Series FAILING = new Stubborn.Series();

    @TempDir
    Path directory = Path.of("");

    @Override
    protected Stores open(InstantSource clock) {
        return FAILING.open(directory, clock);
    }

    @AfterAll
    static void faultsHaveStruck() {
        assertThat(FAILING.refusals()).isGreaterThan(10);
    }
}
