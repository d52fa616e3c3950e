package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.Shell.Ran;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.knowledge.api.SharedKnowledge;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PrivacyCommandTest {
    @TempDir
    private Path directory;

    @Test
    @DisplayName("ONE32 an export has the contents and events of messages of the mesh")
    void messagesOfTheMesh() throws Exception {
        Agent echo = Agent.named("echo", "Echoes").skill("say", "Says").handle((request, reply) -> reply.complete("x"));
        try (Hub hub = Hub.builder()
                .data(directory.resolve("data"))
                .port(0)
                .agents(echo)
                .start()) {
            var shell = new Shell(directory);
            String agent = hub.agentUrl("echo");
            Ran sent = shell.run("one", "send", "-a", agent, "say", "--parameters", "{\"text\": \"curiouser\"}");
            assertThat(sent.status()).as(sent.err()).isZero();

            Ran exported = shell.run("privacy", "export", "mine.jsonl", "--subject", "anonymous", "--url", hub.url());

            assertThat(exported.status()).as(exported.err()).isZero();
            assertThat(Files.readString(directory.resolve("mine.jsonl")))
                    .contains("curiouser", "\"action\":\"one.message\"", "\"messageType\":\"task_delegation\"");
        }
    }

    @Test
    void whatIsHeldIsSavedAndErased() throws IOException {
        try (Hub hub = Hub.builder()
                .data(directory.resolve("data"))
                .port(0)
                .drain(Duration.ofMillis(200))
                .agents(Agent.named("echo", "For a test")
                        .uses(SharedKnowledge.VIEW)
                        .handle((request, reply) -> reply.complete(request.text())))
                .start()) {
            Shell shell = new Shell(directory).with("A2ACLI_AGENT_CARD", hub.agentUrl("echo"));
            shell.run("send", "remember me");
            Ran told = shell.run(
                    "kg",
                    "update",
                    "-a",
                    hub.agentUrl("echo"),
                    "add",
                    "ex:p1",
                    "ex:status",
                    "\"told\"",
                    "--source",
                    "me");
            assertThat(told.status()).as(told.err()).isZero();
            Ran asked = shell.run("kg", "query", "-a", hub.agentUrl("echo"), "SELECT ?o { <ex:p1> <ex:status> ?o }");
            assertThat(asked.out()).as(asked.err()).contains("told");

            Ran exported = shell.run("privacy", "export", "mine.jsonl", "--subject", "anonymous", "--url", hub.url());
            assertThat(exported.out())
                    .as(exported.err())
                    .contains("Tasks: 1", "Statements: 0", "Questions: 1", "Audit-Rows: ");
            assertThat(Files.getPosixFilePermissions(directory.resolve("mine.jsonl")))
                    .containsExactlyInAnyOrder(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
            assertThat(Files.readString(directory.resolve("mine.jsonl")))
                    .contains("{\"task\":{", "remember me", "{\"question\":{", "\"action\":\"task.created\"");
            Ran mine = shell.run("privacy", "export", "said.jsonl", "--subject", "me", "--url", hub.url());
            assertThat(mine.out()).as(mine.err()).contains("Statements: 1");
            assertThat(Files.readString(directory.resolve("said.jsonl")))
                    .contains("{\"statement\":{", "\"value\":\"told\"");
            Ran takenBack =
                    shell.run("privacy", "erase", "--yes", "--with-statements", "--subject", "me", "--url", hub.url());
            assertThat(takenBack.out()).as(takenBack.err()).contains("Statements: 1", "Knowledge-Rows: ");

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
