package dev.parley.dialect;

import java.util.Set;

/**
 * The switches where the specification leaves room or deployed peers differ.
 *
 * @param on those that are on; none by default
 */
public record DialectSettings(Set<Switch> on) {
    /** One of the switches. */
    public enum Switch {
        /** Refuse a 1.0 method that comes without {@code A2A-Version}, though no older client can send such a name. */
        STRICT_VERSION_HEADER,
        /**
         * Answer with the HTTP statuses of release 1.0.0 instead of 1.0.1, and with its media type {@code
         * application/json} where the caller names none.
         */
        STATUSES_OF_100,
        /**
         * Answer a method of an older version in that version even if the request asks for 1.0, instead of with
         * METHOD_NOT_FOUND.
         */
        LENIENT_METHODS,
        /** Read a message as 0.3 spells it also under a method of 1.0, instead of naming the field that is wrong. */
        LENIENT_BODIES,
        /**
         * Answer {@code tasks/get}, {@code tasks/cancel} and {@code tasks/resubscribe} that do not say their version in a
         * form that clients of 0.1 and of 0.3 can read.
         */
        MERGED_LEGACY_ANSWERS,
        /**
         * Answer errors of extensions over JSON-RPC with the HTTP status that they have by the extension's specification, instead of
         * the status with which its published clients read the error.
         */
        STRICT_EXTENSION_STATUSES
    }

    public static final DialectSettings DEFAULTS = of();

    public DialectSettings {
        on = Set.copyOf(on);
    }

    /** With these on, and the others off. */
    public static DialectSettings of(Switch... on) {
        return new DialectSettings(Set.of(on));
    }

    public boolean has(Switch one) {
        return on.contains(one);
    }
}
