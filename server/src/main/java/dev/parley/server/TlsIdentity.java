package dev.parley.server;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** A key and its certificate, ready to be used by a server. */
record TlsIdentity(SSLContext context) {
    private static final System.Logger LOG = System.getLogger("dev.parley.server");
    private static final String KEY_BEGIN = "-----BEGIN PRIVATE KEY-----";
    private static final String KEY_END = "-----END PRIVATE KEY-----";
    private static final List<String> KEY_ALGORITHMS = List.of("RSA", "EC", "Ed25519");

    static TlsIdentity pem(Path certificateChain, Path privateKey) {
        try {
            var chain = CertificateFactory.getInstance("X.509")
                    .generateCertificates(new ByteArrayInputStream(Files.readAllBytes(certificateChain)));
            if (chain.isEmpty()) {
                throw new IllegalArgumentException(certificateChain + ": holds no certificate");
            }
            var store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setKeyEntry("server", key(privateKey), new char[0], chain.toArray(Certificate[]::new));
            return of(store, new char[0]);
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalArgumentException(certificateChain + ", " + privateKey + ": " + e.getMessage(), e);
        }
    }

    static TlsIdentity pkcs12(Path file, char[] password) {
        try (var in = Files.newInputStream(file)) {
            var store = KeyStore.getInstance("PKCS12");
            store.load(in, password);
            return of(store, password);
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
        }
    }

    private static TlsIdentity of(KeyStore store, char[] password) throws GeneralSecurityException {
        var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, password);
        // The JDK's default protocols of this context are TLS 1.2 and 1.3 since its security settings disable the rest.
        var context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
        return new TlsIdentity(context);
    }

    private static PrivateKey key(Path file) throws IOException, GeneralSecurityException {
        var pem = Files.readString(file, StandardCharsets.US_ASCII);
        var begin = pem.indexOf(KEY_BEGIN);
        var end = pem.indexOf(KEY_END);
        if (begin < 0 || end < begin) {
            throw new IllegalArgumentException(
                    file + ": holds no \"" + KEY_BEGIN + "\" (expected: unencrypted PKCS #8)");
        }
        var encoded =
                new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(pem.substring(begin + KEY_BEGIN.length(), end)));
        // The file does not say which kind of key it is.
        for (var algorithm : KEY_ALGORITHMS) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(encoded);
            } catch (InvalidKeySpecException e) {
                LOG.log(Level.DEBUG, "Not a key of " + algorithm, e);
            }
        }
        throw new IllegalArgumentException(file + ": unknown kind of key (expected: one of " + KEY_ALGORITHMS + ")");
    }
}
