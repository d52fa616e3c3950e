package dev.parley.registry.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.registry.Cards;
import dev.parley.testkit.ExtensionKit;
import dev.parley.testkit.ExtensionKit.Answer;
import dev.parley.testkit.ExtensionKit.Caller;
import dev.parley.trust.Authentication;
import dev.parley.trust.cards.CardKeys;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The registry over HTTP. */
@Timeout(120)
@Tag("heavy")
final class RegistryHubTest {
    @TempDir
    private Path directory;

    @Test
    @DisplayName("an agent is registered, listed by tag, shown, and deleted, without authentication")
    void life() throws Exception {
        try (Hub hub = Hub.builder().inMemory().port(0).start()) {
            var web = ExtensionKit.caller(hub.url());

            Answer registered =
                    web.post("/registry/agents", Cards.registration(Cards.v1("Translator", "translate"), "public"));
            assertThat(registered.status()).as(registered.text()).isEqualTo(200);
            String id = registered.text("id");
            assertThat(id).matches("urn:air:hub-[0-9a-f]{10}\\.agent\\.localhost:default:translator");
            var unused = web.post("/registry/agents", Cards.registration(Cards.v1("Adder", "add"), "public"));

            assertThat(web.get("/registry/agents?tag=translate").each("agents", "id"))
                    .containsExactly(id);
            assertThat(web.get("/registry/agents?tag=translate&tag=add").each("agents", "id"))
                    .isEmpty();
            assertThat(web.get("/registry/agents/" + id).text("skills", 0, "id"))
                    .isEqualTo("translate");
            assertThat(web.get("/registry/agents/urn:air:agent.localhost:default:none")
                            .status())
                    .isEqualTo(404);

            assertThat(web.delete("/registry/agents/" + id).text("status")).isEqualTo("deleted");
            assertThat(web.get("/registry/agents?tag=translate").each("agents", "id"))
                    .isEmpty();
        }
    }

    @Test
    @DisplayName("ONE18 the hub's own agents are entries by themselves")
    void ownAgents() throws Exception {
        Agent echo =
                Agent.named("echo", "Echoes").skill("say", "Says", "talk").handle((in, out) -> out.complete(in.text()));
        try (Hub hub = Hub.builder().inMemory().port(0).agents(echo).start()) {
            var web = ExtensionKit.caller(hub.url());

            Answer list = web.get("/registry/agents?tag=talk");

            assertThat(list.each("agents", "id")).singleElement().asString().endsWith(".agent.localhost:agents:echo");
            assertThat(list.text("agents", 0, "owner")).isEqualTo("*");
            assertThat(web.delete("/registry/agents/urn:air:agent.localhost:agents:echo")
                            .status())
                    .isEqualTo(403);
            Answer card = web.get("/registry/agents/urn:air:agent.localhost:agents:echo/card");
            assertThat(card.text("name")).isEqualTo("echo");
            assertThat(web.with("If-None-Match", card.header("ETag"))
                            .get("/registry/agents/urn:air:agent.localhost:agents:echo/card")
                            .status())
                    .isEqualTo(304);
        }
    }

    @Test
    @DisplayName(
            "GEM14 a card is registered by the address of its agent, in any dialect, and its bytes stay as they are")
    void byUrl() throws Exception {
        Agent echo = Agent.named("echo", "Echoes").handle((in, out) -> out.complete(in.text()));
        try (Hub far = Hub.builder().inMemory().port(0).agents(echo).start();
                Hub hub = Hub.builder().inMemory().port(0).start()) {
            var web = ExtensionKit.caller(hub.url());
            for (String address : List.of(
                    "/agents/echo",
                    "/agents/echo/.well-known/agent.json",
                    "/agents/echo/.well-known/agent-card.json")) {
                Answer registered = web.post("/registry/agents", "{'url':'" + far.url() + address + "'}");
                assertThat(registered.status()).as(registered.text()).isEqualTo(200);
                byte[] stored = web.get("/registry/agents/" + registered.text("id") + "/card")
                        .body();
                assertThat(stored)
                        .isEqualTo(ExtensionKit.caller("")
                                .with("A2A-Version", "1.0")
                                .get(registered.text("url"))
                                .body());
            }
            assertThat(web.post("/registry/agents", "{'url':'http://10.0.0.1/a'}")
                            .text())
                    .contains("fetch-allow");
        }
    }

    @Test
    @DisplayName("versions have a difference that says breaking, safe or trust, and can be refused")
    void versions() throws Exception {
        try (Hub hub = Hub.builder().inMemory().port(0).start()) {
            var web = ExtensionKit.caller(hub.url());
            String id = web.post("/registry/agents", Cards.registration(Cards.v1("A", "add", "sub"), "public"))
                    .text("id");
            String smaller = Cards.v1("A", "add");
            assertThat(web.get("/registry/agents/" + id + "/diff").text())
                    .contains("from: the entry has no version before 1");

            Answer refused =
                    web.send("PUT", "/registry/agents/" + id, "{\"card\":" + smaller + ",\"refuse\":[\"breaking\"]}");
            assertThat(refused.status()).as(refused.text()).isEqualTo(409);
            assertThat(refused.text()).contains("skills.sub");
            assertThat(web.get("/registry/agents/" + id).text("revision")).isEqualTo("1");

            Answer published = web.send("PUT", "/registry/agents/" + id, "{\"card\":" + smaller + "}");
            assertThat(published.text("revision")).isEqualTo("2");
            assertThat(published.text("visibility")).isEqualTo("public");
            assertThat(web.get("/registry/agents/" + id + "/diff").text("verdict"))
                    .isEqualTo("breaking");
            assertThat(web.get("/registry/agents/" + id + "/versions").text("versions", 0, "changes", 0, "text"))
                    .isEqualTo("skill removed");
            Answer elsewhere = web.send(
                    "PUT",
                    "/registry/agents/" + id,
                    "{\"card\":" + smaller.replace("a.example", "b.example") + ",\"refuse\":[\"trust\"]}");
            assertThat(elsewhere.status()).isEqualTo(409);
            assertThat(web.get("/registry/agents/" + id + "/card?revision=1").text("skills", 1, "id"))
                    .isEqualTo("sub");
        }
    }

    @Test
    @DisplayName("GEM18 a card with a secret is refused with the path of the value, and without the value")
    void secrets() throws Exception {
        try (Hub hub = Hub.builder().inMemory().port(0).start()) {
            var web = ExtensionKit.caller(hub.url());
            String card = Cards.v1("A", "add").replace("Does add", "Use sk-abcdefghijklmnopqrstuvwxyz012345");

            Answer refused = web.post("/registry/agents", Cards.registration(card, "public"));

            assertThat(refused.status()).isEqualTo(400);
            assertThat(refused.text()).contains("skills[0].description").doesNotContain("abcdefghijkl");
        }
    }

    @Test
    @DisplayName("owners delete, restore, transfer and lease entries; callers review them once")
    void ownership() throws Exception {
        try (Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .start()) {
            var admin = ExtensionKit.caller(
                    hub.url(), "X-Api-Key", hub.bootstrapKey().orElseThrow());
            Caller alice = user(admin, "T1", "alice");
            Caller bob = user(admin, "T1", "bob");
            Caller carol = user(admin, "T2", "carol");
            var stranger = ExtensionKit.caller(hub.url());
            String card = Cards.v1("A", "add");

            String secret = alice.post("/registry/agents", Cards.registration(card, "private"))
                    .text("id");
            assertThat(secret).endsWith(".agent.localhost:t1:a");
            for (Caller other : List.of(bob, carol, stranger)) {
                assertThat(other.get("/registry/agents/" + secret).status()).isEqualTo(404);
                assertThat(other.get("/registry/agents?skill=add").each("agents", "id"))
                        .isEmpty();
            }
            assertThat(alice.send("PATCH", "/registry/agents/" + secret, "{\"visibility\":\"group\"}")
                            .text("visibility"))
                    .isEqualTo("group");
            assertThat(bob.get("/registry/agents/" + secret).status()).isEqualTo(200);
            assertThat(bob.delete("/registry/agents/" + secret).status()).isEqualTo(403);
            assertThat(carol.delete("/registry/agents/" + secret).status()).isEqualTo(404);
            assertThat(carol.get("/registry/agents?skill=add").each("agents", "id"))
                    .isEmpty();
            assertThat(stranger.post("/registry/agents", Cards.registration(card, "public"))
                            .status())
                    .isEqualTo(401);

            alice.send("PATCH", "/registry/agents/" + secret, "{\"visibility\":\"public\"}");
            assertThat(stranger.get("/registry/agents?skill=add").each("agents", "id"))
                    .containsExactly(secret);
            bob.post("/registry/agents/" + secret + ":review", "{'stars':2,'text':'slow'}");
            Answer reviews = bob.post("/registry/agents/" + secret + ":review", "{'stars':4,'text':'better'}");
            assertThat(reviews.each("reviews", "text")).containsExactly("better");
            carol.post("/registry/agents/" + secret + ":review", "{'stars':5}");
            assertThat(carol.get("/registry/agents/" + secret + "/reviews").text("average"))
                    .isEqualTo("4.5");
            bob.post("/registry/agents/" + secret + ":note", "{'text':'ask alice'}");
            assertThat(alice.get("/registry/agents/" + secret + "/reviews").each("notes", "text"))
                    .containsExactly("ask alice");
            assertThat(carol.get("/registry/agents/" + secret + "/reviews").each("notes", "text"))
                    .isEmpty();

            alice.delete("/registry/agents/" + secret);
            assertThat(stranger.get("/registry/agents/" + secret).status()).isEqualTo(404);
            assertThat(alice.post("/registry/agents/" + secret + ":restore", "{}")
                            .text("status"))
                    .isEqualTo("active");
            alice.post("/registry/agents/" + secret + ":transfer", "{'principal':'bob'}");
            assertThat(alice.delete("/registry/agents/" + secret).status()).isEqualTo(403);
            assertThat(bob.delete("/registry/agents/" + secret).status()).isEqualTo(200);
        }
    }

    @Test
    void operatorsAreOwnersOfAllEntriesThatAreNoCopies() throws Exception {
        try (Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .start()) {
            var admin = ExtensionKit.caller(
                    hub.url(), "X-Api-Key", hub.bootstrapKey().orElseThrow());
            Caller alice = user(admin, "T1", "alice");
            String ofAlice = alice.post("/registry/agents", Cards.registration(Cards.v1("A", "add"), "private"))
                    .text("id");
            String ofHub = admin.get("/registry/agents?owner=*").text("agents", 0, "id");
            String deprecated = "{\"status\":\"deprecated\"}";

            assertThat(alice.send("PATCH", "/registry/agents/" + ofHub, deprecated)
                            .status())
                    .isEqualTo(403);
            for (String entry : List.of(ofAlice, ofHub)) {
                assertThat(admin.send("PATCH", "/registry/agents/" + entry, deprecated)
                                .text("status"))
                        .as(entry)
                        .isEqualTo("deprecated");
            }
        }
    }

    @Test
    @DisplayName("changes of entries leave rows in the audit, those that a stranger tries too; reads leave none")
    void changesAreAudited() throws Exception {
        try (Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .start()) {
            var admin = ExtensionKit.caller(
                    hub.url(), "X-Api-Key", hub.bootstrapKey().orElseThrow());
            Caller alice = user(admin, "T1", "alice");
            Caller bob = user(admin, "T1", "bob");
            String id = alice.post("/registry/agents", Cards.registration(Cards.v1("A", "add"), "public"))
                    .text("id");
            String entry = "/registry/agents/" + id;
            String card = "{'card':" + Cards.v1("A", "add", "audit") + "}";
            alice.send("PUT", entry, card.replace('\'', '"'));
            alice.send("PATCH", entry, "{\"status\":\"deprecated\",\"reason\":\"Use another\"}");
            alice.send("PUT", entry + "/views", "{\"views\":{\"public\":{\"skills\":[]}}}");
            bob.post(entry + ":review", "{'stars':4,'text':'very personal'}");
            assertThat(bob.delete(entry).status()).isEqualTo(403);
            assertThat(bob.get(entry).status()).isEqualTo(200);
            alice.delete(entry);
            alice.post(entry + ":restore", "{}");
            alice.post(entry + ":transfer", "{'principal':'bob'}");
            String exported = bob.get("/registry/export").text();
            bob.post("/registry/import", exported);
            assertThat(alice.post(entry + ":revoke", "{'reason':'of a stranger'}")
                            .status())
                    .isEqualTo(403);
            bob.post(entry + ":revoke", "{'reason':'key was stolen'}");
            alice.post("/registry/agents", Cards.registration(Cards.v1("Last", "add"), "public")); // after the rows

            Answer rows = admin.get("/admin/audit?group=T1&after=0&limit=100");

            assertThat(rows.each("rows", "action"))
                    .as(rows.text())
                    .containsSubsequence(
                            "registry.registered",
                            "registry.published",
                            "registry.changed",
                            "registry.views",
                            "registry.reviewed",
                            "registry.deleted",
                            "registry.deleted",
                            "registry.restored",
                            "registry.transferred",
                            "registry.imported",
                            "registry.revoked");
            int refused = rows.each("rows", "outcome").indexOf("denied");
            assertThat(rows.text("rows", refused, "action")).isEqualTo("registry.deleted");
            assertThat(rows.text("rows", refused, "actor")).isEqualTo("bob");
            assertThat(rows.text("rows", refused, "target")).isEqualTo(id);
            int stranger = rows.each("rows", "action").indexOf("registry.revoked");
            assertThat(rows.text("rows", stranger, "outcome")).isEqualTo("denied");
            assertThat(rows.text("rows", stranger, "actor")).isEqualTo("alice");
            assertThat(rows.text("rows", stranger + 1, "action")).isEqualTo("registry.revoked");
            assertThat(rows.text("rows", stranger + 1, "outcome")).isEqualTo("ok");
            assertThat(rows.text("rows", stranger + 1, "subject")).isEqualTo("T1/bob");
            assertThat(rows.text("rows", stranger + 1, "detail", "reason")).isEqualTo("key was stolen");
            assertThat(rows.text("rows", stranger + 1, "detail", "digest")).startsWith("sha256:");
            int transferred = rows.each("rows", "action").indexOf("registry.transferred");
            assertThat(rows.text("rows", transferred, "actor")).isEqualTo("alice");
            assertThat(rows.text("rows", transferred, "subject")).isEqualTo("T1/bob");
            int registered = rows.each("rows", "action").indexOf("registry.registered");
            assertThat(rows.text("rows", registered, "detail", "digest")).startsWith("sha256:");
            assertThat(rows.text("rows", registered, "detail", "visibility")).isEqualTo("public");
            assertThat(rows.text()).doesNotContain("very personal");
        }
    }

    @Test
    @DisplayName(
            "GEM15, GEM16, GEM17 callers get the signed view of a card that is theirs; anonymous ones none of a protected agent")
    void views() throws Exception {
        Path key = directory.resolve("key.json");
        var unused = CardKeys.create(key, CardKeys.Algorithm.EDDSA, null);
        try (Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .cardKeys(CardKeys.read(List.of(key)))
                .start()) {
            var admin = ExtensionKit.caller(
                    hub.url(), "X-Api-Key", hub.bootstrapKey().orElseThrow());
            Caller alice = user(admin, "T1", "alice");
            Caller bob = user(admin, "T1", "bob");
            Caller carol = user(admin, "T2", "carol");
            var stranger = ExtensionKit.caller(hub.url());
            String id = alice.post(
                            "/registry/agents", Cards.registration(Cards.v1("A", "add", "audit", "wipe"), "public"))
                    .text("id");
            String entry = "/registry/agents/" + id;
            byte[] whole = stranger.get(entry + "/card").body();

            Answer set = alice.send("PUT", entry + "/views", """
                    {"views":{"partners":{"groups":["T2"],"skills":["add","audit"]},
                              "here":{"addresses":["10.0.0.0/8"],"skills":["wipe"]},
                              "public":{"skills":["add"],"hide":["documentationUrl"]}}}""");
            assertThat(set.status()).as(set.text()).isEqualTo(200);

            assertThat(alice.get(entry + "/card").body()).isEqualTo(whole);
            Answer open = stranger.get(entry + "/card");
            Answer partner = carol.get(entry + "/card");
            assertThat(open.each("skills", "id")).containsExactly("add");
            assertThat(partner.each("skills", "id")).containsExactly("add", "audit");
            assertThat(open.header("ETag")).isNotEqualTo(partner.header("ETag"));
            assertThat(open.text("signatures", 0, "protected")).isNotEqualTo("null");
            assertThat(carol.get(entry).each("skills", "id")).containsExactly("add", "audit");
            assertThat(stranger.get("/registry/agents?skill=wipe").each("agents", "id"))
                    .isEmpty();
            assertThat(stranger.get("/registry/agents?skill=add").text())
                    .contains(id)
                    .doesNotContain("wipe");
            assertThat(stranger.get("/registry/changes").text()).contains(id).doesNotContain("wipe");
            assertThat(bob.get(entry + "/views").status()).isEqualTo(403);
            assertThat(bob.get(entry + "/diff").status()).isEqualTo(403);

            alice.send("PUT", entry + "/views", "{\"views\":{\"partners\":{\"groups\":[\"T2\"]}}}");
            assertThat(stranger.get(entry + "/card").status()).isEqualTo(401);
            assertThat(bob.get(entry + "/card").status()).isEqualTo(403);
            assertThat(carol.get(entry + "/card").each("skills", "id")).hasSize(3);
            assertThat(stranger.get(entry).text()).doesNotContain("audit");
            assertThat(alice.send("PUT", entry + "/views", "{\"views\":{\"x\":{\"hide\":[\"name\"]}}}")
                            .status())
                    .isEqualTo(400);
        }
    }

    @Test
    @DisplayName("changes are sent to a webhook as artifacts of a task")
    void webhooks() throws Exception {
        try (var receiver = ExtensionKit.receiver();
                Hub hub = Hub.builder()
                        .inMemory()
                        .port(0)
                        .webhookAllow(List.of("localhost"))
                        .start()) {
            var web = ExtensionKit.caller(hub.url()).with("A2A-Version", "1.0");
            Answer task = web.post("/registry/message:send", """
                    {'message':{'messageId':'w-1','role':'ROLE_USER','parts':[{'data':{'watch':'changes','skill':'add','after':0}}]},
                     'configuration':{'returnImmediately':true,
                       'taskPushNotificationConfig':{'url':'%s'}}}""".formatted(receiver.url()));
            assertThat(task.status()).as(task.text()).isEqualTo(200);

            String id = web.post("/registry/agents", Cards.registration(Cards.v1("A", "add"), "public"))
                    .text("id");
            web.post("/registry/agents", Cards.registration(Cards.v1("B", "sub"), "public"));
            web.delete("/registry/agents/" + id);

            for (String kind : List.of("registered", "deleted")) {
                assertThat(receiver.until("\"kind\":\"" + kind)).doesNotContain("\"sub\"");
            }
        }
    }

    @Test
    @DisplayName("a webhook of changes receives those that happen after a restart of the hub, and none twice")
    void webhooksOutlastARestart() throws Exception {
        try (var receiver = ExtensionKit.receiver()) {
            try (Hub hub = Hub.builder()
                    .data(directory.resolve("data"))
                    .port(0)
                    .drain(Duration.ofMillis(100))
                    .webhookAllow(List.of("localhost"))
                    .start()) {
                var web = ExtensionKit.caller(hub.url()).with("A2A-Version", "1.0");
                Answer task = web.post("/registry/message:send", """
                        {'message':{'messageId':'w-1','role':'ROLE_USER','parts':[{'data':{'watch':'changes','skill':'add'}}]},
                         'configuration':{'returnImmediately':true,
                           'taskPushNotificationConfig':{'url':'%s'}}}""".formatted(receiver.url()));
                assertThat(task.status()).as(task.text()).isEqualTo(200);
                receiver.until("TASK_STATE_WORKING");
                web.post("/registry/agents", Cards.registration(Cards.v1("Early", "add"), "public"));
                receiver.until("default:early");
            }
            try (Hub hub = Hub.builder()
                    .data(directory.resolve("data"))
                    .port(0)
                    .webhookAllow(List.of("localhost"))
                    .start()) {
                ExtensionKit.caller(hub.url())
                        .post("/registry/agents", Cards.registration(Cards.v1("Late", "add"), "public"));

                assertThat(receiver.until("default:late")).doesNotContain("default:early");
            }
        }
    }

    private static Caller user(Caller admin, String group, String principal) throws Exception {
        String key = admin.post("/admin/keys", "{'group':'%s','principal':'%s'}".formatted(group, principal))
                .text("key");
        return ExtensionKit.caller(admin.base(), "X-Api-Key", key);
    }

    @Test
    @DisplayName("an export is imported elsewhere with its documents")
    void exported() throws Exception {
        try (Hub from = Hub.builder()
                        .inMemory()
                        .port(0)
                        .set("registry-publisher", "a.example")
                        .start();
                Hub to = Hub.builder()
                        .inMemory()
                        .port(0)
                        .set("registry-publisher", "a.example")
                        .start()) {
            var source = ExtensionKit.caller(from.url());
            var target = ExtensionKit.caller(to.url());
            String id = source.post("/registry/agents", Cards.registration(Cards.v1("A", "add"), "public"))
                    .text("id");

            Answer export = source.get("/registry/export?skill=add");
            Answer results = target.post("/registry/import", export.text());

            assertThat(results.each("results", "id")).containsExactly(id);
            assertThat(target.get("/registry/agents/" + id + "/card").body())
                    .isEqualTo(source.get("/registry/agents/" + id + "/card").body());
        }
    }

    @Test
    @DisplayName("changes are listed and streamed, and a stream goes on after its last event")
    void changes() throws Exception {
        try (Hub hub = Hub.builder().inMemory().port(0).start()) {
            var web = ExtensionKit.caller(hub.url());
            String id = web.post("/registry/agents", Cards.registration(Cards.v1("A", "add"), "public"))
                    .text("id");
            web.delete("/registry/agents/" + id);

            Answer page = web.get("/registry/changes?skill=add");
            assertThat(page.each("changes", "kind")).containsExactly("registered", "deleted");

            String first = page.text("changes", 0, "number");
            HttpRequest request = HttpRequest.newBuilder(URI.create(hub.url() + "/registry/changes?skill=add"))
                    .header("Accept", "text/event-stream")
                    .header("Last-Event-ID", first)
                    .build();
            HttpResponse<Stream<String>> events = web.http().send(request, BodyHandlers.ofLines());
            web.post("/registry/agents/" + id + ":restore", "{}");
            try (Stream<String> lines = events.body()) {
                List<String> kinds = lines.filter(line -> line.startsWith("data:"))
                        .map(line -> line.contains("\"kind\":\"deleted\"") ? "deleted" : "changed")
                        .limit(2)
                        .toList();
                assertThat(kinds).containsExactly("deleted", "changed");
            }
        }
    }
}
