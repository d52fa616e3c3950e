package dev.parley.protocol.json;

import static dev.parley.protocol.json.Codecs.BYTES;
import static dev.parley.protocol.json.Codecs.TEXT;

import dev.parley.protocol.extension.WireDocument;

/** JSON of documents that are not the body of an answer. */
public final class Documents {
    /** An object with the bytes in base64. */
    public static final Codec<WireDocument> JSON = ObjectCodec.<WireDocument>of()
            .required("mediaType", TEXT, WireDocument::mediaType)
            .required("etag", TEXT, WireDocument::etag)
            .required("bytes", BYTES, WireDocument::bytes)
            .as(v -> {
                String mediaType = v.next();
                String etag = v.next();
                return new WireDocument(v.next(), mediaType, etag);
            });

    private Documents() {}
}
