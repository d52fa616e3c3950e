package dev.parley.cli.postgresql;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BiFunction;

/** Registrations, routes and updates of a graph with the same keys, by two hubs at once in opposite orders. */
final class OppositeChanges {
    private static final int KEYS = 6;

    private final List<HubCalls> hubs;

    OppositeChanges(HubCalls one, HubCalls other) {
        this.hubs = List.of(one, other);
    }

    /** Runs some rounds and returns all answers. */
    List<Answer> run(int rounds) throws Exception {
        List<BiFunction<HubCalls, Integer, Answer>> kinds =
                List.of(OppositeChanges::register, OppositeChanges::route, OppositeChanges::update);
        var answers = new ArrayList<Answer>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int round = 0; round < rounds; round++) {
                var start = new CyclicBarrier(2 * kinds.size());
                var running = new ArrayList<Future<List<Answer>>>();
                for (BiFunction<HubCalls, Integer, Answer> kind : kinds) {
                    for (int hub = 0; hub < 2; hub++) {
                        running.add(threads.submit(changes(kind, hubs.get(hub), hub == 1, start)));
                    }
                }
                for (Future<List<Answer>> each : running) {
                    answers.addAll(each.get());
                }
            }
        }
        return answers;
    }

    private static Callable<List<Answer>> changes(
            BiFunction<HubCalls, Integer, Answer> kind, HubCalls hub, boolean isReversed, CyclicBarrier start) {
        return () -> {
            var keys = new ArrayList<Integer>();
            for (int i = 0; i < KEYS; i++) {
                keys.add(i);
            }
            if (isReversed) {
                Collections.reverse(keys);
            }
            start.await();
            return keys.stream().map(key -> kind.apply(hub, key)).toList();
        };
    }

    private static Answer register(HubCalls hub, int key) {
        String name = "agent" + key;
        return hub.post(
                "/registry/agents",
                Map.of(
                        "visibility",
                        "group",
                        "card",
                        Map.of(
                                "name", name,
                                "description", "An agent",
                                "version", "1." + System.nanoTime(),
                                "supportedInterfaces",
                                        List.of(Map.of(
                                                "url", "https://" + name + ".example/a2a",
                                                "protocolBinding", "JSONRPC",
                                                "protocolVersion", "1.0")),
                                "capabilities", Map.of(),
                                "defaultInputModes", List.of("text/plain"),
                                "defaultOutputModes", List.of("text/plain"),
                                "skills",
                                        List.of(Map.of(
                                                "id", "s",
                                                "name", "S",
                                                "description", "Does",
                                                "tags", List.of("t"))))));
    }

    private static Answer route(HubCalls hub, int key) {
        return hub.post("/admin/gateway/routes", Map.of("name", "route" + key, "url", hub.url() + "/agents/echo"));
    }

    /** All keys in one transaction, in the order of the caller, which begins at {@code key}. */
    private static Answer update(HubCalls hub, int key) {
        var mutations = new ArrayList<Map<String, ?>>();
        for (int i = 0; i < KEYS; i++) {
            mutations.add(Map.of(
                    "op",
                    "add",
                    "statement",
                    Map.of(
                            "subject", Map.of("id", "ex:p" + (key + i) % KEYS),
                            "predicate", Map.of("id", "ex:changed"),
                            "object", Map.of("value", Long.toString(System.nanoTime())))));
        }
        return hub.post(
                "/agents/echo",
                Map.of(
                        "jsonrpc",
                        "2.0",
                        "id",
                        1,
                        "method",
                        "knowledge/update",
                        "params",
                        Map.of("mutations", mutations)));
    }
}
