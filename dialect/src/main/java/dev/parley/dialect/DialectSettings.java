package dev.parley.dialect;

import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingType;
import java.util.EnumSet;
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
        /** Show what A2A 1.1 is to have, as far as it is described: numbers of events, a cursor, keys of messages. */
        PREVIEW_1_1
    }

    public static final DialectSettings DEFAULTS = of();

    public DialectSettings {
        on = Set.copyOf(on);
    }

    /** With these on, and the others off. */
    public static DialectSettings of(Switch... on) {
        return new DialectSettings(Set.of(on));
    }

    /** Reads the switches of A2A's own dialects; {@link #with} adds those of extensions. */
    public static DialectSettings read(SettingReader in) {
        return DEFAULTS.with(
                        Switch.STATUSES_OF_100,
                        in.get(
                                        SettingType.oneOf("1.0.1", "1.0.0"),
                                        "status-profile",
                                        "1.0.1",
                                        "VERSION",
                                        "Revision of A2A 1.0 whose table of HTTP statuses the hub answers with.")
                                .equals("1.0.0"))
                .with(
                        Switch.STRICT_VERSION_HEADER,
                        in.flag(
                                "strict-version-header",
                                "Treat requests without A2A-Version as 0.3, as the specification says."))
                .with(
                        Switch.LENIENT_METHODS,
                        in.flag(
                                "lenient-methods",
                                "Answer methods of older versions even to a request that asks for A2A-Version 1.0."))
                .with(
                        Switch.LENIENT_BODIES,
                        in.flag("lenient-bodies", "Read messages as 0.3 spells them even under methods of 1.0."))
                .with(
                        Switch.MERGED_LEGACY_ANSWERS,
                        in.flag(
                                "merged-legacy-answers",
                                "Answer calls that may be of 0.1 or 0.3 in a form that clients of both can read."))
                .with(
                        Switch.PREVIEW_1_1,
                        in.get(
                                        SettingType.oneOf("none", "1.1"),
                                        "preview",
                                        "none",
                                        "VERSION",
                                        "Unreleased version of A2A whose described features the hub adds to its"
                                                + " answers, as docs/preview.md lists them.")
                                .equals("1.1"));
    }

    /** Returns the same with one more switch on; the same if {@code wanted} is false. */
    public DialectSettings with(Switch one, boolean wanted) {
        if (!wanted) {
            return this;
        }
        var more = EnumSet.of(one);
        more.addAll(on);
        return new DialectSettings(more);
    }

    public boolean has(Switch one) {
        return on.contains(one);
    }
}
