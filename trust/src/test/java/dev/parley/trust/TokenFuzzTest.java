package dev.parley.trust;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.api.BugDetectors;
import com.code_intelligence.jazzer.api.SilentCloseable;
import com.code_intelligence.jazzer.junit.FuzzTest;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpServer;
import dev.parley.dialect.Json;
import dev.parley.testkit.SettableClock;
import dev.parley.trust.tokens.AccessTokens;
import dev.parley.trust.tokens.AccessTokens.Grant;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever is shown as a token, it counts only if it was signed, by this hub or by the issuer that it trusts. */
final class TokenFuzzTest {
    private static final Instant NOW = Instant.parse("2026-01-05T10:00:00Z");
    private static final SettableClock CLOCK = new SettableClock(NOW);
    private static final String HUB = "https://agents.example.com";
    private static final RSAKey KEY = key();
    private static final HttpServer ISSUER = issuer();
    private static final String ISSUER_URL =
            "http://127.0.0.1:" + ISSUER.getAddress().getPort();
    private static final AccessTokens OWN = new AccessTokens(new byte[32], () -> HUB, CLOCK);
    private static final ForeignTokens FOREIGN =
            new ForeignTokens(List.of(ISSUER_URL), List.of(), () -> Set.of(HUB), "tenant", CLOCK);
    private static final String OF_HUB = OWN.issue(new Grant("alice", "client", Set.of("read"), "thumbprint"));
    private static final String OF_ISSUER = ofIssuer();

    private static RSAKey key() {
        try {
            return new RSAKeyGenerator(2048).keyID("first").generate();
        } catch (Exception e) { // a fixed size that every platform has
            throw new IllegalStateException(e);
        }
    }

    private static HttpServer issuer() {
        try {
            HttpServer issuer = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            String url = "http://127.0.0.1:" + issuer.getAddress().getPort();
            serve(
                    issuer,
                    "/.well-known/openid-configuration",
                    Json.write(Map.of("issuer", url, "jwks_uri", url + "/keys")));
            serve(issuer, "/keys", new JWKSet(KEY.toPublicJWK()).toString().getBytes(UTF_8));
            issuer.start();
            return issuer;
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void serve(HttpServer issuer, String path, byte[] body) {
        issuer.createContext(path, exchange -> {
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
    }

    private static JWTClaimsSet claims() {
        return new JWTClaimsSet.Builder()
                .issuer(ISSUER_URL)
                .audience(HUB)
                .subject("alice")
                .claim("scope", "read write")
                .claim("tenant", "T1")
                .claim("cnf", Map.of("jkt", "thumbprint"))
                .expirationTime(Date.from(NOW.plusSeconds(300)))
                .build();
    }

    private static String ofIssuer() {
        var token = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("first").build(), claims());
        try {
            token.sign(new RSASSASigner(KEY));
        } catch (Exception e) { // with a key that was made for it
            throw new IllegalStateException(e);
        }
        return token.serialize();
    }

    @AfterAll
    static void stop() {
        ISSUER.stop(0);
    }

    static Stream<byte[]> examples() {
        return Stream.of(OF_HUB, OF_ISSUER, new PlainJWT(claims()).serialize(), "a.b.c.d.e", "..")
                .map(token -> token.getBytes(UTF_8));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void tokens(byte[] bytes) {
        String token = new String(bytes, UTF_8);
        try (SilentCloseable allowed = BugDetectors.allowNetworkConnections()) {
            if (OWN.read(token) != null) {
                assertThat(token.trim()).startsWith(signedPart(OF_HUB));
            }
            if (FOREIGN.read(token) != null) {
                assertThat(token.trim()).startsWith(signedPart(OF_ISSUER));
            }
        }
    }

    /** What is signed; the signature may be written in more than one way, for its last character has bits to spare. */
    private static String signedPart(String token) {
        return token.substring(0, token.lastIndexOf('.') + 1);
    }
}
