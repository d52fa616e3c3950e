package dev.parley.server;

import static java.nio.file.StandardWatchEventKinds.ENTRY_CREATE;
import static java.nio.file.StandardWatchEventKinds.ENTRY_MODIFY;

import dev.parley.server.limits.HandshakeContext;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/**
 * Key and certificate of a server, reread when their files change, and the authorities of client certificates. Safe for any
 * thread.
 */
final class TlsIdentity {
    private static final System.Logger LOG = System.getLogger("dev.parley.server");
    private static final String KEY_BEGIN = "-----BEGIN PRIVATE KEY-----";
    private static final String KEY_END = "-----END PRIVATE KEY-----";
    private static final List<String> KEY_ALGORITHMS = List.of("RSA", "EC", "Ed25519");

    /** Reads the key and its certificate anew. */
    private interface Source {
        X509ExtendedKeyManager read() throws IOException, GeneralSecurityException;
    }

    private final Source source;
    private final List<Path> files;
    private TrustManager @Nullable [] trusted;
    private volatile SSLContext context;
    private List<String> stamps;

    private TlsIdentity(Source source, List<Path> files) throws IOException, GeneralSecurityException {
        this.source = source;
        this.files = List.copyOf(files);
        this.stamps = stamps(files);
        this.context = context(source.read(), null);
    }

    static TlsIdentity pem(Path certificateChain, Path privateKey) {
        return of(() -> readPem(certificateChain, privateKey), List.of(certificateChain, privateKey));
    }

    static TlsIdentity pkcs12(Path file, char[] password) {
        char[] copy = password.clone();
        return of(() -> readPkcs12(file, copy), List.of(file));
    }

    private static TlsIdentity of(Source source, List<Path> files) {
        try {
            return new TlsIdentity(source, files);
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalArgumentException(
                    String.join(", ", files.stream().map(Path::toString).toList()) + ": " + e.getMessage(), e);
        }
    }

    /**
     * Returns the SSL context of a server; its keys follow the files while {@link #watch} is open.
     *
     * @param authorities PEM of the authorities that sign client certificates; null if clients need none
     * @param share waits for a share of the processors for the handshake on an accepted socket
     */
    SSLContext context(@Nullable Path authorities, Consumer<Socket> share) {
        try {
            if (authorities != null) {
                trusted = authorities(authorities);
                context = context(source.read(), trusted);
            }
            return HandshakeContext.of(() -> context, authorities != null, share);
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalArgumentException(authorities + ": " + e.getMessage(), e);
        }
    }

    private static TrustManager[] authorities(Path file) throws IOException, GeneralSecurityException {
        KeyStore store = emptyStore();
        int number = 0;
        for (Certificate authority : certificates(file)) {
            store.setCertificateEntry("authority-" + number++, authority);
        }
        var managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(store);
        return managers.getTrustManagers();
    }

    /** The JDK's default protocols of this context are TLS 1.2 and 1.3 since its security settings disable the rest. */
    private static SSLContext context(X509ExtendedKeyManager keys, TrustManager @Nullable [] trusted)
            throws GeneralSecurityException {
        var context = SSLContext.getInstance("TLS");
        context.init(new KeyManager[] {keys}, trusted, null);
        return context;
    }

    /** Takes new keys over when the files change, until the result is closed; what cannot be read changes nothing. */
    AutoCloseable watch() throws IOException {
        WatchService watcher = files.getFirst().getFileSystem().newWatchService();
        for (Path directory : files.stream()
                .map(file -> file.toAbsolutePath().getParent())
                .distinct()
                .toList()) {
            directory.register(watcher, ENTRY_CREATE, ENTRY_MODIFY);
        }
        Thread.ofPlatform().daemon().name("tls-files").start(() -> follow(watcher));
        return watcher;
    }

    private void follow(WatchService watcher) {
        try {
            while (true) {
                WatchKey changed = watcher.take();
                changed.pollEvents();
                var unused = reloadIfChanged();
                changed.reset();
            }
        } catch (InterruptedException | ClosedWatchServiceException stopped) {
            LOG.log(Level.DEBUG, "the files of the certificate are no longer watched");
        }
    }

    /** Reads the files again if they have changed, and not only others in their directories. */
    boolean reloadIfChanged() {
        List<String> now = stamps(files);
        if (now.equals(stamps)) {
            return false;
        }
        stamps = now;
        reload();
        return true;
    }

    /** Returns a value for each file that another one has after a change; none for a file that is not there at the moment. */
    private static List<String> stamps(List<Path> files) {
        var stamps = new ArrayList<String>();
        for (Path file : files) {
            try {
                var attributes = Files.readAttributes(file, BasicFileAttributes.class);
                stamps.add(attributes.lastModifiedTime() + " " + attributes.size() + " " + attributes.fileKey());
            } catch (IOException missing) {
                stamps.add("");
            }
        }
        return stamps;
    }

    private void reload() {
        try {
            context = context(source.read(), trusted);
            LOG.log(Level.INFO, "the certificate was read anew");
        } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
            // Perhaps one of the two files is new and the other not yet.
            LOG.log(
                    Level.WARNING,
                    "a certificate could not be read anew, the one before is still used: {0}",
                    e.getMessage());
        }
    }

    private static X509ExtendedKeyManager readPem(Path certificateChain, Path privateKey)
            throws IOException, GeneralSecurityException {
        Collection<? extends Certificate> chain = certificates(certificateChain);
        KeyStore store = emptyStore();
        PrivateKey key = key(privateKey);
        requirePair(chain.iterator().next(), key, privateKey);
        store.setKeyEntry("server", key, new char[0], chain.toArray(Certificate[]::new));
        return keys(store, new char[0]);
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

    private static X509ExtendedKeyManager readPkcs12(Path file, char[] password)
            throws IOException, GeneralSecurityException {
        try (var in = Files.newInputStream(file)) {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(in, password);
            return keys(store, password);
        }
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
