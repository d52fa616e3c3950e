package dev.parley.cli;

import java.util.Locale;

/** What a load run asks for, over and over. */
enum LoadKind {
    /** SendMessage, waiting for the answer. */
    SEND,
    /** SendStreamingMessage, reading each stream to its end. */
    STREAM,
    /** GetTask on tasks that the run made first. */
    GET,
    /** The first page of ListTasks. */
    LIST,
    /** Whatever bodies of requests a file has, each in its turn. */
    CALL;

    /** As it is typed and reported. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
