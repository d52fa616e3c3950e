package dev.parley.registry.store;

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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SecretsTest {
    private static final String RANDOM = "a8Kd93jfLq02MzPw7Xv1Bn5Ty6Uh4Rg";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sk-proj-R",
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
                : form.startsWith("eyJ") || form.startsWith("AKIA") || form.startsWith("-")
                        ? form
                        : form.replace("R", RANDOM);
        for (Object place : List.of(secret, "Call it with " + secret + " please")) {
            assertThat(Secrets.find(Map.of("skills", List.of(Map.of("examples", List.of("x", place)))), "", ""))
                    .as(secret)
                    .startsWith("skills[0].examples[1]: looks like ")
                    .doesNotContain(RANDOM);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"apiKey", "client_secret", "password", "X-Api-Key", "accessToken"})
    @DisplayName("GEM18 a random value of a member that is named after a secret is found")
    void names(String name) {
        assertThat(Secrets.find(Map.of("metadata", Map.of(name, RANDOM)), "", ""))
                .startsWith("metadata." + name);
        assertThat(Secrets.find(Map.of("metadata", Map.of(name, "header")), "", ""))
                .isNull();
        assertThat(Secrets.find(Map.of("metadata", Map.of(name, "<your key 1 here>")), "", ""))
                .isNull();
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
        assertThat(Secrets.find(Json.read(card.getBytes(StandardCharsets.UTF_8), Map.class), "", ""))
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
                assertThat(Secrets.find(json, "", "")).as(file.toString()).isNull();
            }
        }
        assertThat(cards).isPositive();
    }
}
