package dev.parley.protocol.support;

/**
 * A failure of this side that ends by itself, such as a full disk. Thrown as the failure or as the cause of one. Callers are
 * answered {@link dev.parley.protocol.A2AError#UNAVAILABLE}, and may repeat the call.
 */
public interface TemporaryFailure {}
