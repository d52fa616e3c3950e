package dev.parley.registry.inspect;

import dev.parley.protocol.AgentCard.Interface;
import dev.parley.registry.Entry.Cause;
import dev.parley.registry.Entry.HealthStatus;
import dev.parley.registry.InspectionOperation.InterfaceState;
import dev.parley.registry.health.Probe;
import dev.parley.registry.trust.Fetch;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Reachability of the interfaces of a card: all addresses are probed at once, for a bounded time. */
record Interfaces(Fetch fetch) {
    private static final int MOST_PROBES = 10;
    private static final int MOST_SHOWN = 200;
    private static final int PATIENCE_SECONDS = 4;

    /** Source of the reachability: probes, the hub itself as the server of the interfaces, or none. */
    enum Reach {
        PROBED,
        OWN,
        UNKNOWN
    }

    /**
     * The state of interfaces.
     *
     * @param group of the caller, whose share of look-ups the probes use
     */
    List<InterfaceState> of(List<Interface> interfaces, String group, Reach reach) {
        List<Interface> shown = interfaces.stream().limit(MOST_SHOWN).toList();
        List<String> addresses = shown.stream()
                .filter(each -> reach == Reach.PROBED && isProbed(each))
                .map(Interface::url)
                .distinct()
                .limit(MOST_PROBES)
                .toList();
        Map<String, Probe> probes = probes(addresses, group);
        return shown.stream()
                .map(each -> state(
                        each,
                        reach == Reach.OWN
                                ? new Probe(HealthStatus.UP, Cause.NONE, "hosted by this hub", -1)
                                : probes.getOrDefault(
                                        each.url(),
                                        new Probe(
                                                HealthStatus.UNKNOWN,
                                                Cause.NONE,
                                                reach == Reach.UNKNOWN ? "" : unprobed(each),
                                                -1))))
                .toList();
    }

    private static boolean isProbed(Interface each) {
        return !each.protocolBinding().equals(Interface.GRPC) && each.url().regionMatches(true, 0, "http", 0, 4);
    }

    private static String unprobed(Interface each) {
        return each.protocolBinding().equals(Interface.GRPC)
                ? "gRPC is not probed"
                : isProbed(each) ? "not probed (at most " + MOST_PROBES + " addresses are)" : "no address of HTTP";
    }

    private Map<String, Probe> probes(List<String> addresses, String group) {
        var probes = new LinkedHashMap<String, Probe>();
        List<Callable<Probe>> tasks = new ArrayList<>();
        addresses.forEach(url -> tasks.add(() -> Probe.ofAddress(url, group, fetch)));
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Probe>> results = threads.invokeAll(tasks, PATIENCE_SECONDS, TimeUnit.SECONDS);
            for (int i = 0; i < addresses.size(); i++) {
                probes.put(addresses.get(i), result(results.get(i)));
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        return probes;
    }

    private static Probe result(Future<Probe> result) throws InterruptedException {
        if (result.isCancelled()) {
            return new Probe(HealthStatus.DOWN, Cause.LATENCY, "no answer within " + PATIENCE_SECONDS + " s", -1);
        }
        try {
            return result.get();
        } catch (ExecutionException failed) {
            return new Probe(HealthStatus.DOWN, Cause.PROTOCOL, String.valueOf(failed.getCause()), -1);
        }
    }

    private static InterfaceState state(Interface each, Probe probe) {
        return new InterfaceState(
                each.url(),
                each.protocolBinding(),
                each.protocolVersion(),
                probe.status() == HealthStatus.UNKNOWN ? null : probe.status() != HealthStatus.DOWN,
                probe.status(),
                probe.cause(),
                probe.reason(),
                probe.millis());
    }
}
