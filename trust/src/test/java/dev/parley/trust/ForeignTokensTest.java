package dev.parley.trust;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpServer;
import dev.parley.dialect.Json;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.testkit.SettableClock;
import dev.parley.trust.ForeignTokens.Foreign;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tokens of an issuer that forges whatever it can; a real provider is asked in {@code OpenIdProviderTest} of interop. */
@Tag("heavy")
final class ForeignTokensTest {
    private static final String HUB = "https://agents.example.com";

    private static final RSAKey FIRST = rsa("first");
    private static final RSAKey SECOND = rsa("second");

    private HttpServer issuer;
    private String url;
    private RSAKey key;
    private final AtomicInteger strangersAsked = new AtomicInteger();
    private final AtomicInteger discoveries = new AtomicInteger();
    private final AtomicInteger keysAsked = new AtomicInteger();
    private final SettableClock clock = new SettableClock(Instant.now());
    private volatile boolean mute;
    private volatile boolean keyless;
    private ForeignTokens tokens;
    private ForeignTokens timed;

    @BeforeEach
    void start() throws Exception {
        key = FIRST;
        issuer = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        url = "http://127.0.0.1:" + issuer.getAddress().getPort();
        serve("/.well-known/openid-configuration", () -> {
            discoveries.incrementAndGet();
            return mute ? new byte[0] : Json.write(Map.of("issuer", url, "jwks_uri", url + "/keys"));
        });
        serve("/keys", () -> {
            keysAsked.incrementAndGet();
            return keyless
                    ? new byte[0]
                    : new JWKSet(key.toPublicJWK()).toString().getBytes(StandardCharsets.UTF_8);
        });
        serve("/stranger", () -> {
            strangersAsked.incrementAndGet();
            return new byte[0];
        });
        issuer.start();
        tokens = new ForeignTokens(List.of(url), List.of(), () -> Set.of(HUB), "tenant", InstantSource.system());
        timed = new ForeignTokens(List.of(url), List.of(), () -> Set.of(HUB), "tenant", clock);
    }

    private static RSAKey rsa(String id) {
        try {
            return new RSAKeyGenerator(2048).keyID(id).generate();
        } catch (JOSEException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private interface Page {
        byte[] bytes() throws IOException;
    }

    private void serve(String path, Page page) {
        issuer.createContext(path, exchange -> {
            byte[] body = page.bytes();
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
    }

    @AfterEach
    void stop() {
        issuer.stop(0);
    }

    private JWTClaimsSet claims(UnaryOperator<JWTClaimsSet.Builder> change) {
        Instant now = Instant.now();
        return change.apply(new JWTClaimsSet.Builder()
                        .issuer(url)
                        .audience(HUB)
                        .subject("alice")
                        .claim("scope", "read write")
                        .issueTime(Date.from(now))
                        .expirationTime(Date.from(now.plusSeconds(300))))
                .build();
    }

    private String token(UnaryOperator<JWTClaimsSet.Builder> change) throws JOSEException {
        return signed(
                new JWSHeader.Builder(JWSAlgorithm.RS256).keyID(key.getKeyID()).build(), change, key);
    }

    private String signed(JWSHeader header, UnaryOperator<JWTClaimsSet.Builder> change, RSAKey by)
            throws JOSEException {
        var token = new SignedJWT(header, claims(change));
        token.sign(new RSASSASigner(by));
        return token.serialize();
    }

    @Test
    void aTokenOfTheIssuerTellsWhoCalls() throws Exception {
        Foreign read = tokens.read(token(claims -> claims));

        String host = URI.create(url).getAuthority();
        assertThat(read)
                .isEqualTo(new Foreign(new Principal("default", "alice@" + host, Set.of("read", "write")), null, null));
        assertThat(tokens.read(token(claims -> claims.claim("tenant", "T1").claim("scope", null))))
                .isEqualTo(new Foreign(new Principal("T1", "alice@" + host, Set.of()), null, null));
    }

    @Test
    void usersOfTwoIssuersOfOneHostAreTwo() throws Exception {
        for (String realm : List.of("/a", "/b/")) {
            byte[] discovery = Json.write(Map.of("issuer", url + realm, "jwks_uri", url + "/keys"));
            serve(realm.replaceFirst("/$", "") + "/.well-known/openid-configuration", () -> discovery);
        }
        var both = new ForeignTokens(
                List.of(url + "/a", url + "/b/"), List.of(), () -> Set.of(HUB), null, InstantSource.system());
        String host = URI.create(url).getAuthority();

        assertThat(requireNonNull(both.read(token(claims -> claims.issuer(url + "/a"))))
                        .principal()
                        .name())
                .isEqualTo("alice@" + host + "/a");
        assertThat(requireNonNull(both.read(token(claims -> claims.issuer(url + "/b/"))))
                        .principal()
                        .name())
                .isEqualTo("alice@" + host + "/b");
        assertThatThrownBy(() -> new ForeignTokens(
                        List.of("https://a.example", "https://a.example/"),
                        List.of(),
                        Set::of,
                        null,
                        InstantSource.system()))
                .hasMessage("issuer: https://a.example/ (expected: another host or path than https://a.example)");
    }

    @Test
    void nobodyElseMakesOperatorsOfThisHub() throws Exception {
        assertThat(tokens.read(token(claims -> claims.claim("scope", "read admin"))))
                .extracting(read -> read.principal().scopes())
                .isEqualTo(Set.of("read"));
    }

    @Test
    void newKeysAreFetchedWhenTheyAreNeeded() throws Exception {
        assertThat(tokens.read(token(claims -> claims))).isNotNull();
        key = SECOND;

        assertThat(tokens.read(token(claims -> claims))).isNotNull();
    }

    @Test
    void aTokenWithoutSignatureIsNone() {
        assertThat(tokens.read(new PlainJWT(claims(claims -> claims)).serialize()))
                .isNull();
    }

    @Test
    void thePublicKeyIsNoSecret() throws Exception {
        var header =
                new JWSHeader.Builder(JWSAlgorithm.HS256).keyID(key.getKeyID()).build();
        var forged = new SignedJWT(header, claims(claims -> claims));
        forged.sign(new MACSigner(key.toRSAPublicKey().getEncoded()));

        assertThat(tokens.read(forged.serialize())).isNull();
    }

    @Test
    void theHeaderDoesNotSayWhichKeysCount() throws Exception {
        RSAKey strangers = new RSAKeyGenerator(2048).keyID("first").generate();
        var stranger = URI.create(url + "/stranger");
        for (JWSHeader.Builder header : List.of(
                new JWSHeader.Builder(JWSAlgorithm.RS256).jwkURL(stranger),
                new JWSHeader.Builder(JWSAlgorithm.RS256).x509CertURL(stranger),
                new JWSHeader.Builder(JWSAlgorithm.RS256).jwk(strangers.toPublicJWK()),
                new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("../../stranger"))) {
            assertThat(tokens.read(signed(header.build(), claims -> claims, strangers)))
                    .isNull();
        }
        assertThat(strangersAsked).hasValue(0);
    }

    @Test
    void aKeyOfAnotherKindIsOfNoUse() throws Exception {
        var other = new ECKeyGenerator(Curve.P_256).keyID("first").generate();
        var token = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("first").build(), claims(claims -> claims));
        token.sign(new ECDSASigner(other));

        assertThat(tokens.read(token.serialize())).isNull();
    }

    @Test
    void whatIsForOthersOrOfOthersIsRefused() throws Exception {
        assertThat(tokens.read(token(claims -> claims.audience(HUB + "/mcp")))).isNotNull();
        assertThat(tokens.read(token(claims -> claims.audience(HUB + "x/mcp")))).isNull();
        assertThat(tokens.read(token(claims -> claims.audience("https://elsewhere.example"))))
                .isNull();
        assertThat(tokens.read(token(claims -> claims.audience((String) null)))).isNull();
        assertThat(tokens.read(token(claims -> claims.issuer("https://elsewhere.example"))))
                .isNull();
        assertThat(tokens.read(token(claims -> claims.subject(null)))).isNull();
        var header = new JWSHeader.Builder(JWSAlgorithm.RS256)
                .keyID(key.getKeyID())
                .type(new JOSEObjectType("dpop+jwt"))
                .build();
        assertThat(tokens.read(signed(header, claims -> claims, key))).isNull();
    }

    @Test
    void timesCountButForAMinute() throws Exception {
        Instant now = Instant.now();
        assertThat(tokens.read(token(claims -> claims.expirationTime(Date.from(now.minusSeconds(30))))))
                .isNotNull();
        assertThat(tokens.read(token(claims -> claims.expirationTime(Date.from(now.minusSeconds(65))))))
                .isNull();
        assertThat(tokens.read(token(claims -> claims.notBeforeTime(Date.from(now.plusSeconds(120))))))
                .isNull();
        assertThat(tokens.read(token(claims -> claims.expirationTime(null)))).isNull();
    }

    @Test
    void whatWasFoundGoodIsForAMinuteAtMost() throws Exception {
        var now = new AtomicReference<>(Instant.now());
        Instant begin = requireNonNull(now.get());
        var remembering = new ForeignTokens(List.of(url), List.of(), () -> Set.of(HUB), "tenant", now::get);
        String lasting = token(claims -> claims);
        String ending = token(claims -> claims.expirationTime(Date.from(begin.minusSeconds(30))));

        assertThat(remembering.known(lasting)).isNull();
        Foreign read = remembering.read(lasting);
        assertThat(remembering.known(lasting)).isNotNull().isEqualTo(read);
        remembering.read(ending);
        assertThat(remembering.known(ending)).isNotNull();

        now.set(begin.plusSeconds(31));
        assertThat(remembering.known(ending)).isNull();
        assertThat(remembering.known(lasting)).isNotNull();
        now.set(begin.plusSeconds(60));
        assertThat(remembering.known(lasting)).isNull();
    }

    @Test
    void aBoundTokenTellsItsKey() throws Exception {
        JWK holder = new ECKeyGenerator(Curve.P_256).generate();
        String thumbprint = holder.computeThumbprint().toString();

        assertThat(tokens.read(token(claims -> claims.claim("cnf", Map.of("jkt", thumbprint)))))
                .extracting(Foreign::boundTo)
                .isEqualTo(thumbprint);
    }

    @Test
    void aTokenThatIsBoundInAnUnknownWayIsRefused() throws Exception {
        assertThat(tokens.read(token(claims -> claims.claim("cnf", Map.of("kid", "somewhere")))))
                .isNull();
        assertThat(tokens.read(token(claims -> claims.claim("cnf", Map.of("x5t#S256", "of-a-certificate")))))
                .extracting(Foreign::certificate)
                .isEqualTo("of-a-certificate");
    }

    private void assertIsUnreachable(String token, Duration wait) {
        assertThatThrownBy(() -> timed.read(token)).isInstanceOfSatisfying(A2AException.class, problem -> {
            assertThat(problem.error()).isEqualTo(A2AError.UNAVAILABLE);
            assertThat(problem.retryAfter()).isEqualTo(wait);
        });
    }

    @Test
    void anIssuerThatDoesNotAnswerIsLeftAloneForAWhile() throws Exception {
        String token = token(claims -> claims);
        mute = true;

        assertIsUnreachable(token, Duration.ofSeconds(30));
        clock.advance(Duration.ofSeconds(29));
        assertIsUnreachable(token, Duration.ofSeconds(1));
        assertThat(discoveries).hasValue(1);

        mute = false;
        clock.advance(Duration.ofSeconds(1));
        assertThat(timed.read(token)).isNotNull();
        assertThat(discoveries).hasValue(2);
    }

    @Test
    void aClockThatIsPutBackLeavesNoIssuerAloneForLonger() throws Exception {
        String token = token(claims -> claims);
        mute = true;
        assertIsUnreachable(token, Duration.ofSeconds(30));
        clock.advance(Duration.ofSeconds(-40));
        assertIsUnreachable(token, Duration.ofSeconds(30));

        mute = false;
        clock.advance(Duration.ofSeconds(30));
        assertThat(timed.read(token)).isNotNull();
    }

    @Test
    void keysThatCannotBeReadMakeNoTokenWrong() throws Exception {
        String token = token(claims -> claims);
        keyless = true;

        for (int i = 0; i < 5; i++) {
            assertIsUnreachable(token, Duration.ofSeconds(30));
        }
        assertThat(keysAsked).hasValueLessThan(3);

        keyless = false;
        clock.advance(Duration.ofSeconds(30));
        assertThat(timed.read(token)).isNotNull();
    }

    @Test
    void oneCallAsksAnIssuerForAllThatWait() throws Exception {
        String token = token(claims -> claims);
        try (var calls = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Foreign>> read = calls.invokeAll(Collections.nCopies(20, () -> timed.read(token)));

            for (Future<Foreign> one : read) {
                assertThat(one.get()).isNotNull();
            }
        }
        assertThat(discoveries).hasValue(1);
    }

    @Test
    void aKeyThatIsTakenBackIsGoodForAMinute() throws Exception {
        RSAKey old = key;
        assertThat(timed.read(token(claims -> claims))).isNotNull();
        JWSHeader header =
                new JWSHeader.Builder(JWSAlgorithm.RS256).keyID(old.getKeyID()).build();
        key = SECOND;

        clock.advance(Duration.ofSeconds(59));
        assertThat(timed.read(signed(header, claims -> claims.jwtID("other"), old)))
                .isNotNull();
        clock.advance(Duration.ofSeconds(1));
        assertThat(timed.read(signed(header, claims -> claims.jwtID("third"), old)))
                .isNull();
    }

    @Test
    void anIssuerThatOthersCouldPlayIsAMistake() {
        assertThatThrownBy(() -> new ForeignTokens(
                        List.of("http://login.example.com"), List.of(), Set::of, null, InstantSource.system()))
                .hasMessage("issuer: http://login.example.com (expected: an https URL)");
    }
}
