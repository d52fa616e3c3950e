package dev.parley.interop.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.trust.cards.CardKeys;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URLEncoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;

/** The screen of an agent, in a browser. */
@Timeout(90)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class AgentScreenTest {
    private final Map<String, byte[]> documents = new ConcurrentHashMap<>();
    private HttpServer other;
    private CardKeys keys;
    private CardKeys unknown;
    private ConsoleHub hub;
    private Browser browser;

    @BeforeAll
    void start(@TempDir Path directory) throws IOException {
        other = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        other.createContext("/", exchange -> {
            byte[] document = documents.get(exchange.getRequestURI().getPath());
            exchange.sendResponseHeaders(document == null ? 405 : 200, document == null ? -1 : document.length);
            if (document != null) {
                exchange.getResponseBody().write(document);
            }
            exchange.close();
        });
        other.start();
        keys = keys(directory.resolve("key.json"));
        unknown = keys(directory.resolve("unknown.json"));
        Path trusted = directory.resolve("trusted.json");
        Files.write(trusted, keys.published());
        hub = new ConsoleHub(Hub.builder().inMemory().port(0).set("registry-trust", trusted.toString()));
        browser = Browser.at(hub.url());
    }

    private static CardKeys keys(Path file) throws IOException {
        CardKeys.create(file, CardKeys.Algorithm.ES256, null);
        return CardKeys.read(List.of(file));
    }

    @AfterAll
    void stop() {
        if (browser != null) {
            browser.close();
        }
        hub.close();
        other.stop(0);
    }

    @AfterEach
    void quiet() {
        browser.assertQuiet("the screen of an agent");
    }

    private String url(String path) {
        return "http://127.0.0.1:" + other.getAddress().getPort() + path;
    }

    /** Address of the screen that inspects the document at a path. */
    private String inspect(String path, byte[] document) {
        documents.put(path, document);
        return "agents/inspect?url=" + URLEncoder.encode(url(path), UTF_8);
    }

    private Map<String, Object> card(String name, int skills) {
        var card = new LinkedHashMap<String, Object>();
        card.put("name", name);
        card.put("description", "Carries parcels");
        card.put("version", "1.0.0");
        card.put(
                "supportedInterfaces",
                List.of(Map.of("url", url("/a2a"), "protocolBinding", "JSONRPC", "protocolVersion", "1.0")));
        card.put("capabilities", Map.of("streaming", true));
        card.put("defaultInputModes", List.of("text/plain"));
        card.put("defaultOutputModes", List.of("text/plain"));
        var list = new ArrayList<Map<String, Object>>();
        for (int i = 1; i <= skills; i++) {
            list.add(Map.of(
                    "id", "skill-" + i, "name", "Skill " + i, "description", "Does " + i, "tags", List.of("parcels")));
        }
        card.put("skills", list);
        return card;
    }

    @Test
    @DisplayName("S2: findings have severity, clause, pointer and fix, and a click marks the line of the card")
    void aClickOnAFindingMarksTheLineOfTheCard() {
        Map<String, Object> card = card("Draft", 60);
        card.remove("version");
        skills(card).set(58, Map.of("id", "late", "name", "Late", "description", "Is late", "tags", List.of()));
        browser.go("agents");
        browser.click(".head a", "Inspect a card");
        browser.see("h1", "Inspect a card");
        browser.run("document.querySelector('textarea').value = arguments[0]", new String(Json.write(card), UTF_8));
        browser.click("form button", "Inspect");
        browser.see("h1", "Draft");
        browser.click("[role=tab]", "Findings");

        browser.see(".findings .state.bad", "error");
        browser.see(".findings li", "/version");
        browser.see(".findings li", "is missing (expected: a text)");
        browser.see(".findings li", "Add \"version\": for example \"1.0.0\"");
        browser.see(".findings .clause", "A2A 1.0, 4.4.1");
        browser.see(".findings .state.wait", "warning");
        browser.click(".findings button", "/skills/58/tags");
        browser.see(".card-lines .line-at", "\"tags\": []");
        browser.picture("agent-line");
        browser.holds("""
            (() => {
              const line = document.querySelector('.line-at').getBoundingClientRect();
              const list = document.querySelector('.card-lines').getBoundingClientRect();
              return line.top >= Math.max(0, list.top) && line.bottom <= Math.min(innerHeight, list.bottom);
            })()""");
        assertThat(browser.address()).contains("at=%2Fskills%2F58%2Ftags");
        browser.back();
        browser.gone(".line-at", "");
        browser.click(".findings button", "/version");
        browser.see(".card-lines .line-at", "{");
        assertThat(hub.call("GET", "/registry/agents", null).toString()).doesNotContain("Draft");
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> skills(Map<String, Object> card) {
        return (List<Map<String, Object>>) requireNonNull(card.get("skills"));
    }

    @Test
    @DisplayName("S2: a signature is verified by a key, unverifiable, absent or TAMPERED, and each looks different")
    void eachVerdictLooksDifferent() {
        byte[] plain = Json.write(card("Courier", 1));
        byte[] signed = keys.signer(null).signed(plain);
        byte[] tampered =
                new String(signed, UTF_8).replace("Does 1", "Steals 1").getBytes(UTF_8);
        byte[] foreign = unknown.signer(null).signed(plain);
        var looks = new ArrayList<String>();
        String style = "const style = getComputedStyle(document.querySelector('.seal'));"
                + " return `${style.borderStyle} ${style.backgroundColor} ${style.color}`";

        browser.go(inspect("/verified.json", signed));
        browser.see(".seal", "Verified by key");
        browser.see(".seal code", "");
        browser.picture("agent-verified");
        looks.add(String.valueOf(browser.run(style)));
        browser.go(inspect("/unverifiable.json", foreign));
        browser.see(".seal", "Signed, but cannot be verified");
        browser.see(".seal", "is not trusted");
        browser.picture("agent-unverifiable");
        looks.add(String.valueOf(browser.run(style)));
        browser.go(inspect("/absent.json", plain));
        browser.see(".seal", "No signature");
        looks.add(String.valueOf(browser.run(style)));
        browser.go(inspect("/tampered.json", tampered));
        browser.see(".seal[role=alert]", "TAMPERED");
        browser.picture("agent-tampered");
        browser.see(".seal", "has not signed this");
        looks.add(String.valueOf(browser.run(style)));

        assertThat(looks).doesNotHaveDuplicates().hasSize(4);
    }

    @Test
    @DisplayName("S2: versions are compared, with a warning where security changed")
    void versionsAreComparedWithAWarning() {
        Map<String, Object> card = card("Porter", 1);
        String id = String.valueOf(hub.post("/registry/agents", Map.of("card", card, "visibility", "public"))
                .get("id"));
        hub.call("PUT", "/registry/agents/" + id, Map.of("card", card("Porter", 2)));
        Map<String, Object> guarded = card("Porter", 2);
        guarded.put(
                "securitySchemes",
                Map.of("key", Map.of("apiKeySecurityScheme", Map.of("location", "header", "name", "X-Key"))));
        guarded.put("securityRequirements", List.of(Map.of("schemes", Map.of("key", Map.of("list", List.of())))));
        hub.call("PUT", "/registry/agents/" + id, Map.of("card", guarded));

        browser.go("agents?q=porter");
        browser.click(".tr .act a", "Details");
        browser.see("h1", "Porter");
        browser.click("[role=tab]", "Versions 3");
        browser.see(".failure b", "Security changed");
        browser.see(".failure", "securityRequirements: requirements changed");
        browser.see(".findings .state.wait", "trust");
        browser.see(".versions .state.bad", "security");
        browser.picture("agent-security");
        browser.click(".versions a", "Compare with 1");
        browser.see("h2", "Version 1 to 2");
        browser.see(".findings li", "skill added");
        browser.gone(".failure", "");
        assertThat(browser.address()).contains("from=1", "to=2");
    }

    @Test
    @DisplayName("S1: a pasted card of a registered agent becomes its next version, with its visibility")
    void aPastedCardOfARegisteredAgentBecomesItsNextVersion() {
        String id =
                String.valueOf(hub.post("/registry/agents", Map.of("card", card("Runner", 1), "visibility", "public"))
                        .get("id"));
        browser.go("agents");
        browser.see("h1", "Agents");
        browser.paste(new String(Json.write(card("Runner", 1)), UTF_8));
        browser.see("dialog", "This agent is registered already.");
        browser.click("dialog footer button", "Close");
        browser.paste(new String(Json.write(card("Runner", 2)), UTF_8));
        browser.see("dialog", "a new version of an agent that is registered");
        browser.click("dialog footer button", "Register the version");
        browser.see("dialog .check.ok", "Runner is registered");

        Map<?, ?> entry = hub.call("GET", "/registry/agents/" + id, null);
        assertThat(entry.get("revision")).hasToString("2");
        assertThat(entry.get("visibility")).isEqualTo("public");
    }

    @Test
    @DisplayName("S2: any address is inspected as 1.0 or 0.3, with the reachability of each interface")
    void anyAddressIsInspectedWithReachability() throws IOException {
        String down;
        try (var socket = new ServerSocket(0)) {
            down = "http://127.0.0.1:" + socket.getLocalPort() + "/down";
        }
        Map<String, Object> old = card("Elder", 1);
        old.remove("supportedInterfaces");
        old.put("protocolVersion", "0.3.0");
        old.put("url", url("/a2a"));
        old.put(
                "additionalInterfaces",
                List.of(
                        Map.of("url", down, "transport", "HTTP+JSON"),
                        Map.of("url", "elder:443", "transport", "GRPC")));

        browser.go(inspect("/old.json", Json.write(old)));
        browser.see("h1", "Elder");
        browser.see(".kv dd", "A2A 0.3");
        browser.see(".reached li:has(.state.ok)", "JSONRPC 0.3");
        browser.see(".reached .state.ok", "reachable in");
        browser.see(".reached li:has(.state.bad)", "/down");
        browser.see(".reached li:has(.state.off)", "gRPC is not probed");
        browser.click("[role=tab]", "Card");
        browser.see(".card-lines li", "\"protocolVersion\": \"0.3.0\"");
        browser.click(".chips button", "as 1.0");
        browser.see(".card-lines li", "\"supportedInterfaces\": [");

        browser.go(inspect("/new.json", Json.write(card("Newcomer", 1))));
        browser.see(".kv dd", "A2A 1.0");
        browser.see(".reached .state.ok", "reachable in");

        browser.go("agents/inspect?url=" + URLEncoder.encode(url("/none"), UTF_8));
        browser.see(".failure", "no agent card at");
        browser.forget("status of 400 (Bad Request)");
    }

    @Test
    @DisplayName("S2: an agent of another hub is called from its card; its answer and its failure are shown")
    void anAgentElsewhereIsCalled() {
        Agent parrot = Agent.named("parrot", "Repeats texts")
                .skill("repeat", "Repeats a text", "text")
                .handle((request, reply) -> {
                    if (request.text().contains("fail")) {
                        reply.fail("The parrot is asleep");
                    } else {
                        reply.complete("Parrot: " + request.text());
                    }
                });
        try (Hub elsewhere = Hub.builder().inMemory().port(0).agents(parrot).start()) {
            browser.go("agents/inspect?url=" + URLEncoder.encode(elsewhere.url() + "/agents/parrot", UTF_8));
            browser.type("section[aria-label='Test call'] input", "good morning");
            browser.click("section[aria-label='Test call'] button", "Send");
            browser.see("section[aria-label='Test call'] .part", "Parrot: good morning");
            browser.see("section[aria-label='Test call'] .state.ok", "completed");
            browser.picture("agent-call");

            browser.type("section[aria-label='Test call'] input", "please fail");
            browser.press(Keys.ENTER);
            browser.see("section[aria-label='Test call'] .bad-text", "The parrot is asleep");
            browser.click("section[aria-label='Test call'] a", "Its run");
            browser.see(".node.bad .name", "call");
        }
    }

    @Test
    @DisplayName("S2: an agent of the hub has its card in each version, and examples to try")
    void anAgentOfTheHubHasItsCardInEachVersion() {
        browser.go("agents?q=minutes");
        browser.click(".tr .act a", "Details");
        browser.see("h1", "scribe");
        browser.see(".seal", "No signature");
        browser.see(".reached .state.ok", "reachable");
        browser.click("[role=tab]", "Card");
        browser.click(".chips button", "as 0.3");
        browser.see(".card-lines li", "\"protocolVersion\": \"0.3.0\"");
        browser.click(".chips button", "as 0.2 and 0.1");
        browser.see(".card-lines li", "\"authentication\": {");
        browser.reload();
        browser.see(".chips .on", "as 0.2 and 0.1");
        browser.click("[role=tab]", "Overview");
        browser.click(".skill-list a", "Sum up the budget");
        browser.see("h1", "scribe");
        browser.holds("document.querySelector('parley-compose textarea')?.value === 'Sum up the budget'");
    }
}
