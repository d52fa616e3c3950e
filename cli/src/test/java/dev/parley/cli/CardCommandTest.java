package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code card get} and {@code card validate}. */
@Timeout(60)
class CardCommandTest {
    @TempDir
    Path directory;

    private ScriptedServer agent;
    private Shell shell;

    @BeforeEach
    void start() {
        agent = new ScriptedServer();
        shell = new Shell(directory);
    }

    @AfterEach
    void stop() {
        agent.close();
    }

    @Test
    void textTellsWhatTheAgentIsAndCan() {
        agent.showing(
                agent.card(
                        true,
                        ",\"securitySchemes\":{\"key\":{\"apiKeySecurityScheme\":{\"location\":\"header\",\"name\":\"x-key\"}}}"));

        Shell.Ran ran = shell.run("card", "get", "-a", agent.url());

        assertThat(ran.out()).isEqualTo("""
                Card: %1$s/.well-known/agent-card.json
                Name: scripted
                Description: Does as told
                Version: 1
                Streaming: yes
                Push-Notifications: no
                Extended-Card: no
                Interface: JSONRPC 1.0 %1$s/rpc
                Security-Scheme: key: API key in header x-key
                Input-Modes: text/plain
                Output-Modes: text/plain
                Signatures: absent
                """.formatted(agent.url()));
    }

    @Test
    void jsonIsTheCardWithAllThatIsInIt() {
        String card = agent.card(true, ",\"unheardOf\":{\"a\":1}");
        agent.showing(card);

        assertThat(shell.run("card", "get", agent.url(), "-o", "json").out()).isEqualTo(card + "\n");
    }

    @Test
    void aCardOfUnknownBindingsCanStillBeRead() {
        agent.showing(agent.card(true, "").replace("JSONRPC", "urn:example:pigeon"));

        assertThat(shell.run("card", "get", "-a", agent.url()).status()).isZero();
        assertThat(shell.run("task", "get", "t1", "-a", agent.url()).err()).contains("urn:example:pigeon 1.0");
    }

    @Test
    @Tag("A2ACLI_CARD_GET_002")
    void aValidCardIsSaidToBeOne() {
        assertThat(shell.run("card", "validate", "-a", agent.url()).out()).startsWith("Valid: yes\n");
        assertThat(shell.run("card", "get", "--validate", "-a", agent.url(), "-o", "json")
                        .err())
                .isEqualTo("Valid: yes\n");
    }

    @Test
    @Tag("A2ACLI_CARD_GET_002")
    void everyFaultOfACardIsNamedByItsPath() throws IOException {
        Files.writeString(directory.resolve("card.json"), """
                {"name":"x","version":1,"capabilities":{"streaming":"yes"},"defaultInputModes":[],
                "defaultOutputModes":[1],"supportedInterfaces":[{"url":"nowhere","protocolBinding":"JSONRPC"}],
                "skills":[{"id":"a","name":"A","description":"d"}],
                "securitySchemes":{"k":{"apiKeySecurityScheme":{"location":"body","name":"x"}},"l":{}}}""");

        Shell.Ran ran = shell.run("card", "validate", "card.json");

        assertThat(ran.status()).isEqualTo(1);
        assertThat(ran.err())
                .contains("A2ACLI_ERR_CARD_INVALID")
                .contains("description is missing (expected: a text)")
                .contains("version is wrong (expected: a text)")
                .contains("capabilities.streaming is wrong")
                .contains("defaultOutputModes is wrong")
                .contains("supportedInterfaces[0].protocolVersion is missing")
                .contains("supportedInterfaces[0].url is wrong (expected: an absolute URL)")
                .contains("skills[0].tags is missing")
                .contains("securitySchemes.k.apiKeySecurityScheme.location is wrong")
                .contains("securitySchemes.l is wrong");
    }

    @Test
    void anExtendedCardIsOnlyAskedForWhereThereIsOne() {
        Shell.Ran ran = shell.run("card", "get", "--extended", "-a", agent.url());

        assertThat(ran.status()).isEqualTo(1);
        assertThat(ran.err()).contains("UnsupportedOperationError");
        assertThat(agent.asked()).isEmpty();
    }
}
