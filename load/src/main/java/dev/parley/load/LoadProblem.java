package dev.parley.load;

import dev.parley.command.CommandException.Kind;
import org.jspecify.annotations.Nullable;

/** A load run could not be done. The message is for the person who asked for it. */
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
