package dev.parley.store.spi;

/** Another hub has the data directory or the database open; the message says so and what to do. */
public final class InUseException extends StoreException {
    private static final long serialVersionUID = 1L;

    public InUseException(String message) {
        super(message);
    }

    public InUseException(String message, Throwable cause) {
        super(message, cause);
    }
}
