package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.webhooks.StandardWebhooks;
import dev.parley.engine.Agent;
import dev.parley.hub.Hook.Told;
import dev.parley.hub.Outsider.Shown;
import dev.parley.hub.secrets.SecretFile;
import dev.parley.hub.webhooks.WebhookSecrets;
import dev.parley.trust.Authentication;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Each group's webhooks are signed with a secret that says nothing about those of other groups. */
@Timeout(60)
class WebhookSecretsTest {
    @TempDir
    Path data;

    private static boolean verifies(String secret, Told told) {
        return StandardWebhooks.of(List.of(secret)).verify(told.headers()::get, told.raw(), Instant.now())
                instanceof StandardWebhooks.Verdict.Genuine;
    }

    private static String key(Outsider outsider, String admin, String group) throws Exception {
        HttpResponse<String> made =
                outsider.post("/admin/keys", "{'group':'" + group + "','principal':'someone'}", "X-Api-Key", admin);
        return Shown.of(made.body()).at("key").text();
    }

    private static String secret(Outsider outsider, String group, String... headers) throws Exception {
        HttpResponse<String> answer = outsider.post("/admin/webhooks/secret", "{'group':'" + group + "'}", headers);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return Shown.of(answer.body()).at("secret").text();
    }

    @Test
    void theSecretOfOneGroupNeverVerifiesDeliveriesToAnother() throws Exception {
        try (var hook = new Hook();
                Hub hub = Hub.builder()
                        .data(data)
                        .port(0)
                        .authentication(Authentication.named(List.of("required")))
                        .webhookAllow(List.of("127.0.0.1"))
                        .agents(Agent.named("echo", "Echoes").handle((request, reply) -> {
                            reply.working("begun");
                            reply.complete("done");
                        }))
                        .start()) {
            var outsider = new Outsider(hub.url());
            String admin = hub.bootstrapKey().orElseThrow();
            String message = "{'message':{'messageId':'m','role':'ROLE_USER','parts':[{'text':'go'}]},"
                    + "'configuration':{'taskPushNotificationConfig':{'url':'" + hook.url() + "'}}}";
            for (String group : List.of("T1", "T2")) {
                String other = group.equals("T1") ? "T2" : "T1";

                outsider.result(
                        "/agents/echo",
                        "SendMessage",
                        message,
                        "X-Api-Key",
                        key(outsider, admin, group),
                        "A2A-Version",
                        "1.0");
                Told told = hook.next();
                while (!told.body().toString().contains("TASK_STATE_COMPLETED")) {
                    told = hook.next();
                }

                assertThat(verifies(secret(outsider, group, "X-Api-Key", admin), told))
                        .isTrue();
                assertThat(verifies(secret(outsider, other, "X-Api-Key", admin), told))
                        .isFalse();
            }
            assertThat(outsider.post(
                                    "/admin/webhooks/secret", "{'group':'T1'}", "X-Api-Key", key(outsider, admin, "T1"))
                            .statusCode())
                    .isEqualTo(403);
            assertThat(secret(outsider, "T1", "X-Api-Key", admin))
                    .as("without the hub")
                    .isEqualTo(WebhookSecrets.in(data).of("T1"));
        }
    }

    @Test
    void aDirectoryOfAnEarlierVersionSignsWithItsSecretTooUntilThatIsDeleted() throws Exception {
        String earlier = StandardWebhooks.newSecret();
        Files.writeString(data.resolve(SecretFile.SHARED), earlier + "\n");
        byte[] body = {1, 2, 3};

        var before = WebhookSecrets.in(data);
        var signed = before.signer("T1").sign("msg_1", Instant.now(), body);
        Files.delete(data.resolve(SecretFile.SHARED));
        var after = WebhookSecrets.in(data);
        var signedAfter = after.signer("T1").sign("msg_1", Instant.now(), body);

        assertThat(StandardWebhooks.of(List.of(earlier)).verify(signed::get, body, Instant.now()))
                .isInstanceOf(StandardWebhooks.Verdict.Genuine.class);
        assertThat(StandardWebhooks.of(List.of(after.of("T1"))).verify(signed::get, body, Instant.now()))
                .isInstanceOf(StandardWebhooks.Verdict.Genuine.class);
        assertThat(StandardWebhooks.of(List.of(earlier)).verify(signedAfter::get, body, Instant.now()))
                .isInstanceOf(StandardWebhooks.Verdict.Rejected.class);
    }

    @Test
    void noSecretOfAReceiverIsAKeyForAnythingElse() {
        var secrets = WebhookSecrets.in(data);

        assertThat(List.of(
                        new String(secrets.keyFor("addresses of files"), java.nio.charset.StandardCharsets.ISO_8859_1),
                        new String(
                                secrets.keyFor("webhooks\naddresses of files"),
                                java.nio.charset.StandardCharsets.ISO_8859_1)))
                .doesNotHaveDuplicates();
        assertThat(secrets.of("a")).isNotEqualTo(secrets.of("b"));
        assertThat(WebhookSecrets.in(data).of("a")).isEqualTo(secrets.of("a"));
    }

    @Test
    void anEmptyMasterKeyIsRefused() throws Exception {
        Files.writeString(data.resolve(SecretFile.WEBHOOKS), "");

        assertThatThrownBy(() -> WebhookSecrets.in(data)).isInstanceOf(RuntimeException.class);
    }
}
