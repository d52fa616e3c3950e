package dev.parley.store.spi;

import dev.parley.protocol.support.TemporaryFailure;
import org.jspecify.annotations.Nullable;

/** The database cannot be read or written at present: its disk is full or fails, it is locked, or it is closed. */
public sealed class OutageException extends StoreException implements TemporaryFailure permits ClosedException {
    private static final long serialVersionUID = 1L;

    private final @Nullable String reason;

    public OutageException(String message) {
        super(message);
        this.reason = message;
    }

    public OutageException(String message, Throwable cause) {
        super(message, cause);
        this.reason = null;
    }

    /** @param reason in words for callers, without the place of the data */
    public OutageException(String message, String reason, Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    @Override
    public @Nullable String reason() {
        return reason;
    }
}
