package dev.parley.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.parley.agents.DemoAgents;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.interop.Check.Result;
import dev.parley.interop.ForeignSdk.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Frameworks whose agents call others by A2A, as published, and a hub with default settings. */
final class FrameworksTest {
    private static final Path DOCUMENT = Path.of("..", "docs", "interop.md");
    private static final Map<ForeignSdk, Outcome> OUTCOMES = new HashMap<>();
    private static Hub hub;

    @BeforeAll
    static void start() {
        hub = Hub.builder()
                .port(0)
                .inMemory()
                .agents(DemoAgents.all().toArray(Agent[]::new))
                .drain(Duration.ZERO)
                .start();
    }

    @AfterAll
    static void stop() {
        hub.close();
    }

    @TestFactory
    Stream<DynamicNode> everyFramework() {
        return ForeignSdk.FRAMEWORKS.stream()
                .map(client -> dynamicContainer(client.name(), Stream.of(client).flatMap(FrameworksTest::tests)));
    }

    @Test
    void theDocsTellWhatWasSeen() throws IOException {
        var checks = new ArrayList<Check>();
        for (ForeignSdk client : ForeignSdk.FRAMEWORKS) {
            if (!(outcome(client) instanceof Outcome.Ran(var itsChecks))) {
                abort(client.name() + " did not come to its end");
                return;
            }
            checks.addAll(itsChecks);
        }
        String document = Files.readString(DOCUMENT);
        String current = ResultTable.replaceIn(document, "frameworks", ResultTable.table(checks));

        if (Boolean.getBoolean("parley.docs.update")) {
            Files.writeString(DOCUMENT, current);
        }

        assertThat(Files.readString(DOCUMENT)).isEqualTo(current);
    }

    private static Stream<DynamicTest> tests(ForeignSdk client) {
        return switch (outcome(client)) {
            case Outcome.Ran(var checks) ->
                checks.stream()
                        .map(check -> dynamicTest(
                                check.operation(),
                                () -> assertThat(check.result())
                                        .as(check.detail())
                                        .isEqualTo(Result.PASSED)));
            case Outcome.BrokeOff(var reason) -> Stream.of(dynamicTest("comes to its end", () -> fail(reason)));
            case Outcome.Unavailable(var reason) ->
                Stream.of(dynamicTest("can be installed", () -> Requirement.missing(reason)));
        };
    }

    /** The outcome of a client, which is run once. */
    private static Outcome outcome(ForeignSdk client) {
        return OUTCOMES.computeIfAbsent(client, it -> it.call(List.of(hub.url())));
    }
}
