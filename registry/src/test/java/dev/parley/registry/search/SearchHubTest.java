package dev.parley.registry.search;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Hub;
import dev.parley.registry.Cards;
import dev.parley.testkit.ExtensionKit;
import dev.parley.testkit.ExtensionKit.Answer;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Search over HTTP. */
@Timeout(120)
final class SearchHubTest {
    @Test
    @DisplayName("ONE34 GEM13 agents are ranked by words and filtered, with scores, reasons and facets")
    void search() throws Exception {
        try (Hub hub =
                Hub.builder().inMemory().port(0).set("registry-probes", "0s").start()) {
            var web = ExtensionKit.caller(hub.url());
            for (String[] agent :
                    new String[][] {{"Translator", "translate"}, {"Adder", "add"}, {"Interpreter", "translate", "speak"}
                    }) {
                Answer registered = web.post(
                        "/registry/agents",
                        Cards.registration(
                                Cards.v1(agent[0], java.util.Arrays.copyOfRange(agent, 1, agent.length)), "public"));
                assertThat(registered.status()).as(registered.text()).isEqualTo(200);
            }

            Answer found = web.get("/registry/search?q=someone+who+speaks+and+translates");
            assertThat(found.status()).as(found.text()).isEqualTo(200);
            assertThat(found.text("results", 0, "agent", "name")).isEqualTo("Interpreter");
            assertThat(found.text("results", 0, "why", "fields", "skills", 0)).isEqualTo("speaks");
            assertThat(web.get("/registry/agents?q=translating&tag=speak").each("agents", "name"))
                    .containsExactly("Interpreter");
            assertThat(web.get("/registry/agents?q=").each("agents", "name")).contains("Adder");
            assertThat(web.get("/registry/search?q=interp&typing=true").text("results", 0, "agent", "name"))
                    .isEqualTo("Interpreter");
            Answer facets = web.get("/registry/facets?q=translate&facet=tag&facet=binding");
            assertThat(facets.text("facets", "tag", "buckets", 0, "value")).isEqualTo("translate");
            assertThat(facets.text("facets", "tag", "buckets", 0, "count")).isEqualTo("2");
            assertThat(web.get("/registry/search?q=x&pageToken=none").status()).isEqualTo(400);
        }
    }

    @Test
    @DisplayName("of equal agents the one with reviews below three stars ranks last, until its reviews are better")
    void reviews() throws Exception {
        try (Hub hub =
                Hub.builder().inMemory().port(0).set("registry-probes", "0s").start()) {
            var web = ExtensionKit.caller(hub.url());
            String first = web.post("/registry/agents", Cards.registration(Cards.v1("Smith A", "forge"), "public"))
                    .text("id");
            web.post("/registry/agents", Cards.registration(Cards.v1("Smith B", "forge"), "public"));
            assertThat(web.get("/registry/agents?q=forge").each("agents", "name"))
                    .containsExactly("Smith A", "Smith B");

            web.post("/registry/agents/" + first + ":review", "{'stars':2,'text':'slow'}");
            Answer found = web.get("/registry/search?q=forge");
            assertThat(found.text("results", 0, "agent", "name")).isEqualTo("Smith B");
            assertThat(found.text("results", 1, "why", "factors", "reviews below 3 stars"))
                    .isEqualTo("0.95");

            web.post("/registry/agents/" + first + ":review", "{'stars':4,'text':'better'}");
            assertThat(web.get("/registry/agents?q=forge").each("agents", "name"))
                    .containsExactly("Smith A", "Smith B");
        }
    }

    @Test
    @DisplayName("ONE38, M12: of equal agents the one with the lower price ranks first, and the factor is shown")
    void cheaperOnesRankFirst() throws Exception {
        try (Hub hub =
                Hub.builder().inMemory().port(0).set("registry-probes", "0s").start()) {
            var web = ExtensionKit.caller(hub.url());
            for (String price : List.of("9", "0.1", "0")) {
                String card = Cards.v1("Smith " + price.replace(".", "-"), "forge");
                Answer registered = web.post(
                        "/registry/agents",
                        "{'visibility':'public','metadata':{'cost':" + price + "},'card':" + card + "}");
                assertThat(registered.status()).as(registered.text()).isEqualTo(200);
            }

            Answer found = web.get("/registry/search?q=forge");

            assertThat(found.text("results", 0, "agent", "name")).isEqualTo("Smith 0");
            assertThat(found.text("results", 1, "agent", "name")).isEqualTo("Smith 0-1");
            assertThat(found.text("results", 2, "agent", "name")).isEqualTo("Smith 9");
            assertThat(found.text("results", 2, "why", "factors", "cost")).isEqualTo("0.91");
        }
    }
}
