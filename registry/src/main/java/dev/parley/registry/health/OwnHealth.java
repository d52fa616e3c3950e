package dev.parley.registry.health;

import dev.parley.engine.Request;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.extension.HubObserver;
import dev.parley.extension.HubTimers;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.Operation;
import dev.parley.protocol.TaskState;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Cause;
import dev.parley.registry.Entry.HealthStatus;
import dev.parley.registry.EntryFilter;
import dev.parley.registry.EntryOperation.EntryPage;
import dev.parley.registry.EntryOperation.Order;
import dev.parley.registry.store.Entries;
import dev.parley.registry.store.EntryReader;
import dev.parley.registry.store.EntryWriter;
import java.time.Duration;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Health of the hub's own agents, from their runs and their internal errors since the last look: they are not probed. Hubs that share a
 * database take turns to look, each at the runs of all. Safe for any thread.
 */
public final class OwnHealth implements HubObserver {
    private static final String TIMER = "own";
    private static final int PAGE = 200;
    private static final int FEWEST = 5;
    private static final int INTERNAL = 500;

    /** Runs of an agent since the last look. */
    private record Counts(LongAdder all, LongAdder failures, LongAdder nanos) {
        static Counts none() {
            return new Counts(new LongAdder(), new LongAdder(), new LongAdder());
        }

        void count(boolean isFailure, long nanos) {
            all.increment();
            if (isFailure) {
                failures.increment();
            }
            this.nanos.add(nanos);
        }

        Runs runs() {
            return new Runs(all.sum(), failures.sum(), nanos.sum());
        }
    }

    /** Numbers of runs, and their time. */
    record Runs(long all, long failures, long nanos) {
        static final Runs NONE = new Runs(0, 0, 0);

        Probe probe() {
            long millis = all == 0 ? -1 : TimeUnit.NANOSECONDS.toMillis(nanos / all);
            if (all < FEWEST || failures * 2 < all) {
                return new Probe(HealthStatus.UP, Cause.NONE, "", millis);
            }
            return new Probe(
                    failures * 10 < all * 9 ? HealthStatus.DEGRADED : HealthStatus.DOWN,
                    Cause.ERRORS,
                    failures + " of " + all + " runs failed",
                    millis);
        }
    }

    private final EntryReader reader;
    private final EntryWriter writer;
    private final InstantSource clock;
    private final @Nullable SharedRuns shared;
    private final Duration interval;
    private final Map<String, Counts> counts = new ConcurrentHashMap<>();
    private final HubTimers.Timers timer;

    /** @param interval between looks; zero for none */
    public OwnHealth(Entries entries, HubTimers timers, Duration interval) {
        this.reader = entries.reader();
        this.writer = entries.writer();
        this.clock = entries.clock();
        this.shared = SharedRuns.of(entries.reader().database(), this::taken);
        this.interval = interval;
        this.timer = timers.named("registry/own-health", (id, content) -> look());
        next();
    }

    private void next() {
        if (!interval.isZero()) {
            timer.set(TIMER, clock.instant().plus(interval), "");
        }
    }

    @Override
    public void called(String agent, Operation operation, CallContext caller, long nanos, @Nullable ErrorKind error) {
        if (error != null && error.httpStatus() >= INTERNAL) {
            counts(agent).count(true, nanos);
        }
    }

    @Override
    public void ran(String agent, Request request, long nanos) {
        boolean isFailure =
                request.task().map(task -> task.state() == TaskState.FAILED).orElse(false);
        counts(agent).count(isFailure, nanos);
    }

    @Override
    public void carried(String agent, Operation operation, CallContext caller, long received, long sent) {}

    @Override
    public void offered(TaskKey task, String caller, boolean accepted) {}

    private Counts counts(String agent) {
        Counts known = counts.get(agent);
        return known != null ? known : counts.computeIfAbsent(agent, name -> Counts.none());
    }

    /** Runs that are counted here from now on no more. */
    private Map<String, Runs> taken() {
        var taken = new HashMap<String, Runs>();
        for (String agent : List.copyOf(counts.keySet())) {
            Counts counted = counts.remove(agent);
            if (counted != null) {
                taken.put(agent, counted.runs());
            }
        }
        return taken;
    }

    private void look() {
        Map<String, Runs> all = shared == null ? null : shared.gathered();
        var filter = new EntryFilter(List.of(), List.of(), Map.of("owner", List.of(Entry.HUB)), false);
        String token = null;
        do {
            EntryPage page = reader.list(filter, Order.NAME, PAGE, token, Entries.ITSELF);
            for (Entry entry : page.entries()) {
                String agent = String.valueOf(entry.resource().metadata().get("agent"));
                Runs counted = all == null
                        ? counts.getOrDefault(agent, Counts.none()).runs()
                        : all.getOrDefault(agent, Runs.NONE);
                boolean isEnough = counted.all() >= FEWEST;
                if (isEnough || entry.health().status() == Entry.HealthStatus.UNKNOWN) {
                    if (isEnough && shared != null) {
                        shared.judged(agent);
                    } else if (isEnough) {
                        counts.remove(agent);
                    }
                    Prober.change(
                            writer, entry.id(), counted.probe(), clock.instant().truncatedTo(ChronoUnit.MILLIS));
                }
            }
            token = page.next();
        } while (token != null);
        next();
    }
}
