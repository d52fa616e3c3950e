package dev.parley.bench;

import dev.parley.dialect.Json;
import dev.parley.engine.Engine;
import dev.parley.engine.spi.TaskLog.Segment;
import dev.parley.engine.spi.TaskLog.Subject;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.store.Store;
import dev.parley.store.database.GroupListener;
import dev.parley.testkit.SegmentWriter;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Measures delays of writers of a store while tasks are erased and expire.
 *
 * <p>Arguments: an empty data directory, the number of tasks, and a directory for the results, one file for each phase. One owner has one task, one 1,000, one
 * a tenth of all, and another the rest. These are erased in turn, except the last one's, which expire. Beside each phase one writer writes one
 * small task after the other. Noted are how long each write took, and the processor time that the store's writer used for each
 * group that it committed, which does not depend on what else the machine does.
 */
public final class Removals {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final Duration ALONE = Duration.ofSeconds(5);
    private static final int BATCH = 500;
    private static final int MOST_SAMPLES = 1_000_000;

    private final Store store;
    private final Path results;
    private final Groups groups = new Groups();
    private final Random random = new Random(1);

    private Removals(Store store, Path results) {
        this.store = store;
        this.results = results;
        store.database().listen(groups);
    }

    /** Notes the processor time of each group. Noted on the writer's thread, read on another when a write was answered. */
    private static final class Groups implements GroupListener {
        private final long[] used = new long[MOST_SAMPLES];
        private final AtomicInteger count = new AtomicInteger();
        private long last;

        @Override
        public void committed(int works) {
            long now = THREADS.getCurrentThreadCpuTime();
            int next = count.get();
            if (next < MOST_SAMPLES && last != 0) {
                used[next] = now - last;
                count.set(next + 1);
            }
            last = now;
        }
    }

    /** Something to measure beside. */
    @FunctionalInterface
    private interface Phase {
        void run() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        int tasks = Integer.parseInt(arguments[1]);
        Path results = Files.createDirectories(Path.of(arguments[2]));
        try (Store store = Store.open(Path.of(arguments[0]));
                Engine engine = Engine.builder(store.log()).build()) {
            FillStore.fill(store, scope("one"), 1);
            FillStore.fill(store, scope("thousand"), 1_000);
            FillStore.fill(store, scope("tenth"), tasks / 10);
            FillStore.fill(store, scope("rest"), tasks - tasks / 10 - 1_001);
            var removals = new Removals(store, results);
            removals.measure("alone", () -> Thread.sleep(ALONE));
            for (String owner : new String[] {"one", "thousand", "tenth"}) {
                removals.measure("erase-" + owner, () -> {
                    var subject = new Subject(scope(owner).group(), owner, null);
                    engine.erase(subject, CallContext.anonymous(), ids -> {});
                    store.audit().forget(subject.group(), owner);
                    store.database().awaitErased(Duration.ofSeconds(60));
                });
            }
            Instant end = Instant.now();
            removals.measure("expire", () -> {
                while (store.log().removeEnded(end, BATCH) == BATCH) {}
            });
        }
    }

    private static Scope scope(String owner) {
        return new Scope("group", owner);
    }

    private void measure(String phase, Phase run) throws Exception {
        var done = new FutureTask<>(() -> {
            run.run();
            return phase;
        });
        long begin = System.nanoTime();
        Thread.ofPlatform().start(done);
        var waited = new long[MOST_SAMPLES];
        groups.count.set(0);
        int samples = 0;
        while (!done.isDone() && samples < MOST_SAMPLES) {
            long before = System.nanoTime();
            write();
            waited[samples++] = System.nanoTime() - before;
        }
        double seconds = (System.nanoTime() - begin) / 1e9;
        done.get();
        var result = new LinkedHashMap<String, Object>();
        result.put("seconds", seconds);
        result.put("writes", samples);
        result.put("waitedMilliseconds", quantiles(waited, samples));
        result.put("writerProcessorMilliseconds", quantiles(groups.used, groups.count.get()));
        String json = new String(Json.write(result), StandardCharsets.UTF_8);
        System.out.println(phase + " " + json);
        write(results.resolve("removal-" + phase + ".json"), json);
    }

    private static void write(Path file, String text) throws IOException {
        Files.writeString(file, text + "\n");
    }

    private static Map<String, Object> quantiles(long[] nanos, int count) {
        long[] sorted = Arrays.copyOf(nanos, count);
        Arrays.sort(sorted);
        var values = new LinkedHashMap<String, Object>();
        values.put("p50", sorted[count / 2] / 1e6);
        values.put("p99", sorted[(int) (count * 0.99)] / 1e6);
        values.put("max", sorted[count - 1] / 1e6);
        return values;
    }

    /** Writes a task and waits until it is on disk. */
    private void write() {
        Segment segment = FillStore.segment(scope("writer"), "context", Instant.now(), random);
        SegmentWriter.submit(store.log(), segment).join();
    }
}
