package dev.parley.load;

import dev.parley.command.CommandException.Kind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Opens many streams to an agent that then has nothing to say, such as one that asks for input, and holds them: what an
 * idle stream costs the server, and whether it stays.
 */
final class LoadHold {
    /** Streams being opened at once. A server accepts them one by one, and its queue is short. */
    private static final int OPENING = 64;

    private static final int BUFFER = 4 << 10;

    private final LoadTarget target;
    private final LoadPlan plan;
    private final LoadRequest request;
    private final Semaphore opening = new Semaphore(OPENING);
    private final CountDownLatch decided;
    private final LongAdder opened = new LongAdder();
    private final LongAdder ended = new LongAdder();
    private final LongAdder events = new LongAdder();
    private final Map<String, LongAdder> errors = new ConcurrentHashMap<>();
    private final List<Stream> streams = new ArrayList<>();
    private volatile boolean closing;

    private LoadHold(LoadTarget target, LoadPlan plan) {
        this.target = target;
        this.plan = plan;
        this.request = LoadRequests.of(target, plan).getFirst();
        this.decided = new CountDownLatch(plan.connections());
    }

    /**
     * Opens the streams, holds them for as long as the plan measures, and closes them.
     *
     * @param server the process whose memory is to be reported; null if it is not known
     */
    static Result measure(LoadTarget target, LoadPlan plan, LoadProgress progress, @Nullable LoadProcess server)
            throws InterruptedException {
        return new LoadHold(target, plan).measure(progress, server);
    }

    private Result measure(LoadProgress progress, @Nullable LoadProcess server) throws InterruptedException {
        try {
            long before = residentBytes(server);
            long start = System.nanoTime();
            for (int i = 0; i < plan.connections(); i++) {
                if (!opening.tryAcquire(plan.timeout().toMillis(), TimeUnit.MILLISECONDS)) {
                    throw new LoadProblem(
                            Kind.REFUSED,
                            OPENING + " streams have no event after "
                                    + plan.timeout().toSeconds() + " s (expected: one)");
                }
                var stream = new Stream(request.share(), i);
                streams.add(stream);
                Thread.ofVirtual().name("stream-", i).start(stream);
                if (i % 100 == 0) {
                    progress.show(opened.sum() + " of " + plan.connections() + " streams are open");
                }
            }
            boolean all = decided.await(plan.timeout().toMillis(), TimeUnit.MILLISECONDS);
            Duration took = Duration.ofNanos(System.nanoTime() - start);
            if (!all) {
                errors.computeIfAbsent("no event", unused -> new LongAdder()).add(decided.getCount());
            }
            long open = residentBytes(server);
            progress.show("holding " + (opened.sum() - ended.sum()) + " streams");
            hold();
            return new Result(
                    target,
                    plan,
                    opened.sum(),
                    opened.sum() - ended.sum(),
                    events.sum(),
                    took,
                    sums(),
                    before,
                    open,
                    residentBytes(server));
        } finally {
            closing = true;
            streams.forEach(Stream::close);
            progress.clear();
        }
    }

    /** Waits for the duration of the run: nothing happens on an idle stream. */
    private void hold() throws InterruptedException {
        var never = new CountDownLatch(1);
        var unused = never.await(plan.duration().toMillis(), TimeUnit.MILLISECONDS);
    }

    private static long residentBytes(@Nullable LoadProcess server) {
        return server == null ? 0 : server.residentBytes().orElse(0);
    }

    private Map<String, Long> sums() {
        var sums = new TreeMap<String, Long>();
        errors.forEach((kind, sum) -> sums.put(kind, sum.sum()));
        return sums;
    }

    /** One stream on a thread of its own, from opening to closing. */
    private final class Stream implements Runnable {
        private final LoadRequest request;
        private final int number;
        private boolean isOpen;
        private volatile @Nullable LoadConnection connection;

        Stream(LoadRequest request, int number) {
            this.request = request;
            this.number = number;
        }

        @Override
        public void run() {
            var reader = new LoadEvents(target.isRpc(), this::received);
            try (LoadConnection opened = target.connect(BUFFER)) {
                connection = opened;
                ByteBuffer bytes = request.numbered(number);
                opened.send(bytes);
                opened.receive(reader);
                end(isOpen ? "ended" : String.valueOf(reader.problem()));
            } catch (IOException failure) {
                end(LoadTarget.reason(failure));
            }
        }

        private void received(int more) {
            events.add(more);
            if (!isOpen) {
                isOpen = true;
                opened.increment();
                decide();
            }
        }

        private void end(String why) {
            if (!closing) {
                errors.computeIfAbsent(why, unused -> new LongAdder()).increment();
            }
            if (isOpen) {
                ended.increment();
            } else {
                decide();
            }
        }

        private void decide() {
            opening.release();
            decided.countDown();
        }

        void close() {
            LoadConnection open = connection;
            if (open != null) {
                try {
                    open.close();
                } catch (IOException already) {
                    // it is closed already
                }
            }
        }
    }

    /**
     * Result of holding streams open.
     *
     * @param opened streams on which an event came
     * @param held how many of these were still open at the end
     * @param opening how long it took to open them
     * @param residentBefore memory of the server, in bytes, before the first stream; 0 if its process is not known
     */
    record Result(
            LoadTarget target,
            LoadPlan plan,
            long opened,
            long held,
            long events,
            Duration opening,
            Map<String, Long> errors,
            long residentBefore,
            long residentOpened,
            long residentHeld)
            implements LoadReport {
        @Override
        public boolean isUseless() {
            return opened == 0;
        }

        @Override
        public Map<String, @Nullable Object> values() {
            var values = new LinkedHashMap<String, @Nullable Object>();
            values.put("seconds", plan.duration().toSeconds());
            values.put("opened", opened);
            values.put("held", held);
            values.put("events", events);
            values.put("openingSeconds", LoadReport.round(opening.toNanos() / 1e9));
            values.put("errors", errors);
            if (residentHeld > 0) {
                values.put("serverResidentBytesBefore", residentBefore);
                values.put("serverResidentBytesOpened", residentOpened);
                values.put("serverResidentBytes", residentHeld);
            }
            return values;
        }
    }
}
