package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.TaskState;
import dev.parley.testkit.PushStoreContract;
import dev.parley.testkit.SettableClock;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
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

    @Test
    void aTaskIsKeptWhileAWebhookHasNotHeardOfItsEnd(@TempDir Path data) {
        var clock = new SettableClock(Instant.parse("2026-01-01T00:00:00Z"));
        var task = new TaskKey(new Scope("t1", "alice"), "agent", "task-1");
        var config = new PushConfig(null, "hook", "task-1", "https://example.com/hook", null, null);
        Subscription untold = Subscription.of(task, config, "1.0", null, 0);
        try (Store store = Store.open(data, clock, AtRest.PLAIN)) {
            Segments.write(store.log(), task, 1, TaskState.COMPLETED, clock.instant());
            store.webhooks().save(untold);

            clock.advance(Duration.ofHours(2));
            assertThat(store.log().removeEnded(clock.instant().minus(Duration.ofHours(1)), 9))
                    .isZero();
            store.webhooks().advance(untold.failed(12, null, clock.instant(), "status 410"));
            assertThat(store.log().removeEnded(clock.instant().minus(Duration.ofHours(1)), 9))
                    .isZero();
            assertThat(store.webhooks().dead(9)).hasSize(1);

            clock.advance(Duration.ofHours(2));
            assertThat(store.log().removeEnded(clock.instant().minus(Duration.ofHours(1)), 9))
                    .isEqualTo(1);
            assertThat(store.webhooks().dead(9)).isEmpty();
        }
    }

    @Test
    void aWebhookThatHearsNothingKeepsItsTaskForADayAtMost(@TempDir Path data) {
        var clock = new SettableClock(Instant.parse("2026-01-01T00:00:00Z"));
        var task = new TaskKey(new Scope("t1", "alice"), "agent", "task-1");
        var config = new PushConfig(null, "hook", "task-1", "https://example.com/hook", null, null);
        try (Store store = Store.open(data, clock, AtRest.PLAIN)) {
            Segments.write(store.log(), task, 1, TaskState.COMPLETED, clock.instant());
            store.webhooks().save(Subscription.of(task, config, "1.0", null, 0));

            clock.advance(Duration.ofHours(26));

            assertThat(store.log().removeEnded(clock.instant().minus(Duration.ofHours(1)), 9))
                    .isEqualTo(1);
            assertThat(store.webhooks().of(task)).isEmpty();
        }
    }
}
