package dev.parley.client.keys;

import java.util.Locale;

/** Whether there is a key, and where it comes from; never the key. */
public sealed interface KeyStatus {
    /** Source of a key, in the order in which sources are read. */
    enum Source {
        FILE("file"),
        ENVIRONMENT("env"),
        KEYRING("keyring"),
        /** Stands in for the keyring. */
        ENCRYPTED_FILE("encrypted-file");

        private final String text;

        Source(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    /** There is one. */
    record Configured(Source source) implements KeyStatus {}

    /** An OAuth client has only its id or only its secret. */
    record PartiallyConfigured(Source source) implements KeyStatus {}

    /** No key. */
    record NotConfigured() implements KeyStatus {}

    /** For people, in the words of AgentVault. */
    default String text() {
        return switch (this) {
            case Configured(var source) -> "Configured" + from(source);
            case PartiallyConfigured(var source) -> "Partially Configured" + from(source);
            case NotConfigured() -> "Not Configured";
        };
    }

    private static String from(Source source) {
        return " (Source: " + source.toString().toUpperCase(Locale.ROOT) + ")";
    }
}
