package dev.parley.client.spi;

import dev.parley.outbound.http.HttpUrl;
import org.jspecify.annotations.Nullable;

/**
 * A whole answer of a server that is not an agent, or not known as one yet.
 *
 * @param url the address that was read
 * @param mediaType null if the server gives none
 * @param etag tag that changes with the document; null if the server gives none
 */
public record HttpDocument(
        HttpUrl url,
        int status,
        byte[] body,
        @Nullable String mediaType,
        @Nullable String etag) {}
