package dev.parley.registry;

import dev.parley.protocol.extension.DocumentAnswer;
import dev.parley.protocol.extension.WireDocument;
import dev.parley.protocol.support.Sha256;
import java.util.HexFormat;

/**
 * An entry as the answer of a look-up, with its bytes, which nobody has to write or read again: look-ups are the most frequent calls.
 *
 * @param json bytes of the entry in JSON
 */
public record ShownEntry(Entry entry, byte[] json) implements DocumentAnswer {
    /** The answer with that entry. */
    public static ShownEntry of(Entry entry) {
        return new ShownEntry(entry, EntryModel.write(entry));
    }

    @Override
    public WireDocument document() {
        return new WireDocument(json, "application/a2a+json", HexFormat.of().formatHex(Sha256.of(json), 0, 16));
    }
}
