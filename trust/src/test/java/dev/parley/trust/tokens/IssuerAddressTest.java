package dev.parley.trust.tokens;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpServer;
import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.testkit.AddressContract;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.StreamHandler;
import org.jspecify.annotations.Nullable;

/** The operator names the issuer, whose metadata names the address as that of its keys. */
class IssuerAddressTest extends AddressContract {
    /** Held, as the platform forgets loggers. */
    private static final Logger LOG = Logger.getLogger("dev.parley.trust");

    private static @Nullable RSAKey key;

    @Override
    protected String scheme() {
        return "https";
    }

    /** An issuer at a loopback address, as that of the test, may name all of them. */
    @Override
    protected List<String> ofThisMachine() {
        return List.of("[::]");
    }

    @Override
    protected String call(String url, List<String> allowed) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        String name = "http://127.0.0.1:" + server.getAddress().getPort();
        server.createContext("/", exchange -> {
            byte[] body = Json.write(Map.of("issuer", name, "jwks_uri", url));
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        var logged = new CompletableFuture<Throwable>();
        Handler log = new StreamHandler() {
            @Override
            public void publish(LogRecord entry) {
                logged.complete(entry.getThrown());
            }
        };
        LOG.addHandler(log);
        try (var documents = Issuer.documents(List.of(name), allowed)) {
            var issuer = new Issuer(name, () -> Set.of("hub"), InstantSource.system(), documents);
            assertThatThrownBy(() -> issuer.claims(token(name))).isInstanceOf(A2AException.class);
            throw new IllegalStateException(logged.get());
        } finally {
            LOG.removeHandler(log);
            server.stop(0);
        }
    }

    private static String token(String issuer) throws Exception {
        RSAKey signer = key;
        if (signer == null) {
            signer = new RSAKeyGenerator(2048).keyID("k").generate();
            key = signer;
        }
        var token = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("k").build(),
                new JWTClaimsSet.Builder().issuer(issuer).build());
        token.sign(new RSASSASigner(signer));
        return token.serialize();
    }
}
