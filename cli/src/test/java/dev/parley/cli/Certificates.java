package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Certificates of hubs on this machine. */
public final class Certificates {
    private Certificates() {}

    /** Writes a certificate for 127.0.0.1 that no client trusts, and its key. */
    public static void selfSigned(Path chain, Path key) throws Exception {
        Path keys = chain.resolveSibling("keys.p12");
        char[] password = "changeit".toCharArray();
        Path keytool = Path.of(System.getProperty("java.home"), "bin", "keytool");
        Process process = new ProcessBuilder((keytool
                                + " -genkeypair -alias hub -keyalg EC -dname CN=hub -ext san=ip:127.0.0.1 -storetype PKCS12"
                                + " -storepass changeit -keystore " + keys)
                        .split(" ", -1))
                .inheritIO()
                .start();
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(keys)) {
            store.load(in, password);
        }
        Files.writeString(chain, pem("CERTIFICATE", store.getCertificate("hub").getEncoded()));
        Files.writeString(key, pem("PRIVATE KEY", store.getKey("hub", password).getEncoded()));
    }

    /** Returns the context of a client that trusts a certificate, and no other. */
    public static SSLContext trusting(Path chain) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        try (InputStream in = Files.newInputStream(chain)) {
            store.setCertificateEntry(
                    "hub", CertificateFactory.getInstance("X.509").generateCertificate(in));
        }
        var trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trusted.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trusted.getTrustManagers(), null);
        return context;
    }

    private static String pem(String what, byte[] bytes) {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
        return "-----BEGIN " + what + "-----\n" + text + "\n-----END " + what + "-----\n";
    }
}
