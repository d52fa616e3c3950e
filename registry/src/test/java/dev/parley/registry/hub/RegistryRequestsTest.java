package dev.parley.registry.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Hub;
import dev.parley.registry.Cards;
import dev.parley.testkit.ExtensionKit;
import dev.parley.testkit.ExtensionKit.Answer;
import dev.parley.trust.Authentication;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Requests that a registry refuses, over HTTP. */
@Timeout(120)
final class RegistryRequestsTest {
    @Test
    @DisplayName("M9: unknown filters and members are refused with their name and what is known")
    void unknownParametersAreRefused() throws Exception {
        try (Hub hub = Hub.builder().inMemory().port(0).start()) {
            var web = ExtensionKit.caller(hub.url());
            String id = web.post("/registry/agents", Cards.registration(Cards.v1("A", "add"), "public"))
                    .text("id");
            String path = "/registry/agents/" + id;

            List<Answer> refused = List.of(
                    web.get("/registry/agents?bogus=1"),
                    web.get("/registry/agents?tag=add&bogus="),
                    web.get("/registry/search?q=add&bogus=1"),
                    web.get("/registry/facets?bogus=1"),
                    web.get("/registry/changes?bogus=1"),
                    web.with("Accept", "text/event-stream").get("/registry/changes?bogus=1"),
                    web.get("/registry/export?bogus=1"),
                    web.get(path + "?bogus=1"),
                    web.get(path + "/card?bogus=1"),
                    web.get(path + "/versions?bogus=1"),
                    web.delete(path + "?bogus=1"),
                    web.send("PATCH", path, "{\"bogus\":1}"),
                    web.send("PUT", path, "{\"bogus\":1,\"card\":" + Cards.v1("A", "add") + "}"),
                    web.post("/registry/agents", "{'bogus':1,'card':" + Cards.v1("B", "add") + "}"),
                    web.post("/registry/agents?bogus=1", "{'card':" + Cards.v1("B", "add") + "}"),
                    web.post(path + ":review", "{'stars':1,'bogus':1}"),
                    web.post(
                            "/registry",
                            "{'jsonrpc':'2.0','id':1,'method':'registry/list','params':{'tag':['add'],'bogus':1}}"));

            for (Answer answer : refused) {
                assertThat(answer.text())
                        .as(answer.response().uri().toString())
                        .contains("bogus", "unknown (expected: ");
                assertThat(answer.status()).isIn(200, 400);
            }
            assertThat(web.get("/registry/agents?A2A-Version=1.0").each("agents", "id"))
                    .as("nothing was changed")
                    .contains(id);
            assertThat(web.get(path).text("status")).isEqualTo("active");
        }
    }

    @Test
    @DisplayName("M9: values of other types are told in words")
    void wrongTypesAreToldInWords() throws Exception {
        try (Hub hub = Hub.builder().inMemory().port(0).start()) {
            var web = ExtensionKit.caller(hub.url());
            for (String request : List.of(
                    "{'url':5}",
                    "{'card':'x'}",
                    "{'card':[1]}",
                    "{'card':{},'lease':'soon'}",
                    "{'card':{},'lease':{}}",
                    "{'card':{},'metadata':[1]}",
                    "{'card':{},'refuse':'breaking'}",
                    "{'card':{},'refuse':[null]}",
                    "{'card':{},'visibility':{'a':1}}",
                    "{'card':null}",
                    "{}",
                    "{'card':{},'bytes':'" + "x".repeat(100_000) + "','lease':'" + "y".repeat(100_000) + "'}")) {
                Answer answer = web.post("/registry/agents", request);

                assertThat(answer.status()).as(request).isEqualTo(400);
                assertThat(answer.text())
                        .as(request)
                        .contains("expected:")
                        .doesNotContain("java.", "Object@", "Map", "{}")
                        .hasSizeLessThan(5_000);
            }
        }
    }

    @Test
    @DisplayName("M7: each 401 of the registry says which credentials it wants")
    void each401HasAChallenge() throws Exception {
        try (Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .start()) {
            var admin = ExtensionKit.caller(
                    hub.url(), "X-Api-Key", hub.bootstrapKey().orElseThrow());
            var stranger = ExtensionKit.caller(hub.url());
            String id = admin.post("/registry/agents", Cards.registration(Cards.v1("A", "add"), "public"))
                    .text("id");
            Answer set = admin.send(
                    "PUT", "/registry/agents/" + id + "/views", "{\"views\":{\"office\":{\"groups\":[\"office\"]}}}");
            assertThat(set.status()).as(set.text()).isEqualTo(200);

            List<Answer> refused = Stream.of(
                            stranger.get("/registry/agents/" + id + "/card"),
                            stranger.post("/registry/agents", Cards.registration(Cards.v1("B", "add"), "public")),
                            stranger.delete("/registry/agents/" + id),
                            stranger.get("/registry/agents/" + id + "/views"),
                            stranger.get("/admin/registry/peers"),
                            ExtensionKit.caller(hub.url(), "Authorization", "Bearer wrong")
                                    .get("/registry/agents"))
                    .filter(answer -> answer.status() == 401)
                    .toList();

            assertThat(refused).hasSize(6);
            assertThat(refused.getFirst().response().uri().toString()).endsWith("/card");
            for (Answer answer : refused) {
                assertThat(answer.header("WWW-Authenticate"))
                        .as(answer.response().uri().toString())
                        .isNotBlank();
            }
        }
    }
}
