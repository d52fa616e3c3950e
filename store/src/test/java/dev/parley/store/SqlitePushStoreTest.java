package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.PushConfig;
import dev.parley.testkit.PushStoreContract;
import java.nio.file.Path;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SqlitePushStoreTest extends PushStoreContract {
    @TempDir
    Path directory = Path.of("");

    @Override
    protected Stores open(InstantSource clock) {
        Store store = Store.open(directory, clock, AtRest.PLAIN);
        return new Stores(store.log(), store.webhooks());
    }

    @Test
    void theDialectAndTheNameSurviveARestart(@TempDir Path data) {
        var task = new TaskKey(new Scope("t1", "alice"), "agent", "task-1");
        var config = new PushConfig(null, "hook", "task-1", "https://example.com/hook", null, null);
        Subscription saved = Subscription.of(task, config, "0.1", "mine", 4);
        try (Store store = Store.open(data)) {
            store.webhooks().save(saved);
        }

        try (Store store = Store.open(data)) {
            assertThat(store.webhooks().find(task, "hook")).contains(saved);
        }
    }
}
