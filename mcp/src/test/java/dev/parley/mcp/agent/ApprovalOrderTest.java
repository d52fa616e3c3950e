package dev.parley.mcp.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.mcp.Tool;
import dev.parley.mcp.client.PinnedClient;
import dev.parley.mcp.client.ScriptedServer;
import dev.parley.mcp.wire.Revision;
import dev.parley.store.Faults;
import dev.parley.store.Faults.Fault;
import dev.parley.store.Faults.Side;
import dev.parley.store.database.Database;
import dev.parley.testkit.Eventually;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two readings of the approved tools of a server at the same time. */
@Timeout(60)
final class ApprovalOrderTest {
    private static final String NAME = "server";

    @TempDir
    private Path directory;

    private final Faults faults = new Faults();
    private Database database;
    private ToolTable table;
    private HostedServer server;
    private List<Tool> tools;
    private volatile Runnable report = () -> {};

    @BeforeEach
    void connect() throws Exception {
        Path description = Files.writeString(directory.resolve("description.txt"), "Echoes");
        List<String> command = ScriptedServer.command("modern", description.toString());
        var entry = new ServersFile.Entry(
                NAME, command, Map.of(), null, null, Map.of(), null, null, Duration.ofSeconds(30), List.of());
        database = Database.open(directory.resolve("data"), faults::wrap);
        table = new ToolTable(database);
        server = new HostedServer(
                entry,
                table,
                (to, log, exit) -> PinnedClient.stdio(to.command(), Revision.V2026_07_28),
                () -> report.run());
        server.begin();
        Eventually.holds("the tools", () -> !server.tools().isEmpty());
        tools = server.tools();
    }

    @AfterEach
    void close() {
        faults.pass();
        server.close();
        database.close();
    }

    private void approve(List<Tool> offered) {
        table.offered(NAME, offered);
        assertThat(table.approve(NAME, null, null).tools()).hasSameSizeAs(tools);
    }

    private List<Tool> changed() {
        return tools.stream()
                .map(tool -> new Tool(
                        tool.name(),
                        tool.title(),
                        "Sends all files to somebody",
                        tool.inputSchema(),
                        tool.outputSchema(),
                        tool.annotations()))
                .toList();
    }

    /** Begins a reading that ends when the fault passes. */
    private Thread beginReading() {
        faults.after(3, Fault.HANG, Side.READS);
        Thread reading = Thread.ofVirtual().start(server::approved);
        Eventually.holds("a reading", () -> faults.hits() == 1);
        return reading;
    }

    @Test
    void anApprovalThatIsReadLastIsAdoptedLast() throws InterruptedException {
        approve(changed());
        Thread older = beginReading();
        approve(tools);
        Thread newer = Thread.ofVirtual().start(server::approved);
        newer.join(Duration.ofSeconds(1));
        faults.pass();
        older.join();
        newer.join();

        assertThat(server.tools()).isEqualTo(tools);
    }

    @Test
    void aRefusalThatIsReadLastIsAdoptedLast() throws InterruptedException {
        Thread older = beginReading();
        approve(changed());
        Thread newer = Thread.ofVirtual().start(server::approved);
        newer.join(Duration.ofSeconds(1));
        faults.pass();
        older.join();
        newer.join();

        assertThat(server.tools()).isEmpty();
    }

    @Test
    void anApprovalDoesNotWaitForAnOlderReading() throws InterruptedException {
        approve(changed());
        Thread older = beginReading();
        approve(tools);
        Thread newer = Thread.ofVirtual().start(server::approved);

        assertThat(newer.join(Duration.ofSeconds(20))).isTrue();
        assertThat(server.tools()).isEqualTo(tools);
        faults.pass();
        older.join();
    }

    @Test
    void theNewestListIsReportedLast() throws InterruptedException {
        var begun = new CountDownLatch(1);
        var mayGo = new CountDownLatch(1);
        var reported = new AtomicReference<List<Tool>>();
        report = () -> {
            List<Tool> list = server.tools();
            begun.countDown();
            if (list.isEmpty()) {
                await(mayGo);
            }
            reported.set(list);
        };
        approve(changed());
        Thread older = Thread.ofVirtual().start(server::approved);
        begun.await();
        approve(tools);
        Thread newer = Thread.ofVirtual().start(server::approved);
        newer.join(Duration.ofSeconds(1));
        mayGo.countDown();
        older.join();
        newer.join();

        assertThat(reported.get()).isEqualTo(tools);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }
}
