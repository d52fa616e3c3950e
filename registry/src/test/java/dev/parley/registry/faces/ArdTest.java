package dev.parley.registry.faces;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Hub;
import dev.parley.registry.Cards;
import dev.parley.testkit.ExtensionKit;
import dev.parley.testkit.ExtensionKit.Answer;
import dev.parley.testkit.ExtensionKit.Caller;
import dev.parley.trust.Authentication;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** ARD v0.91 at {@code /registry/ard}: the checks of its public tool, and what that does not check. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ArdTest {
    private static final String ARD = "/registry/ard";
    private static final String AGENT = "application/a2a-agent-card+json";
    private static final String MCP = "application/mcp-server-card+json";
    private static final String TRANSLATOR = "urn:air:agent.localhost:default:translator";

    private Hub hub;
    private Caller web;

    @BeforeAll
    void start() throws Exception {
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .set("registry-publisher", "agent.localhost")
                .start();
        web = ExtensionKit.caller(hub.url());
        register(Cards.v1("Translator", "translate", "summarize"), AGENT, "public");
        register(Cards.v1("Weather agent", "forecast"), AGENT, "public");
        register(
                "{'name':'com.example/weather','description':'Weather forecast tools','version':'2.1.0','tags':['weather'],"
                        + "'remotes':[{'type':'streamable-http','url':'https://weather.example/mcp'}]}",
                MCP,
                "public");
        register(Cards.v1("Ledger", "book"), AGENT, "private");
    }

    private Answer register(String document, String type, String visibility) throws Exception {
        Answer answer = web.post(
                "/registry/agents",
                "{'type':'" + type + "','visibility':'" + visibility
                        + "','metadata':{'region':'eu','https://acme.example/ns#tier':'gold'},'card':" + document
                        + "}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer;
    }

    @AfterAll
    void stop() {
        hub.close();
    }

    private Answer search(String query, String more) throws Exception {
        return web.post(ARD + "/search", "{'query':" + query + more + "}");
    }

    private List<String> found(String filter) throws Exception {
        Answer answer = search("{'text':'weather translate forecast book summarize','filter':" + filter + "}", "");
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.each("results", "displayName");
    }

    private static String encoded(String urn) {
        return URLEncoder.encode(urn, UTF_8);
    }

    @Test
    @DisplayName("the search of the public tool: integer scores, sources, and identifiers, no more than a page")
    void toolSearch() throws Exception {
        Answer answer = search(
                "{'text':'weather forecast tools','filter':{'type':['" + MCP + "']}}",
                ",'federation':'none','pageSize':2");

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.each("results", "displayName")).containsExactly("com.example/weather");
        assertThat(answer.at("results", 0, "score"))
                .isInstanceOfSatisfying(
                        Number.class, score -> assertThat(score.intValue()).isBetween(0, 100));
        assertThat(answer.text("results", 0, "score")).doesNotContain(".");
        assertThat(answer.text("results", 0, "source")).isEqualTo(hub.url() + ARD);
        assertThat(answer.text("results", 0, "identifier")).startsWith("urn:air:agent.localhost:default:");
        assertThat(answer.text("results", 0, "url")).startsWith("http");
        assertThat(answer.at("pageToken")).isNull();
        assertThat(answer.text()).doesNotContain("null", "representativeQueries");
    }

    @Test
    @DisplayName("the list and the facets of the public tool")
    void toolListAndExplore() throws Exception {
        Answer list = web.get(ARD + "/agents");
        Answer explore =
                web.post(ARD + "/explore", "{'query':{'text':'weather'},'resultType':{'facets':[{'field':'type'}]}}");

        assertThat(list.at("items")).isInstanceOf(List.class);
        assertThat(list.each("items", "identifier")).contains(TRANSLATOR);
        assertThat(explore.text("resultType")).isEqualTo("facets");
        assertThat(explore.at("facets", "type", "buckets")).isInstanceOf(List.class);
        assertThat(explore.text("facets", "type", "buckets", 0, "count")).matches("[0-9]+");
    }

    @Test
    @DisplayName("an entry is found by its encoded URN, with an entity tag, and without score and source")
    void lookup() throws Exception {
        Answer entry = web.get(ARD + "/agents/" + encoded(TRANSLATOR));
        Answer same = web.with("If-None-Match", entry.header("ETag")).get(ARD + "/agents/" + encoded(TRANSLATOR));

        assertThat(entry.text("identifier")).isEqualTo(TRANSLATOR);
        assertThat(entry.text("type")).isEqualTo(AGENT);
        assertThat(entry.at("score")).isNull();
        assertThat(entry.at("source")).isNull();
        assertThat(entry.header("Cache-Control")).contains("private");
        assertThat(same.status()).isEqualTo(304);
        assertThat(web.get(ARD + "/agents/" + TRANSLATOR).text("identifier")).isEqualTo(TRANSLATOR);
        assertThat(web.get(ARD + "/agents/" + encoded(TRANSLATOR.replace("urn:air", "urn:ai")))
                        .text("identifier"))
                .isEqualTo(TRANSLATOR);
    }

    @ParameterizedTest
    @CsvSource({
        "urn:air:ard-conformance.invalid:probe:not-found, 404, NOT_FOUND",
        "not-a-valid-ard-urn, 400, INVALID_ARGUMENT",
        "urn:air:, 400, INVALID_ARGUMENT",
        "urn%3Aair%3Aexample.com%3Ax%2Fy, 400, INVALID_ARGUMENT",
        "urn%253Aair%253Aexample.com%253Ax, 400, INVALID_ARGUMENT"
    })
    @DisplayName("unknown and malformed identifiers are told apart")
    void unknown(String identifier, int status, String code) throws Exception {
        Answer answer = web.get(ARD + "/agents/" + identifier);

        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.text("errorCode")).isEqualTo(code);
        assertThat(answer.text("message")).isNotBlank();
    }

    @Test
    @DisplayName("values of a key are alternatives, keys are all needed, a scalar is one value, and types have aliases")
    void filters() throws Exception {
        assertThat(found("{'type':'" + MCP + "'}")).containsExactly("com.example/weather");
        assertThat(found("{'type':['application/mcp-server+json']}")).containsExactly("com.example/weather");
        assertThat(found("{'type':['application/agent-card+json','" + MCP + "']}"))
                .contains("Translator", "Weather agent", "com.example/weather");
        assertThat(found("{'type':['" + AGENT + "'],'tags':['translate','forecast']}"))
                .containsExactlyInAnyOrder("Translator", "Weather agent");
        assertThat(found("{'tags':['weather'],'type':'" + AGENT + "'}")).isEmpty();
        assertThat(found("{'publisher':'AGENT.localhost','capabilities':['summarize']}"))
                .containsExactly("Translator");
        assertThat(found("{'publisher':['example.com']}")).isEmpty();
        assertThat(found("{'version':['2.1.0']}")).containsExactly("com.example/weather");
        assertThat(found("{'identifier':'" + TRANSLATOR.replace("urn:air", "urn:ai") + "'}"))
                .containsExactly("Translator");
        assertThat(found("{'displayName':'TRANSLATOR'}")).containsExactly("Translator");
        assertThat(found("{'metadata.region':['eu']}")).contains("Translator");
        assertThat(found("{'metadata.region':['us']}")).isEmpty();
    }

    @Test
    @DisplayName("prefixes of keys are resolved by the context of the query")
    void context() throws Exception {
        assertThat(search(
                                "{'text':'translate','@context':[{'acme':'https://acme.example/ns#','ard':'"
                                        + ArdQuery.NAMESPACE
                                        + "'}],'filter':{'acme:tier':'gold','ard:tags':'translate'}}",
                                "")
                        .each("results", "displayName"))
                .containsExactly("Translator");
        assertThat(search("{'text':'translate','filter':{'https://acme.example/ns#tier':'gold'}}", "")
                        .each("results", "displayName"))
                .contains("Translator");
        assertThat(search("{'text':'translate','filter':{'acme:tier':'gold'}}", "")
                        .each("results", "displayName"))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"auto", "referrals", "none"})
    @DisplayName("all values of federation are accepted without peers")
    void federation(String mode) throws Exception {
        Answer answer = search("{'text':'translate'}", ",'federation':'" + mode + "'");

        assertThat(answer.each("results", "displayName")).contains("Translator");
        assertThat(answer.at("referrals")).isEqualTo(mode.equals("referrals") ? List.of() : null);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{'query':'text'}",
                "{'query':{'text':''}}",
                "{'query':{'filter':{'type':'x'}}}",
                "{'query':{'text':'x','filter':['type']}}",
                "{'query':{'text':'x','filter':{'trustManifest.attestations.type':['SOC2']}}}",
                "{'query':{'text':'x','filter':{'type':[{}]}}}",
                "{'query':{'text':'x','filter':{'type':[]}}}",
                "{'query':{'text':'x'},'federation':'all'}",
                "{'query':{'text':'x'},'pageSize':0}",
                "{'query':{'text':'x'},'pageSize':'many'}",
                "{'query':{'text':'x'},'pageToken':'fused:x:0'}",
                "{'query':{'text':'x'},'pageToken':7}",
                "[]",
                "{'query'"
            })
    @DisplayName("malformed searches are INVALID_ARGUMENT")
    void malformedSearches(String body) throws Exception {
        Answer answer = web.post(ARD + "/search", body);

        assertThat(answer.status()).as(answer.text()).isEqualTo(400);
        assertThat(answer.text("errorCode")).isEqualTo("INVALID_ARGUMENT");
        assertThat(answer.text("message")).isNotBlank();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "type = 'application/mcp-server-card+json' | com.example/weather",
                "type = 'application/mcp-server-card+json' AND createdAfter > '2026-01-01' | com.example/weather",
                "type=application/mcp-server-card+json AND updatedAfter>=2026-01-01T00:00:00Z | com.example/weather",
                "displayName = 'weather AGENT', 'translator' | Translator,Weather agent",
                "displayName='ledger,translator' and publisherId=agent.localhost,example.com | Ledger,Translator",
                "createdAfter > '2999-01-01' | ''",
                "publisherId: example.com | ''"
            })
    @DisplayName("filters of lists have the spelling of the table and that of the OpenAPI document")
    void listFilters(String filter, String names) throws Exception {
        Answer answer = web.get(ARD + "/agents?filter=" + encoded(filter));

        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        assertThat(String.join(",", answer.each("items", "displayName"))).isEqualTo(names);
    }

    @Test
    @DisplayName("conditions of lists may be parameters of their own")
    void listParameters() throws Exception {
        assertThat(web.get(ARD + "/agents?type=" + encoded(MCP) + "&publisherId=agent.localhost")
                        .each("items", "displayName"))
                .containsExactly("com.example/weather");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "filter=type",
                "filter=type%20LIKE%20'x'",
                "filter=rank%20%3D%20'1'",
                "filter=type%3D'x'%20OR%20type%3D'y'",
                "filter=createdAfter%20%3E%20yesterday",
                "orderBy=score",
                "pageSize=-1",
                "pageToken=x"
            })
    @DisplayName("malformed lists are INVALID_ARGUMENT")
    void malformedLists(String query) throws Exception {
        Answer answer = web.get(ARD + "/agents?" + query);

        assertThat(answer.status()).as(answer.text()).isEqualTo(400);
        assertThat(answer.text("errorCode")).isEqualTo("INVALID_ARGUMENT");
    }

    @Test
    @DisplayName("pages of a list are in order, and none is shown twice or left out while others are registered")
    void paging() throws Exception {
        try (Hub other = Hub.builder()
                .inMemory()
                .port(0)
                .set("registry-publisher", "agent.localhost")
                .start()) {
            var there = ExtensionKit.caller(other.url());
            for (int i = 10; i < 20; i++) {
                there.post("/registry/agents", Cards.registration(Cards.v1("Paged " + i, "page"), "public"));
            }
            for (String order : List.of("displayName", "displayName DESC", "createdAt", "createdAt DESC")) {
                var names = new ArrayList<String>();
                String token = "";
                int added = 0;
                do {
                    Answer page =
                            there.get(ARD + "/agents?pageSize=3&orderBy=" + encoded(order) + "&pageToken=" + token);
                    assertThat(page.status()).as(page.text()).isEqualTo(200);
                    names.addAll(page.each("items", "displayName"));
                    token = Objects.toString(page.at("pageToken"), "");
                    there.post(
                            "/registry/agents",
                            Cards.registration(Cards.v1("Added " + order + added++, "page"), "public"));
                } while (!token.isEmpty());
                assertThat(names).doesNotHaveDuplicates();
                assertThat(names.stream().filter(name -> name.startsWith("Paged")))
                        .hasSize(10)
                        .isSortedAccordingTo(
                                order.endsWith("DESC")
                                        ? java.util.Comparator.reverseOrder()
                                        : java.util.Comparator.naturalOrder());
            }
        }
    }

    @Test
    @DisplayName("pages of any origin read the registry, other methods are refused, and a page is at most 100")
    void http() throws Exception {
        Answer preflight = web.with("Access-Control-Request-Method", "POST").send("OPTIONS", ARD + "/search", "");
        Answer wrong = web.get(ARD + "/search");
        Answer head = web.send("HEAD", ARD + "/agents", "");

        assertThat(preflight.status()).isEqualTo(204);
        assertThat(preflight.header("Access-Control-Allow-Origin")).isEqualTo("*");
        assertThat(web.get(ARD + "/agents?pageSize=5000").header("Access-Control-Allow-Origin"))
                .isEqualTo("*");
        assertThat(wrong.status()).isEqualTo(405);
        assertThat(wrong.header("Allow")).isEqualTo("POST");
        assertThat(wrong.text("errorCode")).isNotEmpty();
        assertThat(head.status()).isEqualTo(200);
        assertThat(head.body()).isEmpty();
        assertThat(web.get(ARD + "/other").text("errorCode")).isEqualTo("NOT_FOUND");
        assertThat(web.get(ARD).status()).isEqualTo(404);
    }

    @Test
    @DisplayName(
            "on a hub with authentication, callers without credentials find public entries only, and wrong ones are refused")
    void authentication() throws Exception {
        try (Hub secured = Hub.builder()
                .set("registry-publisher", "agent.localhost")
                .inMemory()
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .start()) {
            var stranger = ExtensionKit.caller(secured.url());
            Caller owner = stranger.with("X-Api-Key", secured.bootstrapKey().orElseThrow());
            for (Map.Entry<String, String> each : Map.of("Open", "public", "Shared", "group", "Closed", "private")
                    .entrySet()) {
                Answer made = owner.post(
                        "/registry/agents", Cards.registration(Cards.v1(each.getKey(), "work"), each.getValue()));
                assertThat(made.status()).as(made.text()).isEqualTo(200);
            }
            String closed = "/agents/" + encoded("urn:air:agent.localhost:default:closed");
            String body = "{'query':{'text':'work','filter':{'tags':'work'}}}";

            assertThat(owner.post(ARD + "/search", body).each("results", "displayName"))
                    .containsExactlyInAnyOrder("Open", "Shared", "Closed");
            assertThat(stranger.post(ARD + "/search", body).each("results", "displayName"))
                    .containsExactly("Open");
            assertThat(stranger.get(ARD + "/agents").each("items", "displayName"))
                    .contains("Open")
                    .doesNotContain("Shared", "Closed");
            assertThat(owner.get(ARD + closed).status()).isEqualTo(200);
            assertThat(stranger.get(ARD + closed).status()).isEqualTo(404);
            assertThat(stranger.get("/.well-known/ard.json").text())
                    .contains("Open")
                    .doesNotContain("Shared", "Closed");
            assertThat(owner.get("/.well-known/ard.json").text()).doesNotContain("Shared", "Closed");
            Answer wrong = stranger.with("X-Api-Key", "wrong").post(ARD + "/search", body);
            assertThat(wrong.status()).isEqualTo(401);
            assertThat(wrong.text("errorCode")).isEqualTo("UNAUTHENTICATED");
            assertThat(wrong.header("WWW-Authenticate")).contains("ApiKey");
            assertThat(stranger.post("/registry/agents", Cards.registration(Cards.v1("Mine", "x"), "public"))
                            .status())
                    .isEqualTo(401);
        }
    }
}
