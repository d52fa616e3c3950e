package dev.parley.cli;

import org.jspecify.annotations.Nullable;

/** A load run could not be done. The message is for the person who asked for it. */
final class LoadProblem extends RuntimeException {
    /** Kind of a problem, which decides the exit code. */
    enum Kind {
        /** The server did what the protocol forbids, or refused what a run begins with. */
        REFUSED(1),
        /** The options contradict each other. */
        USAGE(2),
        /** No server answers at the address. */
        UNREACHABLE(3);

        final int exitCode;

        Kind(int exitCode) {
            this.exitCode = exitCode;
        }
    }

    private final Kind kind;

    LoadProblem(Kind kind, String message) {
        this(kind, message, null);
    }

    LoadProblem(Kind kind, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    Kind kind() {
        return kind;
    }
}
