package dev.parley.protocol.extension;

import static dev.parley.protocol.json.Codecs.BYTES;
import static dev.parley.protocol.json.Codecs.TEXT;
import static java.util.Objects.requireNonNull;

import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Shape;

/**
 * Answer of an operation that is a document and not JSON. Over REST it is the body, with an entity tag; elsewhere {@linkplain #JSON an
 * object} with its bytes in base64.
 *
 * @param etag changes with the bytes; without quotation marks
 */
public record WireDocument(byte[] bytes, String mediaType, String etag) implements DocumentAnswer {
    /** JSON of a document where it is not the body. */
    public static final Codec<WireDocument> JSON = Shape.<WireDocument>of()
            .required("mediaType", TEXT, WireDocument::mediaType)
            .required("etag", TEXT, WireDocument::etag)
            .required("bytes", BYTES, WireDocument::bytes)
            .as(v -> {
                String mediaType = v.next();
                String etag = v.next();
                return new WireDocument(v.next(), mediaType, etag);
            });

    public WireDocument {
        requireNonNull(bytes, "bytes");
        requireNonNull(mediaType, "mediaType");
        requireNonNull(etag, "etag");
    }

    @Override
    public WireDocument document() {
        return this;
    }
}
