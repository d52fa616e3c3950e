package dev.parley.interop;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;

import dev.parley.agents.DemoAgents;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.interop.ForeignSdk.Outcome;
import dev.parley.protocol.Part;
import dev.parley.testkit.ScriptedAgents;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Frameworks and command lines that call agents by A2A, as published, and a hub with default settings that may call
 * webhooks on this machine. Skipped and documented as {@link InteropTest}.
 */
final class FrameworksTest {
    /** Operations that fail with any server; the document says why. */
    private static final Map<String, Set<String>> FAULTS = Map.of("a2a-mcp-server 0.1.5", Set.of("cancel"));

    /** Operations that fail with any client; the document says why. */
    private static final Map<String, Set<String>> FAULTS_OF_SERVERS = Map.of();

    /** Each is installed and run once. They wait for registries and for their own starts, so three run at a time. */
    private static final Map<ForeignSdk, CompletableFuture<Outcome>> OUTCOMES = new LinkedHashMap<>();

    private static final Map<ForeignSdk, Outcome> SERVER_OUTCOMES = new HashMap<>();

    private static ExecutorService runs;
    private static Hub hub;

    @BeforeAll
    static void start() {
        SERVER_OUTCOMES.clear();
        runs = Executors.newFixedThreadPool(3);
        hub = Hub.builder()
                .port(0)
                .inMemory()
                .agents(DemoAgents.all().toArray(Agent[]::new))
                .agents(inventory(), ScriptedAgents.chunked())
                .webhookAllow(List.of("127.0.0.1"))
                .drain(Duration.ZERO)
                .start();
        List<String> arguments = List.of(hub.url());
        Stream.of(true, false)
                .flatMap(slow -> ForeignSdk.FRAMEWORKS.stream().filter(it -> it.isSlowToInstall() == slow))
                .forEach(it -> OUTCOMES.put(it, CompletableFuture.supplyAsync(() -> it.call(arguments), runs)));
    }

    /** Completes with a line of text for each part that it was sent. */
    private static Agent inventory() {
        return Agent.named("inventory", "Lists the parts of a message")
                .inputModes("text/plain", "text/csv", "application/pdf")
                .skill("list", "List the parts", "test")
                .handle((request, reply) -> reply.complete(request.message().parts().stream()
                        .map(FrameworksTest::line)
                        .collect(joining("\n"))));
    }

    private static String line(Part part) {
        return switch (part) {
            case Part.Text text -> "text " + text.text();
            case Part.Raw file -> "file of %d bytes, %s".formatted(file.raw().length, file.mediaType());
            case Part.Url link -> "link to %s, %s".formatted(link.url(), link.mediaType());
            case Part.Data data -> "data " + data.data();
        };
    }

    @AfterAll
    static void stop() {
        runs.close();
        hub.close();
    }

    @TestFactory
    @DisplayName("each framework does everything that it offers with the agents of a hub")
    Stream<DynamicNode> everyFramework() {
        return ForeignSdk.FRAMEWORKS.stream()
                .map(it -> dynamicContainer(
                        it.name(),
                        Stream.of(it)
                                .map(FrameworksTest::outcome)
                                .flatMap(outcome ->
                                        Results.tests(outcome, check -> Results.assertExpected(check, FAULTS)))));
    }

    @TestFactory
    @DisplayName("our client and the command line call the agents that frameworks serve")
    Stream<DynamicNode> everyServer() {
        return ForeignSdk.FRAMEWORKS.stream()
                .filter(ForeignSdk::hasServer)
                .map(it -> dynamicContainer(
                        it.name(),
                        Stream.of(it)
                                .map(FrameworksTest::serverOutcome)
                                .flatMap(outcome -> Results.tests(
                                        outcome, check -> Results.assertExpected(check, FAULTS_OF_SERVERS)))));
    }

    @Test
    void theDocsTellWhatWasSeen() throws IOException {
        List<Check> checks = Results.checks(ForeignSdk.FRAMEWORKS.stream().map(FrameworksTest::outcome));

        List<Check> servers = Results.checks(
                ForeignSdk.FRAMEWORKS.stream().filter(ForeignSdk::hasServer).map(FrameworksTest::serverOutcome));

        Results.assertDocumented("frameworks", ResultTable.table(checks));
        Results.assertDocumented("servers of frameworks", ResultTable.table(servers));
    }

    private static Outcome serverOutcome(ForeignSdk framework) {
        return SERVER_OUTCOMES.computeIfAbsent(framework, it -> {
            Outcome ofClient = outcome(it); // which has installed it
            return ofClient instanceof Outcome.Unavailable ? ofClient : it.serve(FrameworksTest::checks);
        });
    }

    /** Of the agent itself, and of a route that leads to it. */
    private static List<Check> checks(ForeignServer server) {
        String name = server.name().split(" ", 2)[0];
        GatewayRoutes.add(hub, Map.of("name", name, "url", server.url()));
        return Stream.of(
                        FrameworkServer.checks(server, server.url(), ""),
                        FrameworkServer.checks(server, hub.agentUrl(name), "through a gateway"))
                .flatMap(List::stream)
                .toList();
    }

    private static Outcome outcome(ForeignSdk framework) {
        return requireNonNull(OUTCOMES.get(framework)).join();
    }
}
