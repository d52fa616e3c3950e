package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.util.X509CertUtils;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import dev.parley.engine.Agent;
import dev.parley.testkit.Eventually;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Callers;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Date;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Callers who show certificates, over real TLS; and a server whose certificate is replaced. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("heavy")
final class MutualTlsTest {
    /** Place of the description in the record of an alert. */
    private static final int ALERT = 6;

    private Certificates server;
    private Certificates shop;
    private Certificates unknown;
    private Certificates stranger;
    private RSAKey issuerKey;
    private String issuer;
    private Hub hub;

    @BeforeAll
    void start(@TempDir Path directory) throws Exception {
        server = Certificates.make(directory, "server", "CN=localhost", "dns:localhost");
        shop = Certificates.make(directory, "shop", "CN=whatever", "uri:spiffe://example.com/shop");
        unknown = Certificates.make(directory, "unknown", "CN=unknown", "uri:spiffe://example.com/other");
        stranger = Certificates.make(directory, "stranger", "CN=stranger", "uri:spiffe://example.com/shop");
        Path authorities = directory.resolve("authorities.pem");
        Files.writeString(authorities, Files.readString(shop.certificate()) + Files.readString(unknown.certificate()));
        issuerKey = new RSAKeyGenerator(2048).keyID("first").generate();
        issuer = new Issuer(issuerKey).url();
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .adminPort(0)
                .set("admin-bind", "0.0.0.0")
                .tls(server.certificate(), server.key())
                .set("tls-client-ca", authorities.toString())
                .callers(Callers.builder()
                        .certificate("shop", "spiffe://example.com/shop")
                        .group("shop", "T1")
                        .scopes("shop", List.of("metrics"))
                        .build())
                .authentication(Authentication.of(Scheme.MUTUAL_TLS))
                .authentication("tokens", Authentication.of(Scheme.OPEN_ID))
                .issuer(issuer)
                .audiences(List.of("agents"))
                .agents(agent("echo"), agent("tokens"))
                .start();
    }

    private static Agent agent(String name) {
        return Agent.named(name, "Says who calls")
                .handle((request, reply) -> reply.complete(request.context().caller() + " of "
                        + request.context().scope().group()));
    }

    @AfterAll
    void stop() {
        hub.close();
    }

    private int port() {
        return URI.create(hub.url()).getPort();
    }

    private HttpResponse<String> send(HttpClient.Version version, @Nullable Certificates client, String... headers)
            throws Exception {
        return sendTo("echo", version, client, headers);
    }

    private HttpResponse<String> sendTo(
            String agent, HttpClient.Version version, @Nullable Certificates client, String... headers)
            throws Exception {
        try (HttpClient http = HttpClient.newBuilder()
                .sslContext(server.trustedBy(client))
                .version(version)
                .build()) {
            var request = HttpRequest.newBuilder(
                            URI.create("https://localhost:" + port() + "/agents/" + agent + "/message:send"))
                    .header("Content-Type", "application/json")
                    .header("A2A-Version", "1.0")
                    .POST(BodyPublishers.ofString("{\"message\":{\"messageId\":\"" + Instant.now()
                            + "\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"hello\"}]}}"));
            if (headers.length > 0) {
                request.headers(headers);
            }
            return http.send(request.build(), BodyHandlers.ofString());
        }
    }

    @ParameterizedTest
    @EnumSource(HttpClient.Version.class)
    @DisplayName("ONE25: the right certificate maps to a caller, over HTTP/1.1 and HTTP/2")
    void theRightCertificateIsACaller(HttpClient.Version version) throws Exception {
        HttpResponse<String> answer = send(version, shop);

        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(answer.version()).isEqualTo(version);
        assertThat(answer.body()).contains("shop of T1");
    }

    @Test
    @DisplayName("ONE25: none, and one that nobody enrolled, gets 401, and so does one that nobody signed")
    void othersAreRefused() throws Exception {
        HttpResponse<String> none = send(HttpClient.Version.HTTP_1_1, null);
        assertThat(none.statusCode()).isEqualTo(401);
        assertThat(none.headers().firstValue("WWW-Authenticate")).contains("Mutual realm=\"parley\"");
        assertThat(send(HttpClient.Version.HTTP_1_1, unknown).statusCode()).isEqualTo(401);
        // Its client sees that the server does not want this one, and shows none.
        assertThat(send(HttpClient.Version.HTTP_1_1, stranger).statusCode()).isEqualTo(401);
    }

    @Test
    void aTokenThatIsBoundToACertificateComesWithThatAlone() throws Exception {
        var certificate = (X509Certificate) shop.store().getCertificate("key");
        var token = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("first").build(),
                new JWTClaimsSet.Builder()
                        .issuer(issuer)
                        .audience("agents")
                        .subject("alice")
                        .expirationTime(Date.from(Instant.now().plusSeconds(300)))
                        .claim(
                                "cnf",
                                Map.of(
                                        "x5t#S256",
                                        X509CertUtils.computeSHA256Thumbprint(certificate)
                                                .toString()))
                        .build());
        token.sign(new RSASSASigner(issuerKey));
        String bearer = "Bearer " + token.serialize();

        for (var version : HttpClient.Version.values()) {
            assertThat(sendTo("tokens", version, shop, "Authorization", bearer).body())
                    .contains("alice@");
            assertThat(sendTo("tokens", version, unknown, "Authorization", bearer)
                            .statusCode())
                    .isEqualTo(401);
            assertThat(sendTo("tokens", version, null, "Authorization", bearer).statusCode())
                    .isEqualTo(401);
        }
    }

    @Test
    void operatorsOnOtherMachinesComeByTlsToo() throws Exception {
        var metrics =
                HttpRequest.newBuilder(URI.create(hub.adminUrl() + "/metrics")).build();
        try (HttpClient http =
                HttpClient.newBuilder().sslContext(server.trustedBy(shop)).build()) {
            assertThat(http.send(metrics, BodyHandlers.discarding()).statusCode())
                    .isEqualTo(200);
        }
        try (HttpClient http =
                HttpClient.newBuilder().sslContext(server.trustedBy(unknown)).build()) {
            assertThat(http.send(metrics, BodyHandlers.discarding()).statusCode())
                    .isEqualTo(401);
        }
    }

    @Test
    void aCertificateInAHeaderIsNone() throws Exception {
        HttpResponse<String> forged =
                send(HttpClient.Version.HTTP_1_1, null, "X-Forwarded-Client-Cert", "URI=spiffe://example.com/shop");
        assertThat(forged.statusCode()).isEqualTo(401);
    }

    @Test
    @DisplayName("GEM19: the connection has TLS 1.2 or newer, and older clients are refused")
    void oldVersionsAreRefused() throws Exception {
        SSLContext trusting = server.trustedBy(shop);
        for (String version : List.of("TLSv1.3", "TLSv1.2")) {
            try (var socket = (SSLSocket) trusting.getSocketFactory().createSocket("localhost", port())) {
                socket.setEnabledProtocols(new String[] {version});
                socket.startHandshake();
                assertThat(socket.getSession().getProtocol()).isEqualTo(version);
            }
        }
        // Clients of the JDK refuse TLS 1.1 themselves, so this record is made by hand.
        byte[] refusal = answer("0302");
        assertThat(refusal).as("alert").startsWith(0x15);
        assertThat(refusal[ALERT]).as("protocol_version").isEqualTo((byte) 70);
    }

    /** Sends a ClientHello of a version, and returns the beginning of the answer. */
    private byte[] answer(String version) throws IOException {
        String suites = "0008" + "c02bc02fc009c013";
        String extensions = "001a" + "000a000400020017" + "000b00020100" + "000d00080006040308040401";
        String hello = version + "00".repeat(32) + "00" + suites + "0100" + extensions;
        String handshake = "01%06x".formatted(hello.length() / 2) + hello;
        String record = "160301%04x".formatted(handshake.length() / 2) + handshake;
        try (var socket = new Socket("localhost", port())) {
            socket.getOutputStream().write(HexFormat.of().parseHex(record));
            return socket.getInputStream().readNBytes(ALERT + 1);
        }
    }

    @Test
    void aNewCertificateIsTakenOverWithoutARestart(@TempDir Path directory) throws Exception {
        Certificates first = Certificates.make(directory, "first", "CN=localhost", "dns:localhost");
        Certificates second = Certificates.make(directory, "second", "CN=localhost", "dns:localhost");
        Path certificate = Files.copy(first.certificate(), directory.resolve("tls.crt"));
        Path key = Files.copy(first.key(), directory.resolve("tls.key"));
        try (Hub renewed = Hub.builder()
                .inMemory()
                .port(0)
                .tls(certificate, key)
                .agents(Agent.named("echo", "Echoes").handle((request, reply) -> reply.complete(request.text())))
                .start()) {
            int port = URI.create(renewed.url()).getPort();
            assertThat(shown(first, port)).isEqualTo(first.store().getCertificate("key"));

            Files.copy(second.key(), key, StandardCopyOption.REPLACE_EXISTING);
            Files.copy(second.certificate(), certificate, StandardCopyOption.REPLACE_EXISTING);

            Certificate wanted = second.store().getCertificate("key");
            Eventually.value("the renewed certificate", () -> shown(null, port), wanted::equals);
        }
    }

    /** What the server shows to whoever connects, trusted or not. */
    private static Certificate shown(@Nullable Certificates trusted, int port) throws Exception {
        SSLContext context = trusted == null ? AnyServer.trusting() : trusted.trustedBy(null);
        try (var socket = (SSLSocket) context.getSocketFactory().createSocket("localhost", port)) {
            socket.startHandshake();
            return socket.getSession().getPeerCertificates()[0];
        }
    }
}
