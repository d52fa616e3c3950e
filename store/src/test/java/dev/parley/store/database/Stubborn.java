package dev.parley.store.database;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.spi.KeyTakenException;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.PushStore;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.Segment;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.TaskLog.Writer;
import dev.parley.protocol.LoggedEvent;
import dev.parley.store.Faults;
import dev.parley.store.Faults.Fault;
import dev.parley.store.Faults.Side;
import dev.parley.store.Store;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.store.spi.StoreException;
import dev.parley.testkit.PushStoreContract;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * A log, and webhooks, whose disk fails in the middle of their operations, and whose callers repeat what was refused until
 * the fault has passed. Whoever uses them notices nothing, unless something was lost, written twice or written by half.
 */
public final class Stubborn {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration SHORT_WAIT = Duration.ofMillis(60);

    private final Faults faults = new Faults();
    private final AtomicInteger refusals;
    private final Random random;
    private final AtomicLong strikes;
    private final List<Fault> errors;
    private @Nullable TaskLog disk;
    /** Set if its works wait for {@link #SHORT_WAIT} only, so that answers of changes that succeed may be late. */
    private @Nullable Database impatient;

    /** Stores that are opened one after the other, each with faults of its own. */
    public static final class Series {
        private final AtomicInteger refusals = new AtomicInteger();
        private final AtomicLong seeds = new AtomicLong();
        private final AtomicLong strikes = new AtomicLong();

        /** Opens a store whose disk fails. */
        public PushStoreContract.Stores open(Path directory, InstantSource clock) {
            return open(directory, clock, Once.INDEX);
        }

        /** @param once when a message gets its task */
        public PushStoreContract.Stores open(Path directory, InstantSource clock, Once once) {
            var stubborn = new Stubborn(seeds.incrementAndGet(), refusals, strikes, Fault.ERRORS);
            Store store =
                    Store.in(Database.open(directory, stubborn.faults::wrap), clock, EncryptionAtRest.PLAIN, once);
            return new PushStoreContract.Stores(stubborn.log(store.log()), stubborn.webhooks(store.webhooks()));
        }

        /** Opens a store in PostgreSQL whose connections and disk fail. */
        public PushStoreContract.Stores openPostgresql(InstantSource clock) {
            return openPostgresql(clock, Once.INDEX);
        }

        /** @param once when a message gets its task */
        public PushStoreContract.Stores openPostgresql(InstantSource clock, Once once) {
            var stubborn = new Stubborn(seeds.incrementAndGet(), refusals, strikes, List.of(Fault.CUT, Fault.NO_SPACE));
            Store store = opened(stubborn, clock, once);
            return new PushStoreContract.Stores(stubborn.log(store.log()), stubborn.webhooks(store.webhooks()));
        }

        /** Opens a store as its callers call it: tables are made while the machine is busy, and works wait for {@link #SHORT_WAIT} only. */
        private Store opened(Stubborn stubborn, InstantSource clock, Once once) {
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            while (true) {
                try {
                    Database database = Place.impatient(stubborn.faults::wrap, SHORT_WAIT);
                    stubborn.impatient = database;
                    return Store.in(database, clock, EncryptionAtRest.PLAIN, once);
                } catch (StoreException refused) {
                    refusals.incrementAndGet();
                    if (System.nanoTime() > deadline) {
                        throw refused;
                    }
                }
            }
        }

        /** How many calls have failed so far. */
        public long strikes() {
            return strikes.get();
        }

        /** How much was refused so far. */
        public int refusals() {
            return refusals.get();
        }
    }

    private Stubborn(long seed, AtomicInteger refusals, AtomicLong strikes, List<Fault> errors) {
        this.random = new Random(seed);
        this.refusals = refusals;
        this.strikes = strikes;
        this.errors = errors;
    }

    private TaskLog log(TaskLog log) {
        disk = log;
        return proxy(TaskLog.class, log);
    }

    private PushStore webhooks(PushStore webhooks) {
        return proxy(PushStore.class, webhooks);
    }

    private <T> T proxy(Class<T> type, T target) {
        return type.cast(Proxy.newProxyInstance(
                Stubborn.class.getClassLoader(),
                new Class<?>[] {type},
                (self, method, arguments) -> call(target, method, arguments)));
    }

    private @Nullable Object call(Object target, Method method, @Nullable Object @Nullable [] arguments)
            throws Throwable {
        if (method.getName().equals("close")) {
            faults.pass();
            return invoke(target, method, arguments);
        }
        if (target instanceof TaskLog log
                && method.getName().equals("removeEnded")
                && requireNonNull(arguments)[0] instanceof Instant before
                && arguments[1] instanceof Integer limit) {
            return removeEnded(log, before, limit);
        }
        // A caller that gets a count cannot find out the result of a call whose answer was lost or late.
        boolean isCount = method.getReturnType().isPrimitive() && method.getReturnType() != void.class;
        fail(!isCount);
        if (target instanceof TaskLog log && arguments != null && arguments[0] instanceof Writer writer) {
            log.submit(new Again(writer));
            return null;
        }
        Visits<?> visits = null;
        if (method.getName().equals("walk") && requireNonNull(arguments)[2] instanceof Predicate<?> visitor) {
            visits = new Visits<>(visitor);
            arguments[2] = visits;
        }
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                if (visits != null) {
                    visits.begin();
                }
                Object answer = isCount
                        ? unhurried(() -> invoke(target, method, arguments))
                        : invoke(target, method, arguments);
                if (answer instanceof CompletableFuture<?> claim) {
                    await(claim);
                }
                return answer;
            } catch (StoreException refused) {
                refused(refused, deadline);
            } finally {
                faults.pass();
            }
        }
    }

    /** Removes tasks. A removal that is refused has removed some of them, and is repeated for the others. */
    private int removeEnded(TaskLog log, Instant before, int limit) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        long tasks = tasks(log, deadline);
        fail(false);
        int removed = 0;
        while (true) {
            int others = limit - removed;
            try {
                return removed + unhurried(() -> log.removeEnded(before, others));
            } catch (StoreException refused) {
                refused(refused, deadline);
            } finally {
                faults.pass();
            }
            removed = Math.toIntExact(tasks - tasks(log, deadline));
        }
    }

    private long tasks(TaskLog log, long deadline) {
        while (true) {
            try {
                return log.counts(null, Set.of(), null, Integer.MAX_VALUE).stream()
                        .mapToLong(TaskLog.Count::tasks)
                        .sum();
            } catch (StoreException refused) {
                refused(refused, deadline);
            }
        }
    }

    /** Calls without a limit of time, so that no answer is late. */
    private <T extends @Nullable Object> T unhurried(Supplier<T> call) {
        Database database = impatient;
        return database == null ? call.get() : database.unhurried(call);
    }

    private void refused(StoreException refusal, long deadline) {
        refusals.incrementAndGet();
        if (System.nanoTime() > deadline) {
            throw refusal;
        }
        LockSupport.parkNanos(2_000_000);
    }

    /** Waits for a claim, which is done or refused. */
    private static void await(CompletableFuture<?> claim) {
        try {
            claim.join();
        } catch (CompletionException failure) {
            if (!(failure.getCause() instanceof KeyTakenException)) {
                throw new StoreException("could not claim", failure);
            }
        }
    }

    private static @Nullable Object invoke(Object target, Method method, @Nullable Object @Nullable [] arguments) {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException failure) {
            switch (failure.getCause()) {
                case RuntimeException refused -> throw refused;
                case Error error -> throw error;
                case null, default -> throw new IllegalStateException(failure);
            }
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private synchronized void fail(boolean answerMayBeLost) {
        strikes.addAndGet(faults.hits());
        Fault fault = errors.get(random.nextInt(errors.size()));
        int call = 1 + random.nextInt(8);
        // Without a limit of time a fault that lasts until the call is refused would last for ever.
        switch (random.nextInt(answerMayBeLost ? 3 : impatient == null ? 2 : 1)) {
            case 0 -> faults.at(call, fault, Side.ALL);
            case 1 -> faults.from(call, fault, Side.ALL);
            default -> faults.after(call, fault, Side.ALL);
        }
    }

    /** A visitor of a walk that is repeated from its beginning: it is told of each task once. */
    private static final class Visits<T> implements Predicate<T> {
        private final Predicate<T> visitor;
        private int told;
        private int seen;

        Visits(Predicate<T> visitor) {
            this.visitor = visitor;
        }

        void begin() {
            seen = 0;
        }

        @Override
        public boolean test(T task) {
            if (seen++ < told) {
                return true;
            }
            told++;
            return visitor.test(task);
        }
    }

    /** Submits a segment until the log has it. */
    private final class Again implements Writer {
        private final Writer writer;
        private @Nullable Segment taken;

        Again(Writer writer) {
            this.writer = writer;
        }

        @Override
        public @Nullable Segment take() {
            @Nullable Segment segment = taken;
            if (segment == null) {
                segment = writer.take();
                taken = segment;
            }
            return segment;
        }

        @Override
        public void written(Segment segment) {
            writer.written(segment);
        }

        @Override
        public void failed(Segment segment, Exception cause) {
            if (cause instanceof KeyTakenException) {
                writer.failed(segment, cause);
                return;
            }
            refusals.incrementAndGet();
            faults.pass();
            Thread.ofVirtual().start(() -> repeat(segment));
        }

        private void repeat(Segment segment) {
            try {
                LockSupport.parkNanos(2_000_000);
                if (last(segment.head().key()) == segment.head().lastSequence()) {
                    writer.written(segment); // and the answer was lost
                } else {
                    requireDisk().submit(this);
                }
            } catch (StoreException failed) { // the fault of another operation
                failed(segment, failed);
            } catch (AssertionError wrong) {
                writer.failed(segment, new IllegalStateException(wrong));
            }
        }

        private long last(TaskKey key) {
            Segment segment = requireNonNull(take());
            long last;
            List<LoggedEvent> events;
            do { // a commit whose answer was late may come between the two
                last = requireDisk().find(key).map(Head::lastSequence).orElse(0L);
                events = requireDisk().read(key, 0, 1_000);
            } while (requireDisk().find(key).map(Head::lastSequence).orElse(0L) != last);
            assertThat(last)
                    .as("events of " + key)
                    .isIn(
                            segment.events().getFirst().sequence() - 1,
                            segment.head().lastSequence());
            assertThat(events)
                    .extracting(LoggedEvent::sequence)
                    .containsExactlyElementsOf(
                            LongStream.rangeClosed(1, last).boxed().toList());
            return last;
        }

        private TaskLog requireDisk() {
            TaskLog log = disk;
            if (log == null) {
                throw new IllegalStateException("there is no log");
            }
            return log;
        }
    }
}
