package dev.parley.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.RSAPublicKey;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;

/**
 * Third-party issuer of tokens: it publishes its discovery document and its key, and prints one token (RS256,
 * of 2048 bits) for the audience {@code parley}.
 *
 * <p>Argument: the port. Ends with the process.
 */
public final class TokenIssuer {
    private TokenIssuer() {}

    public static void main(String[] arguments) throws IOException, GeneralSecurityException {
        String url = "http://127.0.0.1:" + arguments[0];
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(2048);
        KeyPair pair = generator.generateKeyPair();

        var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[0]));
        HttpServer server = HttpServer.create(address, 0);
        serve(
                server,
                "/.well-known/openid-configuration",
                "{\"issuer\":\"" + url + "\",\"jwks_uri\":\"" + url + "/keys\"}");
        serve(server, "/keys", "{\"keys\":[" + key((RSAPublicKey) pair.getPublic()) + "]}");
        server.start();

        Instant end = Instant.now().plus(Duration.ofDays(1));
        String signed = base64("{\"alg\":\"RS256\",\"kid\":\"1\"}".getBytes(UTF_8)) + "."
                + base64(("{\"iss\":\"" + url + "\",\"aud\":\"parley\",\"sub\":\"quiet\",\"exp\":"
                                + end.getEpochSecond() + "}")
                        .getBytes(UTF_8));
        Signature signature = Signature.getInstance("SHA256withRSA");
        signature.initSign(pair.getPrivate());
        signature.update(signed.getBytes(UTF_8));
        System.out.println(signed + "." + base64(signature.sign()));
    }

    private static String key(RSAPublicKey key) {
        byte[] modulus = key.getModulus().toByteArray();
        byte[] unsigned = modulus[0] == 0 ? Arrays.copyOfRange(modulus, 1, modulus.length) : modulus;
        return "{\"kty\":\"RSA\",\"alg\":\"RS256\",\"kid\":\"1\",\"e\":\""
                + base64(key.getPublicExponent().toByteArray()) + "\",\"n\":\"" + base64(unsigned) + "\"}";
    }

    private static String base64(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    private static void serve(HttpServer server, String path, String json) {
        byte[] body = json.getBytes(UTF_8);
        server.createContext(path, exchange -> {
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
    }
}
