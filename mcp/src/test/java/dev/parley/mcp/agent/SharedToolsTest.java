package dev.parley.mcp.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.mcp.Tool;
import dev.parley.mcp.client.PinnedClient;
import dev.parley.mcp.client.ScriptedServer;
import dev.parley.mcp.wire.Revision;
import dev.parley.store.database.Database;
import dev.parley.store.database.SharedSchema;
import dev.parley.testkit.Eventually;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tools of a server that two hubs have, which work with one PostgreSQL database. */
@Timeout(90)
@Tag("heavy")
final class SharedToolsTest {
    private static final String NAME = "server";

    @TempDir
    private Path directory;

    private final SharedSchema schema = new SharedSchema();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final CountDownLatch pauses = new CountDownLatch(1);
    private final CountDownLatch goesOn = new CountDownLatch(1);
    private volatile boolean isToPause;
    private Database one;
    private Database other;
    private ToolTable here;
    private ToolTable there;

    @BeforeEach
    void open() {
        one = schema.shared(this::pause);
        other = schema.shared();
        here = new ToolTable(one);
        there = new ToolTable(other);
    }

    private void pause(String sql) {
        if (isToPause && sql.startsWith("INSERT INTO mcp_tool")) {
            pauses.countDown();
            try {
                assertThat(goesOn.await(60, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @AfterEach
    void close() {
        goesOn.countDown();
        threads.close();
        one.close();
        other.close();
    }

    private static Tool tool(String name, String description) {
        return new Tool(name, null, description, Map.of("type", "object"), null, Map.of());
    }

    @Test
    void anApprovalAtOneHubHoldsAtTheOtherWhenItIsAnswered() throws Exception {
        Path description = Files.writeString(directory.resolve("description.txt"), "Echoes");
        // A legacy server confirms no subscription. After one the other hub reads the tools again, and withdraws a
        // change that waits.
        List<String> command = ScriptedServer.command("legacy", description.toString());
        var entry = new ServersFile.Entry(
                NAME, command, Map.of(), null, null, Map.of(), null, null, Duration.ofSeconds(30), List.of());
        try (var server = new HostedServer(
                entry, there, (to, log, exit) -> PinnedClient.stdio(to.command(), Revision.V2025_11_25), () -> {})) {
            there.keep(server::approved);
            server.begin();
            Eventually.holds("the tools", () -> !server.tools().isEmpty());
            List<Tool> tools = server.tools();
            List<Tool> changed = tools.stream()
                    .map(tool -> tool(tool.name(), "Sends all files to somebody"))
                    .toList();

            for (int i = 0; i < 10; i++) {
                approveHere(changed);
                assertThat(server.tools()).isEmpty();

                approveHere(tools);
                assertThat(server.tools()).isEqualTo(tools);
            }
        }
    }

    private void approveHere(List<Tool> tools) {
        here.offered(NAME, tools);
        ToolTable.Approval approval = here.approve(NAME, null, null);
        assertThat(approval.tools())
                .containsExactlyInAnyOrderElementsOf(
                        tools.stream().map(Tool::name).toList());
        here.awaitSeen(approval);
    }

    @Test
    void toolsOfTheFirstContactOfBothHubsAreApproved() throws Exception {
        isToPause = true;
        var first = CompletableFuture.supplyAsync(
                () -> here.offered("shop", List.of(tool("find", "Finds"), tool("sell", "Sells"))), threads);
        assertThat(pauses.await(30, TimeUnit.SECONDS)).isTrue();
        there.offered("shop", List.of(tool("find", "Finds")));
        there.offered("shop", List.of(tool("find", "Finds"), tool("sell", "Sells"), tool("buy", "Buys")));
        assertThat(there.row("shop", "sell"))
                .hasValueSatisfying(row -> assertThat(row.held()).isNotNull());

        goesOn.countDown();
        assertThat(first.get(30, TimeUnit.SECONDS)).hasSize(2);

        assertThat(there.rows("shop").stream().filter(row -> row.held() == null))
                .extracting(ToolTable.Row::name)
                .containsExactly("find", "sell");
    }

    @Test
    void oneOfTwoApprovalsAtOnceApproves() throws Exception {
        here.offered("shop", List.of(tool("find", "Finds")));
        for (int i = 0; i < 20; i++) {
            here.offered("shop", List.of(tool("find", "Finds " + i)));
            var start = new CountDownLatch(1);
            List<CompletableFuture<Integer>> approvals = List.of(here, there).stream()
                    .map(table -> CompletableFuture.supplyAsync(
                            () -> {
                                try {
                                    start.await();
                                } catch (InterruptedException stopped) {
                                    throw new IllegalStateException(stopped);
                                }
                                return table.approve("shop", null, null).tools().size();
                            },
                            threads))
                    .toList();

            start.countDown();

            assertThat(approvals.get(0).get(30, TimeUnit.SECONDS)
                            + approvals.get(1).get(30, TimeUnit.SECONDS))
                    .isEqualTo(1);
        }
    }
}
