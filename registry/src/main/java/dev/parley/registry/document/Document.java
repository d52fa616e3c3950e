package dev.parley.registry.document;

/** Bytes of a document, with their entity tag. */
public record Document(byte[] bytes, String mediaType, String etag) {
    /** @param unsigned the bytes without a signature of the hub, which differs each time */
    public static Document of(byte[] bytes, String mediaType, byte[] unsigned) {
        String digest = CardReader.digest(unsigned);
        return new Document(bytes, mediaType, digest.substring(digest.length() - 32));
    }
}
