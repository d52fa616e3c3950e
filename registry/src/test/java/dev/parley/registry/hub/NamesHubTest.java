package dev.parley.registry.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.registry.Cards;
import dev.parley.testkit.ExtensionKit;
import dev.parley.testkit.ExtensionKit.Answer;
import dev.parley.testkit.ExtensionKit.Caller;
import java.net.URLEncoder;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Names of registered agents in ids, over HTTP. */
@Timeout(120)
@Tag("heavy")
final class NamesHubTest {
    @TempDir
    Path directory;

    private static Answer register(Caller web, String name, String provider, String more) throws Exception {
        String card = Cards.v1(name, "act").replaceFirst("\\{", "{" + (provider.isEmpty() ? "" : provider(provider)));
        return web.post("/registry/agents", "{" + more + "'visibility':'public','card':" + card + "}");
    }

    private static String provider(String name) {
        return "'provider':{'organization':'" + name + "','url':'https://p.example'},";
    }

    private static String registered(Caller web, String name, String provider) throws Exception {
        Answer answer = register(web, name, provider, "");
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        assertThat(answer.text("name")).isEqualTo(name);
        return answer.text("id");
    }

    private static String path(String id) {
        return "/registry/agents/" + URLEncoder.encode(id, UTF_8).replace("+", "%20");
    }

    @ParameterizedTest
    @CsvSource({
        "\u7ffb\u8a33, \u8981\u7d04",
        "C++, C#",
        "C, C++",
        "\u00dcbersetzer, bersetzer",
        "\u00dcbersetzer, Ubersetzer",
        "Echo, ECHO",
        "Echo, \uff25\uff43\uff48\uff4f",
        "Echo, E\u200bcho",
        "Echo, \u202eEcho",
        "Echo, \u0415cho",
        "Legal Translator, legal-translator",
        "\u0645\u062a\u0631\u062c\u0645, \u05de\u05ea\u05e8\u05d2\u05dd",
        "\ud83d\ude80, \ud83e\udd16",
        "renew, Renew",
    })
    @DisplayName("D12, S116: agents of different names are different entries, each found by its id and its words")
    void namesAreKeptApart(String first, String second) throws Exception {
        try (Hub hub =
                Hub.builder().inMemory().port(0).set("registry-probes", "0s").start()) {
            var web = ExtensionKit.caller(hub.url());

            String one = registered(web, first, "");
            String other = registered(web, second, "");

            assertThat(other).isNotEqualTo(one).matches("urn:air:[a-zA-Z0-9.-]+(:[a-zA-Z0-9._-]+)+");
            assertThat(one).matches("urn:air:[a-zA-Z0-9.-]+(:[a-zA-Z0-9._-]+)+");
            assertThat(web.get(path(one)).text("name")).isEqualTo(first);
            assertThat(web.get(path(other)).text("name")).isEqualTo(second);
            assertThat(web.get(path(other) + "/card").text("name")).isEqualTo(second);
            assertThat(registered(web, first, ""))
                    .as("a new version of the first")
                    .isEqualTo(one);
            assertThat(registered(web, second, ""))
                    .as("a new version of the second")
                    .isEqualTo(other);
            assertThat(web.get(path(one)).text("revision")).isEqualTo("1");
        }
    }

    @Test
    @DisplayName("D12: agents of one name by two providers, and documents of two types, are different entries")
    void providersAreKeptApart() throws Exception {
        try (Hub hub = Hub.builder().inMemory().port(0).start()) {
            var web = ExtensionKit.caller(hub.url());

            String one = registered(web, "Echo", "One");
            String two = registered(web, "Echo", "Two");
            String server = web.post(
                            "/registry/agents",
                            "{'type':'application/mcp-server+json','card':{'name':'Echo','description':'x','version':'1'}}")
                    .text("id");

            assertThat(new HashSet<>(List.of(one, two, server))).hasSize(3);
            assertThat(registered(web, "Echo", "One")).isEqualTo(one);
            assertThat(registered(web, "Echo", "Two")).isEqualTo(two);
        }
    }

    @Test
    @DisplayName("D12: a publication under the id of another agent is refused with its name, and PUT gives a new name")
    void anotherAgentIsNotReplaced() throws Exception {
        try (Hub hub = Hub.builder().inMemory().port(0).start()) {
            var web = ExtensionKit.caller(hub.url());
            String id = registered(web, "\u7ffb\u8a33", "");

            Answer refused = register(web, "\u8981\u7d04", "", "'id':'" + id + "',");

            assertThat(refused.status()).isEqualTo(409);
            assertThat(refused.text()).contains("\u7ffb\u8a33").contains("PUT");
            assertThat(web.get(path(id)).text("name")).isEqualTo("\u7ffb\u8a33");
            Answer renamed = web.send("PUT", path(id), "{\"card\":" + Cards.v1("\u8981\u7d04", "act") + "}");
            assertThat(renamed.status()).as(renamed.text()).isEqualTo(200);
            assertThat(renamed.text("id")).isEqualTo(id);
        }
    }

    @Test
    @DisplayName("D12: Unicode names work in URNs, readable ids and searches")
    void unicodeWorksEverywhere() throws Exception {
        try (Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .set("registry-publisher", "a.example")
                .start()) {
            var web = ExtensionKit.caller(hub.url());
            String id = register(web, "\u7ffb\u8a33", "", "'humanId':'\u4f1a\u793e/\u7ffb\u8a33',")
                    .text("id");

            assertThat(web.get(path("urn:air:a.example:default:\u7ffb\u8a33")).text("id"))
                    .isEqualTo(id);
            assertThat(web.get(path("urn:air:a.example:default:%E7%BF%BB%E8%A8%B3"))
                            .text("id"))
                    .isEqualTo(id);
            assertThat(web.get(path("\u4f1a\u793e/\u7ffb\u8a33")).text("id")).isEqualTo(id);
            assertThat(web.get("/registry/search?q=" + URLEncoder.encode("\u7ffb\u8a33", UTF_8))
                            .text("results", 0, "agent", "id"))
                    .isEqualTo(id);
            Answer given = register(web, "\u8981\u7d04", "", "'id':'urn:air:a.example:default:\u8981\u7d04',");
            assertThat(given.text("id"))
                    .isEqualTo(web.get(path("urn:air:a.example:default:\u8981\u7d04"))
                            .text("id"));
        }
    }

    @Test
    @DisplayName("D12: names that look alike are flagged in answers of the registry, for entries that the caller sees")
    void lookAlikesAreFlagged() throws Exception {
        Agent echo = Agent.named("echo", "Echoes").handle((in, out) -> out.complete(in.text()));
        try (Hub hub = Hub.builder().inMemory().port(0).agents(echo).start()) {
            var web = ExtensionKit.caller(hub.url());
            String own = web.get("/registry/agents?owner=*&skill=echo").text("agents", 0, "id");
            String translator = registered(web, "Translator", "");

            Answer alike = register(web, "Trans1ator", "", "");
            Answer cyrillic = register(web, "\u0415cho", "", "");

            assertThat(alike.at("lookAlikes")).isEqualTo(List.of(translator));
            assertThat(web.get(path(translator)).at("lookAlikes")).isEqualTo(List.of(alike.text("id")));
            assertThat(web.get("/registry/agents?type=" + "application/a2a-agent-card%2Bjson")
                            .text())
                    .contains("\"lookAlikes\":[\"" + translator + "\"]");
            assertThat(web.get("/registry/search?q=translator").text()).contains("lookAlikes");
            assertThat(cyrillic.text("lookAlikes")).as(own).contains(":agents:echo");
            assertThat(web.get(path(registered(web, "Unlike", ""))).at("lookAlikes"))
                    .isNull();
            web.delete(path(alike.text("id")));
            assertThat(web.get(path(translator)).at("lookAlikes")).isNull();
        }
    }

    @Test
    @DisplayName("D12: the hub's own agents Echo and ECHO are two entries, which stay after a restart")
    void ownAgentsAreKeptApart() throws Exception {
        List<String> before = null;
        for (int start = 0; start < 2; start++) {
            try (Hub hub = Hub.builder()
                    .data(directory)
                    .port(0)
                    .agents(
                            Agent.named("Echo", "One").handle((in, out) -> out.complete("1")),
                            Agent.named("ECHO", "Two").handle((in, out) -> out.complete("2")))
                    .start()) {
                Map<?, ?> page = Json.read(
                        ExtensionKit.caller(hub.url())
                                .get("/registry/agents?owner=*")
                                .body(),
                        Map.class);
                List<String> ids = requireNonNull((List<?>) page.get("agents")).stream()
                        .map(each -> (Map<?, ?>) each)
                        .filter(each -> String.valueOf(each.get("name")).equalsIgnoreCase("echo"))
                        .map(each -> each.get("name") + " " + each.get("id"))
                        .sorted()
                        .toList();
                assertThat(ids).hasSize(2).doesNotHaveDuplicates();
                if (before != null) {
                    assertThat(ids).isEqualTo(before);
                }
                before = ids;
            }
        }
    }
}
