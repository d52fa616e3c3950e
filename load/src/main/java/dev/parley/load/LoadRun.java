package dev.parley.load;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Puts load on an agent for a while and measures it, from outside and closed: each connection sends its next request when
 * it has the answer to the last. So the rate is the one that the server sustains, and a slow answer also delays the requests
 * behind it, which an open system would have to count as latency.
 *
 * <p>Blocking reads on one thread for each connection: on one core, with 64 connections, virtual threads spend 7.7 µs on a
 * request, platform threads 10.3 µs (a selector loop would 6). With very few connections it is the other way round,
 * because each answer then wakes two threads instead of one.
 */
final class LoadRun {
    private static final int FEW_CONNECTIONS = 4;
    private static final long TICK = TimeUnit.MILLISECONDS.toNanos(250);

    private final LoadTarget target;
    private final LoadPlan plan;
    private final LoadProgress progress;
    private final @Nullable LoadProcess server;
    private final CountDownLatch running;
    private final List<LoadWorker> workers = new ArrayList<>();
    private final LoadTally tally;
    private final AtomicInteger turns = new AtomicInteger();
    private final long from;
    private final long until;
    private volatile boolean stopped;

    private LoadRun(
            LoadTarget target,
            LoadPlan plan,
            List<LoadRequest> requests,
            LoadProgress progress,
            @Nullable LoadProcess server) {
        this.target = target;
        this.plan = plan;
        this.progress = progress;
        this.server = server;
        this.running = new CountDownLatch(plan.connections());
        this.from = System.nanoTime() + plan.warmup().toNanos();
        this.until = from + plan.duration().toNanos();
        this.tally = new LoadTally(from, until);
        for (int i = 0; i < plan.connections(); i++) {
            workers.add(new LoadWorker(this, target, plan.kind(), tally, requests, i));
        }
    }

    /** The next of so many requests: the connections share them, so that each is sent once before any is sent again. */
    int turn(int requests) {
        return Math.floorMod(turns.getAndIncrement(), requests);
    }

    /**
     * Makes the run and returns its result.
     *
     * @param server the process whose use of memory and processor is to be reported; null if it is not known
     * @throws LoadProblem if the agent cannot be reached or refuses the first request
     */
    static LoadResult measure(LoadTarget target, LoadPlan plan, LoadProgress progress, @Nullable LoadProcess server)
            throws InterruptedException {
        return new LoadRun(target, plan, LoadRequests.of(target, plan), progress, server).measure();
    }

    private LoadResult measure() throws InterruptedException {
        Thread.Builder threads = plan.connections() <= FEW_CONNECTIONS
                ? Thread.ofPlatform().daemon().name("load-", 0)
                : Thread.ofVirtual().name("load-", 0);
        for (LoadWorker worker : workers) {
            threads.start(() -> {
                try {
                    worker.run();
                } finally {
                    running.countDown();
                }
            });
        }
        try {
            watch(from);
            LoadResult.Usage before = usage(server);
            watch(until);
            LoadResult.Usage after = usage(server);
            long measured = Math.min(System.nanoTime(), until) - from;
            stopped = true;
            finish();
            return new LoadResult(
                    target,
                    plan,
                    Duration.ofNanos(Math.max(measured, 1)),
                    tally,
                    after.minus(before),
                    server == null ? 0 : server.residentBytes().orElse(0));
        } finally {
            stopped = true;
            workers.forEach(LoadWorker::breakOff);
            progress.clear();
        }
    }

    /** Lets unary answers come; streams may go on for ever and are broken off. */
    private void finish() throws InterruptedException {
        if (plan.kind() == LoadKind.STREAM) {
            workers.forEach(LoadWorker::breakOff);
        }
        watch(System.nanoTime() + plan.timeout().toNanos());
    }

    private void watch(long end) throws InterruptedException {
        long ticks = 0;
        for (long now = System.nanoTime(); now - end < 0; now = System.nanoTime()) {
            if (running.await(Math.min(TICK, end - now), TimeUnit.NANOSECONDS)) {
                return;
            }
            long stuckSince = System.nanoTime() - plan.timeout().toNanos();
            workers.forEach(worker -> worker.breakOffIfStuckSince(stuckSince));
            if (++ticks % 4 == 0 && !stopped) {
                progress.show(plan, tally, now - from);
            }
        }
    }

    /** True once workers shall send no more. */
    boolean isOver() {
        return stopped || System.nanoTime() - until >= 0 || plan.requests() > 0 && tally.requests() >= plan.requests();
    }

    /** Returns the processor time used so far. */
    private static LoadResult.Usage usage(@Nullable LoadProcess server) {
        return new LoadResult.Usage(
                LoadProcess.processorTime(ProcessHandle.current()),
                server == null ? Duration.ZERO : server.processorTime(),
                LoadProcess.machineTime());
    }
}
