package dev.parley.registry.reports;

import dev.parley.registry.ReportProtocol;
import dev.parley.registry.ReportProtocol.Measured;
import dev.parley.registry.ReportProtocol.Step;
import dev.parley.registry.ReportProtocol.Total;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Calls of the last hour by agent and operation, in steps of {@value #STEP_SECONDS} seconds, with their errors and durations. In memory: it
 * begins empty with the hub, and each hub has that of its own calls. Safe for any thread.
 */
final class Series {
    static final int STEP_SECONDS = 15;
    static final int STEPS = 3_600 / STEP_SECONDS;

    /** Agent of the calls of subjects beyond {@link #MOST}. */
    static final String OTHER = "(other)";

    private static final long STEP_MILLIS = STEP_SECONDS * 1_000L;
    private static final int MOST = 200;

    /** Four buckets for each doubling of a duration from 8 µs on, up to a minute: their middles are off by at most 10 %. */
    private static final int BUCKETS = 92;

    private static final int PARTS = 4;
    private static final int LEAST_MICROS = 8;

    private record Subject(String agent, String operation) {}

    /** Numbers of a step: calls by the bucket of their duration, then errors. */
    private record Slot(long step, AtomicIntegerArray numbers) {
        Slot(long step) {
            this(step, new AtomicIntegerArray(BUCKETS + 1));
        }
    }

    private final InstantSource clock;
    private final Map<Subject, AtomicReferenceArray<Slot>> subjects = new ConcurrentHashMap<>();
    private final AtomicLong swept = new AtomicLong(-1);

    Series(InstantSource clock) {
        this.clock = clock;
    }

    void count(String agent, String operation, long nanos, boolean isError) {
        long step = clock.millis() / STEP_MILLIS;
        AtomicReferenceArray<Slot> slots = slots(new Subject(agent, operation), step);
        int place = (int) (step % STEPS);
        Slot slot = slots.get(place);
        while (slot == null || slot.step() < step) {
            slots.compareAndSet(place, slot, new Slot(step));
            slot = slots.get(place);
        }
        slot.numbers().incrementAndGet(bucket(nanos));
        if (isError) {
            slot.numbers().incrementAndGet(BUCKETS);
        }
    }

    private AtomicReferenceArray<Slot> slots(Subject subject, long step) {
        AtomicReferenceArray<Slot> known = subjects.get(subject);
        if (known != null) {
            return known;
        }
        if (subjects.size() >= MOST) {
            sweep(step);
        }
        Subject counted = subjects.size() < MOST ? subject : new Subject(OTHER, "");
        return subjects.computeIfAbsent(counted, any -> new AtomicReferenceArray<>(STEPS));
    }

    /** Removes subjects without calls in the last hour, once in a step. */
    private void sweep(long step) {
        if (swept.getAndSet(step) == step) {
            return;
        }
        subjects.values().removeIf(slots -> {
            for (int i = 0; i < STEPS; i++) {
                Slot slot = slots.get(i);
                if (slot != null && slot.step() > step - STEPS) {
                    return false;
                }
            }
            return true;
        });
    }

    private static int bucket(long nanos) {
        double micros = Math.max(LEAST_MICROS, nanos / 1_000.0);
        return Math.min(BUCKETS - 1, (int) (Math.log(micros / LEAST_MICROS) / Math.log(2) * PARTS));
    }

    /** Middle of a bucket in milliseconds. */
    private static double millis(int bucket) {
        return LEAST_MICROS * Math.pow(2, (bucket + 0.5) / PARTS) / 1_000;
    }

    /**
     * The measures from a time on.
     *
     * @param agent and
     * @param operation of the calls of {@code rows}; null for all
     */
    ReportProtocol.Series since(Instant since, @Nullable String agent, @Nullable String operation) {
        long newest = clock.millis() / STEP_MILLIS;
        long first = Math.max(newest - STEPS + 1, Math.floorDiv(since.toEpochMilli(), STEP_MILLIS));
        var steps = new LinkedHashMap<Long, int[]>();
        for (long step = first; step <= newest; step++) {
            steps.put(step, new int[BUCKETS + 1]);
        }
        var totals = new ArrayList<Total>();
        subjects.forEach((subject, slots) -> {
            boolean isShown = (agent == null || agent.equals(subject.agent()))
                    && (operation == null || operation.equals(subject.operation()));
            var total = new int[BUCKETS + 1];
            for (int i = 0; i < STEPS; i++) {
                Slot slot = slots.get(i);
                int[] step = slot == null ? null : steps.get(slot.step());
                if (slot == null || step == null) {
                    continue;
                }
                for (int bucket = 0; bucket <= BUCKETS; bucket++) {
                    int number = slot.numbers().get(bucket);
                    total[bucket] += number;
                    if (isShown) {
                        step[bucket] += number;
                    }
                }
            }
            Measured measured = measured(total);
            if (measured.calls() > 0) {
                totals.add(new Total(subject.agent(), subject.operation(), measured));
            }
        });
        totals.sort(Comparator.comparingLong(total -> -total.measured().calls()));
        var rows = new ArrayList<Step>();
        steps.forEach((step, numbers) -> {
            Measured measured = measured(numbers);
            if (measured.calls() > 0) {
                rows.add(new Step(Instant.ofEpochMilli(step * STEP_MILLIS), measured));
            }
        });
        return new ReportProtocol.Series(
                Instant.ofEpochMilli(first * STEP_MILLIS),
                Instant.ofEpochMilli((newest + 1) * STEP_MILLIS),
                STEP_SECONDS,
                rows,
                totals);
    }

    private static Measured measured(int[] numbers) {
        int calls = 0;
        for (int bucket = 0; bucket < BUCKETS; bucket++) {
            calls += numbers[bucket];
        }
        return new Measured(
                calls,
                numbers[BUCKETS],
                share(numbers, calls, 50),
                share(numbers, calls, 95),
                share(numbers, calls, 99));
    }

    private static double share(int[] numbers, int calls, int percent) {
        return duration(numbers, (int) ((calls * (long) percent + 99) / 100));
    }

    private static double duration(int[] numbers, int wanted) {
        int count = 0;
        for (int bucket = 0; bucket < BUCKETS; bucket++) {
            count += numbers[bucket];
            if (count >= wanted) {
                return Math.round(millis(bucket) * 1_000) / 1_000.0;
            }
        }
        return millis(BUCKETS - 1);
    }
}
