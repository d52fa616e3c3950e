package dev.parley.command;

import org.jspecify.annotations.Nullable;

/** Failure of a command. */
public final class CommandException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Kinds with a code of the program. */
    public enum Kind {
        /** The command line is wrong: exit status 2. */
        USAGE,
        /** No answer from the peer: exit status 3. */
        UNREACHABLE,
        /** The peer answered against the protocol, or refused: exit status 1. */
        REFUSED
    }

    private final String code;
    private final @Nullable Kind kind;
    private final @Nullable String hint;

    private CommandException(
            String code, @Nullable Kind kind, String message, @Nullable String hint, @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
        this.kind = kind;
        this.hint = hint;
    }

    /** A failure with the code of its kind. */
    public static CommandException of(Kind kind, String message, @Nullable String hint, @Nullable Throwable cause) {
        return new CommandException(kind.name(), kind, message, hint, cause);
    }

    /** An error of the command line. */
    public static CommandException usage(String message, @Nullable String hint) {
        return of(Kind.USAGE, message, hint, null);
    }

    /** A failure with a code of the command's own: exit status 1. */
    public static CommandException failed(String code, String message, @Nullable String hint) {
        return new CommandException(code, null, message, hint, null);
    }

    public String code() {
        return code;
    }

    /** The kind; null for a failure with a code of the command's own. */
    public @Nullable Kind kind() {
        return kind;
    }

    /** Next step for the user; null for none. */
    public @Nullable String hint() {
        return hint;
    }
}
