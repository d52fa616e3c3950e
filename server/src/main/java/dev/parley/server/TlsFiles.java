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
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;

/** Keys and certificates of TLS in files: PEM and PKCS #12. */
final class TlsFiles {
    private static final System.Logger LOG = System.getLogger("dev.parley.server");
    private static final String KEY_BEGIN = "-----BEGIN PRIVATE KEY-----";
    private static final String KEY_END = "-----END PRIVATE KEY-----";
    private static final List<String> KEY_ALGORITHMS = List.of("RSA", "EC", "Ed25519");

    private TlsFiles() {}

    static X509ExtendedKeyManager pem(Path certificateChain, Path privateKey)
            throws IOException, GeneralSecurityException {
        Collection<? extends Certificate> chain = certificates(certificateChain);
        KeyStore store = emptyStore();
        PrivateKey key = key(privateKey);
        requirePair(chain.iterator().next(), key, privateKey);
        store.setKeyEntry("server", key, new char[0], chain.toArray(Certificate[]::new));
        return keys(store, new char[0]);
    }

    static X509ExtendedKeyManager pkcs12(Path file, char[] password) throws IOException, GeneralSecurityException {
        try (var in = Files.newInputStream(file)) {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(in, password);
            return keys(store, password);
        }
    }

    static TrustManager[] authorities(Path file) throws IOException, GeneralSecurityException {
        KeyStore store = emptyStore();
        int number = 0;
        for (Certificate authority : certificates(file)) {
            store.setCertificateEntry("authority-" + number++, authority);
        }
        var managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(store);
        return managers.getTrustManagers();
    }

    /** While two files are replaced there is a moment in which they do not belong together. */
    private static void requirePair(Certificate certificate, PrivateKey key, Path file)
            throws GeneralSecurityException {
        String algorithm = switch (key.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            default -> "Ed25519";
        };
        byte[] text = {1, 2, 3};
        Signature signing = Signature.getInstance(algorithm);
        signing.initSign(key);
        signing.update(text);
        byte[] signature = signing.sign();
        signing.initVerify(certificate);
        signing.update(text);
        if (!signing.verify(signature)) {
            throw new IllegalArgumentException(file + ": is not the key of the certificate");
        }
    }

    private static Collection<? extends Certificate> certificates(Path file)
            throws IOException, GeneralSecurityException {
        Collection<? extends Certificate> certificates = CertificateFactory.getInstance("X.509")
                .generateCertificates(new ByteArrayInputStream(Files.readAllBytes(file)));
        if (certificates.isEmpty()) {
            throw new IllegalArgumentException(file + ": holds no certificate");
        }
        return certificates;
    }

    private static KeyStore emptyStore() throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    /** Decrypts the key once: the other key manager of the JDK does so at each handshake, which takes 2.5 ms more. */
    static X509ExtendedKeyManager keys(KeyStore store, char[] password) throws GeneralSecurityException {
        var managers = KeyManagerFactory.getInstance("SunX509");
        managers.init(store, password);
        for (KeyManager manager : managers.getKeyManagers()) {
            if (manager instanceof X509ExtendedKeyManager keys) {
                return keys;
            }
        }
        throw new GeneralSecurityException("no key can be used");
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
