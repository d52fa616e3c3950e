package dev.parley.interop;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;

import dev.parley.hub.Hub;
import dev.parley.interop.Check.Result;
import dev.parley.interop.ForeignSdk.Outcome;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
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
 * Clients of the official SDKs call agents of the official SDKs through a gateway, each client each agent: other languages,
 * other dialects, other bindings. A route leads to one agent over one of its bindings. Skipped and documented as {@link
 * InteropTest}.
 */
final class ForeignAgentsTest {
    private static final List<String> SDKS =
            List.of("python-1.0", "python-0.3", "go-1.0", "go-0.3", "js-1.0", "js-0.3");

    /** Frameworks that answer questions. */
    private static final List<String> FRAMEWORKS = List.of("google-adk", "agent-framework", "crewai");

    /** Operations that fail with any peer, by client and route; {@code *} is any. The document says why. */
    private static final Map<String, Set<String>> FAULTS =
            Map.of("Python 0.3.26 rest > *", Set.of("send a file"), "* > python-0.3-rest", Set.of("send a file"));

    private static final List<ForeignServer> SERVERS = new ArrayList<>();
    private static final Map<String, String> ROUTES = new LinkedHashMap<>();
    private static final Map<ForeignSdk, CompletableFuture<Outcome>> OUTCOMES = new LinkedHashMap<>();
    private static ExecutorService runs;
    private static Hub gateway;
    private static Hub gatewayOfFrameworks;

    @BeforeAll
    static void start() {
        SERVERS.clear();
        ROUTES.clear();
        runs = Executors.newFixedThreadPool(SDKS.size() + FRAMEWORKS.size());
        List<ForeignSdk> sdks =
                ForeignSdk.ALL.stream().filter(sdk -> SDKS.contains(sdk.name())).toList();
        gateway = gateway(true);
        gatewayOfFrameworks = gateway(false); // google-adk refuses cards with gRPC
        Map<ForeignSdk, CompletableFuture<ForeignServer>> starting = new LinkedHashMap<>();
        sdks.forEach(sdk -> starting.put(sdk, CompletableFuture.supplyAsync(() -> started(sdk), runs)));
        for (var server : starting.entrySet()) {
            addRoutes(server.getKey().name(), server.getValue().join());
        }
        sdks.forEach(sdk -> OUTCOMES.put(sdk, CompletableFuture.supplyAsync(() -> sdk.call(arguments(gateway)), runs)));
        ForeignSdk.FRAMEWORKS.stream()
                .filter(framework -> FRAMEWORKS.contains(framework.name()))
                .forEach(framework -> OUTCOMES.put(
                        framework,
                        CompletableFuture.supplyAsync(() -> framework.call(arguments(gatewayOfFrameworks)), runs)));
    }

    private static Hub gateway(boolean grpcOnCards) {
        return Hub.builder()
                .port(0)
                .inMemory()
                .grpcOnCards(grpcOnCards)
                .webhookAllow(List.of("127.0.0.1"))
                .drain(Duration.ZERO)
                .start();
    }

    private static List<String> arguments(Hub hub) {
        return Stream.concat(Stream.of(hub.url()), ROUTES.keySet().stream().map(route -> "@" + route))
                .toList();
    }

    private static ForeignServer started(ForeignSdk sdk) {
        try {
            sdk.install();
            return sdk.start();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static void addRoutes(String sdk, ForeignServer server) {
        SERVERS.add(server);
        for (Map.Entry<String, String> binding : server.bindings().entrySet()) {
            String name = sdk + "-" + binding.getKey();
            ROUTES.put(name, server.name() + " " + binding.getKey());
            Map<String, String> route = Map.of("name", name, "url", server.url(), "binding", binding.getValue());
            GatewayRoutes.add(gateway, route);
            GatewayRoutes.add(gatewayOfFrameworks, route);
        }
    }

    @AfterAll
    static void stop() {
        runs.close();
        gateway.close();
        gatewayOfFrameworks.close();
        SERVERS.forEach(ForeignServer::close);
    }

    @TestFactory
    @DisplayName("GEM31, K5: each client calls through a gateway the agents of each SDK, over each of their bindings")
    Stream<DynamicNode> everyClient() {
        return OUTCOMES.keySet().stream()
                .map(sdk -> dynamicContainer(
                        sdk.name(),
                        Stream.of(sdk)
                                .map(ForeignAgentsTest::outcome)
                                .flatMap(outcome -> Results.tests(outcome, ForeignAgentsTest::assertExpected))));
    }

    @Test
    void theDocsTellWhatWasSeen() throws IOException {
        List<Check> checks = Results.checks(OUTCOMES.keySet().stream().map(ForeignAgentsTest::outcome));

        Results.assertDocumented("foreign agents", table(checks));
    }

    private static Outcome outcome(ForeignSdk sdk) {
        return requireNonNull(OUTCOMES.get(sdk)).join();
    }

    private static void assertExpected(Check check) {
        assertThat(check.result() == Result.FAILED)
                .as("%s %s: %s", check.column(), check.operation(), check.detail())
                .isEqualTo(isFault(check));
    }

    private static boolean isFault(Check check) {
        return Stream.of(check.column() + " > *", "* > " + route(check))
                .anyMatch(pair -> FAULTS.getOrDefault(pair, Set.of()).contains(operation(check)));
    }

    private static String route(Check check) {
        return check.operation().substring(0, check.operation().indexOf(' '));
    }

    private static String operation(Check check) {
        return check.operation().substring(check.operation().indexOf(' ') + 1);
    }

    /** A row for each agent and binding, a column for each client and binding; a cell names the operations that fail. */
    private static String table(List<Check> checks) {
        List<String> columns = checks.stream().map(Check::column).distinct().toList();
        var table = new StringBuilder("| agent | ")
                .append(String.join(" | ", columns))
                .append(" |\n|")
                .append(" --- |".repeat(columns.size() + 1))
                .append('\n');
        Map<String, Map<String, List<Check>>> rows =
                checks.stream().collect(groupingBy(ForeignAgentsTest::route, groupingBy(Check::column)));
        ROUTES.forEach((route, agent) -> table.append("| ")
                .append(agent)
                .append(" | ")
                .append(columns.stream()
                        .map(column -> cell(
                                requireNonNull(requireNonNull(rows.get(route)).get(column))))
                        .collect(joining(" | ")))
                .append(" |\n"));
        return table.toString();
    }

    private static String cell(List<Check> checks) {
        String failed = checks.stream()
                .filter(check -> check.result() == Result.FAILED)
                .map(ForeignAgentsTest::operation)
                .collect(joining(", "));
        return failed.isEmpty() ? "passed" : "**" + failed + "**";
    }
}
