package dev.parley.interop;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;

import dev.parley.interop.ForeignSdk.Outcome;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

/** Clients of MCP, unmodified, call the agents of a hub as tools. Skipped and documented as {@link InteropTest}. */
final class McpClientsTest {
    /** Each is installed and run once, two at a time. */
    private static final Map<ForeignSdk, CompletableFuture<Outcome>> OUTCOMES = new LinkedHashMap<>();

    private static ExecutorService runs;
    private static McpHubs hubs;
    private static ParleyProgram shop;
    private static CompletableFuture<Outcome> inShop;

    @BeforeAll
    static void start() throws IOException {
        runs = Executors.newFixedThreadPool(2);
        hubs = new McpHubs();
        List<String> arguments = hubs.arguments();
        Stream.concat(Stream.of(ForeignSdk.MCP_INSPECTOR), ForeignSdk.MCP_SDKS.stream())
                .forEach(it -> OUTCOMES.put(it, CompletableFuture.supplyAsync(() -> it.call(arguments), runs)));
        shop = ParleyProgram.start("demo", "repair-shop", "--serve", "0");
        List<String> ofShop = List.of(shop.url());
        inShop = requireNonNull(OUTCOMES.get(ForeignSdk.MCP_INSPECTOR))
                .thenApplyAsync(first -> ForeignSdk.MCP_INSPECTOR.call(ofShop), runs);
    }

    @AfterAll
    static void stop() {
        runs.close();
        hubs.close();
        shop.close();
    }

    @TestFactory
    @DisplayName("GEM34 each client of MCP does everything that it offers with the agents of a hub")
    Stream<DynamicNode> everyClient() {
        return OUTCOMES.entrySet().stream()
                .map(each -> dynamicContainer(
                        each.getKey().name(),
                        Stream.of(each.getValue())
                                .map(CompletableFuture::join)
                                .flatMap(outcome ->
                                        Results.tests(outcome, check -> Results.assertExpected(check, Map.of())))));
    }

    @TestFactory
    @DisplayName("GEM35 the inspector lists and calls the tools of the repair shop, whose lift asks before it moves")
    Stream<DynamicNode> repairShop() {
        return Stream.of(inShop.join())
                .flatMap(outcome -> Results.tests(outcome, check -> Results.assertExpected(check, Map.of())));
    }

    @Test
    void theDocsTellWhatWasSeen() throws IOException {
        List<Check> checks = Results.checks(OUTCOMES.values().stream().map(CompletableFuture::join));

        Results.assertDocumentedOfMcp("clients of MCP", ResultTable.table(checks));
    }
}
