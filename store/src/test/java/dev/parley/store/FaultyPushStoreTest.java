package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.testkit.PushStoreContract;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Webhooks are kept while their disk fails again and again. */
@Timeout(120)
final class FaultyPushStoreTest extends PushStoreContract {
    private static final AtomicInteger REFUSALS = new AtomicInteger();
    private static final AtomicLong SEEDS = new AtomicLong();

    @TempDir
    Path directory = Path.of("");

    @Override
    protected Stores open(InstantSource clock) {
        var stubborn = new Stubborn(SEEDS.incrementAndGet(), REFUSALS);
        Store store = Store.open(directory, clock, AtRest.PLAIN, stubborn.faults()::wrap);
        return new Stores(stubborn.log(store.log()), stubborn.webhooks(store.webhooks()));
    }

    @AfterAll
    static void faultsHaveStruck() {
        assertThat(REFUSALS).hasValueGreaterThan(10);
    }
}
