package dev.parley.registry.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.dialect.Json;
import dev.parley.dialect.served.CardPayload;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.registry.Cards;
import dev.parley.registry.RevocationList;
import dev.parley.registry.trust.Signer;
import dev.parley.testkit.Eventually;
import dev.parley.testkit.ExtensionKit;
import dev.parley.testkit.ExtensionKit.Answer;
import dev.parley.trust.cards.CardKeys;
import dev.parley.trust.cards.CardTrust;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Trust of a registry over HTTP. */
@Timeout(120)
@Tag("heavy")
final class TrustHubTest {
    @TempDir
    Path directory;

    private final Signer signer = new Signer();

    private static HubBuilder hub(Path data) {
        return Hub.builder().data(data).port(0);
    }

    @SuppressWarnings("unchecked")
    private String registration(String name) {
        byte[] card = Cards.v1(name, "translate").getBytes(UTF_8);
        byte[] signed = Json.write(
                signer.signed(Json.read(card, Map.class), CardPayload.of(card).whole(), "k1"));
        return "{'visibility':'public','bytes':'" + Base64.getEncoder().encodeToString(signed) + "'}";
    }

    private Path trusted() throws IOException {
        Path file = directory.resolve("trusted.json");
        Files.write(file, Json.write(Map.of("keys", List.of(signer.jwk("k1")))));
        return file;
    }

    @Test
    void aStartWithOtherKeysVerifiesAllDocumentsAgain() throws Exception {
        String id;
        try (Hub hub = hub(directory.resolve("hub")).start()) {
            var web = ExtensionKit.caller(hub.url());
            Answer registered = web.post("/registry/agents", registration("Translator"));
            assertThat(registered.text("trust", "outcome"))
                    .as(registered.text())
                    .isEqualTo("unverifiable");
            id = registered.text("id");
            assertThat(web.get("/registry/agents?trust=verified").each("agents", "id"))
                    .isEmpty();
            for (int i = 0; i < 205; i++) { // more than a page, and before the other by name
                web.post("/registry/agents", registration("Baker " + i));
            }
        }
        try (Hub hub = hub(directory.resolve("hub"))
                .set("registry-trust", trusted().toString())
                .start()) {
            var web = ExtensionKit.caller(hub.url());
            Answer now = Eventually.value(
                    "verified",
                    () -> web.get("/registry/agents/" + id),
                    answer -> "verified".equals(answer.text("trust", "outcome")));
            assertThat(now.text("trust", "reason")).contains("key k1 has signed it");
            assertThat(web.get("/registry/agents?trust=unverifiable").each("agents", "id"))
                    .isEmpty();
        }
    }

    @Test
    void aRevokedEntryIsOnTheSignedListAndCannotBePublishedAgain() throws Exception {
        Path key = directory.resolve("hub-key.json");
        CardKeys.create(key, CardKeys.Algorithm.ES256, null);
        CardKeys keys = CardKeys.read(List.of(key));
        CardTrust ofHub = CardTrust.of(new String(keys.published(), UTF_8));
        try (Hub hub = hub(directory.resolve("hub")).cardKeys(keys).start()) {
            var web = ExtensionKit.caller(hub.url());
            String id = web.post("/registry/agents", registration("Translator")).text("id");
            Answer empty = web.get("/registry/revocations");
            assertThat(empty.header("Content-Type")).startsWith(RevocationList.MEDIA_TYPE);
            RevocationList before = list(empty.text(), ofHub);
            assertThat(before.revoked()).isEmpty();

            assertThat(web.post("/registry/agents/" + id + ":revoke", "{}").status())
                    .isEqualTo(400);
            Answer revoked = web.post("/registry/agents/" + id + ":revoke", "{'reason':'key was stolen'}");

            assertThat(revoked.text("status")).as(revoked.text()).isEqualTo("revoked");
            assertThat(revoked.text("trust", "reason")).isEqualTo("key was stolen");
            assertThat(web.get("/registry/agents").each("agents", "id")).doesNotContain(id);
            RevocationList after = list(web.get("/registry/revocations").text(), ofHub);
            assertThat(after.sequence()).isGreaterThan(before.sequence());
            assertThat(after.of(id, ""))
                    .get()
                    .extracting(RevocationList.Revoked::reason)
                    .isEqualTo("key was stolen");
            assertThat(after.of("", revoked.text("digest"))).isPresent();
            Answer again = web.post("/registry/agents", registration("Translator"));
            assertThat(again.status()).as(again.text()).isEqualTo(409);
            assertThat(again.text()).contains("key was stolen");

            String jws = web.get("/registry/revocations").text();
            CardTrust another = CardTrust.of(new String(Json.write(signer.jwk("k1")), UTF_8));
            assertThatThrownBy(() -> list(jws, another)).hasMessageContaining("is not trusted");
            assertThatThrownBy(() -> RevocationList.read(
                            jws,
                            (payload, form) -> ofHub.verify(payload, form, null),
                            Instant.now().plus(Duration.ofDays(2))))
                    .hasMessageContaining("not now");
        }
    }

    private static RevocationList list(String jws, CardTrust keys) {
        return RevocationList.read(jws, (payload, form) -> keys.verify(payload, form, null), Instant.now());
    }

    @Test
    void aHubWithoutKeysHasNoList() throws Exception {
        try (Hub hub = hub(directory.resolve("hub")).start()) {
            assertThat(ExtensionKit.caller(hub.url())
                            .get("/registry/revocations")
                            .status())
                    .isEqualTo(404);
        }
    }
}
