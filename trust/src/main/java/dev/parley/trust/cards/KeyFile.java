package dev.parley.trust.cards;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.OctetKeyPair;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.util.Base64URL;
import com.nimbusds.jose.util.JSONObjectUtils;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.Key;
import java.security.KeyFactory;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.EdECPrivateKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.NamedParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.text.ParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Keys in files: a JWK, a set of them, or one in PEM as OpenSSL writes it. */
final class KeyFile {
    private static final Pattern PEM =
            Pattern.compile("-----BEGIN ([A-Z ]+)-----([A-Za-z0-9+/=\\s]+)-----END \\1-----");

    /** Text that is safe in a log, a terminal and an error. */
    private static final Pattern ID = Pattern.compile("[!-~]+");

    private static final int P256_POINT = 65;

    /** DER prefix of the point of a public key. Source: RFC 5480, section 2. */
    private static final byte[] P256_PUBLIC =
            HexFormat.of().parseHex("3059301306072a8648ce3d020106082a8648ce3d030107034200");

    private static final int ED25519_KEY = 32;

    /** The member of a JWK that limits its trust to hosts. Other readers ignore it. */
    static final String HOSTS = "hosts";

    private KeyFile() {}

    /**
     * Returns the keys of a file, at least one.
     *
     * @throws UncheckedIOException if it cannot be read
     * @throws IllegalArgumentException naming the file, if it holds anything else
     */
    static List<CardKey> read(Path file) {
        try {
            return parse(Files.readString(file));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + file, e);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
        }
    }

    /** @throws IllegalArgumentException if the text is something else */
    static List<CardKey> parse(String text) {
        List<CardKey> keys;
        try {
            String whole = text.strip();
            keys = whole.startsWith("{") ? ofJson(whole) : List.of(new CardKey(ofPem(whole)));
        } catch (ParseException | JOSEException | GeneralSecurityException e) {
            // Neither the message nor the cause: they may quote a secret.
            throw new IllegalArgumentException("no key (expected: a JWK, a JWK set, or a key in PEM)");
        }
        if (keys.isEmpty()) {
            throw new IllegalArgumentException("no key that is known of (expected: at least one)");
        }
        if (!keys.stream().allMatch(key -> ID.matcher(key.id()).matches())) {
            throw new IllegalArgumentException(
                    "kid: blanks in it, other characters, or none (expected: visible characters of ASCII)");
        }
        return keys;
    }

    private static List<CardKey> ofJson(String text) throws ParseException {
        Map<String, Object> tree = JSONObjectUtils.parse(text);
        if (!tree.containsKey("keys")) {
            return List.of(new CardKey(JWK.parse(tree), hosts(tree)));
        }
        var keys = new ArrayList<CardKey>();
        for (Map<String, Object> one : JSONObjectUtils.getJSONObjectArray(tree, "keys")) {
            // Skips keys of unknown kinds and uses, as RFC 7517 requires of readers of sets.
            for (JWK key : JWKSet.parse(Map.of("keys", List.of(one))).getKeys()) {
                if (!KeyUse.ENCRYPTION.equals(key.getKeyUse())) {
                    keys.add(new CardKey(key, hosts(one)));
                }
            }
        }
        return keys;
    }

    private static List<String> hosts(Map<String, Object> key) {
        if (!key.containsKey(HOSTS)) {
            return List.of();
        }
        if (!(key.get(HOSTS) instanceof List<?> named)
                || named.isEmpty()
                || !named.stream().allMatch(String.class::isInstance)) {
            throw new IllegalArgumentException(HOSTS + ": " + key.get(HOSTS) + " (expected: a list of host names)");
        }
        return named.stream()
                .map(host -> host.toString().toLowerCase(Locale.ROOT))
                .toList();
    }

    private static byte[] decoded(String base64) {
        try {
            return Base64.getMimeDecoder().decode(base64);
        } catch (IllegalArgumentException cut) {
            throw new IllegalArgumentException("no base64 (expected: a key in PEM)");
        }
    }

    /** True for a text that begins with PEM; inside JSON, a stranger may have put PEM into a string. */
    private static JWK ofPem(String text) throws GeneralSecurityException, JOSEException {
        Matcher pem = PEM.matcher(text);
        if (!pem.lookingAt()) {
            throw new InvalidKeyException("neither JSON nor PEM");
        }
        String label = pem.group(1);
        byte[] der = decoded(pem.group(2));
        return switch (label) {
            case "PUBLIC KEY" -> ofPublic(der);
            case "PRIVATE KEY" -> ofPrivate(der);
            default ->
                throw new IllegalArgumentException(label + " (expected: PRIVATE KEY, not encrypted, or PUBLIC KEY)");
        };
    }

    private static JWK ofPublic(byte[] der) throws GeneralSecurityException {
        for (String kind : List.of("EC", "Ed25519", "RSA")) {
            try {
                return switch (KeyFactory.getInstance(kind).generatePublic(new X509EncodedKeySpec(der))) {
                    case ECPublicKey ec -> new ECKey.Builder(Curve.forECParameterSpec(ec.getParams()), ec).build();
                    case RSAPublicKey rsa -> new RSAKey.Builder(rsa).build();
                    case PublicKey ed -> new OctetKeyPair.Builder(Curve.Ed25519, encodedEnd(ed)).build();
                };
            } catch (IllegalStateException off) {
                throw new InvalidKeyException("of no point on its curve", off);
            } catch (InvalidKeySpecException another) {
                // One of the next kind, then.
            }
        }
        throw new InvalidKeyException("of no kind that is known");
    }

    private static JWK ofPrivate(byte[] der) throws GeneralSecurityException, JOSEException {
        for (String kind : List.of("EC", "Ed25519")) {
            try {
                PrivateKey key = KeyFactory.getInstance(kind).generatePrivate(new PKCS8EncodedKeySpec(der));
                JWK jwk = key instanceof ECPrivateKey ec ? pair(ec, der) : pair((EdECPrivateKey) key);
                requirePair(new CardKey(jwk));
                return jwk;
            } catch (InvalidKeySpecException another) {
                // One of the next kind, then.
            }
        }
        throw new IllegalArgumentException("private key of another kind (expected: EC on P-256, or Ed25519)");
    }

    /** OpenSSL writes the public half after the private one, where the JDK does not look. Source: RFC 5915, section 3. */
    private static JWK pair(ECPrivateKey key, byte[] der) throws GeneralSecurityException {
        byte[] point = Arrays.copyOfRange(der, Math.max(0, der.length - P256_POINT), der.length);
        try {
            var encoded = new X509EncodedKeySpec(CardKey.joined(P256_PUBLIC, point));
            var publicKey = (ECPublicKey) KeyFactory.getInstance("EC").generatePublic(encoded);
            return new ECKey.Builder(Curve.P_256, publicKey).privateKey(key).build();
        } catch (InvalidKeySpecException | IllegalStateException none) {
            throw new IllegalArgumentException(
                    "private key without its public half, or not on P-256 (expected: both, as openssl genpkey writes"
                            + " them)");
        }
    }

    /** The JDK has no way from the private half to the public one but to make a pair by chance, which is this one here. */
    private static JWK pair(EdECPrivateKey key) throws GeneralSecurityException {
        byte[] secret = key.getBytes().orElseThrow(() -> new InvalidKeyException("not in software"));
        KeyPairGenerator generator = KeyPairGenerator.getInstance("Ed25519");
        generator.initialize(NamedParameterSpec.ED25519, new SecureRandom() {
            private static final long serialVersionUID = 1L;

            @Override
            public void nextBytes(byte[] bytes) {
                System.arraycopy(secret, 0, bytes, 0, bytes.length);
            }
        });
        return new OctetKeyPair.Builder(
                        Curve.Ed25519, encodedEnd(generator.generateKeyPair().getPublic()))
                .d(Base64URL.encode(secret))
                .build();
    }

    private static void requirePair(CardKey key) {
        byte[] payload = {1, 2, 3};
        byte[] signature = Base64.getUrlDecoder().decode(key.sign("", payload));
        if (!key.hasSigned(key.algorithm(), "", payload, signature)) {
            throw new IllegalArgumentException("public half that is another key's (expected: that of the private one)");
        }
    }

    static Base64URL encodedEnd(Key ed25519) {
        byte[] encoded = ed25519.getEncoded();
        return Base64URL.encode(Arrays.copyOfRange(encoded, encoded.length - ED25519_KEY, encoded.length));
    }
}
