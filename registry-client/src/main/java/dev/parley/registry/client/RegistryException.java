package dev.parley.registry.client;

/** A registry answered that an agent may not or cannot be used. */
public final class RegistryException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RegistryException(String message) {
        super(message);
    }
}
