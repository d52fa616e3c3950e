package dev.parley.store.spi;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** A database or a data directory that cannot be used; the message has the problem and the expected state. */
public final class NotOpenedException extends StoreException {
    private static final long serialVersionUID = 1L;

    /** The action that the operator has to take. */
    public enum Reason {
        /** The setting: it is not a URL of a database, or contradicts the data directory. */
        SETTING,
        /** The database server: it cannot be reached, or refuses. */
        SERVER,
        /** The data directory, or a file in it: it cannot be read or written. */
        DIRECTORY,
        /** The secrets: they are not those of the database. */
        SECRETS
    }

    private final Reason reason;

    public NotOpenedException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    public NotOpenedException(Reason reason, String message, Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    /** A data directory that cannot be created, read or written. */
    public static NotOpenedException directory(Path directory, Exception cause) {
        return new NotOpenedException(
                Reason.DIRECTORY,
                "data directory \"" + directory + "\": " + problem(cause)
                        + " (expected: a directory that this user may read and write)",
                cause);
    }

    private static String problem(Exception cause) {
        return switch (cause) {
            case FileAlreadyExistsException file -> file.getFile() + " is not a directory";
            case NoSuchFileException missing -> missing.getFile() + " does not exist";
            case AccessDeniedException denied -> "no permission for " + denied.getFile();
            case FileSystemException file when file.getReason() != null -> file.getFile() + ": " + file.getReason();
            case IOException other -> other.toString();
            default -> String.valueOf(cause.getMessage());
        };
    }

    public Reason reason() {
        return reason;
    }
}
