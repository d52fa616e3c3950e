package dev.parley.registry.trust;

import dev.parley.dialect.Json;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;

/** A key on P-256 that signs as other tools do, with any header. */
public final class Signer {
    private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

    private final KeyPair pair;

    public Signer() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            pair = generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    public Map<String, Object> jwk(String kid) {
        ECPublicKey key = (ECPublicKey) pair.getPublic();
        var jwk = new LinkedHashMap<String, Object>();
        jwk.put("kty", "EC");
        jwk.put("crv", "P-256");
        jwk.put("kid", kid);
        jwk.put("x", coordinate(key.getW().getAffineX()));
        jwk.put("y", coordinate(key.getW().getAffineY()));
        return jwk;
    }

    private static String coordinate(BigInteger number) {
        byte[] bytes = number.toByteArray();
        byte[] fixed = new byte[32];
        int length = Math.min(32, bytes.length);
        System.arraycopy(bytes, bytes.length - length, fixed, 32 - length, length);
        return BASE64.encodeToString(fixed);
    }

    /** A JWS without its payload. */
    public String detached(Map<String, Object> header, byte[] payload) {
        String head = BASE64.encodeToString(Json.write(header));
        return head + ".." + signature(head, payload);
    }

    public String compact(Map<String, Object> header, byte[] payload) {
        return detached(header, payload).replace("..", "." + BASE64.encodeToString(payload) + ".");
    }

    /** A card with a signature over its members in canonical form. */
    public Map<String, Object> signed(Map<String, Object> card, byte[] canonical, String kid) {
        String head = BASE64.encodeToString(Json.write(Map.of("alg", "ES256", "kid", kid)));
        var signed = new LinkedHashMap<>(card);
        signed.put("signatures", Arrays.asList(Map.of("protected", head, "signature", signature(head, canonical))));
        return signed;
    }

    private String signature(String head, byte[] payload) {
        try {
            Signature signature = Signature.getInstance("SHA256withECDSAinP1363Format");
            signature.initSign(pair.getPrivate());
            signature.update(
                    (head + "." + BASE64.encodeToString(payload)).getBytes(java.nio.charset.StandardCharsets.US_ASCII));
            return BASE64.encodeToString(signature.sign());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
