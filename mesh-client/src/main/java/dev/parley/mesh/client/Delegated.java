package dev.parley.mesh.client;

import dev.parley.mesh.MeshContent;
import dev.parley.mesh.MeshContent.Acceptance;
import dev.parley.mesh.MeshContent.Result;
import dev.parley.protocol.Feed;
import java.util.concurrent.CompletableFuture;

/**
 * A delegation that its receiver has accepted. Safe for any thread.
 *
 * <p>Messages about it arrive at the listener of the client; without a listener, the client reads the task until it ends.
 */
public interface Delegated extends AutoCloseable {
    /** Id that is common to all messages about the delegation. */
    String correlationId();

    /** The answer of the receiver. */
    Acceptance acceptance();

    /** Id of the task, also in A2A. */
    default String taskId() {
        return acceptance().taskId();
    }

    /**
     * The last result, completed or failed; fails with {@link OneException} if the agent declines the task after its acceptance, and
     * with {@code ClientException} if the receiver cannot be reached or this was closed.
     */
    CompletableFuture<Result> result();

    /**
     * The messages about the task, which end with the last result. Of messages that are not read, the newest 1,000 are kept. For one
     * reader.
     */
    Feed<MeshContent> updates();

    /** Ends the reception of messages. The task goes on. */
    @Override
    void close();
}
