package dev.parley.extension;

import static java.util.Objects.requireNonNull;

/**
 * Outcome of a check by {@code parley doctor}.
 *
 * @param name one word
 * @param isWarning whether an operator should look at it although it has passed
 */
public record HubCheck(String name, boolean passed, boolean isWarning, String message) {
    public HubCheck(String name, boolean passed, String message) {
        this(name, passed, false, message);
    }

    public HubCheck {
        requireNonNull(name, "name");
        requireNonNull(message, "message");
    }
}
