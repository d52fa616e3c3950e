package dev.parley.cli.output;

import java.io.IOException;
import java.io.UncheckedIOException;
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

    /** Part of a setting that is read from a file, or may be wrong. */
    public interface Part<T extends @Nullable Object> {
        T read() throws IOException;
    }

    /** Reads a part of a setting; a file or a value that is wrong is an error of usage, with {@code what} before its reason. */
    public static <T extends @Nullable Object> T reading(String what, @Nullable String hint, Part<T> part) {
        try {
            return part.read();
        } catch (IOException | UncheckedIOException | IllegalArgumentException wrong) {
            throw local(LocalError.USAGE, what + wrong.getMessage(), hint, wrong);
        }
    }

    public Problem problem() {
        return problem;
    }
}
