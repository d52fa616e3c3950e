package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.agents.DemoAgents;
import dev.parley.cli.Shell.Ran;
import dev.parley.client.AgentClient;
import dev.parley.client.TaskStream;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code parley kg …} against a hub. Tests have the rows of the feature matrix in their names. */
@Timeout(120)
final class KnowledgeCommandTest {
    @TempDir
    Path directory = Path.of("");

    private final Hub hub = Hub.builder()
            .agents(DemoAgents.all().toArray(Agent[]::new))
            .inMemory()
            .port(0)
            .drain(Duration.ofMillis(200))
            .start();
    private Shell shell = new Shell(directory);

    @BeforeEach
    void begin() {
        shell = new Shell(directory).with("A2ACLI_AGENT_CARD", hub.agentUrl("echo"));
    }

    @AfterEach
    void end() {
        hub.close();
    }

    private String kg(String... args) {
        var all = new String[args.length + 1];
        all[0] = "kg";
        System.arraycopy(args, 0, all, 1, args.length);
        Ran ran = shell.run(all);
        assertThat(ran.status()).as(ran.err()).isZero();
        return ran.out();
    }

    @Test
    void kg25WhatIsTypedIsChangedAskedAndWatched() {
        assertThat(kg("update", "add", "ex:p1", "ex:status", "\"done\"", "--certainty", "0.9", "--because", "seen"))
                .contains("Success: true")
                .contains("Affected: 1")
                .contains("Status: Verified");

        assertThat(kg("query", "{ entity(id: \"ex:p1\") { value(predicate: \"ex:status\") } }"))
                .contains("\"value\": \"done\"");
        assertThat(kg("query", "-o", "json", "SELECT ?o { <ex:p1> <ex:status> ?o }"))
                .contains("\"value\":\"done\"");
        assertThat(kg("subscribe", "--snapshot", "--count", "1", "--subject", "ex:p1"))
                .contains("  add  ex:p1  ex:status  \"done\"  (0.9)");
    }

    @Test
    void kg03WhatIsLessCertainIsLeftOutAndSaidSo() {
        kg("update", "add", "ex:p1", "ex:status", "\"rumour\"", "--certainty", "0.4");

        Ran ran = shell.run(
                "kg", "query", "--certainty", "0.8", "{ entity(id: \"ex:p1\") { value(predicate: \"ex:status\") } }");

        assertThat(ran.out()).doesNotContain("rumour");
        assertThat(ran.err()).contains("hiddenByCertainty: ");
    }

    @Test
    void patchesComeFromStandardInputToo() {
        shell.typing("[{\"op\":\"add\",\"statement\":{\"subject\":{\"id\":\"ex:p1\"},\"predicate\":{\"id\":\"ex:is\"},"
                + "\"object\":{\"id\":\"ex:p2\"}}}]");

        assertThat(kg("update", "--patches", "-")).contains("Affected: 1");
    }

    @Test
    void filesAreImportedAndExported() throws IOException {
        Files.writeString(directory.resolve("in.ttl"), """
                @prefix ex: <http://example.org/> .
                ex:p1 a ex:Project ; ex:name "One"@en ; ex:budget 12.5 .
                ex:p2 a ex:Project ; ex:partOf ex:p1 .
                """);

        assertThat(kg("import", "in.ttl", "--state", "done.txt", "--certainty", "0.7"))
                .contains("Statements: 5");
        assertThat(Files.readString(directory.resolve("done.txt")).strip()).isEqualTo("5");
        assertThat(kg("import", "in.ttl", "--state", "done.txt")).contains("Statements: 0");
        assertThat(kg("stats")).contains("Graph: default").contains("Total-Statements: 5");

        assertThat(kg("export", "--format", "n-triples"))
                .contains("<http://example.org/p1> <http://example.org/name> \"One\"@en .")
                .contains("<http://example.org/p2> <http://example.org/partOf> <http://example.org/p1> .");
        assertThat(kg("export"))
                .as("N9: Turtle, unless a format or a file says otherwise")
                .isEqualTo(kg("export", "--format", "turtle"))
                .contains("<http://example.org/p1>");
        assertThat(kg("export", "out.csv")).contains("Statements: 5");
        assertThat(directory.resolve("out.csv")).content().contains("0.7");
    }

    @Test
    void aBrokenFileSaysWhereAndHowToGoOn() throws IOException {
        Files.writeString(directory.resolve("in.nt"), "<http://e/a> <http://e/b> \"c\" .\nnonsense\n");

        Ran ran = shell.run("kg", "import", "in.nt");

        assertThat(ran.status()).isEqualTo(1);
        assertThat(ran.err()).contains("in.nt, line 2").contains("--from 0");
    }

    @Test
    void aQueryThatIsNoneIsRefusedWithWhatIsWrong() {
        Ran ran = shell.run("kg", "query", "{ graphs { nothing } }");

        assertThat(ran.status()).isEqualTo(1);
        assertThat(ran.err())
                .contains(
                        "KnowledgeQueryError",
                        "reason: validation",
                        "nothing",
                        "Hint: see the types and fields: parley kg schema -a ");
    }

    @Test
    void anEntityIsDrawn() throws IOException {
        kg("update", "add", "ex:p1", "ex:status", "\"<done>\"", "--certainty", "0.9");
        kg("update", "add", "ex:p2", "ex:partOf", "ex:p1");

        assertThat(kg("draw", "ex:p1"))
                .startsWith("graph LR\n")
                .contains("([\"&lt;done&gt;\"])")
                .contains("-->|\"ex:status (0.9)\"|");
        assertThat(kg("draw", "ex:p1", "-o", "dot")).contains("label=\"ex:partOf\"");
        assertThat(kg("draw", "ex:p1", "-o", "svg")).startsWith("<svg ").contains(">ex:p2</text>");
        shell.run("kg", "draw", "ex:p1", "--file", "p1.png");
        assertThat(ImageIO.read(new ByteArrayInputStream(Files.readAllBytes(directory.resolve("p1.png"))))
                        .getWidth())
                .isGreaterThan(100);
    }

    @Test
    void kg23TheSchemaIsShown() {
        assertThat(kg("schema")).contains("type Query");
    }

    @Test
    void reviewsOfAGroupAreDecided() throws IOException {
        Files.writeString(directory.resolve("rules.json"), "{\"rules\":[{\"on\":\"update\",\"effect\":\"review\"}]}");

        assertThat(kg("rules", "rules.json", "--url", hub.url())).contains("\"effect\": \"review\"");
        kg("update", "add", "ex:p1", "ex:status", "\"waits\"");
        assertThat(kg("review", "list", "--url", hub.url())).contains("Total-Size: 1", "Review-ID: 1");
        assertThat(kg("review", "list", "--url", hub.url(), "--group", "other")).contains("Total-Size: 0");
        assertThat(kg("review", "approve", "1", "--url", hub.url())).contains("Decision: approved");
        assertThat(kg("query", "{ entity(id: \"ex:p1\") { value(predicate: \"ex:status\") } }"))
                .contains("waits");
    }

    @Test
    void shapesAreSetAndHold() throws IOException {
        Files.writeString(
                directory.resolve("shapes.ttl"),
                "@prefix sh: <http://www.w3.org/ns/shacl#> . <ex:S> a sh:NodeShape ;"
                        + " sh:targetSubjectsOf <ex:size> ; sh:property [ sh:path <ex:size> ; sh:maxInclusive 9 ] .");
        Files.writeString(directory.resolve("wrong.ttl"), "no turtle");

        assertThat(kg("shapes", "shapes.ttl", "--url", hub.url())).contains("sh:maxInclusive 9");
        Ran refused = shell.run("kg", "update", "add", "ex:p1", "ex:size", "10");
        assertThat(refused.out() + refused.err()).contains("Constraint Violation");
        assertThat(kg("shapes", "--url", hub.url())).contains("sh:maxInclusive 9");
        assertThat(shell.run("kg", "shapes", "wrong.ttl", "--url", hub.url()).err())
                .contains("400");
    }

    @Test
    void reviewsAreListed() {
        assertThat(kg("review", "list", "--url", hub.url())).contains("Total-Size: 0");
        assertThat(shell.run("kg", "review", "approve", "7", "--url", hub.url()).status())
                .isEqualTo(1);
    }

    @Test
    void kg26AnAgentWithoutKnowledgeIsNotAsked() throws IOException {
        Path card = directory.resolve("card.json");
        Files.writeString(
                card,
                "{\"name\":\"plain\",\"description\":\"\",\"version\":\"1\",\"supportedInterfaces\":[{\"url\":\""
                        + "http://127.0.0.1:1\",\"protocolBinding\":\"JSONRPC\",\"protocolVersion\":\"1.0\"}],"
                        + "\"capabilities\":{},\"defaultInputModes\":[],\"defaultOutputModes\":[],\"skills\":[]}");

        Ran ran = shell.run("kg", "stats", "-a", card.toString());

        assertThat(ran.status()).isEqualTo(1);
        assertThat(ran.err()).contains("plain offers no knowledge graph");
    }

    @Test
    void kg29ThreeAgentsShareOneGraph() {
        var seen = new StringBuilder();
        try (AgentClient watchdog = AgentClient.connect(hub.agentUrl("watchdog"));
                TaskStream events = watchdog.stream("1")) {
            while (seen.indexOf("Watching") < 0) {
                seen.append(events.next());
            }

            Ran sensed = shell.run("send", "-a", hub.agentUrl("sensor"), "pump-1 92");
            Ran judged = shell.run("send", "-a", hub.agentUrl("diagnosis"), "look");
            events.forEachRemaining(seen::append);

            assertThat(sensed.out()).contains("pump-1 has 92 °C: Verified");
            assertThat(judged.out()).contains("ex:pump-1 is overheating");
            assertThat(seen).contains("ALARM: ex:pump-1 is overheating (certainty 0.855)");
            assertThat(kg("query", "{ entity(id: \"ex:pump-1\") { value(predicate: \"ex:alarm\") } }"))
                    .contains("\"value\": true");
        }
    }
}
