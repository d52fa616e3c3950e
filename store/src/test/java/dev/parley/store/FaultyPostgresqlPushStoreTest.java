package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.store.database.Stubborn;
import dev.parley.testkit.PushStoreContract;
import java.time.InstantSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/** Webhooks are kept while connections to their PostgreSQL break again and again. */
@Timeout(120)
@Tag("heavy")
final class FaultyPostgresqlPushStoreTest extends PushStoreContract {
    private static final Stubborn.Series FAILING = new Stubborn.Series();

    @Override
    protected Stores open(InstantSource clock) {
        return FAILING.openPostgresql(clock);
    }

    @AfterAll
    static void faultsHaveStruck() {
        assertThat(FAILING.strikes()).isGreaterThan(10);
    }
}
