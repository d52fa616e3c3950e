package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.FileInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** A key and a certificate for it, made with {@code keytool}, in the forms that servers and clients want. */
record Certificates(Path certificate, Path key, KeyStore store) {
    private static final char[] PASSWORD = "changeit".toCharArray();

    /** @param alternative such as {@code dns:localhost} or {@code uri:spiffe://example.com/shop} */
    static Certificates make(Path directory, String name, String subject, String alternative) throws Exception {
        Path file = directory.resolve(name + ".p12");
        String keytool =
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        int made = new ProcessBuilder(
                        keytool,
                        "-genkeypair",
                        "-alias",
                        "key",
                        "-keyalg",
                        "EC",
                        "-groupname",
                        "secp256r1", // the default is P-384, of which each signature takes milliseconds
                        "-dname",
                        subject,
                        "-ext",
                        "san=" + alternative,
                        "-keystore",
                        file.toString(),
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        new String(PASSWORD))
                .inheritIO()
                .start()
                .waitFor();
        assertThat(made).isZero();
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (var in = new FileInputStream(file.toFile())) {
            store.load(in, PASSWORD);
        }
        Path certificate = directory.resolve(name + ".crt");
        Path key = directory.resolve(name + ".key");
        pem(certificate, "CERTIFICATE", store.getCertificate("key").getEncoded());
        pem(key, "PRIVATE KEY", store.getKey("key", PASSWORD).getEncoded());
        return new Certificates(certificate, key, store);
    }

    private static void pem(Path file, String kind, byte[] bytes) throws Exception {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
        Files.writeString(file, "-----BEGIN " + kind + "-----\n" + text + "\n-----END " + kind + "-----\n");
    }

    /** For a client that trusts this certificate, and shows another, or none. */
    SSLContext trustedBy(@Nullable Certificates client) throws Exception {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("server", store.getCertificate("key"));
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        if (client != null) {
            keys.init(client.store, PASSWORD);
        }
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(client == null ? null : keys.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }
}
