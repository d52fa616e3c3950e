package dev.parley.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.knowledge.model.KnowledgeStoreException;
import dev.parley.protocol.Feed;
import dev.parley.store.Faults;
import dev.parley.store.Faults.Fault;
import dev.parley.store.Faults.Side;
import dev.parley.store.database.Database;
import dev.parley.store.spi.StoreException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/**
 * A graph whose disk fails in the middle of its calls, and whose callers repeat what was refused until the fault has passed.
 * They notice nothing, unless something was lost, done twice or done by half.
 */
@Timeout(300)
@Tag("heavy")
class FaultyGraphTest extends GraphContract {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Calls that reach the disk in a small operation, and a few more, so that some operations get through. */
    private static final int CALLS = 40;

    /**
     * Operations that write only the note that they took place, which nobody waits for: their own disk accesses are reads.
     */
    private static final Set<String> READING = Set.of("query", "subscribe", "next", "schema", "read", "changesOf");

    private final Faults faults = new Faults();
    private final Random random = new Random(1);
    private boolean failing = true;
    private int refusals;

    @Override
    Database database(Path directory) {
        return Database.open(directory, faults::wrap);
    }

    @Override
    GraphCalls calls(Graph graph) {
        return GraphCalls.of(graph, this::repeated);
    }

    private @Nullable Object repeated(Method method, GraphCalls.Call call) throws Throwable {
        // Erasing takes back statements in several transactions; a repetition counts what the first one has left.
        if (failing && !Set.of("close", "position", "erase").contains(method.getName())) {
            fail(READING.contains(method.getName()) ? Side.READS : Side.ALL);
        }
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                Object answer = call.make();
                return answer instanceof Feed<?> changes
                        ? GraphCalls.proxy(Feed.class, changes, this::repeated)
                        : answer;
            } catch (KnowledgeStoreException | StoreException refused) {
                refusals++;
                if (System.nanoTime() > deadline) {
                    throw refused;
                }
            } finally {
                faults.pass();
            }
            LockSupport.parkNanos(2_000_000);
        }
    }

    private void fail(Side side) {
        Fault fault = Fault.ERRORS.get(random.nextInt(Fault.ERRORS.size()));
        int call = 1 + random.nextInt(CALLS);
        if (random.nextBoolean()) {
            faults.at(call, fault, side);
        } else {
            faults.from(call, fault, side);
        }
    }

    /** Records of queries and of refused updates are written after the answer; if the disk fails, the log has them. */
    @BeforeEach
    void spareRecords(TestInfo test) {
        failing = !test.getTags().contains("records");
    }

    @AfterAll
    void faultsHaveStruck() {
        assertThat(refusals).isGreaterThan(50);
    }
}
