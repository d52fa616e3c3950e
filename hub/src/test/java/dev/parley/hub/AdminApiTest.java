package dev.parley.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Shown;
import dev.parley.hub.admin.ReadSettings;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingType;
import dev.parley.testkit.Eventually;
import dev.parley.trust.Authentication;
import dev.parley.trust.PolicyFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The administration of a hub as rows: what each operation gets from its row. */
@Timeout(90)
final class AdminApiTest {
    @TempDir
    private Path data;

    private HubBuilder hub() {
        return Hub.builder()
                .data(data.resolve("data"))
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .agents(Agent.named("echo", "Says it again")
                        .handle((request, reply) -> reply.complete(request.text())));
    }

    private PolicyFile policy(String text) throws Exception {
        Path file = Files.writeString(data.resolve("policy.json"), text.replace('\'', '"'));
        return PolicyFile.read(file);
    }

    @Test
    void aPolicyDeniesAnOperationOfTheAdministrationByItsName() throws Exception {
        String rules = "{'rules':[{'effect':'deny','operations':['admin/keys/create']},"
                + "{'effect':'scopes','scopes':['audit'],'operations':['admin/audit/*']}]}";
        try (Hub hub = hub().policy(policy(rules)).start()) {
            var outsider = new Outsider(hub.url());
            String[] admin = {"X-Api-Key", hub.bootstrapKey().orElseThrow()};

            var denied = outsider.post("/admin/keys", "{'group':'T1','principal':'eve'}", admin);
            var withoutScope = outsider.get("/admin/audit", admin);
            var allowed = outsider.get("/admin/keys", admin);

            assertThat(denied.statusCode()).isEqualTo(403);
            assertThat(withoutScope.statusCode()).isEqualTo(403);
            assertThat(withoutScope.headers().firstValue("WWW-Authenticate").orElse(""))
                    .contains("scope=\"admin audit\"");
            assertThat(allowed.statusCode()).isEqualTo(200);
            assertThat(allowed.body()).doesNotContain("eve");
        }
    }

    @Test
    void settingsAreListedWithTheirSourcesAndWithoutSecrets() throws Exception {
        String key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
        try (Hub hub = hub().set("encryption-key", key).set("retention", "30d").start()) {
            var outsider = new Outsider(hub.url());
            String[] admin = {"X-Api-Key", hub.bootstrapKey().orElseThrow()};
            String made = Shown.of(outsider.post("/admin/keys", "{'group':'T1','principal':'ann'}", admin)
                            .body())
                    .at("key")
                    .text();

            String shown = outsider.get("/admin/settings", admin).body();

            assertThat(setting(shown, "retention")).isEqualTo("code, not secret, set, 30d");
            assertThat(setting(shown, "bind")).isEqualTo("default, not secret, set, 127.0.0.1");
            assertThat(setting(shown, "public-url")).isEqualTo("default, not secret, not set, null");
            assertThat(setting(shown, "encryption-key")).isEqualTo("code, secret, set, null");
            assertThat(setting(shown, "auth")).isEqualTo("code, not secret, set, (an object of the program)");
            assertThat(shown)
                    .contains("a duration such as 500ms")
                    .contains("Port to listen on")
                    .doesNotContain(key)
                    .doesNotContain("\"default-agent\"");
            assertThat(outsider.get("/admin/settings", "X-Api-Key", made).statusCode())
                    .isEqualTo(403);
            assertThat(outsider.get("/admin/settings").statusCode()).isEqualTo(401);
            assertThat(outsider.get("/admin/settings?name=port", admin).statusCode())
                    .isEqualTo(400);
        }
    }

    @Test
    void settingsHideCredentialsInAddresses() {
        assertThat(shown("http://ann:pass,w@rd@127.0.0.1:4318/a@b")).isEqualTo("http://…@127.0.0.1:4318/a@b");
        assertThat(shown("a=http://u:p@x/,b=https://x/?q=1&key=k-1,2#d"))
                .isEqualTo("a=http://…@x/,b=https://x/?q=…&key=…#d");
        assertThat(shown("http://a.example,http://b.example/c")).isEqualTo("http://a.example,http://b.example/c");
    }

    private static Object shown(String text) {
        var reader = new ReadSettings(SettingReader.of(Map.of("at", text), SettingReader.DEFAULTS));
        reader.find(SettingType.TEXT, "at", "URL", "An address.");
        return requireNonNull(reader.shown(Set.of()).getFirst().value());
    }

    private static String setting(String answer, String name) {
        Map<?, ?> rows = Json.read(answer.getBytes(UTF_8), Map.class);
        return ((List<?>) requireNonNull(rows.get("settings")))
                .stream()
                        .map(Map.class::cast)
                        .filter(row -> name.equals(row.get("name")))
                        .map(row -> row.get("source")
                                + (Boolean.TRUE.equals(row.get("isSecret")) ? ", secret" : ", not secret")
                                + (Boolean.TRUE.equals(row.get("isSet")) ? ", set, " : ", not set, ")
                                + row.get("value"))
                        .findFirst()
                        .orElseThrow();
    }

    @Test
    void keysTellTheirLastUse() throws Exception {
        try (Hub hub = hub().start()) {
            var outsider = new Outsider(hub.url());
            String[] admin = {"X-Api-Key", hub.bootstrapKey().orElseThrow()};
            outsider.post("/admin/keys", "{'group':'T1','principal':'ann'}", admin);

            assertThat(outsider.get("/admin/keys?group=default", admin).body()).contains("\"lastUse\":\"");
            assertThat(outsider.get("/admin/keys?group=T1", admin).body())
                    .contains("\"ann\"")
                    .doesNotContain("lastUse");
        }
    }

    @Test
    void rulesForAgentsDoNotLockOperatorsOut() throws Exception {
        String rules = "{'rules':[{'effect':'deny','operations':['*']},{'effect':'scopes','scopes':['more']}],"
                + "'otherwise':'deny'}";
        try (Hub hub = hub().policy(policy(rules)).start()) {
            var outsider = new Outsider(hub.url());

            var answer =
                    outsider.get("/admin/keys", "X-Api-Key", hub.bootstrapKey().orElseThrow());

            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        }
    }

    @Test
    void aPolicyThatNamesAnUnknownOperationOfTheAdministrationIsRefused() throws Exception {
        PolicyFile mistyped = policy("{'rules':[{'effect':'deny','operations':['admin/key/create']}]}");

        assertThatThrownBy(() -> hub().policy(mistyped).start())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("admin/key/create")
                .hasMessageContaining("nearest: admin/keys/create");
    }

    @Test
    void eachOperationIsCountedByItsNameAndChangesLeaveARow() throws Exception {
        try (Hub hub = hub().auditCalls(true).start()) {
            var outsider = new Outsider(hub.url());
            String[] admin = {"X-Api-Key", hub.bootstrapKey().orElseThrow()};

            String scrapers = "{'group':'T1','principal':'scraper','scopes':['metrics']}";
            Shown scraper =
                    Shown.of(outsider.post("/admin/keys", scrapers, admin).body());
            outsider.post("/admin/webhooks/secret", "{'group':'T1'}", admin);
            outsider.post("/admin/keys/none/revoke", "{}", admin);
            outsider.get("/admin/keys", admin);

            assertThat(outsider.get("/metrics", "X-Api-Key", scraper.at("key").text())
                            .body())
                    .contains(
                            "parley_requests_total{agent=\"/admin\",dialect=\"admin\",operation=\"admin/keys/list\"} 1.0")
                    .containsPattern("parley_errors_total\\{agent=\"/admin\",.*operation=\"admin/keys/revoke\"");
            // Rows are written soon after the call. Reads leave none: else a reader of the audit would never see its
            // end.
            Eventually.asserted(
                    "the row of each change",
                    () -> assertThat(recorded(outsider, admin))
                            .containsExactly("admin/keys/create", "admin/webhooks/secret", "admin/keys/revoke"));
        }
    }

    /** Operations of the rows of calls. */
    private static List<String> recorded(Outsider outsider, String[] admin) throws Exception {
        String answer = outsider.get("/admin/audit?action=call.answered", admin).body();
        Shown rows = Shown.of(answer).at("rows");
        return IntStream.range(0, rows.size())
                .mapToObj(row -> rows.at(row, "detail", "operation").text())
                .toList();
    }

    @Test
    void aPathWithAnythingInFrontIsNone() throws Exception {
        try (Hub hub = hub().start()) {
            var outsider = new Outsider(hub.url());
            String[] admin = {"X-Api-Key", hub.bootstrapKey().orElseThrow()};

            assertThat(outsider.get("/admin/admin/keys", admin).statusCode()).isEqualTo(404);
            assertThat(outsider.get("/admin/keys/", admin).statusCode()).isEqualTo(404);
            assertThat(outsider.get("/admin", admin).statusCode()).isEqualTo(404);
            assertThat(outsider.get("/admin/keys").statusCode()).isEqualTo(401);
        }
    }
}
