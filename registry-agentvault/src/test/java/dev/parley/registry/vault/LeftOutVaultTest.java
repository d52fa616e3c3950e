package dev.parley.registry.vault;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.registry.hub.RegistrySource;
import dev.parley.registry.vault.Api.Answer;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.store.spi.DatabaseKind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Cards of AgentVault after hubs without this module have changed the entries of the same database. */
@Timeout(120)
@Tag("heavy")
final class LeftOutVaultTest {
    private static final String CARDS = "/api/v1/agent-cards/?active_only=false";
    private static final String ENTRIES = "/registry/agents";

    @TempDir
    private Path directory;

    private String url = "";

    private void open(DatabaseKind kind) throws IOException {
        url = kind == DatabaseKind.POSTGRESQL ? PostgresqlServer.url() : "";
    }

    private HubBuilder hub() {
        HubBuilder hub = Hub.builder().data(directory).port(0);
        return url.isEmpty() ? hub : hub.database(url);
    }

    private HubBuilder hubWithout() {
        return hub().extension(new RegistrySource(List.of()));
    }

    private static String register(Api api, String name) throws Exception {
        String card = Api.cardData("other/" + name, name, "");
        return api.send("POST", ENTRIES, "{'visibility':'public','card':" + card + "}")
                .is(200)
                .text("id");
    }

    private static List<Object> names(Api api) throws Exception {
        return api.get(CARDS).is(200).at("items") instanceof List<?> items
                ? items.stream()
                        .map(item -> item instanceof Map<?, ?> card ? (Object) card.get("name") : "")
                        .toList()
                : List.of();
    }

    @ParameterizedTest
    @EnumSource
    void cardsAreAsTheEntriesThatAHubWithoutTheirFaceHasChanged(DatabaseKind kind) throws Exception {
        open(kind);
        String hidden;
        String renamed;
        String deleted;
        try (Hub hub = hub().start()) {
            var api = new Api(hub.url());
            hidden = register(api, "hidden");
            renamed = register(api, "renamed");
            deleted = register(api, "deleted");
            assertThat(names(api)).contains("hidden", "renamed", "deleted");
        }
        try (Hub hub = hubWithout().start()) {
            var api = new Api(hub.url());
            assertThat(api.get(CARDS).status()).isEqualTo(404);
            api.send("PATCH", ENTRIES + "/" + hidden, "{'visibility':'private'}")
                    .is(200);
            String card = Api.cardData("other/renamed", "renamed", "").replace("Does renamed", "Does more");
            api.send("PUT", ENTRIES + "/" + renamed, "{'card':" + card + "}").is(200);
            api.send("DELETE", ENTRIES + "/" + deleted, null).is(200);
            register(api, "added");
        }
        try (Hub hub = hub().start()) {
            var api = new Api(hub.url());

            assertThat(names(api)).contains("renamed", "added").doesNotContain("hidden", "deleted");
            assertThat(api.get("/api/v1/agent-cards/by-hri?hri=other/hidden").status())
                    .isEqualTo(404);
            assertThat(api.get("/api/v1/agent-cards/by-hri?hri=other/deleted").status())
                    .isEqualTo(404);
            Answer more =
                    api.get("/api/v1/agent-cards/by-hri?hri=other/renamed").is(200);
            assertThat(more.text("description")).isEqualTo("Does more");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aHubThatGetsTheFaceLaterListsTheEntriesThatItHas(DatabaseKind kind) throws Exception {
        open(kind);
        try (Hub hub = hubWithout().start()) {
            register(new Api(hub.url()), "earlier");
        }
        try (Hub hub = hub().start()) {
            assertThat(names(new Api(hub.url()))).contains("earlier");
        }
    }
}
