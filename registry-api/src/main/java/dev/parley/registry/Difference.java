package dev.parley.registry;

import static dev.parley.protocol.json.Codecs.TEXT;

import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;

/**
 * A difference between two versions of a document.
 *
 * @param path of the member in the document
 */
public record Difference(Kind kind, String path, String text) {
    /** Kinds of differences, the worst first. */
    public enum Kind {
        /** Takes something away from callers, or demands something of them. */
        BREAKING,
        /** Leads callers to another party. */
        TRUST,
        SAFE
    }

    static final Codec<Kind> KIND = Codecs.words(Kind.class);

    /** JSON of a difference, as the tables of a registry hold it, too. */
    public static final Codec<Difference> JSON = ObjectCodec.<Difference>of()
            .named("CardDifference")
            .required("kind", KIND, Difference::kind)
            .required("path", TEXT, Difference::path)
            .required("text", TEXT, Difference::text)
            .as(v -> new Difference(v.next(), v.next(), v.next()));
}
