package dev.parley.registry.vault;

import dev.parley.hub.Hub;
import dev.parley.registry.GoldenFiles;
import dev.parley.registry.GoldenFiles.Golden;
import dev.parley.testkit.ExtensionKit;
import dev.parley.trust.cards.CardKeys;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Answers about a card of AgentVault, by its own API and as an entry of the registry, compared with {@linkplain GoldenFiles files}. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class VaultGoldenTest {
    private Hub hub;
    private String card = "";

    @BeforeAll
    void start(@TempDir Path directory) throws Exception {
        Path key = directory.resolve("key.json");
        CardKeys.create(key, CardKeys.Algorithm.ES256, null);
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .set("registry-publisher", "hub.example.com")
                .set("registry-probes", "0s")
                .cardKeys(CardKeys.read(List.of(key)))
                .start();
        var api = new Api(hub.url());
        String[] judy = api.developer("judy");
        String data = "{'schemaVersion':'1.0','humanReadableId':'judy/weather','agentVersion':'1.0.0','name':'Weather',"
                + "'description':'Tells the weather','url':'https://judy.example/a2a','provider':{'name':'Judy'},"
                + "'capabilities':{'a2aVersion':'1.0'},'authSchemes':[{'scheme':'none'}],'tags':['weather']}";
        card = api.send("POST", "/api/v1/agent-cards/", "{'card_data':" + data + "}", judy)
                .is(201)
                .text("id");
    }

    @AfterAll
    void stop() {
        hub.close();
    }

    @TestFactory
    Stream<DynamicTest> answersAreAsInTheFiles() {
        var files = new GoldenFiles(VaultGoldenTest.class, ExtensionKit.caller(hub.url()), hub.url());
        String cards = "/api/v1/agent-cards";
        return Stream.of(
                        new Golden("agentvault-1.0/cards", "GET", cards + "?search=Weather", ""),
                        new Golden("agentvault-1.0/card", "GET", cards + "/" + card, ""),
                        new Golden("agentvault-1.0/card-by-id", "GET", cards + "/id/judy%2Fweather", ""),
                        new Golden("agentvault-1.0/card-unknown", "GET", cards + "/id/judy%2Fnone", ""),
                        new Golden("agentvault-1.0/card-unauthorized", "POST", cards + "/", "{'card_data':{}}"),
                        new Golden(
                                "agentvault-1.0/validate",
                                "POST",
                                "/api/v1/utils/validate-card",
                                "{'card_data':{'name':'x'}}"),
                        new Golden(
                                "ard-0.91/agent",
                                "GET",
                                "/registry/ard/agents/urn:air:hub.example.com:agentvault:weather",
                                ""),
                        new Golden("ai-catalog-1.0/ai-catalog.json", "GET", "/.well-known/ai-catalog.json", ""))
                .map(golden -> DynamicTest.dynamicTest(golden.file(), () -> files.check(golden, card)));
    }
}
