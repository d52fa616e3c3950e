package dev.parley.gateway.upstream;

import dev.parley.client.AgentClient;
import dev.parley.client.AgentClientBuilder;
import dev.parley.gateway.upstream.Failure.Kind;
import dev.parley.gateway.upstream.UpstreamSettings.Address;
import dev.parley.gateway.upstream.UpstreamSettings.Timeouts;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.retry.Backoff;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The one {@link Upstream}. Calls without affinity go to the better of two replicas drawn at random, by latency, open calls and
 * weight; see {@code docs/adr/0060-replicas-of-a-route.md}.
 */
final class Replicas implements Upstream {
    private static final Logger LOG = System.getLogger("dev.parley.gateway");
    private static final Backoff PAUSES = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(5));
    private static final Duration SOON = Duration.ofSeconds(1);

    /** One attempt at one replica, which holds a place of its load until {@link Replica#end}. */
    private interface Exchange<T> {
        T with(Replica replica, AgentClient client, CallContext context);
    }

    /** Settings and the replicas that they name, by their ids. */
    private record Now(UpstreamSettings settings, Map<String, Replica> replicas) {}

    private final String route;
    private final GatewayParts parts;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile Now now;
    private volatile ScheduledFuture<?> probes;
    /** Whether there was a call since the last probes. */
    private volatile boolean used;

    Replicas(String route, UpstreamSettings settings, GatewayParts parts) {
        this.route = route;
        this.parts = parts;
        this.now = next(settings, Map.of());
        this.probes = schedule(settings);
    }

    private static Now next(UpstreamSettings settings, Map<String, Replica> known) {
        var replicas = new LinkedHashMap<String, Replica>();
        for (Address address : settings.replicas()) {
            Replica same = known.get(Replica.id(address.url()));
            Replica replica = same == null ? new Replica(address) : same;
            replica.use(address);
            replicas.put(replica.id(), replica);
        }
        return new Now(settings, replicas);
    }

    private ScheduledFuture<?> schedule(UpstreamSettings settings) {
        long interval = settings.probe().toNanos();
        Runnable all = () -> {
            if (used) { // an idle hub sends nothing
                used = false;
                now.replicas().values().stream()
                        .filter(one -> one.breaker.state() == Breaker.State.CLOSED)
                        .forEach(this::startProbe);
            }
        };
        return parts.timer().scheduleWithFixedDelay(all, interval, interval, TimeUnit.NANOSECONDS);
    }

    @Override
    public void use(UpstreamSettings settings) {
        Now before;
        Now after;
        synchronized (this) {
            before = now;
            boolean sameClients = before.settings().timeouts().equals(settings.timeouts())
                    && before.settings().resumes() == settings.resumes();
            after = next(settings, sameClients ? before.replicas() : Map.of());
            now = after;
            probes.cancel(false);
            probes = schedule(settings);
        }
        before.replicas().forEach((id, replica) -> {
            if (!replica.equals(after.replicas().get(id))) {
                replica.retire();
            }
        });
    }

    @Override
    public Duration streamLimit() {
        return now.settings().timeouts().total();
    }

    @Override
    public List<Status> status() {
        return now.replicas().values().stream()
                .map(one -> new Status(
                        one.id(),
                        one.address().url(),
                        one.address().weight(),
                        one.address().draining(),
                        one.breaker.state(),
                        one.load.outstanding()))
                .toList();
    }

    @Override
    public <R> Answer<R> call(Operation.Call<R> operation, CallContext context, @Nullable String replica) {
        return attempt(operation, context, replica, (at, client, limited) -> {
            long begun = time();
            R answer = client.call(operation, limited);
            answered(at, begun);
            firstEvent(begun);
            at.end();
            return answer;
        });
    }

    @Override
    public <E> Answer<Feed<E>> watch(Operation.Watch<E> operation, CallContext context, @Nullable String replica) {
        return attempt(operation, context, replica, (at, client, limited) -> {
            long begun = time();
            Feed<E> feed = client.watch(operation, limited);
            answered(at, begun);
            return new UpstreamFeed<>(this, at, feed, begun, now.settings().timeouts());
        });
    }

    /** Does {@code exchange} with one replica, and again with the same or another one where that is safe. */
    private <T> Answer<T> attempt(
            Operation operation, CallContext context, @Nullable String affinity, Exchange<T> exchange) {
        used = true;
        UpstreamSettings settings = now.settings();
        long end = time() + total(settings, context).toNanos();
        String only = affinity;
        Set<Replica> tried = new HashSet<>();
        for (int failures = 0; ; ) {
            Replica replica = only == null ? best(tried) : named(only);
            Failure failure;
            if (replica == null) {
                failure = unavailable(only);
            } else {
                try {
                    CallContext limited = context.withDeadline(Instant.now().plusNanos(Math.max(0, end - time())));
                    return new Answer<>(
                            exchange.with(replica, replica.client(at -> connect(at, settings)), limited), replica.id());
                } catch (RuntimeException problem) {
                    replica.end();
                    failure = failed(replica, Failure.of(problem, limit(operation, context, settings)));
                } catch (InterruptedException left) {
                    replica.end();
                    Thread.currentThread().interrupt();
                    throw A2AException.unavailable("The call was given up", SOON);
                }
                if (failure.kind() == Kind.LOST && operation instanceof Operation.Send) {
                    only = replica.id(); // a repetition is only known where the message was
                }
                tried.add(replica);
            }
            failures++;
            if (failures > settings.retries() || !mayRepeat(operation, failure, failures, settings)) {
                throw failure.answer();
            }
            if (only != null
                    || replica == null
                    || tried.size() >= now.replicas().size()) {
                pause(failure, failures, end);
                tried.clear();
            }
        }
    }

    private static boolean mayRepeat(Operation operation, Failure failure, int failures, UpstreamSettings settings) {
        return switch (failure.kind()) {
            case UNSENT, BUSY -> true;
            case STALE -> failures == 1;
            case LOST -> operation.isRepeatable() || operation instanceof Operation.Send && settings.deduplicates();
            case BROKEN, REFUSED -> false;
        };
    }

    /** Waits before another attempt; throws the answer of the last one if that would be too late. */
    private void pause(Failure failure, int failures, long end) {
        Duration pause = PAUSES.after(failures, failure.retryAfter());
        if (pause.toNanos() >= end - time()) {
            throw failure.answer();
        }
        try {
            if (closed.await(pause.toNanos(), TimeUnit.NANOSECONDS)) {
                throw failure.answer();
            }
        } catch (InterruptedException left) {
            Thread.currentThread().interrupt();
            throw failure.answer();
        }
    }

    private static Duration total(UpstreamSettings settings, CallContext context) {
        Duration total = settings.timeouts().total();
        Instant deadline = context.deadline();
        Duration left = deadline == null ? total : Duration.between(Instant.now(), deadline);
        return left.compareTo(total) < 0 ? left : total;
    }

    /** The time limit of an attempt, as the caller gets to know it. */
    private static String limit(Operation operation, CallContext context, UpstreamSettings settings) {
        boolean waits = operation instanceof Operation.SendMessage send
                && !send.configuration().returnImmediately();
        Duration limit =
                waits ? settings.timeouts().total() : settings.timeouts().firstByte();
        Duration left = total(settings, context);
        if (context.deadline() != null && !left.isPositive()) {
            return "deadline";
        }
        return waits ? "total timeout (" + limit + ")" : Failure.FIRST_BYTE + " timeout (" + limit + ")";
    }

    /** The better of two replicas that may begin something new; null if there is none. It has a place of its load then. */
    private @Nullable Replica best(Set<Replica> tried) {
        long time = time();
        List<Replica> candidates = new ArrayList<>(now.replicas().values());
        candidates.removeIf(one -> tried.contains(one)
                || one.address().draining()
                || one.isBusy(time)
                || one.breaker.state() != Breaker.State.CLOSED);
        while (!candidates.isEmpty()) {
            int last = candidates.size() - 1;
            int first = ThreadLocalRandom.current().nextInt(candidates.size());
            int second =
                    last == 0 ? 0 : (first + 1 + ThreadLocalRandom.current().nextInt(last)) % candidates.size();
            Replica one = candidates.get(first);
            Replica other = candidates.get(second);
            Replica better = other.cost(time) < one.cost(time) ? other : one;
            if (better.load.begin(now.settings().concurrency())) {
                return better;
            }
            candidates.remove(better);
        }
        return null;
    }

    /** The replica of a task or context, whether it drains or not; null if it cannot be called now. */
    private @Nullable Replica named(String id) {
        Replica replica = now.replicas().get(id);
        boolean open = replica != null && replica.breaker.state() != Breaker.State.CLOSED;
        return replica == null || open || !replica.load.begin(now.settings().concurrency()) ? null : replica;
    }

    /** The failure of a call for which there is no replica now; waiting for one may help within the retries. */
    private Failure unavailable(@Nullable String id) {
        if (id != null && !now.replicas().containsKey(id)) {
            A2AException gone = A2AException.unavailable("The replica of the task has been removed", SOON);
            return new Failure("unavailable", Kind.REFUSED, null, gone);
        }
        long time = time();
        Duration wait = now.replicas().values().stream()
                .filter(one -> id == null || one.id().equals(id))
                .map(one -> one.untilNext(time))
                .min(Duration::compareTo)
                .orElse(SOON);
        metric(metrics -> metrics.failed(route, "unavailable"));
        return new Failure(
                "unavailable",
                Kind.BUSY,
                wait,
                A2AException.unavailable("No replica of the agent can be called", wait));
    }

    private void answered(Replica replica, long begun) {
        replica.load.measured(time() - begun, time());
        replica.breaker.succeeded();
    }

    /** Notes the failure of an attempt, which may open the breaker of the replica. */
    private Failure failed(Replica replica, Failure failure) {
        metric(metrics -> metrics.failed(route, failure.cause()));
        Duration pause = failure.retryAfter();
        boolean working = failure.cause().equals("total")
                || List.of(Kind.REFUSED, Kind.STALE).contains(failure.kind());
        if (failure.kind() == Kind.BUSY && pause != null) {
            replica.busy(pause, time());
        } else if (!working) {
            noteFailure(replica, failure);
        }
        return failure;
    }

    private void noteFailure(Replica replica, Failure failure) {
        Duration pause = replica.breaker.failed(now.settings(), time());
        if (pause != null) {
            LOG.log(
                    Level.WARNING,
                    "route \"{0}\": replica {1} is not called for {2}: {3}",
                    route,
                    replica.id(),
                    pause,
                    failure.answer().getMessage());
            var unused = parts.timer().schedule(() -> startProbe(replica), pause.toNanos(), TimeUnit.NANOSECONDS);
        }
        noteBreaker(replica);
    }

    private void noteBreaker(Replica replica) {
        metric(metrics -> metrics.breaker(route, replica.id(), replica.breaker.state()));
    }

    private void startProbe(Replica replica) {
        if (closed.getCount() > 0 && replica.equals(now.replicas().get(replica.id()))) {
            Thread.ofVirtual()
                    .name("gateway-probe")
                    .start(() -> probe(replica, now.settings().timeouts().firstByte()));
        }
    }

    private void probe(Replica replica, Duration timeout) {
        replica.breaker.probing();
        noteBreaker(replica);
        try {
            UpstreamSettings settings = now.settings();
            AgentClient client = replica.client(at -> connect(at, settings));
            parts.connector().probe(replica.address().url(), client, timeout);
            replica.breaker.probed();
            noteBreaker(replica);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException problem) {
            if (closed.getCount() > 0) {
                noteFailure(replica, Failure.of(problem, Failure.FIRST_BYTE + " timeout"));
            }
        }
    }

    /** Fetches the card of each replica now, and returns when all have answered or timed out. */
    void probe() {
        Duration timeout = now.settings().timeouts().firstByte();
        now.replicas().values().forEach(one -> probe(one, timeout));
    }

    private AgentClient connect(Address address, UpstreamSettings settings) {
        Timeouts timeouts = settings.timeouts();
        AgentClientBuilder builder = parts.client()
                .get()
                .connectTimeout(timeouts.connect())
                .callTimeout(timeouts.firstByte())
                .streamTimeout(timeouts.firstByte())
                .sendTimeout(timeouts.total())
                .streamSilence(timeouts.idle())
                .retries(0)
                .reconnects(settings.resumes());
        return parts.connector().connect(address.url(), builder);
    }

    // ---- for the streams

    long time() {
        return parts.clock().getAsLong();
    }

    void opened() {
        metric(metrics -> metrics.streams(route, 1));
    }

    void ended(Replica replica) {
        replica.end();
        metric(metrics -> metrics.streams(route, -1));
    }

    void firstEvent(long begun) {
        metric(metrics -> metrics.firstEvent(route, time() - begun));
    }

    void events(int number) {
        metric(metrics -> metrics.events(route, number));
    }

    A2AException broken(Replica replica, Failure failure) {
        return failed(replica, failure).answer();
    }

    private void metric(Consumer<GatewayMetrics> change) {
        GatewayMetrics metrics = parts.metrics();
        if (metrics != null) {
            change.accept(metrics);
        }
    }

    @Override
    public void close() {
        closed.countDown();
        probes.cancel(false);
        now.replicas().values().forEach(Replica::close);
    }
}
