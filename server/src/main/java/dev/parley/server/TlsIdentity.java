package dev.parley.server;

import static java.nio.file.StandardWatchEventKinds.ENTRY_CREATE;
import static java.nio.file.StandardWatchEventKinds.ENTRY_MODIFY;

import dev.parley.server.limits.HandshakeContext;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.Socket;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/**
 * Key and certificate of a server, reread when their files change, and the authorities of client certificates. Safe for any
 * thread.
 */
final class TlsIdentity {
    private static final System.Logger LOG = System.getLogger("dev.parley.server");

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
        return of(() -> TlsFiles.pem(certificateChain, privateKey), List.of(certificateChain, privateKey));
    }

    static TlsIdentity pkcs12(Path file, char[] password) {
        char[] copy = password.clone();
        return of(() -> TlsFiles.pkcs12(file, copy), List.of(file));
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
                trusted = TlsFiles.authorities(authorities);
                context = context(source.read(), trusted);
            }
            return HandshakeContext.of(() -> context, authorities != null, share);
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalArgumentException(authorities + ": " + e.getMessage(), e);
        }
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
}
