package dev.parley.mcp.hub;

import dev.parley.protocol.support.Excerpt;
import org.jspecify.annotations.Nullable;

/** Texts of cards, which models read and which their agents wrote: without invisible characters, and short. */
final class ForeignText {
    static final int TITLE = 100;
    static final int DESCRIPTION = 1_000;

    private ForeignText() {}

    /** The text without controls and invisible formats, such as tags and changes of direction; null if nothing is left. */
    static @Nullable String of(@Nullable String text, int characters) {
        if (text == null) {
            return null;
        }
        String visible = text.replaceAll("[\\p{Cc}\\p{Cf}\\p{Co}\\p{Cs}\\p{Zl}\\p{Zp}&&[^\\n\\t]]", "")
                .strip();
        return visible.isEmpty() ? null : Excerpt.of(visible, characters);
    }
}
