package dev.parley.command;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/**
 * Failure of a command, with its output and its exit status.
 *
 * <p>Source: a2a-cli specification 0.2, sections 11.4 and 11.6, appendices B and D.
 */
public final class CommandException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * Failures that no agent reports, because they happen before or outside a request. Those that are not in the table of the
     * specification stay out of the reserved namespace with their codes.
     */
    public enum Kind {
        /** The command line, the environment or a file of settings is wrong. */
        USAGE("A2ACLI_ERR_USAGE", 2),
        CARD_NOT_FOUND("A2ACLI_ERR_CARD_NOT_FOUND", 3),
        CARD_INVALID("A2ACLI_ERR_CARD_INVALID", 1),
        /** No answer from the peer. */
        UNREACHABLE("A2ACLI_ERR_UNREACHABLE", 3),
        CREDENTIALS_MISSING("A2ACLI_ERR_CREDENTIALS_MISSING", 4),
        AUTH_FAILED("A2ACLI_ERR_AUTH_FAILED", 4),
        TIMEOUT("A2ACLI_ERR_TIMEOUT", 5),
        INTERNAL("A2ACLI_ERR_INTERNAL", 1),
        /** The peer answered against the protocol, or refused. */
        REFUSED("A2ACLI_ERR_INTERNAL", 1),
        CARD_UNSIGNED("PARLEY_ERR_CARD_UNSIGNED", 1),
        CARD_UNVERIFIABLE("PARLEY_ERR_CARD_UNVERIFIABLE", 1),
        CARD_TAMPERED("PARLEY_ERR_CARD_TAMPERED", 1),
        ORIGIN_NOT_ALLOWED("PARLEY_ERR_ORIGIN_NOT_ALLOWED", 1),
        PLAIN_HTTP("PARLEY_ERR_PLAIN_HTTP", 1),
        PORT("PARLEY_ERR_PORT", 1),
        DATA_IN_USE("PARLEY_ERR_DATA_IN_USE", 1),
        DATA("PARLEY_ERR_DATA", 1),
        DATABASE("PARLEY_ERR_DATABASE", 1),
        INTERRUPTED("PARLEY_ERR_INTERRUPTED", 130);

        private final String code;
        private final int exitStatus;

        Kind(String code, int exitStatus) {
            this.code = code;
            this.exitStatus = exitStatus;
        }

        public String code() {
            return code;
        }

        public int exitStatus() {
            return exitStatus;
        }
    }

    private final String code;
    private final int exitStatus;
    private final @Nullable String hint;
    private final transient @Nullable Object a2aCode;

    /**
     * @param code the protocol's name of the error, or a code of the command
     * @param hint next step for the user; null for none
     * @param a2aCode the code of the binding: a JSON-RPC number or an HTTP status; null if nothing was received
     */
    public CommandException(
            String code,
            int exitStatus,
            String message,
            @Nullable String hint,
            @Nullable Object a2aCode,
            @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
        this.exitStatus = exitStatus;
        this.hint = hint;
        this.a2aCode = a2aCode;
    }

    /** A failure with the code of its kind. */
    public static CommandException of(Kind kind, String message, @Nullable String hint, @Nullable Throwable cause) {
        return new CommandException(kind.code, kind.exitStatus, message, hint, null, cause);
    }

    public static CommandException of(Kind kind, String message, @Nullable String hint) {
        return of(kind, message, hint, null);
    }

    /** An error of the command line, the environment or a file of settings. */
    public static CommandException usage(String message, @Nullable String hint) {
        return of(Kind.USAGE, message, hint);
    }

    /** A failure with a code of the command's own: exit status 1. */
    public static CommandException failed(String code, String message, @Nullable String hint) {
        return new CommandException(code, 1, message, hint, null, null);
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
            throw of(Kind.USAGE, what + wrong.getMessage(), hint, wrong);
        }
    }

    public CommandException withMessage(String other) {
        return new CommandException(code, exitStatus, other, hint, a2aCode, getCause());
    }

    public CommandException withHint(@Nullable String other) {
        return new CommandException(code, exitStatus, message(), other, a2aCode, getCause());
    }

    public CommandException withExitStatus(int other) {
        return new CommandException(code, other, message(), hint, a2aCode, getCause());
    }

    public String code() {
        return code;
    }

    public int exitStatus() {
        return exitStatus;
    }

    /** The message, which is never missing. */
    public String message() {
        return String.valueOf(getMessage());
    }

    /** Next step for the user; null for none. */
    public @Nullable String hint() {
        return hint;
    }

    /** The code of the binding; null if nothing was received. */
    public @Nullable Object a2aCode() {
        return a2aCode;
    }
}
