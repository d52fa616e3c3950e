package dev.parley.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.parley.agents.DemoAgents;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.interop.ForeignClient.Outcome;
import dev.parley.testkit.ScriptedAgents;
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
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * The official SDKs, as they are published, against a hub.
 *
 * <p>Skipped where they cannot be installed, unless the system property {@code parley.interop.required} is {@code true}.
 * With {@code parley.docs.update} being {@code true} the results are written into {@code docs/interop.md}; otherwise they
 * have to be the ones that it tells.
 */
class InteropTest {
    private static final Path DOCUMENT = Path.of("..", "docs", "interop.md");

    private static final Map<ForeignClient, Outcome> OUTCOMES = new HashMap<>();

    @TempDir
    static Path data;

    private static Hub hub;

    @BeforeAll
    static void start() {
        hub = Hub.builder()
                .port(0)
                .data(data)
                .agents(DemoAgents.all().toArray(Agent[]::new))
                .agents(ScriptedAgents.chatty())
                .webhookAllow(List.of("127.0.0.1"))
                .drain(Duration.ZERO)
                .start();
    }

    @AfterAll
    static void stop() {
        hub.close();
    }

    @TestFactory
    Stream<DynamicTest> theJavaScriptSdk() throws InterruptedException {
        return each(ForeignClient.JAVASCRIPT);
    }

    @TestFactory
    Stream<DynamicTest> thePythonSdk() throws InterruptedException {
        return each(ForeignClient.PYTHON);
    }

    @Test
    void theDocsTellWhatWasSeen() throws InterruptedException, IOException {
        // given
        var checks = new ArrayList<Check>();
        checks.addAll(checks(ForeignClient.JAVASCRIPT));
        checks.addAll(checks(ForeignClient.PYTHON));
        String document = Files.readString(DOCUMENT);

        // when
        String current = ResultTable.replaceIn(document, ResultTable.of(checks));
        if (Boolean.getBoolean("parley.docs.update")) {
            Files.writeString(DOCUMENT, current);
        }

        // then
        assertThat(Files.readString(DOCUMENT)).isEqualTo(current);
    }

    private static Stream<DynamicTest> each(ForeignClient client) throws InterruptedException {
        return checks(client).stream()
                .map(check -> dynamicTest(
                        check.column() + ": " + check.operation(),
                        () -> assertThat(check.ok()).as(check.detail()).isTrue()));
    }

    /** What a client found out; it is run once, by the first test that asks. */
    private static List<Check> checks(ForeignClient client) throws InterruptedException {
        Outcome outcome = OUTCOMES.get(client);
        if (outcome == null) {
            outcome = client.run(hub.url());
            OUTCOMES.put(client, outcome);
        }
        return switch (outcome) {
            case Outcome.Ran(var checks) -> checks;
            case Outcome.BrokeOff(var reason) -> fail(client.name() + " broke off: " + reason);
            case Outcome.Unavailable(var reason) -> {
                String message = client.name() + " cannot be installed: " + reason;
                yield Boolean.getBoolean("parley.interop.required") ? fail(message) : abort(message);
            }
        };
    }
}
