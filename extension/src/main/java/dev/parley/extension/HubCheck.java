package dev.parley.extension;

import static java.util.Objects.requireNonNull;

/**
 * Outcome of a check by {@code parley doctor}.
 *
 * @param name one word
 */
public record HubCheck(String name, boolean passed, String message) {
    public HubCheck {
        requireNonNull(name, "name");
        requireNonNull(message, "message");
    }
}
