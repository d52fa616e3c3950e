package dev.parley.protocol;

/** Who speaks: the client side ({@link #USER}) or the agent. */
public enum Role {
    USER,
    AGENT
}
