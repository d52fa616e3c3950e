package dev.parley.registry.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.Part;
import dev.parley.registry.Cards;
import dev.parley.registry.Target;
import dev.parley.testkit.Eventually;
import dev.parley.testkit.ExtensionKit;
import dev.parley.testkit.ExtensionKit.Answer;
import dev.parley.testkit.ExtensionKit.Caller;
import dev.parley.trust.Authentication;
import dev.parley.trust.cards.CardKeys;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Registries that ask and copy each other, over HTTP. */
@Timeout(180)
@Tag("heavy")
final class FederationHubTest {
    private static final String ADMIN_KEY = "X-Api-Key";

    @TempDir
    Path directory;

    private HubBuilder hub(String name) {
        return Hub.builder()
                .data(directory.resolve(name))
                .port(0)
                .set("registry-publisher", name + ".example")
                .set("registry-probes", "0s")
                .set("fetch-allow", "127.0.0.1");
    }

    private HubBuilder secured(String name) {
        return hub(name).authentication(Authentication.named(List.of("required")));
    }

    private static Caller admin(Hub hub) {
        return ExtensionKit.caller(hub.url(), ADMIN_KEY, hub.bootstrapKey().orElseThrow());
    }

    private static void peer(Caller web, String name, String url, String more) throws Exception {
        Answer answer = web.send(
                "PUT", "/admin/registry/peers/" + name, ("{'url':'" + url + "'" + more + "}").replace('\'', '"'));
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    }

    private static String register(Caller web, String name, String skill) throws Exception {
        Answer answer = web.post("/registry/agents", Cards.registration(Cards.v1(name, skill), "public"));
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.text("id");
    }

    private static Answer search(Caller web, String text) throws Exception {
        Answer answer = web.post("/registry/ard/search", "{'query':{'text':'" + text + "'},'federation':'auto'}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer;
    }

    private static Map<?, ?> outcome(Answer answer, String peer) {
        return ((List<?>) requireNonNull(answer.at("parley:peers")))
                .stream()
                        .map(one -> (Map<?, ?>) one)
                        .filter(one -> peer.equals(one.get("peer")))
                        .findFirst()
                        .orElseThrow();
    }

    @Test
    @DisplayName("ONE37, AV35: an agent of a peer is found and called, and not found once the peer is cut off")
    void anAgentOfAPeerIsFoundAndCalledUntilThePeerIsCutOff() throws Exception {
        Agent translator = Agent.named("translator", "Translates legal contracts")
                .skill("translate", "Translates contracts", "legal")
                .handle((request, reply) -> reply.complete(Part.text("translated: " + request.text())));
        try (Hub a = secured("a").start();
                Hub b = hub("b").agents(translator).start()) {
            Caller here = admin(a);
            peer(here, "b", b.url(), ",'publishers':['b.example']");

            Answer found = search(here, "translate contracts");

            assertThat(outcome(found, "b").get("outcome")).as(found.text()).isEqualTo("ok");
            assertThat(found.each("results", "identifier")).contains("urn:air:b.example:agents:translator");
            int at = found.each("results", "identifier").indexOf("urn:air:b.example:agents:translator");
            assertThat(found.text("results", at, "source")).isEqualTo(b.url() + "/registry/ard");
            assertThat(found.at("results", at, "parley:authoritative")).isEqualTo(true);
            assertThat(found.text("results", at, "parley:trust", "outcome")).isEqualTo("unverifiable");
            String card = found.text("results", at, "url");
            try (AgentClient client = AgentClient.connect(card)) {
                assertThat(client.send("text").toString()).contains("translated: text");
            }

            Answer cut = here.post("/admin/registry/peers/b/cut", "{'reason':'contract ended'}");
            assertThat(cut.status()).as(cut.text()).isEqualTo(200);
            Answer gone = search(here, "translate contracts");
            assertThat(gone.each("results", "identifier")).doesNotContain("urn:air:b.example:agents:translator");
            assertThat(here.get("/admin/registry/peers").text("peers", 0, "status"))
                    .isEqualTo("cut");
            assertThat(ExtensionKit.caller(a.url()).get("/admin/registry/peers").status())
                    .isEqualTo(401);
        }
    }

    @Test
    @DisplayName("D9: two hubs with default settings are peers, and keep their publishers over a restart")
    void hubsWithDefaultSettingsArePeers() throws Exception {
        try (Hub b = unnamed("b").start()) {
            String id = register(ExtensionKit.caller(b.url()), "Translator", "translate");
            String own;
            try (Hub a = unnamed("a")
                    .authentication(Authentication.named(List.of("required")))
                    .start()) {
                Caller here = admin(a);
                peer(here, "b", b.url(), ",'copied':true");
                Answer copied = here.post("/admin/registry/peers/b/copy", "{}");
                assertThat(copied.status()).as(copied.text()).isEqualTo(200);
                own = register(here, "Other", "other");
                assertThat(own.split(":", -1)[2])
                        .matches("hub-[0-9a-f]+\\.agent\\.localhost")
                        .isNotEqualTo(id.split(":", -1)[2]);

                Answer found = search(here, "translator");

                assertThat(outcome(found, "b").get("outcome")).isEqualTo("ok");
                assertThat(found.each("results", "identifier")).contains(id);
                assertThat(here.get("/admin/registry/peers").text("peers", 0, "problem"))
                        .isEmpty();
            }
            try (Hub again = unnamed("a").start()) {
                Caller here = ExtensionKit.caller(again.url());
                assertThat(here.get("/registry/agents").each("agents", "id")).contains(id, own);
                assertThat(register(here, "Third", "third").split(":", -1)[2]).isEqualTo(own.split(":", -1)[2]);
            }
        }
    }

    @Test
    @DisplayName("D9: a peer with the publisher of this registry is refused, and named if it gets that publisher later")
    void peersOfOnePublisherAreRefused() throws Exception {
        try (Hub a = secured("same").start();
                Hub b = hub("b").set("registry-publisher", "same.example").start();
                var late = new Target()) {
            Caller here = admin(a);
            String id = register(ExtensionKit.caller(b.url()), "Translator", "translate");

            Answer refused = here.send("PUT", "/admin/registry/peers/b", "{\"url\":\"" + b.url() + "\"}");
            assertThat(refused.status()).isEqualTo(400);
            assertThat(refused.text()).contains("same.example", "--registry-publisher");

            late.at("/ard/search", Target.answering(200, results(result(id, ""))));
            peer(here, "late", late.url() + "/ard", "");
            Answer found = search(here, "translator");
            assertThat(String.valueOf(outcome(found, "late").get("reason")))
                    .contains("same.example", "--registry-publisher");
        }
    }

    @Test
    @DisplayName("M12: wrong members of a peer are named")
    void wrongMembersAreNamed() throws Exception {
        try (Hub a = secured("a").start()) {
            Caller here = admin(a);
            for (String wrong : List.of(
                    "keys: {\"url\":\"https://b.example\",\"keys\":\"no key\"}",
                    "url: {\"url\":\"ftp://b.example\"}",
                    "url: {\"url\":\"b.example\"}",
                    "copied: {\"url\":\"https://b.example/other\",\"copied\":true}",
                    "publishers: {\"url\":\"https://b.example\",\"publishers\":\"b.example\"}",
                    "bogus: {\"url\":\"https://b.example\",\"bogus\":1}")) {
                String member = wrong.substring(0, wrong.indexOf(':'));
                Answer answer = here.send("PUT", "/admin/registry/peers/b", wrong.substring(member.length() + 2));

                assertThat(answer.status()).as(wrong).isEqualTo(400);
                assertThat(answer.text())
                        .as(wrong)
                        .contains("\"" + member + "\"")
                        .contains("expected: ");
            }
        }
    }

    private HubBuilder unnamed(String name) {
        return Hub.builder()
                .data(directory.resolve(name))
                .port(0)
                .set("registry-probes", "0s")
                .set("fetch-allow", "127.0.0.1");
    }

    private static String results(String... results) {
        return "{\"results\":[" + String.join(",", results) + "]}";
    }

    private static String result(String id, String more) {
        return ("{'identifier':'" + id + "','displayName':'Liar','type':'application/a2a-agent-card+json',"
                        + "'url':'https://liar.example/card.json','score':100,'source':'https://trusted.example'" + more
                        + "}")
                .replace('\'', '"');
    }

    @Test
    @DisplayName("AV35: slow, lying, endless and dead peers harm no search")
    void badPeersHarmNoSearch() throws Exception {
        try (Hub a = secured("a").start();
                Hub b = hub("b").start();
                var slow = new Target();
                var liar = new Target();
                var endless = new Target();
                var dead = new ServerSocket(0)) {
            Caller here = admin(a);
            String own = register(here, "Translator", "translate");
            String good = register(ExtensionKit.caller(b.url()), "Interpreter", "translate");
            slow.at("/ard/search", Target.silent());
            endless.at("/ard/search", Target.endless());
            String forged = ",'parley:trust':{'outcome':'verified'},'trustManifest':{'identity':'did:web:b.example',"
                    + "'signature':'e30..AA'},'data':{'name':'x'}";
            liar.at(
                    "/ard/search",
                    Target.answering(
                            200,
                            results(
                                    result(own, ""),
                                    result("urn:air:a.example:agents:fake", ""),
                                    result("urn:air:liar.example:x:same", ""),
                                    result("urn:air:liar.example:x:same", ""),
                                    result(good, forged),
                                    result("not an identifier", ""))));
            int port = dead.getLocalPort();
            dead.close();
            peer(here, "b", b.url(), ",'publishers':['b.example']");
            peer(here, "dead", "http://127.0.0.1:" + port + "/ard", "");
            peer(here, "endless", endless.url() + "/ard", "");
            peer(here, "liar", liar.url() + "/ard", ",'publishers':['liar.example']");
            peer(here, "slow", slow.url() + "/ard", "");

            long begun = System.nanoTime();
            Answer found = search(here, "translate");
            Duration took = Duration.ofNanos(System.nanoTime() - begun);

            assertThat(outcome(found, "b").get("outcome")).as(found.text()).isEqualTo("ok");
            assertThat(outcome(found, "dead").get("outcome")).isEqualTo("failed");
            assertThat(outcome(found, "endless").get("outcome")).isEqualTo("failed");
            assertThat(outcome(found, "slow").get("outcome")).isIn("late", "failed");
            assertThat(outcome(found, "liar").get("outcome")).isEqualTo("ok");
            assertThat(String.valueOf(outcome(found, "liar").get("reason"))).startsWith("4 results refused");
            assertThat(took).isLessThan(Duration.ofSeconds(20));
            List<String> ids = found.each("results", "identifier");
            assertThat(ids).doesNotHaveDuplicates().contains(own, good, "urn:air:liar.example:x:same");
            assertThat(ids).doesNotContain("urn:air:a.example:agents:fake");
            assertThat(found.text("results", ids.indexOf(own), "displayName")).isEqualTo("Translator");
            int at = ids.indexOf(good);
            assertThat(found.text("results", at, "displayName")).isEqualTo("Interpreter");
            assertThat(found.text("results", at, "source")).isEqualTo(b.url() + "/registry/ard");
            int lie = ids.indexOf("urn:air:liar.example:x:same");
            assertThat(found.text("results", lie, "source")).isEqualTo(liar.url() + "/ard");
            assertThat(found.text("results", lie, "parley:trust", "outcome")).isEqualTo("unverifiable");

            var unused = search(here, "translate");
            unused = search(here, "translate");
            assertThat(outcome(search(here, "translate"), "slow").get("outcome"))
                    .isEqualTo("skipped");
        }
    }

    @Test
    @DisplayName(
            "entries of a peer are copied, cannot be changed here, and go when they are revoked or the peer is cut off")
    void publicEntriesOfAPeerAreCopied() throws Exception {
        Path key = directory.resolve("key.json");
        CardKeys.create(key, CardKeys.Algorithm.ES256, null);
        CardKeys keys = CardKeys.read(List.of(key));
        try (Hub a = secured("a").start();
                Hub b = hub("b").cardKeys(keys).start()) {
            Caller here = admin(a);
            var there = ExtensionKit.caller(b.url());
            String first = register(there, "Translator", "translate");
            String second = register(there, "Adder", "add");
            Answer hidden = there.post("/registry/agents", Cards.registration(Cards.v1("Hidden", "hide"), "group"));
            String published = new String(Json.write(new String(keys.published(), UTF_8)), UTF_8);
            peer(here, "b", b.url(), ",'publishers':['b.example'],'copied':true,'keys':" + published);

            var unused = copied(here);
            Answer copy = here.get("/registry/agents/" + first);
            assertThat(copy.status()).as(copy.text()).isEqualTo(200);
            assertThat(copy.text("metadata", "peer")).isEqualTo("b");
            assertThat(copy.text("metadata", "source")).isEqualTo(b.url() + "/registry/ard");
            assertThat(here.get("/registry/agents/" + hidden.text("id")).status())
                    .isEqualTo(404);
            assertThat(here.get("/registry/agents/" + first + "/card").text())
                    .isEqualTo(there.get("/registry/agents/" + first + "/card").text());
            assertThat(here.delete("/registry/agents/" + first).status()).isEqualTo(403);
            assertThat(here.post("/registry/agents/" + first + ":revoke", "{'reason':'x'}")
                            .status())
                    .isEqualTo(403);

            assertThat(there.post("/registry/agents/" + first + ":revoke", "{'reason':'stolen'}")
                            .status())
                    .isEqualTo(200);
            assertThat(there.delete("/registry/agents/" + second).status()).isEqualTo(200);
            Answer again = copied(here);
            assertThat(again.at("refused")).as(again.text()).isEqualTo(0);
            assertThat(here.get("/registry/agents/" + first).text("status")).isEqualTo("revoked");
            assertThat(here.get("/registry/agents/" + first).text("trust", "reason"))
                    .isEqualTo("stolen");
            assertThat(here.get("/registry/agents").each("agents", "id")).doesNotContain(first, second);

            String third = register(there, "Poet", "rhyme");
            unused = copied(here);
            assertThat(here.get("/registry/agents").each("agents", "id")).contains(third);
            here.post("/admin/registry/peers/b/cut", "{'reason':'contract ended'}");
            assertThat(here.get("/registry/agents").each("agents", "id")).doesNotContain(third);
            assertThat(here.post("/admin/registry/peers/b/copy", "{}").status()).isEqualTo(404);

            here.post("/admin/registry/peers/b/resume", "{}");
            unused = copied(here);
            assertThat(here.get("/registry/agents").each("agents", "id"))
                    .contains(third)
                    .doesNotContain(first);
        }
    }

    private static Answer copied(Caller here) throws Exception {
        Answer copied = here.post("/admin/registry/peers/b/copy", "{}");
        assertThat(copied.status()).as(copied.text()).isEqualTo(200);
        return copied;
    }

    @Test
    @DisplayName("AV35: a search that came through four agents asks no peer, and peers of each other ask in no circle")
    void searchesGoThroughFourAgentsAtMost() throws Exception {
        try (Hub a = hub("a").start();
                Hub b = hub("b").start()) {
            var here = ExtensionKit.caller(a.url());
            peer(here, "b", b.url(), ",'publishers':['b.example']");
            peer(ExtensionKit.caller(b.url()), "a", a.url(), ",'publishers':['a.example']");
            String theirs = register(ExtensionKit.caller(b.url()), "Interpreter", "translate");

            Answer direct = search(here, "translate");
            assertThat(outcome(direct, "b").get("outcome")).as(direct.text()).isEqualTo("ok");
            assertThat(direct.each("results", "identifier")).containsOnlyOnce(theirs);
            Answer third = search(here.with("baggage", through(3)), "translate");
            assertThat(outcome(third, "b").get("outcome")).as(third.text()).isEqualTo("ok");

            Answer fourth = search(here.with("baggage", through(4)), "translate");

            assertThat(outcome(fourth, "b").get("outcome")).as(fourth.text()).isEqualTo("skipped");
            assertThat(String.valueOf(outcome(fourth, "b").get("reason"))).contains("through 4 agents");
            assertThat(fourth.each("results", "identifier")).doesNotContain(theirs);
        }
    }

    /** Header of a call that came through other agents. */
    private static String through(int agents) {
        return requireNonNull(new CallChain(IntStream.rangeClosed(1, agents)
                        .mapToObj(number -> "https://hub" + number + ".example/agents/finder")
                        .toList())
                .baggage());
    }

    @Test
    @DisplayName("pages of a fused list end with a restart of the hub, with an error that asks for a new search")
    void pagesOfAFusedListEndWithTheHub() throws Exception {
        String next;
        String body = "{'query':{'text':'translate'},'federation':'auto','pageSize':1";
        try (Hub b = hub("b").start()) {
            var unused = register(ExtensionKit.caller(b.url()), "Interpreter", "translate");
            unused = register(ExtensionKit.caller(b.url()), "Translator", "translate");
            try (Hub a = hub("a").start()) {
                var here = ExtensionKit.caller(a.url());
                peer(here, "b", b.url(), ",'publishers':['b.example']");
                Answer first = here.post("/registry/ard/search", body + "}");
                next = first.text("pageToken");
                Answer second = here.post("/registry/ard/search", body + ",'pageToken':'" + next + "'}");
                assertThat(second.each("results", "identifier"))
                        .hasSize(1)
                        .doesNotContainAnyElementsOf(first.each("results", "identifier"));
            }
            try (Hub a = hub("a").start()) {
                Answer over = ExtensionKit.caller(a.url())
                        .post("/registry/ard/search", body + ",'pageToken':'" + next + "'}");

                assertThat(over.status()).isEqualTo(400);
                assertThat(over.text("errorCode")).isEqualTo("INVALID_ARGUMENT");
                assertThat(over.text("message"))
                        .contains("the results of this search are gone (expected: a new search)");
            }
        }
    }

    @Test
    void copiesGoOnAfterARestartAndTakeNothingOfOtherPublishers() throws Exception {
        try (Hub b = hub("b").start()) {
            var there = ExtensionKit.caller(b.url());
            String first = register(there, "Translator", "translate");
            try (Hub a = secured("a").start()) {
                Caller here = admin(a);
                peer(here, "b", b.url(), ",'publishers':['b.example'],'copied':true");
                var unused = copied(here);
                assertThat(here.get("/registry/agents").each("agents", "id")).contains(first);
            }
            String second = register(there, "Adder", "add");
            try (Hub a = secured("a").start()) {
                Caller here = ExtensionKit.caller(a.url());
                Eventually.asserted(
                        "both entries are copied",
                        () -> assertThat(here.get("/registry/agents").each("agents", "id"))
                                .contains(first, second));
            }
            try (Hub c = secured("c").start()) {
                Caller here = admin(c);
                peer(here, "b", b.url(), ",'publishers':['other.example']"); // no copies besides that of the test
                assertThat((Integer) requireNonNull(copied(here).at("refused"))).isGreaterThanOrEqualTo(2);
                assertThat(here.get("/registry/agents").each("agents", "id")).doesNotContain(first, second);
            }
        }
    }
}
