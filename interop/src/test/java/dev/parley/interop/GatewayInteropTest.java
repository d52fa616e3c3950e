package dev.parley.interop;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;

import dev.parley.agents.DemoAgents;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.interop.ForeignSdk.Outcome;
import dev.parley.testkit.ScriptedAgents;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Clients of others call the agents of a hub through the gateway of another one. Skipped as {@link InteropTest}. */
final class GatewayInteropTest {
    private static final Set<String> CLIENTS =
            Set.of("js-1.0", "python-1.0", "go-1.0", "js-0.3", "python-0.3", "java-0.3");

    private static final Map<String, Set<String>> FAULTS = Map.of(
            "Go 2.4.0 jsonrpc",
            Set.of("errors"),
            "Python 0.3.26 rest",
            Set.of("send files"),
            "Java 0.3.3.Final rest",
            Set.of("send files", "get"));

    /** Each is installed and run once, two at a time. */
    private static final Map<ForeignSdk, CompletableFuture<Outcome>> OUTCOMES = new LinkedHashMap<>();

    private static ExecutorService runs;

    @TempDir
    static Path data;

    private static Hubs hubs;
    private static Hub gateway;

    @BeforeAll
    static void start() {
        runs = Executors.newFixedThreadPool(2);
        hubs = new Hubs(data);
        List<String> direct = hubs.arguments();
        String remotes = Stream.concat(DemoAgents.all().stream(), Stream.of(ScriptedAgents.chatty()))
                .map(Agent::name)
                .map(name -> name + "=" + direct.getFirst() + "/agents/" + name)
                .collect(Collectors.joining(","));
        gateway = Hub.builder()
                .port(0)
                .inMemory()
                .set("remote", remotes)
                .grpcOnCards(true)
                .webhookAllow(List.of("127.0.0.1"))
                .drain(Duration.ZERO)
                .start();
        var arguments = new ArrayList<>(direct);
        arguments.set(0, gateway.url());
        ForeignSdk.ALL.stream()
                .filter(sdk -> CLIENTS.contains(sdk.name()))
                .forEach(sdk -> OUTCOMES.put(sdk, CompletableFuture.supplyAsync(() -> sdk.call(arguments), runs)));
    }

    @AfterAll
    static void stop() {
        runs.close();
        gateway.close();
        hubs.close();
    }

    @TestFactory
    @DisplayName("GEM31, K5: each client does through a gateway all that it does with a hub")
    Stream<DynamicNode> everyClient() {
        return OUTCOMES.keySet().stream()
                .map(sdk -> dynamicContainer(
                        sdk.name(),
                        Stream.of(sdk)
                                .map(one -> requireNonNull(OUTCOMES.get(one)).join())
                                .flatMap(outcome ->
                                        Results.tests(outcome, check -> Results.assertExpected(check, FAULTS)))));
    }
}
