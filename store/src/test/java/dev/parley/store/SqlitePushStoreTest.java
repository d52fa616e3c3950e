package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.PushConfig;
import dev.parley.store.audit.AuditChain;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditRow;
import dev.parley.store.audit.Filter;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.store.spi.StoreException;
import dev.parley.testkit.PushStoreContract;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SqlitePushStoreTest extends PushStoreContract {
    private static final Cause CAUSE = new Cause("alice", "192.0.2.1", null, CallChain.NONE);

    @TempDir
    Path directory = Path.of("");

    @Override
    protected Stores open(InstantSource clock) {
        Store store = Store.open(directory, clock, EncryptionAtRest.PLAIN);
        return new Stores(store.log(), store.webhooks());
    }

    @Test
    void theDialectAndTheNameSurviveARestart(@TempDir Path data) {
        var task = new TaskKey(new Scope("t1", "alice"), "agent", "task-1");
        var config = new PushConfig(null, "hook", "task-1", "https://example.com/hook", null, null);
        Subscription saved = Subscription.of(task, config, "0.1", "mine", 4);
        try (Store store = Store.open(data)) {
            store.webhooks().save(saved, CAUSE);
        }

        try (Store store = Store.open(data)) {
            assertThat(store.webhooks().find(task, "hook")).contains(saved);
        }
    }

    @Test
    void aWebhookAndItsAuditRowAreWrittenTogetherOrNotAtAll(@TempDir Path data) {
        var task = new TaskKey(new Scope("t1", "alice"), "agent", "task-1");
        var faults = new Faults();
        try (Store store = Store.open(data, InstantSource.system(), EncryptionAtRest.PLAIN, faults::wrap)) {
            int failures = 0;
            for (int call = 1; call <= 40; call++) {
                String id = "hook-" + call;
                var config = new PushConfig(null, id, "task-1", "https://example.com/hook", "s3cret", null);
                faults.at(call, Faults.Fault.FULL, Faults.Side.WRITES);
                try {
                    store.webhooks().save(Subscription.of(task, config, "1.0", null, 0), CAUSE);
                } catch (A2AException | StoreException refused) {
                    failures++;
                }
                faults.pass();

                boolean registered = store.webhooks().find(task, id).isPresent();
                List<AuditRow> created = rows(store, "webhook.created", id);
                assertThat(created).as("call " + call).hasSize(registered ? 1 : 0);

                faults.at(call, Faults.Fault.FULL, Faults.Side.WRITES);
                try {
                    store.webhooks().delete(task, id, CAUSE);
                } catch (A2AException | StoreException refused) {
                    failures++;
                }
                faults.pass();

                boolean deleted = registered && store.webhooks().find(task, id).isEmpty();
                assertThat(rows(store, "webhook.deleted", id))
                        .as("call " + call)
                        .hasSize(deleted ? 1 : 0);
            }
            assertThat(failures).isGreaterThan(3);
            AuditEntry last =
                    rows(store, "webhook.created", "hook-40").getFirst().entry();
            assertThat(last.actor()).isEqualTo("alice");
            assertThat(last.target()).isEqualTo("task-1");
            assertThat(last.detail().get("receiver")).isEqualTo("example.com");
            assertThat(last.toString()).doesNotContain("s3cret");
        }
    }

    private static List<AuditRow> rows(Store store, String action, String configId) {
        var filter = new Filter(null, null, action, null, null, null);
        return store.audit().rows(filter, 0, 1_000).stream()
                .filter(row ->
                        AuditChain.hashed(configId).equals(row.entry().detail().get("webhook")))
                .toList();
    }
}
