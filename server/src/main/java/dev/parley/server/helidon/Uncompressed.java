package dev.parley.server.helidon;

import io.helidon.http.Headers;
import io.helidon.http.encoding.ContentDecoder;
import io.helidon.http.encoding.ContentEncoder;
import io.helidon.http.encoding.ContentEncodingContext;
import io.helidon.http.encoding.ContentEncodingContextConfig;
import java.util.NoSuchElementException;

/**
 * Compresses nothing, and passes bodies as they come, so that {@link dev.parley.server.RequestEntry} can refuse those that are compressed: Helidon says
 * 400 of them.
 */
final class Uncompressed implements ContentEncodingContext {
    @Override
    public boolean contentEncodingEnabled() {
        return false;
    }

    @Override
    public boolean contentDecodingEnabled() {
        return true;
    }

    @Override
    public boolean contentEncodingSupported(String encoding) {
        return false;
    }

    @Override
    public boolean contentDecodingSupported(String encoding) {
        return true;
    }

    @Override
    public ContentEncoder encoder(String encoding) {
        throw new NoSuchElementException(encoding);
    }

    @Override
    public ContentDecoder decoder(String encoding) {
        return ContentDecoder.NO_OP;
    }

    @Override
    public ContentEncoder encoder(Headers headers) {
        return ContentEncoder.NO_OP;
    }

    @Override
    public ContentEncodingContextConfig prototype() {
        return ContentEncodingContext.builder()
                .contentEncodingsDiscoverServices(false)
                .buildPrototype();
    }
}
