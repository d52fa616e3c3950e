package dev.parley.knowledge.rdf;

import org.jspecify.annotations.Nullable;

/** A file of statements is malformed, or its format cannot hold a statement. */
public final class RdfFileException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final long line;

    RdfFileException(String problem, long line, @Nullable Throwable cause) {
        super(line > 0 ? "line " + line + ": " + problem : problem, cause);
        this.line = line;
    }

    /** The number of the line, from 1; 0 if it is not known. */
    public long line() {
        return line;
    }
}
