package dev.parley.protocol.extension;

import static java.util.Objects.requireNonNull;

/**
 * Answer of an operation that is a document and not JSON. Over REST it is the body, with an entity tag; elsewhere an
 * object with its bytes in base64.
 *
 * @param etag changes with the bytes; without quotation marks
 */
public record WireDocument(byte[] bytes, String mediaType, String etag) implements DocumentAnswer {
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
