package dev.parley.extension;

import org.jspecify.annotations.Nullable;

/** Part of an operation of the administration that reads the data about a principal or a context: the hub audits each of its pages. */
public interface PersonalRead {
    /** Group of the principal. */
    String group();

    @Nullable
    String principal();

    default @Nullable String contextId() {
        return null;
    }
}
