package dev.parley.bench;

import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.Segment;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.store.Store;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;

/**
 * Fills the store of a hub that is not running with tasks of the agent {@code echo}, as that agent would have made them.
 *
 * <p>Arguments: the data directory and the number of tasks.
 */
public final class FillStore {
    private static final int IN_FLIGHT = 4_096;
    private static final int TASKS_PER_CONTEXT = 20;

    private FillStore() {}

    public static void main(String[] arguments) throws InterruptedException {
        int tasks = Integer.parseInt(arguments[1]);
        long start = System.nanoTime();
        try (Store store = Store.open(Path.of(arguments[0]))) {
            fill(store, CallContext.anonymous().scope(), tasks);
        }
        System.out.printf("%,d tasks in %.1f s%n", tasks, (System.nanoTime() - start) / 1e9);
    }

    /** Writes so many tasks of one owner, ten milliseconds apart, the last one now. */
    static void fill(Store store, Scope scope, int tasks) throws InterruptedException {
        fill(store, scope, tasks, segment -> {});
    }

    /** @param made receives each segment before the store writes it */
    static void fill(Store store, Scope scope, int tasks, Consumer<Segment> made) throws InterruptedException {
        var room = new Semaphore(IN_FLIGHT);
        var random = new Random(scope.hashCode());
        long first = Instant.now().toEpochMilli() - 10L * tasks;
        String context = "";
        for (int i = 0; i < tasks; i++) {
            if (i % TASKS_PER_CONTEXT == 0) {
                context = id(first + 10L * i, random);
            }
            room.acquire();
            Segment segment = segment(scope, context, Instant.ofEpochMilli(first + 10L * i), random);
            made.accept(segment);
            store.log().submit(new Filler(segment, room));
        }
        room.acquire(IN_FLIGHT);
    }

    /** An id that sorts by time, as the engine makes them (UUID version 7). */
    private static String id(long millis, Random random) {
        long high = millis << 16 | 0x7000 | random.nextInt(0x1000);
        return new UUID(high, random.nextLong() >>> 2 | Long.MIN_VALUE).toString();
    }

    static Segment segment(Scope scope, String context, Instant at, Random random) {
        var key = new TaskKey(scope, "echo", id(at.toEpochMilli(), random));
        // One in fifty has failed, so that lists by state have something to find.
        TaskState state = random.nextInt(50) == 0 ? TaskState.FAILED : TaskState.COMPLETED;
        Message asked = Message.of(Role.USER, List.of(Part.text("hello"))).in(context, key.taskId());
        var task = new Task(
                key.taskId(),
                context,
                TaskStatus.of(state, at),
                List.of(Artifact.of("1", Part.text("hello"))),
                List.of(asked),
                Map.of());
        return new Segment(
                new Head(key, context, state, at, 1),
                List.of(new LoggedEvent(1, task)),
                List.of(new MessageKey(key.scope(), key.agent(), asked.messageId())),
                null,
                new Cause(scope.owner(), "", null, CallChain.NONE));
    }

    /** A task that is written whole, and then makes room for another. */
    private record Filler(Segment segment, Semaphore room) implements TaskLog.Writer {
        @Override
        public Segment take() {
            return segment;
        }

        @Override
        public void written(Segment done) {
            room.release();
        }

        @Override
        public void failed(Segment lost, Exception cause) {
            cause.printStackTrace();
            System.exit(1);
        }
    }
}
