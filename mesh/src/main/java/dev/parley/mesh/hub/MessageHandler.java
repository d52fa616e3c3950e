package dev.parley.mesh.hub;

import dev.parley.mesh.Envelope;
import dev.parley.mesh.MeshContent;
import dev.parley.protocol.CallContext;

/**
 * Code of an agent for messages of one type that begin no task, such as results of tasks that it has delegated elsewhere. Called after
 * the sender, the signature and the content were checked, and before the answer: once for each message, unless the hub is killed
 * meanwhile and the sender repeats it. Any thread may call.
 */
@FunctionalInterface
public interface MessageHandler {
    /**
     * Handles a message. An {@link dev.parley.protocol.A2AException} refuses it, any other exception is an {@code internal_error}: the
     * sender may send it again.
     *
     * @param content as its type has it
     */
    void handle(Envelope envelope, MeshContent content, CallContext caller) throws Exception;
}
