package dev.parley.engine;

import dev.parley.protocol.Artifact;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.TaskEvent.TaskEndedException;
import dev.parley.protocol.TaskState;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Output of an agent: events emitted here are written to the task's log and then shown to callers, in this order.
 *
 * <p>The first emission creates the task, unless it is {@link #message}. Emitting returns before the disk has it; it
 * blocks only while a great deal is still waiting for the disk. Safe for any thread.
 *
 * <p>After a call that ends the task, and after cancellation, every method throws {@link TaskEndedException}.
 */
public interface Reply {
    /**
     * Answers with a message, without a task; no row is stored. If the task exists already, because something was emitted,
     * the caller wants to watch, or the answer was long in coming, it completes the task with the message as its status.
     */
    void message(Message message);

    /** {@link #message(Message)} with one text part. */
    default void message(String text) {
        message(Message.agent(Part.text(text)));
    }

    /**
     * Says that work goes on and how far it is, 0 to 100; the member {@code progress} of the event's metadata, which keeps its value
     * where the number would be smaller than before.
     */
    void progress(int percent, @Nullable String note);

    /** Says that work goes on. */
    default void working(String note) {
        move(TaskState.WORKING, Message.agent(Part.text(note)), Map.of());
    }

    /** Adds an artifact, or replaces the one with the same id. */
    void artifact(Artifact artifact);

    /**
     * Adds a piece of an artifact under an id that the agent chooses, as one who passes on the artifacts of another task does.
     *
     * @param append whether the piece goes after earlier ones, instead of in place of them
     * @param last whether the artifact ends with it
     */
    void artifact(Artifact piece, boolean append, boolean last);

    /** Adds an artifact with one text part, under a new id. */
    void artifact(String name, String text);

    /** Adds an artifact that is a file, under a new id. */
    void file(String filename, String mediaType, byte[] bytes);

    /** Begins an artifact that is produced piece by piece. Nothing is emitted before its first piece. */
    ArtifactWriter stream(String name);

    /** Asks the caller for more; the handler is called again with the answer. The call should return now. */
    void askForInput(Message question);

    /** {@link #askForInput(Message)} with one text part. */
    default void askForInput(String question) {
        askForInput(Message.agent(Part.text(question)));
    }

    /**
     * Asks for a credential that reaches the agent out of band. The call may wait for it and go on, or return and be
     * called again: with the next message, or with {@link Request#credential} once the caller has handed it over by {@link
     * Engine#authorize}.
     */
    void askForCredentials(String explanation);

    /** Ends the task with success. */
    void complete();

    /** Adds an artifact made of {@code parts}, if there are any, and ends the task with success. */
    void complete(Part... parts);

    /** {@link #complete(Part...)} with one text part. */
    default void complete(String text) {
        complete(Part.text(text));
    }

    /** Ends the task without success. The reason is shown to the caller. */
    void fail(String reason);

    /** Declines the task. The reason is shown to the caller. */
    void reject(String reason);

    /** Moves the task to any state; the methods above are short forms of this one. */
    void move(TaskState state, @Nullable Message message, Map<String, @Nullable Object> metadata);

    /** An artifact in the making. For one thread at a time. */
    interface ArtifactWriter extends AutoCloseable {
        /** Emits one more piece; nothing without parts, for a piece cannot be empty. */
        void append(Part... parts);

        /** Emits one more piece of text. */
        default void append(String text) {
            append(Part.text(text));
        }

        /** Emits the last piece, and ends the artifact. */
        void last(Part... parts);

        /** Emits the last piece, of text, and ends the artifact. */
        default void last(String text) {
            last(Part.text(text));
        }

        /** Ends the artifact with the piece before. The same as {@link #close}. */
        default void last() {
            close();
        }

        /** Ends the artifact if {@link #last} has not. Emits nothing, for a piece cannot be empty. Idempotent. */
        @Override
        void close();
    }
}
