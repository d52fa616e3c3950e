package dev.parley.store.spi;

import java.time.Duration;

/** A read exceeded its time limit. No resources are held. */
public final class ReadTimeoutException extends StoreException {
    private static final long serialVersionUID = 1L;

    public ReadTimeoutException(Duration patience) {
        super("reading took longer than " + patience.toMillis() + " ms");
    }
}
