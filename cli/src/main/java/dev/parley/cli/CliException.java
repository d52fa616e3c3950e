package dev.parley.cli;

import org.jspecify.annotations.Nullable;

/** Failure of a command, with the problem that is printed in either output format. */
final class CliException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Problem problem;

    CliException(Problem problem) {
        this(problem, null);
    }

    CliException(Problem problem, @Nullable Throwable cause) {
        super(problem.message(), cause);
        this.problem = problem;
    }

    /** An error of the command line, the environment or a file of settings. */
    static CliException usage(String message, @Nullable String hint) {
        return local(LocalError.USAGE, message, hint);
    }

    /** A failure of the program's own kinds. */
    static CliException local(LocalError error, String message, @Nullable String hint) {
        return new CliException(Problem.local(error, message, hint));
    }

    static CliException local(LocalError error, String message, @Nullable String hint, Throwable cause) {
        return new CliException(Problem.local(error, message, hint), cause);
    }

    Problem problem() {
        return problem;
    }
}
