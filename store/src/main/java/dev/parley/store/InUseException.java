package dev.parley.store;

/** Another hub has the data directory or the database open; the message says so and what to do. */
public final class InUseException extends StoreException {
    private static final long serialVersionUID = 1L;

    InUseException(String message) {
        super(message);
    }

    InUseException(String message, Throwable cause) {
        super(message, cause);
    }
}
