package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.util.Base64URL;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Shown;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Callers;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** Tokens that are bound to a key of their client (RFC 9449), where clients look them up (RFC 9728), and passwords. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class BoundTokensTest {
    private static final String SECRET = "secret-of-the-shop";

    private final Hub hub = Hub.builder()
            .inMemory()
            .port(0)
            .callers(Callers.builder()
                    .oauthClient("shop", "shop-client", SECRET)
                    .apiKey("alice", "key-of-alice-12345")
                    .build())
            .authentication(Authentication.of(Scheme.OAUTH2))
            .authentication("basic", Authentication.of(Scheme.BASIC))
            .agents(agent("echo"), agent("basic"))
            .start();
    private final Outsider outsider = new Outsider(hub.url());
    private final ECKey key = key();

    private static Agent agent(String name) {
        return Agent.named(name, "Says who calls")
                .handle((request, reply) -> reply.complete(request.context().caller()));
    }

    private static ECKey key() {
        try {
            return new ECKeyGenerator(Curve.P_256).generate();
        } catch (com.nimbusds.jose.JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    @AfterAll
    void stop() {
        hub.close();
    }

    private String proof(ECKey by, String method, String path, @Nullable String token) throws Exception {
        var claims = new JWTClaimsSet.Builder()
                .jwtID(UUID.randomUUID().toString())
                .claim("htm", method)
                .claim("htu", hub.url() + path)
                .issueTime(Date.from(Instant.now()));
        if (token != null) {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.US_ASCII));
            claims.claim("ath", Base64URL.encode(hash).toString());
        }
        var proof = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.ES256)
                        .type(new JOSEObjectType("dpop+jwt"))
                        .jwk(by.toPublicJWK())
                        .build(),
                claims.build());
        proof.sign(new ECDSASigner(by));
        return proof.serialize();
    }

    private HttpResponse<String> token(String... headers) throws Exception {
        String form = "grant_type=client_credentials&client_id=shop-client&client_secret=" + SECRET;
        try (HttpClient http = HttpClient.newHttpClient()) {
            var request = HttpRequest.newBuilder(URI.create(hub.url() + "/oauth/token"))
                    .header("Content-Type", "application/x-www-form-urlencoded")
                    .POST(BodyPublishers.ofString(form));
            if (headers.length > 0) {
                request.headers(headers);
            }
            return http.send(request.build(), BodyHandlers.ofString());
        }
    }

    private HttpResponse<String> list(String... headers) throws Exception {
        return outsider.get("/agents/echo/tasks", headers);
    }

    @Test
    void aBoundTokenIsGoodWithAFreshProofAlone() throws Exception {
        HttpResponse<String> made = token("DPoP", proof(key, "POST", "/oauth/token", null));
        assertThat(Shown.of(made.body()).at("token_type").text()).isEqualTo("DPoP");
        String token = Shown.of(made.body()).at("access_token").text();
        String proof = proof(key, "GET", "/agents/echo/tasks", token);

        assertThat(list("Authorization", "DPoP " + token, "DPoP", proof, "A2A-Version", "1.0")
                        .statusCode())
                .isEqualTo(200);
        assertThat(outsider.get(
                                "/metrics",
                                "Authorization",
                                "DPoP " + token,
                                "DPoP",
                                proof(key, "GET", "/metrics", token))
                        .statusCode())
                .as("somebody, without the scope for it")
                .isEqualTo(403);
        ECKey strangers = key();
        for (HttpResponse<String> refused : List.of(
                list("Authorization", "DPoP " + token, "DPoP", proof),
                list("Authorization", "DPoP " + token),
                list("Authorization", "Bearer " + token),
                list("Authorization", "DPoP " + token, "DPoP", proof(key, "POST", "/agents/echo/tasks", token)),
                list("Authorization", "DPoP " + token, "DPoP", proof(strangers, "GET", "/agents/echo/tasks", token)))) {
            assertThat(refused.statusCode()).isEqualTo(401);
            assertThat(refused.headers().firstValue("WWW-Authenticate").orElse(""))
                    .contains("DPoP error=\"invalid_dpop_proof\", algs=\"ES256 ES384 RS256 PS256\"");
        }
    }

    @Test
    void aTokenThatIsNotBoundNeedsNoProof() throws Exception {
        String token = Shown.of(token().body()).at("access_token").text();
        assertThat(list("Authorization", "Bearer " + token, "A2A-Version", "1.0")
                        .statusCode())
                .isEqualTo(200);
        assertThat(list("Authorization", "DPoP " + token).statusCode()).isEqualTo(401);
        assertThat(token("DPoP", "nothing").statusCode()).isEqualTo(400);
    }

    @Test
    void whoIsTurnedAwayFindsWhereToGetAToken() throws Exception {
        String challenge = list().headers().firstValue("WWW-Authenticate").orElse("");
        assertThat(challenge)
                .isEqualTo("Bearer realm=\"parley\", resource_metadata=\"" + hub.url()
                        + "/.well-known/oauth-protected-resource\"");

        Shown resource =
                Shown.of(outsider.get("/.well-known/oauth-protected-resource").body());
        assertThat(resource.at("resource").text()).isEqualTo(hub.url());
        assertThat(resource.at("authorization_servers").value()).isEqualTo(List.of(hub.url()));
        assertThat(Shown.of(outsider.get("/.well-known/oauth-protected-resource/agents/echo")
                                .body())
                        .at("resource")
                        .text())
                .isEqualTo(hub.url() + "/agents/echo");
        Shown server =
                Shown.of(outsider.get("/.well-known/oauth-authorization-server").body());
        assertThat(server.at("token_endpoint").text()).isEqualTo(hub.url() + "/oauth/token");
    }

    @Test
    void aKeyMayBeAPasswordWhereThatIsWanted() throws Exception {
        assertThat(outsider.get(
                                "/agents/basic/tasks",
                                "Authorization",
                                basic("alice", "key-of-alice-12345"),
                                "A2A-Version",
                                "1.0")
                        .statusCode())
                .isEqualTo(200);
        for (String wrong :
                List.of(basic("bob", "key-of-alice-12345"), basic("alice", "x"), "Basic %%%", "Basic YWxpY2U=")) {
            HttpResponse<String> refused = outsider.get("/agents/basic/tasks", "Authorization", wrong);
            assertThat(refused.statusCode()).isEqualTo(401);
            assertThat(refused.headers().firstValue("WWW-Authenticate")).contains("Basic realm=\"parley\"");
        }
        assertThat(list("Authorization", basic("alice", "key-of-alice-12345")).statusCode())
                .isEqualTo(401);
    }

    private static String basic(String user, String password) {
        return "Basic " + Base64.getEncoder().encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
    }
}
