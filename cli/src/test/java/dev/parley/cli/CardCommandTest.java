package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
        assertThat(shell.run("card", "validate", "-a", agent.url()).out()).startsWith("Valid: yes\nSchema: A2A 1.0\n");
        assertThat(shell.run("card", "get", "--validate", "-a", agent.url(), "-o", "json")
                        .err())
                .isEqualTo("Valid: yes\nSchema: A2A 1.0\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "A2A 0.3 | 'protocolVersion':'0.3.0','description':'d','defaultInputModes':[],'defaultOutputModes':[],"
                        + "'securitySchemes':{'k':{'type':'apiKey','in':'header','name':'API-Key'}},'skills':[]",
                "A2A 0.2 | 'protocolVersion':'0.2.6','description':'d','defaultInputModes':[],'defaultOutputModes':[],"
                        + "'skills':[]",
                "A2A 0.1 | 'authentication':{'schemes':['Bearer']},'skills':[{'id':'s','name':'S'}]",
                "Agentic Kernel | 'default_input_modes':['text'],'default_output_modes':['text'],'skills':[]",
                "AgentVault 0.2 | 'schemaVersion':'1.0','humanReadableId':'a/b','agentVersion':'1','description':'d',"
                        + "'provider':{'name':'p'},'authSchemes':[{'scheme':'none'}],'skills':[]"
            })
    void eachVersionIsCheckedByItsOwnSchema(String schema, String members) throws IOException {
        String capabilities = schema.startsWith("AgentVault") ? "{'a2aVersion':'0.2'}" : "{}";
        String card = "{'name':'n','version':'1','url':'http://localhost:1/a','capabilities':" + capabilities + ","
                + members + "}";
        Files.writeString(directory.resolve("good.json"), card.replace('\'', '"'));
        Files.writeString(
                directory.resolve("bad.json"), card.replace("'name':'n',", "").replace('\'', '"'));

        Shell.Ran good = shell.run("card", "validate", "good.json");
        Shell.Ran bad = shell.run("card", "validate", "bad.json");

        assertThat(good.out()).as(good.err()).startsWith("Valid: yes\nSchema: " + schema + "\n");
        assertThat(bad.err()).contains("breaks the schema of " + schema, "name is missing");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "'required':true,'params':{'region':'eu'} | true",
                "'required':false,'params':{'region':'eu'} | false",
                "'required':true | false",
                "'required':true,'params':{'methods':['a/b'],'region':'eu'} | false"
            })
    @DisplayName("M15 a card whose required extension adds only data is valid, with a warning")
    void requiredData(String members, boolean warned) throws IOException {
        String card =
                "{'name':'n','description':'d','version':'1','supportedInterfaces':[{'url':'http://localhost:1/a',"
                        + "'protocolBinding':'JSONRPC','protocolVersion':'1.0'}],'capabilities':{'extensions':[{'uri':'https://x.example/e/v1',"
                        + members + "}]},'defaultInputModes':[],'defaultOutputModes':[],'skills':[]}";
        Files.writeString(directory.resolve("card.json"), card.replace('\'', '"'));

        Shell.Ran ran = shell.run("card", "validate", "card.json");

        assertThat(ran.out()).as(ran.err()).startsWith("Valid: yes");
        assertThat(ran.err().contains("https://x.example/e/v1 is required, and its entry has data"))
                .isEqualTo(warned);
    }

    @Test
    void aCardThatLeadsToAnotherOriginIsReported() {
        agent.showing(agent.card(true, "").replaceFirst("http://[^/]+/rpc", "https://elsewhere.example.com/rpc"));

        assertThat(shell.run("card", "validate", "-a", agent.url()).err())
                .contains("leads to another origin: https://elsewhere.example.com:443");
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
