package dev.parley.load;

import java.util.Locale;

/** The request that a load run repeats. */
enum LoadKind {
    /** SendMessage, waiting for the answer. */
    SEND,
    /** SendStreamingMessage, reading each stream to its end. */
    STREAM,
    /** GetTask on tasks that the run made first. */
    GET,
    /** The first page of ListTasks. */
    LIST,
    /** Request bodies from a file, in turn. */
    CALL;

    /** As it is typed and reported. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
