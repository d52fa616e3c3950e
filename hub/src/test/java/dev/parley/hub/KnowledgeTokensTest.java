package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.knowledge.api.KnowledgeOperation;
import dev.parley.knowledge.api.SharedKnowledge;
import dev.parley.knowledge.hub.KnowledgeSource;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Callers;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tokens in the metadata of knowledge operations, over the wire of a hub with a verifier. */
@Timeout(60)
final class KnowledgeTokensTest {
    private final List<Map<String, @Nullable Object>> verified = new CopyOnWriteArrayList<>();

    private void verify(KnowledgeOperation operation, Map<String, @Nullable Object> tokens) {
        verified.add(tokens);
        if (!"good-secret".equals(tokens.get("token"))) {
            throw A2AException.of(A2AError.PERMISSION_DENIED, operation.name() + " with a wrong token");
        }
    }

    @Test
    @DisplayName("KG20: a token in metadata is verified, and never written down")
    void tokensAreVerifiedAndNeverWrittenDown(@TempDir Path data) throws Exception {
        try (Hub hub = Hub.builder()
                        .agents(Agent.named("with", "Has a knowledge graph")
                                .uses(SharedKnowledge.VIEW)
                                .handle((request, reply) -> reply.complete("done")))
                        .data(data)
                        .port(0)
                        .drain(Duration.ofSeconds(1))
                        .extension(
                                new KnowledgeSource().tokens((operation, tokens, caller) -> verify(operation, tokens)))
                        .start();
                HttpClient http = HttpClient.newHttpClient()) {
            String update = "{'mutations':[{'op':'add','statement':{'subject':{'id':'ex:p'},'predicate':{'id':'ex:q'},"
                    + "'object':{'value':'v'}}}],'metadata':{'token':'TOKEN','credentialX':'other-secret'}}";
            String query = "{'query':'{ graphs { name } }','metadata':{'token':'TOKEN'}}";
            String watch =
                    "{'subscriptionQuery':'subscription { knowledgeChanged { op } }','metadata':{'token':'TOKEN'}}";

            assertThat(post(http, hub, ":update", update.replace("TOKEN", "bad-secret"))
                            .statusCode())
                    .isEqualTo(403);
            assertThat(post(http, hub, ":query", query.replace("TOKEN", "bad-secret"))
                            .statusCode())
                    .isEqualTo(403);
            assertThat(post(http, hub, ":subscribe", watch.replace("TOKEN", "bad-secret"))
                            .statusCode())
                    .isEqualTo(403);
            assertThat(post(http, hub, ":query", query.replace("TOKEN", "good-secret"))
                            .statusCode())
                    .isEqualTo(200);
            assertThat(post(http, hub, ":update", update.replace("TOKEN", "good-secret"))
                            .statusCode())
                    .isEqualTo(200);
            assertThat(verified)
                    .hasSize(5)
                    .last()
                    .satisfies(tokens -> assertThat(tokens).containsOnlyKeys("token", "credentialX"));
        }
        try (Stream<Path> files = Files.walk(data)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                assertThat(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1))
                        .as(file.toString())
                        .doesNotContain("good-secret", "bad-secret", "other-secret");
            }
        }
    }

    @Test
    @DisplayName("KG20 D5: the hub verifies tokens in metadata by a setting, its own and those of other groups")
    void theHubVerifies() throws Exception {
        try (Hub hub = Hub.builder()
                        .inMemory()
                        .port(0)
                        .set("kg-tokens", "verify")
                        .set("kg-http-status", "strict")
                        .agents(Agent.named("with", "Has a knowledge graph")
                                .uses(SharedKnowledge.VIEW)
                                .handle((request, reply) -> reply.complete("done")))
                        .callers(Callers.builder()
                                .apiKey("alice", "key-of-alice-1234567")
                                .bearer("bob", "token-of-bob-1234567")
                                .apiKey("mallory", "key-of-mallory-12345")
                                .group("mallory", "others")
                                .oauthClient("shop", "shop", "secret-of-the-shop-1")
                                .build())
                        .authentication(Authentication.of(Scheme.API_KEY))
                        .start();
                HttpClient http = HttpClient.newHttpClient()) {
            for (String member : List.of("token", "authorization", "credentialX")) {
                assertThat(query(http, hub, member, "'key-of-alice-1234567'")).isEqualTo(200);
                assertThat(query(http, hub, member, "'Bearer token-of-bob-1234567'"))
                        .isEqualTo(200);
                assertThat(query(http, hub, member, "'token-of-nobody-12345'")).isEqualTo(401);
                assertThat(query(http, hub, member, "'key-of-mallory-12345'")).isEqualTo(403);
                assertThat(query(http, hub, member, "7")).isEqualTo(400);
            }
            assertThat(query(http, hub, "trace", "'anything'")).isEqualTo(200);
        }
    }

    private static int query(HttpClient http, Hub hub, String member, String value) throws Exception {
        return http.send(
                        HttpRequest.newBuilder(URI.create(hub.agentUrl("with") + "/kg:query"))
                                .header("Content-Type", "application/json")
                                .header("X-Api-Key", "key-of-alice-1234567")
                                .POST(HttpRequest.BodyPublishers.ofString(
                                        ("{'query':'{ graphs { name } }','metadata':{'" + member + "':" + value + "}}")
                                                .replace('\'', '"')))
                                .build(),
                        BodyHandlers.ofString())
                .statusCode();
    }

    private static HttpResponse<String> post(HttpClient http, Hub hub, String operation, String json) throws Exception {
        return http.send(
                HttpRequest.newBuilder(URI.create(hub.agentUrl("with") + "/kg" + operation))
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString(json.replace('\'', '"')))
                        .build(),
                BodyHandlers.ofString());
    }
}
