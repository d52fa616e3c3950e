package dev.parley.outbound.http;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/** TLS that trusts certificate authorities of files besides those of Java. */
public final class TrustedAuthorities {
    private TrustedAuthorities() {}

    /**
     * Returns a context for clients; certificates and host names are verified as usual.
     *
     * @param files certificates in PEM or DER, several in a file or one
     * @throws IOException if a file cannot be read
     * @throws IllegalArgumentException if a file holds no certificate; the message names it
     */
    public static SSLContext context(Collection<Path> files) throws IOException {
        try {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            var all = new ArrayList<Certificate>();
            for (TrustManager manager : managers(null)) {
                if (manager instanceof X509TrustManager platform) {
                    all.addAll(List.of(platform.getAcceptedIssuers()));
                }
            }
            for (Path file : files) {
                all.addAll(certificates(file));
            }
            for (Certificate certificate : all) {
                store.setCertificateEntry(String.valueOf(store.size()), certificate);
            }
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, managers(store), null);
            return context;
        } catch (GeneralSecurityException broken) {
            throw new IllegalStateException("every Java platform has TLS", broken);
        }
    }

    private static TrustManager[] managers(@Nullable KeyStore store) throws GeneralSecurityException {
        var factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return factory.getTrustManagers();
    }

    private static Collection<? extends Certificate> certificates(Path file) throws IOException {
        Collection<? extends Certificate> certificates;
        try {
            certificates = CertificateFactory.getInstance("X.509")
                    .generateCertificates(new ByteArrayInputStream(Files.readAllBytes(file)));
        } catch (GeneralSecurityException unreadable) {
            throw new IllegalArgumentException("\"" + file + "\": no certificate (expected: PEM)", unreadable);
        }
        if (certificates.isEmpty() || !certificates.stream().allMatch(X509Certificate.class::isInstance)) {
            throw new IllegalArgumentException("\"" + file + "\": no certificate (expected: PEM)");
        }
        return certificates;
    }
}
