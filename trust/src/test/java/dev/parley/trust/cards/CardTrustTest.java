package dev.parley.trust.cards;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.KeyRevocation;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.util.Base64URL;
import dev.parley.dialect.Json;
import dev.parley.dialect.served.CardPayload;
import dev.parley.dialect.served.CardSigner;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Signature;
import dev.parley.protocol.CardVerifier.Outcome;
import dev.parley.protocol.CardVerifier.Verdict;
import dev.parley.testkit.SettableClock;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.Date;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What signatures of cards are worth. Rows of the feature matrix and of the security checks are in the names. */
final class CardTrustTest {
    private static final Instant NOW = Instant.parse("2026-01-05T10:00:00Z");
    private static final ECKey KEY = ec("k1");
    private static final RSAKey RSA = rsa();
    private static final String CARD = """
        {"name":"Test","description":"Größe 12, \\ud83d\\ude00","supportedInterfaces":[{"url":"https://a.example/a2a",\
        "protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"version":"1","capabilities":{"streaming":false},\
        "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}\
        """;

    @TempDir
    Path directory;

    private final SettableClock clock = new SettableClock(NOW);

    @ParameterizedTest
    @EnumSource
    @DisplayName("S39, GEM07: a card that a trusted key has signed is verified")
    void whatATrustedKeyHasSignedIsVerified(CardKeys.Algorithm algorithm) {
        Path file = directory.resolve("key.json");
        String id = CardKeys.create(file, algorithm, null);
        CardKeys keys = CardKeys.read(List.of(file));

        byte[] signed = keys.signer("https://a.example/keys").signed(CARD.getBytes(UTF_8));

        Verdict verdict = CardTrust.of(new String(keys.published(), UTF_8)).verify(signed);
        assertThat(verdict.outcome()).as(verdict.reason()).isEqualTo(Outcome.VERIFIED);
        assertThat(verdict.keyId()).isEqualTo(id).isEqualTo(keys.id());
        AgentCard card = Json.readCard(signed);
        assertThat(Json.read(decoded(card.signatures().getFirst().protectedHeader()), Object.class))
                .isEqualTo(Map.of(
                        "alg",
                        algorithm == CardKeys.Algorithm.ES256 ? "ES256" : "EdDSA",
                        "kid",
                        id,
                        "typ",
                        "JOSE",
                        "jku",
                        "https://a.example/keys"));
    }

    @Test
    @DisplayName("GEM07: an independent tool verifies the signature of a card")
    void anIndependentToolVerifies() throws Exception {
        CardKeys keys = CardKeys.of(List.of(new CardKey(KEY)), clock);

        byte[] signed = keys.signer(null).signed(CARD.getBytes(UTF_8));

        Signature signature = Json.readCard(signed).signatures().getFirst();
        var jws = new JWSObject(
                new Base64URL(signature.protectedHeader()),
                new Payload(Base64URL.encode(CardPayload.of(signed).whole())),
                new Base64URL(signature.signature()));
        assertThat(jws.verify(new ECDSAVerifier(KEY.toPublicJWK()))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"ES256", "ES384", "RS256", "PS256", "PS384"})
    @DisplayName("S39: what another tool has signed is verified")
    void whatAnotherToolHasSignedIsVerified(String name) throws Exception {
        JWSAlgorithm algorithm = JWSAlgorithm.parse(name);
        boolean ec = name.startsWith("ES");
        ECKey ofCurve = name.equals("ES384")
                ? new ECKeyGenerator(Curve.P_384).keyID("k1").generate()
                : KEY;

        Verdict verdict = trusting(ec ? ofCurve : RSA)
                .verify(signed(
                        new JWSHeader.Builder(algorithm).keyID(ec ? "k1" : "r1").build(),
                        ec ? new ECDSASigner(ofCurve) : new RSASSASigner(RSA)));

        assertThat(verdict.outcome()).as(verdict.reason()).isEqualTo(Outcome.VERIFIED);
    }

    @Test
    void whatNobodyHasSignedIsUnsigned() {
        assertThat(trusting(KEY).verify(CARD.getBytes(UTF_8)).outcome()).isEqualTo(Outcome.UNSIGNED);
        assertThat(trusting(KEY).verify(with("\"signatures\":[]")).outcome()).isEqualTo(Outcome.UNSIGNED);
    }

    @Test
    @DisplayName("S40: a key that the card itself leads to is not trusted, and nothing is fetched")
    void aKeyThatTheCardLeadsToIsNotTrusted() throws Exception {
        try (var attacker = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String jku = "http://127.0.0.1:" + attacker.getLocalPort() + "/jwks.json";
            ECKey own = ec("own");
            var header = new JWSHeader.Builder(JWSAlgorithm.ES256)
                    .keyID("own")
                    .jwkURL(URI.create(jku))
                    .x509CertURL(URI.create(jku))
                    .jwk(own.toPublicJWK())
                    .build();

            Verdict verdict = trusting(KEY).verify(signed(header, new ECDSASigner(own)));

            assertThat(verdict).isEqualTo(new Verdict(Outcome.UNVERIFIABLE, null, "key own is not trusted"));
            attacker.setSoTimeout(1);
            assertThat(catchThrowable(attacker::accept)).isInstanceOf(SocketTimeoutException.class);
        }
    }

    @Test
    @DisplayName("S40: under the name of a trusted key, another key is found out")
    void anotherKeyUnderATrustedNameIsFoundOut() throws Exception {
        byte[] signed = signed(header("k1"), new ECDSASigner(ec("k1")));

        assertThat(trusting(KEY).verify(signed).outcome()).isEqualTo(Outcome.TAMPERED);
    }

    @Test
    @DisplayName("S41: whichever character of a card is changed, it is not verified any more")
    void whicheverCharacterIsChanged() throws Exception {
        byte[] signed = signed(header("k1"), new ECDSASigner(KEY));
        int end = new String(signed, UTF_8).getBytes(UTF_8).length
                - Json.write(Json.readCard(signed).signatures()).length;
        CardTrust trust = trusting(KEY);

        for (int i = 0; i < end; i++) {
            byte[] changed = signed.clone();
            changed[i] ^= 1;

            assertThat(trust.verify(changed).outcome())
                    .as(new String(changed, UTF_8))
                    .isNotEqualTo(Outcome.VERIFIED);
        }
        byte[] renamed =
                new String(signed, UTF_8).replace("\"Test\"", "\"Rest\"").getBytes(UTF_8);
        assertThat(trust.verify(renamed))
                .isEqualTo(new Verdict(Outcome.TAMPERED, "k1", "key k1 has not signed this, but something else"));
    }

    @Test
    void theOrderAndBlanksOfTheJsonDoNotMatter() throws Exception {
        String signed = new String(signed(header("k1"), new ECDSASigner(KEY)), UTF_8);

        String other = signed.replace("{\"name\":\"Test\",", "{ \"securityRequirements\" : [], ")
                .replace("\"version\":\"1\"", "\"version\":\"\\u0031\", \"name\":\"Test\"");

        assertThat(other).isNotEqualTo(signed);
        assertThat(trusting(KEY).verify(other.getBytes(UTF_8)).isVerified()).isTrue();
    }

    @Test
    @DisplayName("S42: no algorithm, or one without a key pair, is accepted")
    void whatNeedsNoKeyPairIsNotAccepted() throws Exception {
        byte[] ofPublicKey = Arrays.copyOf(KEY.toPublicJWK().toJSONString().getBytes(UTF_8), 64);

        assertRefused(with(signature("{\"alg\":\"none\",\"kid\":\"k1\"}", "")), "algorithm none is not accepted");
        assertRefused(
                signed(new JWSHeader.Builder(JWSAlgorithm.HS256).keyID("k1").build(), new MACSigner(ofPublicKey)),
                "algorithm HS256 is not accepted");
    }

    @Test
    @DisplayName("S42: extensions that are insisted on, and a missing key id, are refused")
    void headersThatAreNotUnderstoodAreRefused() throws Exception {
        assertRefused(
                with(signature("{\"alg\":\"ES256\",\"kid\":\"k1\",\"crit\":[\"b64\"],\"b64\":false}", "AA")),
                "a signature insists on extensions (crit), of which none is known");
        assertRefused(
                signed(new JWSHeader(JWSAlgorithm.ES256), new ECDSASigner(KEY)),
                "a signature does not name its algorithm (alg) or its key (kid)");
        assertRefused(
                with(signature("{\"alg\":\"ES256\",\"alg\":\"ES256\",\"kid\":\"k1\"}", "AA")),
                "a signature is not in the form of a JWS");
        assertRefused(with(signature("nothing", "AA")), "a signature is not in the form of a JWS");
        assertRefused(
                "{\"name\":\"of 0.3\",\"url\":\"\",\"signatures\":[1]}".getBytes(UTF_8),
                "a signature has no protected header, or no value");
    }

    @Test
    @DisplayName("S42: a key is used for its own algorithm alone")
    void aKeyIsUsedForItsOwnAlgorithm() throws Exception {
        var pss = new JWSHeader.Builder(JWSAlgorithm.PS256).keyID("r1").build();
        JWK forRs256 = new RSAKey.Builder(RSA).algorithm(JWSAlgorithm.RS256).build();
        var trust = new CardTrust(List.of(new CardKey(forRs256)), clock);

        assertThat(trust.verify(signed(pss, new RSASSASigner(RSA))))
                .isEqualTo(new Verdict(Outcome.UNVERIFIABLE, "r1", "key r1 is not for PS256"));
        assertRefused(with(signature("{\"alg\":\"RS256\",\"kid\":\"k1\"}", "AA")), "key k1 is not for RS256");
    }

    @Test
    @DisplayName("S43: a key is good in its time, and not after it was revoked")
    void aKeyIsGoodInItsTime() throws Exception {
        byte[] signed = signed(header("k1"), new ECDSASigner(KEY));
        ECKey bounded = new ECKey.Builder(KEY)
                .notBeforeTime(Date.from(NOW))
                .expirationTime(Date.from(NOW.plusSeconds(60)))
                .build();
        CardTrust trust = trusting(bounded);
        JWK revoked = KEY.toRevokedJWK(new KeyRevocation(Date.from(NOW), KeyRevocation.Reason.COMPROMISED));

        assertThat(trust.verify(signed).isVerified()).isTrue();
        clock.advance(Duration.ofSeconds(-1));
        assertThat(trust.verify(signed).reason()).isEqualTo("key k1 is not good before 2026-01-05T10:00:00Z");
        clock.advance(Duration.ofSeconds(61));
        assertThat(trust.verify(signed).reason()).isEqualTo("key k1 is expired since 2026-01-05T10:01:00Z");
        assertThat(trusting(revoked).verify(signed))
                .isEqualTo(new Verdict(Outcome.UNVERIFIABLE, "k1", "key k1 is revoked"));
        assertThat(CardTrust.of(revoked.toJSONString()).verify(signed).reason()).isEqualTo("key k1 is revoked");
    }

    @Test
    @DisplayName("S40: a key that is trusted for a host is not trusted for another one")
    void aKeyMayBeBoundToHosts() throws Exception {
        byte[] signed = signed(header("k1"), new ECDSASigner(KEY));
        String entry = new String(
                CardTrust.entry(KEY.toJSONString(), List.of("Agents.example.com", "other.example.com")), UTF_8);
        CardTrust bound = CardTrust.of(entry);

        assertThat(entry).doesNotContain("\"d\"");
        assertThat(bound.verify(signed, "agents.example.com"))
                .isEqualTo(new Verdict(
                        Outcome.VERIFIED,
                        "k1",
                        "key k1 has signed it (ES256), as it may for agents.example.com, other.example.com"));
        assertThat(bound.verify(signed, "bank.example.com"))
                .isEqualTo(new Verdict(
                        Outcome.UNVERIFIABLE,
                        "k1",
                        "key k1 is trusted for agents.example.com, other.example.com, not for bank.example.com"));
        assertThat(bound.verify(signed).reason()).endsWith("not for an unknown host");
        assertThat(CardTrust.of(KEY.toPublicJWK().toJSONString())
                        .verify(signed, "bank.example.com")
                        .isVerified())
                .isTrue();
        for (String wrong : List.of("\"a.example\"", "[]", "[1]", "null")) {
            assertThatThrownBy(() -> CardTrust.of(
                            KEY.toPublicJWK().toJSONString().replaceFirst("}$", ",\"hosts\":" + wrong + "}")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("hosts: ");
        }
    }

    @Test
    @DisplayName("S40: a key that is bound to hosts is not freed by PEM in a string beside it")
    void pemInAStringIsNoKey() throws Exception {
        String encoded = Base64.getEncoder().encodeToString(KEY.toECPublicKey().getEncoded());
        String pem = "-----BEGIN PUBLIC KEY-----" + encoded + "-----END PUBLIC KEY-----";
        byte[] signed = signed(header(KEY.computeThumbprint().toString()), new ECDSASigner(KEY));
        String entry = new String(CardTrust.entry(KEY.toJSONString(), List.of("a.example")), UTF_8);

        assertThat(CardTrust.of("\n" + pem).verify(signed, "b.example").isVerified())
                .isTrue();
        assertThat(CardTrust.of(entry.replaceFirst("\\{", "{\"note\":\"" + pem + "\","))
                        .verify(signed, "b.example")
                        .outcome())
                .isEqualTo(Outcome.UNVERIFIABLE);
        assertThatThrownBy(() -> CardTrust.of("key: " + pem)).hasMessageContaining("expected: a JWK, ");
        assertThatThrownBy(() -> CardTrust.entry(ec(pem).toJSONString(), List.of("a.example")))
                .hasMessageStartingWith("kid: ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a b", "a\tb", "a\u0085b", "schl\u00fcssel", "a\u202eb", ""})
    void keysHaveIdsThatCanBeShown(String id) {
        String key = ec("k2").toPublicJWK().toJSONString().replace("\"k2\"", "\"" + id.replace("\t", "\\t") + "\"");

        assertThatThrownBy(() -> CardTrust.of(key))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expected: visible characters of ASCII");
    }

    @ParameterizedTest
    @DisplayName("S44: a card that could be read in two ways is not verified")
    @ValueSource(
            strings = {"\"name\":\"Other\"", "\"x\":\"\\ud800\"", "\"x\":9007199254740993", "\"x\":{\"a\":1,\"a\":2}"})
    void aCardOfTwoReadingsIsNotVerified(String more) throws Exception {
        String signed = new String(signed(header("k1"), new ECDSASigner(KEY)), UTF_8);

        Verdict verdict = trusting(KEY)
                .verify(signed.replaceFirst("}$", "," + more.replace("\\", "\\\\") + "}")
                        .getBytes(UTF_8));

        assertThat(verdict.outcome()).isEqualTo(Outcome.UNVERIFIABLE);
        assertThat(verdict.reason()).startsWith("it is not a well-formed card: ");
    }

    @Test
    void oneGoodSignatureOfSeveralSuffices() throws Exception {
        CardSigner stranger =
                CardKeys.of(List.of(new CardKey(ec("new"))), clock).signer(null);
        CardSigner known = CardKeys.of(List.of(new CardKey(KEY)), clock).signer(null);
        byte[] byBoth = known.signed(stranger.signed(CARD.getBytes(UTF_8)));

        assertThat(trusting(KEY).verify(byBoth).isVerified()).isTrue();
        assertThat(trusting(ec("k1"), KEY).verify(byBoth).isVerified()).isTrue();
        assertThat(trusting(ec("other")).verify(byBoth).reason())
                .isEqualTo("key new is not trusted; key k1 is not trusted");
    }

    @Test
    void membersThatNobodyHasSignedMayComeAlongIfNobodyReadsThem() throws Exception {
        String signed = new String(signed(header("k1"), new ECDSASigner(KEY)), UTF_8);

        assertThat(trusting(KEY)
                        .verify(signed.replaceFirst("}$", ",\"url\":\"https://old.example\"}")
                                .getBytes(UTF_8)))
                .isEqualTo(new Verdict(
                        Outcome.VERIFIED,
                        "k1",
                        "key k1 has signed what readers of A2A 1.0 find in it (ES256), and no more"));
        for (String read : List.of("iconUrl", "icon_url", "documentation_url", "unheardOf")) {
            String more = ",\"" + read + "\":\"https://evil.example\"}";
            assertThat(trusting(KEY)
                            .verify(signed.replaceFirst("}$", more).getBytes(UTF_8))
                            .outcome())
                    .isEqualTo(Outcome.TAMPERED);
        }
    }

    @Test
    void ofACardOf03EveryMemberCounts() throws Exception {
        String older =
                "{\"protocolVersion\":\"0.3.0\",\"name\":\"Test\",\"description\":\"\",\"url\":\"https://a.example\","
                        + "\"version\":\"1\",\"capabilities\":{},\"defaultInputModes\":[],\"defaultOutputModes\":[],\"skills\":[]}";
        CardSigner signer = CardKeys.of(List.of(new CardKey(KEY)), clock).signer(null);
        byte[] signed = signer.signed(older.getBytes(UTF_8));
        String more = new String(signed, UTF_8).replaceFirst("}$", ",\"unheardOf\":1}");

        assertThat(trusting(KEY).verify(signed).isVerified()).isTrue();
        assertThat(trusting(KEY).verify(more.getBytes(UTF_8)).outcome()).isEqualTo(Outcome.TAMPERED);
    }

    private void assertRefused(byte[] card, String reason) {
        Verdict verdict = trusting(KEY).verify(card);

        assertThat(verdict.outcome()).isEqualTo(Outcome.UNVERIFIABLE);
        assertThat(verdict.reason()).isEqualTo(reason);
    }

    private CardTrust trusting(JWK... keys) {
        return new CardTrust(Arrays.stream(keys).map(CardKey::new).toList(), clock);
    }

    private static JWSHeader header(String key) {
        return new JWSHeader.Builder(JWSAlgorithm.ES256).keyID(key).build();
    }

    /** The card as another tool signs it. */
    private static byte[] signed(JWSHeader header, JWSSigner signer) throws JOSEException {
        var jws = new JWSObject(
                header, new Payload(CardPayload.of(CARD.getBytes(UTF_8)).whole()));
        jws.sign(signer);
        String[] parts = jws.serialize().split("\\.", -1);
        return with("\"signatures\":[{\"protected\":\"" + parts[0] + "\",\"signature\":\"" + parts[2] + "\"}]");
    }

    private static String signature(String header, String value) {
        return "\"signatures\":[{\"protected\":\"" + Base64URL.encode(header) + "\",\"signature\":\"" + value + "\"}]";
    }

    private static byte[] with(String member) {
        return (CARD.substring(0, CARD.length() - 1) + "," + member + "}").getBytes(UTF_8);
    }

    private static byte[] decoded(String base64) {
        return new Base64URL(base64).decode();
    }

    private static ECKey ec(String id) {
        try {
            return new ECKeyGenerator(Curve.P_256).keyID(id).generate();
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    private static RSAKey rsa() {
        try {
            return new RSAKeyGenerator(2048).keyID("r1").generate();
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }
}
