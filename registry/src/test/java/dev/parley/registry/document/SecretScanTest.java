package dev.parley.registry.document;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("heavy")
final class SecretScanTest {
    private static final String RANDOM = "a8Kd93jfLq02MzPw7Xv1Bn5Ty6Uh4Rg";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sk-proj-R",
                "sk-ant-api03-R",
                "parley_01HF3ZaB_RR",
                "whsec_R",
                "xapp-1-A111-R",
                "https://hooks.slack.com/services/T0123ABCD/B0123ABCD/R",
                "github_pat_11AAAA_RR",
                "GOCSPX-R",
                "ya29.R",
                "AccountKey=RR==",
                "abc8Q~R_12345",
                "hvs.R",
                "aws_secret_access_key = R",
                "X-Api-Key: R",
                "Authorization: Bearer abcdefghijklmnop",
                "authorization=token opaque-value-of-a-session",
                "wJalrXUtnFEMI/K7MDENG/bPxRfiCY7Qz9KMpT2v",
                "-----BEGIN OPENSSH PRIVATE KEY-----",
                "-----BEGIN PGP PRIVATE KEY BLOCK-----",
                "eyJhbGciOiJSU0EtT0FFUCJ9.OKOawDo13gRp2ojaHV7LFpZcgV7T6DVZKTyKOM.48V1_ALb6US04U3b.5eym8TW_c8SuK0lt.XFBoMYUZodetZd",
                "ghp_RR",
                "glpat-R",
                "xoxb-12345678901-R",
                "AKIAIOSFODNN7ABCDEFG",
                "AIzaRRRR",
                "avreg_RR",
                "Authorization: Bearer R",
                "https://user:R@host.test/",
                "https://host.test/a2a?api_key=R",
                "wss://host.test/?x=1&access_token=R",
                "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
                "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE",
            })
    @DisplayName("GEM18 keys, tokens, private keys and passwords in URLs are found, wherever they stand")
    void forms(String form) {
        String secret = form.startsWith("AIza")
                ? "AIza" + (RANDOM + RANDOM).substring(0, 35)
                : form.startsWith("eyJ") || form.startsWith("AKIA") || form.startsWith("wJal") || form.startsWith("-")
                        ? form
                        : form.replace("R", RANDOM);
        for (Object place : List.of(secret, "Call it with " + secret + " please")) {
            assertThat(SecretScan.find(Map.of("skills", List.of(Map.of("examples", List.of("x", place)))), "", ""))
                    .as(secret)
                    .startsWith("skills[0].examples[1]: looks like ")
                    .doesNotContain(RANDOM);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"apiKey", "client_secret", "password", "X-Api-Key", "accessToken"})
    @DisplayName("GEM18 a random value of a member that is named after a secret is found")
    void names(String name) {
        assertThat(SecretScan.find(Map.of("metadata", Map.of(name, RANDOM)), "", ""))
                .startsWith("metadata." + name);
        assertThat(SecretScan.find(Map.of("metadata", Map.of(name, "header")), "", ""))
                .isNull();
        assertThat(SecretScan.find(Map.of("metadata", Map.of(name, "<your key 1 here>")), "", ""))
                .isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'Authorization':'Bearer secret-of-the-hub'}",
                "{'headers':{'authorization':'Bearer abcdefghijklmnopqrstuvwxyz'}}",
                "{'headers':[{'name':'Authorization','value':'Bearer abcdefgh'}]}",
                "{'headers':[{'key':'X-Api-Key','value':'a8Kd93jfLq02MzPw'}]}",
                "{'x':{'Proxy-Authorization':'Basic dXNlcjpwYXNzd29yZA=='}}",
                "{'openAiApiKey':'a8Kd93jfLq02MzPw'}",
                "{'awsSecretAccessKey':'a8Kd93jfLq02MzPw'}",
                "{'signature':'parley_01HF3ZaB_a8Kd93jfLq02MzPw7Xv1Bn5Ty6Uh4Rg1'}",
                "{'trustManifest':{'note':'ghp_a8Kd93jfLq02MzPw7Xv1Bn5Ty6Uh4Rg12'}}",
                "{'ghp_a8Kd93jfLq02MzPw7Xv1Bn5Ty6Uh4Rg12':true}",
            })
    @DisplayName("M8, T13, S117: headers, names of members and members of signatures are looked at, too")
    void places(String json) {
        assertThat(SecretScan.find(
                        Json.read(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8), Map.class), "", ""))
                .contains("looks like");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'Authorization':'Bearer <token>'}",
                "{'Authorization':'Bearer access_token'}",
                "{'Authorization':'Bearer YOUR_API_KEY'}",
                "{'Authorization':'Bearer ...'}",
                "{'description':'Send Authorization: Bearer {token} with each call'}",
                "{'description':'AKIAIOSFODNN7EXAMPLE and wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'}",
                "{'description':'commit da39a3ee5e6b4b0d3255bfef95601890afd80709'}",
                "{'description':'md5 d41d8cd98f00b204e9800998ecf8427e, uuid 123e4567-e89b-12d3-a456-426614174000'}",
                "{'description':'See docs/Reference/Agents/Version2/Translate for more'}",
                "{'description':'sk-learn-based-classification-of-documents-agent'}",
                "{'description':'A parley_metrics_exporter_for_dashboards'}",
                "{'description':'token: a unit of text; password: at least 12 characters'}",
                "{'maxTokens':'8192 tokens','tokenUrl':'https://id.example/oauth2/token2','nextPageToken':'none'}",
                "{'digest':'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'}",
                "{'iconUrl':'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk'}",
                "{'publicKeyPem':'-----BEGIN PUBLIC KEY-----'}",
            })
    @DisplayName("M8, T13, S117: words, digests, placeholders and public keys are no secrets")
    void noSecrets(String json) {
        assertThat(SecretScan.find(
                        Json.read(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8), Map.class), "", ""))
                .isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"a.", "eyJ-", "eyJaaaaaaaaa.", "sk-", "a:", "A8k/", "token=", "-----BEGIN ", "bearer "})
    @Timeout(60)
    @DisplayName(
            "S117: long texts that look like the begin of a secret again and again take time for their length only")
    void longTexts(String piece) {
        String text = piece.repeat(CardReader.MAX_BYTES / piece.length());

        assertThat(SecretScan.find(Map.of("description", text), "", "")).isNull();
    }

    @Test
    @DisplayName("GEM18 descriptions, addresses, schemes, digests and signatures of cards are no secrets")
    void falseAlarms() {
        String card = """
                {"name":"Bearer of news","description":"Needs an API key in the header X-API-Key; see https://docs.example/keys?key=value",
                 "url":"https://host.example:8443/a2a/v1?tenant=a8Kd93jf","version":"1.0.0-rc1+20251123",
                 "iconUrl":"https://cdn.example/3f2a9c1d4e5b6a7988776655443322110ffeeddc.png",
                 "securitySchemes":{"apiKey":{"type":"apiKey","in":"header","name":"X-API-Key1"},
                   "oauth":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"https://id.example/oauth2/token","scopes":{"read:tasks2":"Read"}}}},
                   "bearer":{"type":"http","scheme":"bearer","bearerFormat":"JWT"}},
                 "authSchemes":[{"scheme":"apiKey","service_identifier":"openai-gpt4-key1"}],
                 "skills":[{"id":"password-reset-v2","name":"Secret Santa 2025","description":"Basic authentication of visitors; token=yes",
                   "examples":["curl -H 'Authorization: Bearer <token>' https://h.example","curl -u user:password https://h.example","postgres://user:${PASSWORD}@db.example/x"],
                   "tags":["sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"]}],
                 "signatures":[{"protected":"eyJhbGciOiJFUzI1NiIsImtpZCI6ImtleS0xIn0","signature":"QFdkNLNszlGj3z3u0YQGt_T9LixY3qtdQpZmsTdDHDe3fXV9y9-B3m2"}]}""";
        assertThat(SecretScan.find(Json.read(card.getBytes(StandardCharsets.UTF_8), Map.class), "", ""))
                .isNull();
    }

    @Test
    @DisplayName("GEM18 none of the sample cards of this project is refused")
    void sampleCards() throws Exception {
        int cards = 0;
        try (Stream<Path> files = Files.walk(Path.of(".."))) {
            for (Path file : files.filter(each -> each.toString().contains("src/test/resources"))
                    .filter(each -> each.getFileName()
                                    .toString()
                                    .toLowerCase(Locale.ROOT)
                                    .contains("card")
                            && each.toString().endsWith(".json"))
                    .toList()) {
                cards++;
                Object json = Json.read(Files.readAllBytes(file), Object.class);
                assertThat(SecretScan.find(json, "", "")).as(file.toString()).isNull();
            }
        }
        assertThat(cards).isPositive();
    }
}
