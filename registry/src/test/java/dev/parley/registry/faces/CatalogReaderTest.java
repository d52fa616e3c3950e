package dev.parley.registry.faces;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.dialect.Json;
import dev.parley.hub.Hub;
import dev.parley.protocol.A2AException;
import dev.parley.testkit.ExtensionKit;
import dev.parley.testkit.ExtensionKit.Answer;
import java.io.InputStream;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Catalogs of each revision are imported; the files are documents as their publishers write them. */
@Timeout(120)
final class CatalogReaderTest {
    private static String file(String name) throws Exception {
        try (InputStream in = Objects.requireNonNull(CatalogReaderTest.class.getResourceAsStream(name + ".json"))) {
            return new String(in.readAllBytes(), UTF_8);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ard-0.91 | Translator | application/a2a-agent-card+json | urn:air:acme.example:agents:translator | region=eu,"
                        + " https://acme.example/ns#tier=gold",
                "ard-0.9 | com.example/weather | application/mcp-server+json | urn:air:acme.example:tools:weather | ",
                "ai-catalog-c1 | Both tools | application/mcp-server-card+json | urn:air:acme.example:both:mcp | ",
                "ai-catalog-c2 | Stock | application/mcp-server-card+json | urn:air:acme.example:tools:stock | "
            })
    @DisplayName(
            "a catalog is imported: types, older names, nested catalogs, members with prefixes, and trust of both forms")
    void revisions(String catalog, String name, String type, String identifier, String metadata) throws Exception {
        try (Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .set("registry-domains", "default=acme.example")
                .start()) {
            var web = ExtensionKit.caller(hub.url());
            Answer imported = web.post("/registry/import", file(catalog));

            assertThat(imported.text("entries", 0, "id")).as(imported.text()).isEqualTo(identifier);
            Answer entry = web.get("/registry/ard/agents/" + identifier);
            assertThat(entry.text("displayName")).isEqualTo(name);
            assertThat(entry.text("type")).isEqualTo(type);
            for (String pair : Objects.requireNonNullElse(metadata, "").split(", ", -1)) {
                if (!pair.isEmpty()) {
                    String[] parts = pair.split("=", -1);
                    assertThat(entry.text("metadata", parts[0])).isEqualTo(parts[1]);
                }
            }
            if (!catalog.equals("ai-catalog-c2")) {
                assertThat(entry.text("trustManifest", "identity")).contains("acme.example");
            }
        }
    }

    @Test
    @DisplayName("entries of a catalog fail one by one, and only domains of the caller's group are kept")
    void outcomes() throws Exception {
        try (Hub hub = Hub.builder().inMemory().port(0).start()) {
            var web = ExtensionKit.caller(hub.url());
            Answer imported = web.post(
                    "/registry/import",
                    "{'visibility':'public','entries':["
                            + "{'identifier':'urn:air:victim.example:x','type':'application/mcp-server-card+json','data':{'name':'Taker'}},"
                            + "{'identifier':'urn:air:a.example:y','type':'application/a2a-agent-card+json','url':'http://10.1.2.3/'}]}");

            assertThat(imported.text("entries", 0, "id")).contains(".agent.localhost:default:");
            assertThat(imported.text("entries", 1, "refused")).isNotBlank();
            assertThat(web.get("/registry/ard/agents?displayName=taker")
                            .text("items", 0, "metadata", "sourceIdentifier"))
                    .isEqualTo("urn:air:victim.example:x");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"entries\":[1]}",
                "{\"entries\":[{\"identifier\":\"urn:air:a.b:c\",\"type\":\"x\"}]}",
                "{\"entries\":[{\"identifier\":\"urn:air:a.b:c\",\"type\":\"x\",\"url\":\"u\",\"data\":{}}]}"
            })
    @DisplayName("what is no catalog is refused as a whole")
    void malformed(String catalog) {
        assertThatThrownBy(() -> CatalogReader.read(Json.read(catalog.getBytes(UTF_8), Map.class)))
                .isInstanceOf(A2AException.class);
    }

    @Test
    @DisplayName("catalogs are nested four deep at most")
    void depth() {
        var catalog = new StringBuilder("{\"entries\":[]}");
        for (int i = 0; i < 4; i++) {
            catalog.insert(0, "{\"entries\":[{\"type\":\"application/ai-catalog+json\",\"data\":")
                    .append("}]}");
        }
        assertThatThrownBy(() -> CatalogReader.read(Json.read(catalog.toString().getBytes(UTF_8), Map.class)))
                .hasMessageContaining("nested deeper");
    }
}
