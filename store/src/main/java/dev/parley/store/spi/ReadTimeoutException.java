package dev.parley.store.spi;

import java.time.Duration;

/** A question took longer than its asker's patience. Nothing is left behind. */
public final class ReadTimeoutException extends StoreException {
    private static final long serialVersionUID = 1L;

    public ReadTimeoutException(Duration patience) {
        super("reading took longer than " + patience.toMillis() + " ms");
    }
}
