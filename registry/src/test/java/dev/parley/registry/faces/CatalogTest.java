package dev.parley.registry.faces;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.registry.Cards;
import dev.parley.testkit.ExtensionKit;
import dev.parley.testkit.ExtensionKit.Answer;
import dev.parley.testkit.ExtensionKit.Caller;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** The manifest of ARD and AI Catalog, the API catalog, and the MCP registry. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class CatalogTest {
    private static final String URN = "urn:air:[a-zA-Z0-9.-]+(:[a-zA-Z0-9._-]+)+";

    private Hub hub;
    private Caller web;

    @BeforeAll
    void start() throws Exception {
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .set("registry-publisher", "hub.example.com")
                .start();
        web = ExtensionKit.caller(hub.url());
        register(Cards.v1("Translator", "translate"), "application/a2a-agent-card+json", "public");
        register(
                Cards.v1("Both", "work")
                        .replace(
                                "\"supportedInterfaces\":[",
                                "\"supportedInterfaces\":[{\"url\":\"https://both.example/mcp\",\"protocolBinding\":\"MCP\","
                                        + "\"protocolVersion\":\"2025-06-18\"},"),
                "application/a2a-agent-card+json",
                "public");
        register(Cards.v1("Inner", "work"), "application/a2a-agent-card+json", "group");
        register(
                "{'name':'com.example/weather','description':'Forecasts','version':'2.1.0',"
                        + "'remotes':[{'type':'sse','url':'https://weather.example/sse'}],'_custom':{'kept':true}}",
                "application/mcp-server-card+json",
                "public");
    }

    private String register(String document, String type, String visibility) throws Exception {
        Answer answer = web.post(
                "/registry/agents",
                "{'type':'" + type + "','visibility':'" + visibility + "','card':" + document + "}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.text("id");
    }

    @AfterAll
    void stop() {
        hub.close();
    }

    @Test
    @DisplayName("the manifest passes the checks of the public tool, at both addresses with the same bytes")
    void manifest() throws Exception {
        Answer ard = web.get("/.well-known/ard.json");
        Answer predecessor = web.get("/.well-known/ai-catalog.json");

        assertThat(predecessor.body()).isEqualTo(ard.body());
        assertThat(ard.header("Content-Type")).isEqualTo("application/ai-catalog+json");
        assertThat(ard.header("Access-Control-Allow-Origin")).isEqualTo("*");
        assertThat(ard.header("Link")).contains("rel=\"ard\"", "rel=\"ai-catalog\"");
        assertThat(ard.header("Cache-Control")).contains("public");
        assertThat(web.with("If-None-Match", ard.header("ETag"))
                        .get("/.well-known/ai-catalog.json")
                        .status())
                .isEqualTo(304);
        assertThat(web.send("HEAD", "/.well-known/ard.json", "").header("ETag")).isEqualTo(ard.header("ETag"));
        assertThat(ard.text("specVersion")).isEqualTo("1.0");
        assertThat(ard.text("host", "displayName")).isEqualTo("hub.example.com");
        for (Object one : (List<?>) Objects.requireNonNull(ard.at("entries"))) {
            var entry = (Map<?, ?>) one;
            assertThat((String) entry.get("identifier")).matches(URN).startsWith("urn:air:hub.example.com:");
            assertThat(entry.get("displayName")).isInstanceOf(String.class);
            assertThat((String) entry.get("type")).startsWith("application/");
            assertThat(entry.containsKey("url")).isNotEqualTo(entry.containsKey("data"));
            assertThat(entry.containsKey("TrustManifest")).isFalse();
            if (entry.get("representativeQueries") instanceof List<?> queries) {
                assertThat(queries).hasSizeBetween(2, 5).allMatch(String.class::isInstance);
            }
        }
    }

    @Test
    @DisplayName("the manifest names the registry itself, and shows public entries with the digests of their documents")
    void entries() throws Exception {
        Answer catalog = web.get("/.well-known/ai-catalog.json");

        assertThat(catalog.text("entries", 0, "type")).isEqualTo("application/ai-registry+json");
        assertThat(catalog.text("entries", 0, "url")).isEqualTo(hub.url() + "/registry/ard");
        assertThat(catalog.each("entries", "displayName"))
                .contains("Translator", "Both", "com.example/weather")
                .doesNotContain("Inner");
        assertThat(catalog.text()).contains("\"digest\":\"sha256:");
        assertThat(web.get("/registry/ard/agents/urn:air:hub.example.com:registry")
                        .text("url"))
                .isEqualTo(hub.url() + "/registry/ard");
    }

    @Test
    @DisplayName("an agent with A2A and MCP is a catalog of both")
    void nested() throws Exception {
        Answer catalog = web.get("/.well-known/ai-catalog.json");
        Map<?, ?> both = ((List<?>) Objects.requireNonNull(catalog.at("entries")))
                .stream()
                        .map(Map.class::cast)
                        .filter(entry -> "Both".equals(entry.get("displayName")))
                        .findFirst()
                        .orElseThrow();

        assertThat(both.get("type")).isEqualTo("application/ai-catalog+json");
        assertThat(both.get("url")).isNull();
        assertThat(String.valueOf(((Map<?, ?>) requireNonNull(both.get("data"))).get("entries")))
                .contains("application/a2a-agent-card+json", "application/mcp-server-card+json")
                .contains("https://both.example/mcp");
    }

    @Test
    @DisplayName("RFC 9727: the API catalog is a link set, for GET and HEAD")
    void apiCatalog() throws Exception {
        Answer catalog = web.get("/.well-known/api-catalog");
        Answer head = web.send("HEAD", "/.well-known/api-catalog", "");

        assertThat(catalog.header("Content-Type"))
                .isEqualTo("application/linkset+json; profile=\"https://www.rfc-editor.org/info/rfc9727\"");
        assertThat(catalog.text("linkset", 0, "anchor")).isEqualTo(hub.url() + "/.well-known/api-catalog");
        assertThat(catalog.text("linkset", 0, "item")).contains(hub.url() + "/registry/ard");
        assertThat(catalog.text("linkset", 1, "service-desc", 0, "href")).isEqualTo(hub.url() + "/openapi.json");
        assertThat(head.status()).isEqualTo(200);
        assertThat(head.body()).isEmpty();
        assertThat(head.header("Link")).isEqualTo("</.well-known/api-catalog>; rel=\"api-catalog\"");
        assertThat(web.post("/.well-known/api-catalog", "{}").status()).isEqualTo(405);
    }

    @Test
    @DisplayName("the MCP registry lists servers, and shows a document server.json as it was registered")
    void mcp() throws Exception {
        Answer list = web.get("/v0.1/servers?limit=10");

        assertThat(list.text("servers", 0, "server", "name")).isEqualTo("com.example.hub/default.both");
        assertThat(list.text("servers", 1, "server", "name")).isEqualTo("com.example/weather");
        assertThat(list.text("metadata", "count")).isEqualTo("2");
        assertThat(list.text("servers", 1, "server", "_custom", "kept")).isEqualTo("true");
        assertThat(list.text("servers", 1, "_meta", "io.modelcontextprotocol.registry/official", "status"))
                .isEqualTo("active");
        assertThat(list.text("servers", 0, "server", "remotes", 0, "url")).isEqualTo("https://both.example/mcp");
        assertThat(web.get("/v0.1/servers/com.example%2Fweather/versions/latest")
                        .text("server", "version"))
                .isEqualTo("2.1.0");
        assertThat(web.get("/v0.1/servers/com.example.hub%2Fdefault.both/versions/1.0.0")
                        .text("server", "title"))
                .isEqualTo("Both");
        assertThat(web.get("/v0/servers/com.example%2Fweather/versions").text("metadata", "count"))
                .isEqualTo("1");
        assertThat(web.get("/v0.1/servers?search=WEATH").text("metadata", "count"))
                .isEqualTo("1");
        Answer none = web.get("/v0.1/servers/com.example%2Fnone/versions/latest");
        assertThat(none.status()).isEqualTo(404);
        assertThat(none.text("error")).isEqualTo("Server not found");
        assertThat(web.get("/v0.1/servers?updated_since=yesterday").status()).isEqualTo(400);
        assertThat(web.get("/v0.1/servers?updated_since=2999-01-01T00:00:00Z").text("metadata", "count"))
                .isEqualTo("0");
    }

    @Test
    @DisplayName("the MCP registry pages by cursor, and followers of changes hear of deleted servers")
    void mcpChanges() throws Exception {
        String id = register(
                "{'name':'com.example/gone','description':'Was there','version':'1.0.0'}",
                "application/mcp-server-card+json",
                "public");
        web.delete("/registry/agents/" + id);

        Answer first = web.get("/v0.1/servers?limit=1");
        Answer second = web.get("/v0.1/servers?limit=1&cursor=" + first.text("metadata", "nextCursor"));
        assertThat(first.text("servers", 0, "server", "name")).isEqualTo("com.example.hub/default.both");
        assertThat(second.text("servers", 0, "server", "name")).isEqualTo("com.example/weather");
        assertThat(second.at("metadata", "nextCursor")).isNull();
        Answer deleted = web.get("/v0.1/servers?include_deleted=true&search=gone");
        assertThat(deleted.text("servers", 0, "_meta", "io.modelcontextprotocol.registry/official", "status"))
                .isEqualTo("deleted");
        assertThat(web.get("/v0.1/servers?updated_since=2026-01-01T00:00:00Z&search=gone")
                        .text("metadata", "count"))
                .isEqualTo("1");
    }

    @Test
    @DisplayName(
            "an agent that loses its address of MCP is a deleted server for followers of changes, and one again with it")
    void mcpAddressIsLost() throws Exception {
        String with = "{'url':'https://turn.example/mcp','protocolBinding':'MCP','protocolVersion':''},";
        String card = Cards.v1("Turncoat", "turn");
        String both = card.replace("\"supportedInterfaces\":[", "\"supportedInterfaces\":[" + with.replace('\'', '"'));
        assertThat(both).isNotEqualTo(card);
        String id =
                web.post("/registry/agents", Cards.registration(both, "public")).text("id");
        String search = "/v0.1/servers?search=turncoat";
        assertThat(web.get(search).text("servers", 0, "server", "remotes", 0, "url"))
                .isEqualTo("https://turn.example/mcp");

        web.send("PUT", "/registry/agents/" + id, "{\"card\":" + card + "}");

        assertThat(web.get(search).text("metadata", "count")).isEqualTo("0");
        Answer gone = web.get(search + "&updated_since=2020-01-01T00:00:00Z");
        assertThat(gone.text("servers", 0, "_meta", "io.modelcontextprotocol.registry/official", "status"))
                .isEqualTo("deleted");
        web.send("PUT", "/registry/agents/" + id, "{\"card\":" + both + "}");
        assertThat(web.get(search + "&version=latest").text("metadata", "count"))
                .isEqualTo("1");
        web.delete("/registry/agents/" + id);
    }

    @Test
    @DisplayName("the MCP registry has all versions, filters before it pages, and its cursors stay valid under writes")
    void mcpVersions() throws Exception {
        try (Hub own = Hub.builder().inMemory().port(0).start()) {
            var here = ExtensionKit.caller(own.url());
            for (String name : List.of("beta", "alpha_1", "gamma")) {
                for (String version : List.of("1.0.0", "1.1.0", "2.0.0")) {
                    assertThat(here.post("/registry/agents", server(name, version))
                                    .status())
                            .isEqualTo(200);
                }
            }

            Answer versions = here.get("/v0.1/servers/com.example%2Falpha_1/versions");
            assertThat(names(versions))
                    .containsExactly(
                            "com.example/alpha_1 2.0.0 true",
                            "com.example/alpha_1 1.1.0 false",
                            "com.example/alpha_1 1.0.0 false");
            Answer old = here.get("/v0.1/servers/com.example%2Falpha_1/versions/1.0.0");
            assertThat(old.text("server", "description")).isEqualTo("alpha_1 in 1.0.0");
            assertThat(here.get("/v0.1/servers/com.example%2Falpha_1/versions/latest")
                            .text("server", "version"))
                    .isEqualTo("2.0.0");
            assertThat(here.get("/v0.1/servers/com.example%2Falpha_1/versions/9.9")
                            .status())
                    .isEqualTo(404);

            assertThat(here.get("/v0.1/servers").text("metadata", "count")).isEqualTo("9");
            Answer latest = here.get("/v0.1/servers?version=latest&limit=2");
            assertThat(names(latest)).containsExactly("com.example/alpha_1 2.0.0 true", "com.example/beta 2.0.0 true");
            here.post("/registry/agents", server("aaa", "1.0.0")); // before the cursor
            assertThat(names(here.get(
                            "/v0.1/servers?version=latest&limit=2&cursor=" + latest.text("metadata", "nextCursor"))))
                    .containsExactly("com.example/gamma 2.0.0 true");
            assertThat(names(here.get("/v0.1/servers?version=1.1.0&search=GAMM&limit=1")))
                    .containsExactly("com.example/gamma 1.1.0 false");
            assertThat(names(here.get("/v0.1/servers?version=latest&search=_")))
                    .containsExactly("com.example/alpha_1 2.0.0 true");
            assertThat(here.get("/v0.1/servers?cursor=foreign").status()).isEqualTo(400);
            assertThat(here.get("/v0.1/servers?limit=2&cursor=" + latest.text("metadata", "nextCursor"))
                            .status())
                    .isEqualTo(400);
        }
    }

    private static String server(String name, String version) {
        return "{'type':'application/mcp-server-card+json','visibility':'public','card':{'name':'com.example/" + name
                + "','description':'" + name + " in " + version + "','version':'" + version + "'}}";
    }

    private static List<String> names(Answer list) {
        return ((List<?>) requireNonNull(list.at("servers")))
                .stream()
                        .map(each -> {
                            var both = (Map<?, ?>) each;
                            var server = (Map<?, ?>) requireNonNull(both.get("server"));
                            var meta = (Map<?, ?>) requireNonNull(both.get("_meta"));
                            var official =
                                    (Map<?, ?>) requireNonNull(meta.get("io.modelcontextprotocol.registry/official"));
                            return server.get("name") + " " + server.get("version") + " " + official.get("isLatest");
                        })
                        .toList();
    }

    @Test
    @DisplayName(
            "cards are served at the host names of agents and of publishers' domains, and nobody takes that of the hub")
    void hostNames() throws Exception {
        try (Hub named = Hub.builder()
                .inMemory()
                .port(0)
                .agents(echo("first"), echo("second"))
                .set("registry-publisher", "hub.example.com")
                .set("registry-domains", "default=agents.example.org")
                .set("allowed-host", "hub.example.com,agents.example.org")
                .start()) {
            var plain = ExtensionKit.caller(named.url());
            for (String id :
                    List.of("urn:air:agents.example.org:translator", "urn:air:hub.example.com:default:taker")) {
                Answer made = plain.post(
                        "/registry/agents",
                        "{'id':'" + id + "','visibility':'public','card':" + Cards.v1("At " + id, "work") + "}");
                assertThat(made.text("id")).as(made.text()).isEqualTo(id);
            }
            for (String file : List.of("/.well-known/agent-card.json", "/.well-known/agent.json")) {
                assertThat(plain.get(file).text("name")).isEqualTo("first");
                assertThat(get(named, file, "second.hub.example.com")).contains("\"name\":\"second\"");
                assertThat(get(named, file, "hub.example.com")).contains("\"name\":\"first\"");
                assertThat(get(named, file, "unknown.hub.example.com")).contains("\"name\":\"first\"");
                assertThat(get(named, file, "AGENTS.example.org:443"))
                        .contains("\"name\":\"At urn:air:agents.example.org:translator\"", "ETag: ", "Vary: Host");
                assertThat(get(named, file, "elsewhere.example")).startsWith("HTTP/1.1 403");
            }
        }
    }

    /** Java's client does not send other host names than those of addresses. */
    private static String get(Hub hub, String path, String host) throws Exception {
        URI url = URI.create(hub.url());
        try (var socket = new Socket(url.getHost(), url.getPort())) {
            socket.getOutputStream()
                    .write(("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
                            .getBytes(US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), UTF_8);
        }
    }

    private static Agent echo(String name) {
        return Agent.named(name, "Echoes").handle((request, reply) -> reply.complete(request.text()));
    }
}
