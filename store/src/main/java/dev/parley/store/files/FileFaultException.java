package dev.parley.store.files;

import java.sql.SQLException;

/** A file of the data directory is not the one that this process has opened. Passes if the operator puts the file back. */
public final class FileFaultException extends SQLException {
    private static final long serialVersionUID = 1L;

    /** State of an error of input or output outside of the database, which is expected to pass. */
    private static final String STATE = "58030";

    FileFaultException(String problem) {
        super(problem, STATE);
    }

    /** True if {@code problem} is a fault of a file, or caused by one. */
    public static boolean isCauseOf(Throwable problem) {
        for (Throwable cause = problem; cause != null; cause = cause.getCause()) {
            if (cause instanceof FileFaultException) {
                return true;
            }
        }
        return false;
    }
}
