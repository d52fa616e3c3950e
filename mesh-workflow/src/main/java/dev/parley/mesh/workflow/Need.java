package dev.parley.mesh.workflow;

import static dev.parley.dialect.json.Codecs.TEXT;

import dev.parley.dialect.json.Codec;
import dev.parley.dialect.json.Shape;
import dev.parley.protocol.InvalidField;
import org.jspecify.annotations.Nullable;

/**
 * Need of a step that names no agent: the hub chooses one.
 *
 * @param capability id, tag or name of a skill; null if only words are given
 * @param words words of the description of the agent or its skills; null for none
 */
public record Need(@Nullable String capability, @Nullable String words) {
    /** JSON of needs. */
    static final Codec<Need> CODEC = Shape.<Need>of()
            .optional("capability", TEXT, Need::capability)
            .optional("words", TEXT, Need::words)
            .as(v -> new Need(v.next(), v.next()))
            .closed();

    public Need {
        capability = capability == null || capability.isBlank() ? null : capability.strip();
        words = words == null || words.isBlank() ? null : words.strip();
        if (capability == null && words == null) {
            throw InvalidField.of("capability", "missing (expected: a capability, or words)");
        }
    }

    @Override
    public String toString() {
        return capability == null ? "words \"" + words + '"' : "capability \"" + capability + '"';
    }
}
