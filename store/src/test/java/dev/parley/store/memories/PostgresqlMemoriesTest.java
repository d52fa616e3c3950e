package dev.parley.store.memories;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.spi.Memories;
import dev.parley.engine.spi.TaskLog.Subject;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.store.database.Database;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.store.database.SharedSchema;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.testkit.Eventually;
import java.time.InstantSource;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Memories in PostgreSQL. */
@Tag("heavy")
final class PostgresqlMemoriesTest extends JdbcMemoriesTest {
    private static final Memories.Key KEY = new Memories.Key(new Scope("T1", "alice"), "desk", "c1");
    private static final Subject ALICE = new Subject("T1", "alice", null);

    @Override
    Database open() throws Exception {
        return Database.open(PostgresqlServer.schema());
    }

    @Test
    void hubsThatShareTheDatabaseGoOnWithTheMemoriesOfEachOther() {
        var schema = new SharedSchema();
        try (Database one = schema.shared();
                Database other = schema.shared()) {
            var here = new JdbcMemories(one, InstantSource.system(), EncryptionAtRest.PLAIN);
            var there = new JdbcMemories(other, InstantSource.system(), EncryptionAtRest.PLAIN);

            here.write(KEY, "one", here.newestErasure(), () -> true);
            assertThat(there.read(KEY)).contains("one");
            there.write(KEY, "one, two", there.newestErasure(), () -> true);

            assertThat(here.read(KEY)).contains("one, two");
            assertThat(here.removeUnchanged(InstantSource.system().instant().plusSeconds(1), 10))
                    .isEqualTo(1);
            assertThat(there.read(KEY)).isEmpty();
        }
    }

    @Test
    void aRequestAtAnotherHubWritesNoMemoryAfterAnErasure() {
        var schema = new SharedSchema();
        try (Database one = schema.shared();
                Database other = schema.shared()) {
            var here = new JdbcMemories(one, InstantSource.system(), EncryptionAtRest.PLAIN);
            var there = new JdbcMemories(other, InstantSource.system(), EncryptionAtRest.PLAIN);
            long begun = there.newestErasure();
            there.write(KEY, "of alice", begun, () -> true);

            assertThat(here.erase(ALICE)).isEqualTo(1);

            assertThat(there.write(KEY, "late", begun, () -> true)).isFalse();
            assertThat(there.read(KEY)).isEmpty();
            assertThat(there.newestErasure()).isEqualTo(here.newestErasure());
            assertThat(there.write(KEY, "new", there.newestErasure(), () -> true))
                    .isTrue();
        }
    }

    @Test
    void anErasureRemovesWhatAnotherHubWritesInTheMiddleOfIt() throws Exception {
        var schema = new SharedSchema();
        var writes = new CountDownLatch(1);
        var goesOn = new CountDownLatch(1);
        var isEarly = new AtomicBoolean();
        try (var callers = Executors.newVirtualThreadPerTaskExecutor();
                Database one = schema.shared(sql -> {
                    if (sql.startsWith("DELETE FROM memory WHERE group_id")) {
                        isEarly.set(goesOn.getCount() > 0);
                    }
                });
                Database other = schema.shared(sql -> {
                    if (sql.startsWith("INSERT INTO memory (")) { // the erasure is looked up before
                        writes.countDown();
                        awaited(goesOn);
                    }
                })) {
            var here = new JdbcMemories(one, InstantSource.system(), EncryptionAtRest.PLAIN);
            var there = new JdbcMemories(other, InstantSource.system(), EncryptionAtRest.PLAIN);
            Future<Boolean> written = callers.submit(() -> there.write(KEY, "late", there.newestErasure(), () -> true));
            awaited(writes);

            Future<Integer> erased = callers.submit(() -> here.erase(ALICE));
            Eventually.holds("the erasure is on disk", () -> here.newestErasure() == 1);
            goesOn.countDown();

            assertThat(written.get(60, TimeUnit.SECONDS)).isTrue();
            assertThat(erased.get(60, TimeUnit.SECONDS)).isEqualTo(1);
            assertThat(isEarly).isFalse();
            assertThat(there.read(KEY)).isEmpty();
        }
    }

    private static void awaited(CountDownLatch latch) {
        try {
            assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
