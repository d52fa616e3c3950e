package dev.parley.protocol;

/** Sender of a message: the client side ({@link #USER}) or the agent. */
public enum Role {
    USER,
    AGENT
}
