package dev.parley.registry.faces;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.hub.Hub;
import dev.parley.registry.Cards;
import dev.parley.testkit.ExtensionKit;
import dev.parley.testkit.ExtensionKit.Answer;
import dev.parley.testkit.ExtensionKit.Caller;
import dev.parley.trust.cards.CardKeys;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * All documents that the registry writes in the forms of other specifications, compared with files: a directory for each revision of a
 * specification. The address of the hub, times, keys and signatures are replaced by fixed ones. {@code -Dgolden.write=true} writes the
 * files anew.
 */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class GoldenTest {
    private static final String DIRECTORY = "golden/";
    private static final String AGENT = "urn:air:hub.example.com:default:translator";
    private static final String SEARCH =
            "{'query':{'text':'translate contracts'},'federation':'referrals','pageSize':1}";

    @TempDir
    static Path directory = Path.of("");

    private Hub hub;
    private Caller web;
    private String card = "";

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
        web.post("/auth/register", "{'name':'judy','email':'judy@example.com','password':'secret-judy'}");
        String token = web.form("/auth/login", "username=judy%40example.com&password=secret-judy")
                .text("access_token");
        Answer made = web.with("Authorization", "Bearer " + token)
                .post("/api/v1/agent-cards/", "{'card_data':" + vaultCard() + "}");
        assertThat(made.status()).as(made.text()).isEqualTo(201);
        card = made.text("id");
    }

    private void register(String type, String document) throws Exception {
        Answer answer =
                web.post("/registry/agents", "{'type':'" + type + "','visibility':'public','card':" + document + "}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    }

    private static String vaultCard() {
        return "{'schemaVersion':'1.0','humanReadableId':'judy/weather','agentVersion':'1.0.0','name':'Weather',"
                + "'description':'Tells the weather','url':'https://judy.example/a2a','provider':{'name':'Judy'},"
                + "'capabilities':{'a2aVersion':'1.0'},'authSchemes':[{'scheme':'none'}],'tags':['weather']}";
    }

    @AfterAll
    void stop() {
        hub.close();
    }

    /** A request and the file with its answer. */
    private record Golden(String file, String method, String path, String body) {}

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
                        new Golden("mcp-2025-12-11/unknown", "GET", "/v0.1/servers/a%2Fb/versions/latest", ""),
                        new Golden("agentvault-1.0/cards", "GET", "/api/v1/agent-cards?search=Weather", ""),
                        new Golden("agentvault-1.0/card", "GET", "/api/v1/agent-cards/" + card, ""),
                        new Golden("agentvault-1.0/card-by-id", "GET", "/api/v1/agent-cards/id/judy%2Fweather", ""),
                        new Golden("agentvault-1.0/card-unknown", "GET", "/api/v1/agent-cards/id/judy%2Fnone", ""),
                        new Golden(
                                "agentvault-1.0/card-unauthorized", "POST", "/api/v1/agent-cards/", "{'card_data':{}}"),
                        new Golden(
                                "agentvault-1.0/validate",
                                "POST",
                                "/api/v1/utils/validate-card",
                                "{'card_data':{'name':'x'}}"))
                .map(golden -> DynamicTest.dynamicTest(golden.file(), () -> check(golden)));
    }

    private void check(Golden golden) throws Exception {
        Answer answer = golden.method().equals("GET") ? web.get(golden.path()) : web.post(golden.path(), golden.body());
        String written = golden.method() + " " + golden.path().replace(card, "CARD") + "\n"
                + golden.body().replace('\'', '"') + (golden.body().isEmpty() ? "" : "\n") + "\n" + answer.status()
                + " "
                + answer.header("Content-Type") + "\n\n"
                + indented(fixed("", Json.read(answer.body(), Object.class)), "") + "\n";
        String file = golden.file().replace('/', '-') + ".txt";
        if (Boolean.getBoolean("golden.write")) {
            Path to = Path.of("src/test/resources/dev/parley/registry/faces/golden", golden.file() + ".txt");
            Files.createDirectories(to.getParent());
            Files.writeString(to, written);
        }
        assertThat(written).as(file).isEqualTo(file(golden.file() + ".txt"));
    }

    private static String file(String name) throws IOException {
        try (InputStream in = GoldenTest.class.getResourceAsStream(DIRECTORY + name)) {
            return in == null ? "" : new String(in.readAllBytes(), UTF_8);
        }
    }

    /** JSON with fixed values in place of those that differ each time. */
    private @Nullable Object fixed(String name, @Nullable Object json) {
        return switch (json) {
            case Map<?, ?> reasons when name.equals("parley:why") -> "REASONS"; // of the search
            case Map<?, ?> object -> {
                var fixed = new TreeMap<String, @Nullable Object>(); // members have no order
                object.forEach(
                        (member, value) -> fixed.put(String.valueOf(member), fixed(String.valueOf(member), value)));
                yield fixed;
            }
            case List<?> list -> {
                var fixed = new ArrayList<@Nullable Object>();
                list.forEach(one -> fixed.add(fixed(name, one)));
                yield fixed;
            }
            case String text
            when List.of("jws", "x", "y", "kid").contains(name) -> name.toUpperCase(java.util.Locale.ROOT);
            case String text ->
                text.replace(hub.url(), "https://hub.example.com")
                        .replaceAll("\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z", "2026-11-23T12:00:00Z")
                        .replaceAll("sha256:[0-9a-f]{64}", "sha256:DIGEST")
                        .replaceAll("(did:web:[a-z.]+#).+", "$1KID");
            case Number number when List.of("iat", "score").contains(name) -> 0;
            case null, default -> json;
        };
    }

    private static String indented(@Nullable Object json, String indent) {
        String deeper = indent + "  ";
        return switch (json) {
            case Map<?, ?> object
            when !object.isEmpty() -> {
                var members = new ArrayList<String>();
                object.forEach((name, value) ->
                        members.add(deeper + new String(Json.write(name), UTF_8) + ": " + indented(value, deeper)));
                yield "{\n" + String.join(",\n", members) + "\n" + indent + "}";
            }
            case List<?> list
            when !list.isEmpty() -> {
                var elements = new ArrayList<String>();
                list.forEach(one -> elements.add(deeper + indented(one, deeper)));
                yield "[\n" + String.join(",\n", elements) + "\n" + indent + "]";
            }
            case null -> "null";
            default -> new String(Json.write(json), UTF_8);
        };
    }
}
