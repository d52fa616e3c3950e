package dev.parley.cli.output;

import org.jspecify.annotations.Nullable;

/** Failure of a command, with the problem that is printed in either output format. */
public final class CliException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Problem problem;

    public CliException(Problem problem) {
        this(problem, null);
    }

    public CliException(Problem problem, @Nullable Throwable cause) {
        super(problem.message(), cause);
        this.problem = problem;
    }

    /** An error of the command line, the environment or a file of settings. */
    public static CliException usage(String message, @Nullable String hint) {
        return local(LocalError.USAGE, message, hint);
    }

    /** A failure of the program's own kinds. */
    public static CliException local(LocalError error, String message, @Nullable String hint) {
        return new CliException(Problem.local(error, message, hint));
    }

    public static CliException local(LocalError error, String message, @Nullable String hint, Throwable cause) {
        return new CliException(Problem.local(error, message, hint), cause);
    }

    public Problem problem() {
        return problem;
    }
}
