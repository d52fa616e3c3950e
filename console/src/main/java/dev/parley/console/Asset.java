package dev.parley.console;

import dev.parley.protocol.support.Sha256;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HexFormat;
import java.util.Map;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * A file as it is sent.
 *
 * @param type media type
 * @param gzip the same compressed; null if that is no shorter
 * @param hash of the contents
 */
record Asset(String type, byte[] bytes, byte @Nullable [] gzip, String hash) {
    private static final Map<String, String> TYPES = Map.of(
            "js", "text/javascript; charset=utf-8",
            "mjs", "text/javascript; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "html", "text/html; charset=utf-8",
            "json", "application/json",
            "svg", "image/svg+xml",
            "png", "image/png",
            "woff2", "font/woff2");

    /** Returns a file; null if it is of no type that pages use. */
    static @Nullable Asset of(String name, byte[] bytes) {
        String type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
        if (type == null) {
            return null;
        }
        byte[] gzip = gzip(bytes);
        return new Asset(type, bytes, gzip.length < bytes.length ? gzip : null, hash(bytes));
    }

    /** Short hash for addresses and tags. */
    static String hash(byte[] bytes) {
        return HexFormat.of().formatHex(Sha256.of(bytes), 0, 10);
    }

    private static byte[] gzip(byte[] bytes) {
        var compressed = new ByteArrayOutputStream();
        try (var out = new BestGzip(compressed)) {
            out.write(bytes);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return compressed.toByteArray();
    }

    /** Compresses once, for many readers. */
    private static final class BestGzip extends GZIPOutputStream {
        BestGzip(ByteArrayOutputStream out) throws IOException {
            super(out);
            def.setLevel(Deflater.BEST_COMPRESSION);
        }
    }
}
