package dev.parley.protocol.extension;

import static java.util.Objects.requireNonNull;

import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Answer of an operation that is a document and not JSON. Over REST it is the body, with an entity tag; elsewhere an object with its
 * bytes in base64.
 *
 * @param etag changes with the bytes; without quotation marks
 * @param tree the answer elsewhere, for bytes that are JSON themselves; null for an object with the bytes
 */
public record WireDocument(
        byte[] bytes,
        String mediaType,
        String etag,
        @Nullable Supplier<?> tree) {
    public WireDocument {
        requireNonNull(bytes, "bytes");
        requireNonNull(mediaType, "mediaType");
        requireNonNull(etag, "etag");
    }

    /** A document of another type than JSON. */
    public WireDocument(byte[] bytes, String mediaType, String etag) {
        this(bytes, mediaType, etag, null);
    }

    Object json() {
        if (tree != null) {
            return requireNonNull(tree.get(), "tree");
        }
        var json = new LinkedHashMap<String, Object>();
        json.put("mediaType", mediaType);
        json.put("etag", etag);
        json.put("bytes", Base64.getEncoder().encodeToString(bytes));
        return json;
    }
}
