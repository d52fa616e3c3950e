package dev.parley.cli;

import org.jspecify.annotations.Nullable;

/** A load run could not be done. The message is for the person who asked for it. */
final class LoadProblem extends RuntimeException {
    /** What kind of problem it is, and with it the exit code. */
    enum Kind {
        /** The server did what the protocol forbids, or refused what a run begins with. */
        REFUSED(1),
        /** What was asked for makes no sense. */
        USAGE(2),
        /** There is nobody at the address. */
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
