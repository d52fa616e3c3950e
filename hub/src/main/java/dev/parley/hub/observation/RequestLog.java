package dev.parley.hub.observation;

import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Log of calls, a line each at the level INFO, which {@code parley up --verbose} shows. Programs that embed a hub get it if they configure
 * {@code java.util.logging} by a file or class, set the level of {@value #NAME}, or use another implementation of {@link System.Logger}.
 */
final class RequestLog {
    private static final String NAME = "dev.parley.requests";
    // A strong reference: the JDK forgets the level of a logger that is garbage-collected.
    private static final Logger CONFIGURED = Logger.getLogger(NAME);

    private RequestLog() {}

    static System.Logger open() {
        if (CONFIGURED.getLevel() == null
                && System.getProperty("java.util.logging.config.class") == null
                && System.getProperty("java.util.logging.config.file") == null) {
            CONFIGURED.setLevel(Level.WARNING);
        }
        return System.getLogger(NAME);
    }
}
