package dev.parley.load;

import dev.parley.command.CommandException.Kind;
import org.jspecify.annotations.Nullable;

/** A load run could not be made. The message is for the user. */
final class LoadProblem extends RuntimeException {
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
