package dev.parley.store.spi;

import dev.parley.protocol.support.TemporaryFailure;

/** The database cannot be read or written at present: its disk is full or fails, it is locked, or it is closed. */
public final class OutageException extends StoreException implements TemporaryFailure {
    private static final long serialVersionUID = 1L;

    public OutageException(String message) {
        super(message);
    }

    public OutageException(String message, Throwable cause) {
        super(message, cause);
    }
}
