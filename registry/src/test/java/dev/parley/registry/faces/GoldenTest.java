package dev.parley.registry.faces;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Hub;
import dev.parley.registry.Cards;
import dev.parley.registry.GoldenFiles;
import dev.parley.registry.GoldenFiles.Golden;
import dev.parley.testkit.ExtensionKit;
import dev.parley.testkit.ExtensionKit.Answer;
import dev.parley.testkit.ExtensionKit.Caller;
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

/**
 * All documents that the registry writes in the forms of other specifications, compared with {@linkplain GoldenFiles files}.
 */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class GoldenTest {
    private static final String AGENT = "urn:air:hub.example.com:default:translator";
    private static final String SEARCH =
            "{'query':{'text':'translate contracts'},'federation':'referrals','pageSize':1}";

    @TempDir
    static Path directory = Path.of("");

    private Hub hub;
    private Caller web;

    @BeforeAll
    void start() throws Exception {
        Path key = directory.resolve("key.json");
        CardKeys.create(key, CardKeys.Algorithm.ES256, null);
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .set("registry-publisher", "hub.example.com")
                .set("registry-probes", "0s")
                .cardKeys(CardKeys.read(List.of(key)))
                .start();
        web = ExtensionKit.caller(hub.url());
        register("application/a2a-agent-card+json", Cards.v1("Translator", "translate"));
        register(
                "application/a2a-agent-card+json",
                Cards.v1("Both", "work")
                        .replace(
                                "\"supportedInterfaces\":[",
                                "\"supportedInterfaces\":[{\"url\":\"https://both.example/mcp\",\"protocolBinding\":\"MCP\","
                                        + "\"protocolVersion\":\"2025-06-18\"},"));
        register(
                "application/mcp-server-card+json",
                "{'name':'com.example/weather','description':'Forecasts','version':'2.0.0'}");
        register(
                "application/mcp-server-card+json",
                "{'name':'com.example/weather','description':'Forecasts','version':'2.1.0',"
                        + "'remotes':[{'type':'sse','url':'https://weather.example/sse'}],'_custom':{'kept':true}}");
    }

    private void register(String type, String document) throws Exception {
        Answer answer =
                web.post("/registry/agents", "{'type':'" + type + "','visibility':'public','card':" + document + "}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    }

    @AfterAll
    void stop() {
        hub.close();
    }

    @TestFactory
    Stream<DynamicTest> answersAreAsInTheFiles() {
        String ard = "/registry/ard";
        return Stream.of(
                        new Golden("ard-0.91/search", "POST", ard + "/search", SEARCH),
                        new Golden(
                                "ard-0.91/search-filtered",
                                "POST",
                                ard + "/search",
                                "{'query':{'text':'work','filter':{'type':['application/mcp-server-card+json']}},'federation':'none'}"),
                        new Golden("ard-0.91/search-error", "POST", ard + "/search", "{'query':{}}"),
                        new Golden(
                                "ard-0.91/explore",
                                "POST",
                                ard + "/explore",
                                "{'query':{'text':'translate'},'resultType':{'facets':[{'field':'type'},{'field':'tags'}]}}"),
                        new Golden("ard-0.91/agents", "GET", ard + "/agents?pageSize=2", ""),
                        new Golden("ard-0.91/agent", "GET", ard + "/agents/" + AGENT, ""),
                        new Golden("ard-0.91/agent-unknown", "GET", ard + "/agents/urn:air:x.invalid:no:no", ""),
                        new Golden("ard-0.91/ard.json", "GET", "/.well-known/ard.json", ""),
                        new Golden("ai-catalog-1.0/ai-catalog.json", "GET", "/.well-known/ai-catalog.json", ""),
                        new Golden("did-web-v1/did.json", "GET", "/.well-known/did.json", ""),
                        new Golden("rfc9727/api-catalog", "GET", "/.well-known/api-catalog", ""),
                        new Golden("mcp-2025-12-11/servers", "GET", "/v0.1/servers", ""),
                        new Golden(
                                "mcp-2025-12-11/versions", "GET", "/v0.1/servers/com.example%2Fweather/versions", ""),
                        new Golden(
                                "mcp-2025-12-11/latest",
                                "GET",
                                "/v0.1/servers/com.example%2Fweather/versions/latest",
                                ""),
                        new Golden("mcp-2025-12-11/unknown", "GET", "/v0.1/servers/a%2Fb/versions/latest", ""))
                .map(golden -> DynamicTest.dynamicTest(
                        golden.file(), () -> new GoldenFiles(GoldenTest.class, web, hub.url()).check(golden, "")));
    }
}
