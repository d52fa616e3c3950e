package dev.parley.registry.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.hub.Hub;
import dev.parley.registry.Cards;
import dev.parley.testkit.ExtensionKit;
import dev.parley.testkit.ExtensionKit.Answer;
import dev.parley.testkit.ExtensionKit.Caller;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Large entries and large requests, over HTTP. */
@Timeout(120)
@Tag("heavy")
final class PageBytesTest {
    private static final int ENTRIES = 10;
    private static final int MOST = 9 << 20;

    /** Ids of entries in the members of an answer. */
    private static List<String> ids(Object list, String inside) {
        return ((List<?>) list)
                .stream()
                        .map(each -> (Map<?, ?>) each)
                        .map(each -> inside.isEmpty() ? each : (Map<?, ?>) Objects.requireNonNull(each.get(inside)))
                        .map(each -> String.valueOf(each.get("id")))
                        .toList();
    }

    /** Reads all pages, none of which is large. */
    private static List<String> all(Caller web, String path, String list, String inside) throws Exception {
        var ids = new ArrayList<String>();
        String next = "";
        int pages = 0;
        do {
            Answer page = web.get(
                    path + "pageSize=500" + (next.isEmpty() ? "" : "&pageToken=" + URLEncoder.encode(next, UTF_8)));
            assertThat(page.status()).as(path).isEqualTo(200);
            assertThat(page.body().length).as(path).isLessThan(MOST);
            ids.addAll(ids(requireNonNull(page.at(list)), inside));
            next = page.at("nextPageToken") instanceof String token ? token : "";
            pages++;
        } while (!next.isEmpty() && pages < 100);
        assertThat(pages).as(path).isGreaterThan(1);
        return ids;
    }

    @Test
    @DisplayName(
            "T1: pages of lists, searches, exports and changes have a limit of bytes, and none of their entries is lost")
    void pagesHaveALimitOfBytes() throws Exception {
        try (Hub hub =
                Hub.builder().inMemory().port(0).set("registry-probes", "0s").start()) {
            var web = ExtensionKit.caller(hub.url());
            Set<String> large = new HashSet<>();
            for (int i = 0; i < ENTRIES; i++) {
                String card = Cards.v1("Large " + i, "act").replace("An agent", "large ".repeat(150_000));
                Answer answer = web.post("/registry/agents", Cards.registration(card, "public"));
                assertThat(answer.status()).as(answer.text()).isEqualTo(200);
                large.add(answer.text("id"));
            }

            assertThat(all(web, "/registry/agents?", "agents", ""))
                    .doesNotHaveDuplicates()
                    .containsAll(large);
            assertThat(all(web, "/registry/agents?order=-change&", "agents", ""))
                    .doesNotHaveDuplicates()
                    .containsAll(large);
            assertThat(all(web, "/registry/search?q=large&", "results", "agent"))
                    .doesNotHaveDuplicates()
                    .containsAll(large);
            assertThat(all(web, "/registry/export?", "entries", "entry"))
                    .doesNotHaveDuplicates()
                    .containsAll(large);
            var changed = new HashSet<String>();
            Object after = 0;
            for (int i = 0; i < 100 && !changed.containsAll(large); i++) {
                Answer page = web.get("/registry/changes?pageSize=500&after=" + after);
                changed.addAll(ids(requireNonNull(page.at("changes")), "entry"));
                after = page.at("next");
            }
            assertThat(changed).containsAll(large);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"",
                "a AND OR NOT NEAR(",
                "col:a OR name:*",
                "^a* - b + {c}",
                "a & | ! <-> b:*",
                "'; DROP TABLE registry_entry; --",
                "%00 \u0000 \ud83d\ude80",
                "\\",
                "((((((((((",
            })
    @DisplayName("S115: words in the syntax of FTS5 and tsquery are words")
    void syntaxIsWords(String words) throws Exception {
        try (Hub hub = Hub.builder().inMemory().port(0).start()) {
            var web = ExtensionKit.caller(hub.url());
            for (String path : List.of("/registry/search?q=", "/registry/agents?q=", "/registry/facets?q=")) {
                Answer answer = web.get(path + URLEncoder.encode(words, UTF_8));

                assertThat(answer.status()).as(path + words + answer.text()).isIn(200, 400);
            }
            assertThat(web.get("/registry/agents").status()).isEqualTo(200);
        }
    }

    @Test
    @DisplayName("S115: 300 words, 10,000 values of a filter and texts of a megabyte are answered, or refused in words")
    void largeRequests() throws Exception {
        try (Hub hub = Hub.builder().inMemory().port(0).start()) {
            var web = ExtensionKit.caller(hub.url());
            String megabyte = "x ".repeat(500_000);
            List<Map<String, Object>> requests = List.of(
                    call("registry/search", Map.of("q", "word ".repeat(300))),
                    call("registry/search", Map.of("q", megabyte)),
                    call("registry/list", Map.of("tag", Collections.nCopies(10_000, "a"))),
                    call("registry/list", Map.of("owner", Collections.nCopies(40_000, "a"))),
                    call("registry/list", Map.of("tag", List.of(megabyte))),
                    call("registry/list", Map.of("pageToken", megabyte)),
                    call("registry/facets", Map.of("facet", Collections.nCopies(10_000, "tag"))),
                    call("registry/show", Map.of("id", megabyte)));
            for (Map<String, Object> request : requests) {
                Answer answer = web.send("POST", "/registry", new String(Json.write(request), UTF_8));

                assertThat(answer.text())
                        .as(String.valueOf(request.get("method")))
                        .doesNotContain("-32603", "SQL", "java.");
                assertThat(answer.body().length).isLessThan(1 << 21);
            }
            Answer ard = web.send(
                    "POST",
                    "/registry/ard/search",
                    new String(
                            Json.write(Map.of(
                                    "query",
                                    Map.of("text", "x", "filter", Map.of("tags", Collections.nCopies(40_000, "a"))))),
                            UTF_8));
            assertThat(ard.status()).as(ard.text()).isIn(200, 400);
        }
    }

    private static Map<String, Object> call(String method, Map<String, Object> params) {
        return Map.of("jsonrpc", "2.0", "id", 1, "method", method, "params", params);
    }
}
