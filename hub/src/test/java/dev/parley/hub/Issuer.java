package dev.parley.hub;

import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.sun.net.httpserver.HttpServer;
import dev.parley.dialect.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** An issuer of tokens on the loopback interface, whose one key is the test's; ends with the process. */
final class Issuer {
    private final String url;

    Issuer(RSAKey key) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        url = "http://127.0.0.1:" + server.getAddress().getPort();
        serve(
                server,
                "/.well-known/openid-configuration",
                Json.write(Map.of("issuer", url, "jwks_uri", url + "/keys")));
        serve(server, "/keys", new JWKSet(key.toPublicJWK()).toString().getBytes(StandardCharsets.UTF_8));
        server.start();
    }

    String url() {
        return url;
    }

    private static void serve(HttpServer server, String path, byte[] body) {
        server.createContext(path, exchange -> {
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
    }
}
