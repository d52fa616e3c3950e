package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.Shell.Ran;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PrivacyCommandTest {
    @TempDir
    private Path directory;

    @Test
    void whatIsHeldIsSavedAndErased() throws IOException {
        try (Hub hub = Hub.builder()
                .data(directory.resolve("data"))
                .port(0)
                .drain(Duration.ofMillis(200))
                .agents(Agent.named("echo", "For a test").handle((request, reply) -> reply.complete(request.text())))
                .start()) {
            Shell shell = new Shell(directory).with("A2ACLI_AGENT_CARD", hub.agentUrl("echo"));
            shell.run("send", "remember me");

            Ran exported = shell.run("privacy", "export", "mine.jsonl", "--subject", "anonymous", "--url", hub.url());
            assertThat(exported.out()).as(exported.err()).contains("Tasks: 1", "Audit-Rows: ");
            assertThat(Files.readString(directory.resolve("mine.jsonl")))
                    .contains("{\"task\":{", "remember me", "\"action\":\"task.created\"");

            Ran careless = shell.run("privacy", "erase", "--subject", "anonymous", "--url", hub.url());
            assertThat(careless.status()).isNotZero();
            assertThat(careless.err()).contains("expected: --yes");
            assertThat(shell.run("task", "list").out()).contains("Total-Size: 1");
            Ran erased = shell.run("privacy", "erase", "--yes", "--subject", "anonymous", "--url", hub.url());
            assertThat(erased.out()).as(erased.err()).contains("Tasks: 1");
            assertThat(shell.run("task", "list").out()).contains("Total-Size: 0");
            assertThat(shell.run("privacy", "erase", "--yes", "--url", hub.url())
                            .err())
                    .contains("expected: --subject NAME or --context ID");
        }
    }
}
