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

    /** The command line, the environment or a file says something that cannot be. */
    static CliException usage(String message, @Nullable String hint) {
        return new CliException(Problem.local(LocalError.USAGE, message, hint));
    }

    Problem problem() {
        return problem;
    }
}
