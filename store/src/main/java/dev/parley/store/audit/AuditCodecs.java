package dev.parley.store.audit;

import dev.parley.protocol.InvalidField;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.NumberOrText;
import java.util.List;

/** JSON of numbers and places of the audit. */
public final class AuditCodecs {
    /** The number of an entry: a number, or a string if readers in JavaScript would round it. */
    public static final Codec<Long> NUMBER = Codecs.via(NumberOrText.CODEC, AuditCodecs::number, String::valueOf);

    /** A place: a number if hubs work one after the other, otherwise a string, as {@link AuditPosition#toString} writes it. */
    public static final Codec<AuditPosition> PLACE =
            Codecs.via(NumberOrText.CODEC, AuditCodecs::place, AuditPosition::toString);

    private AuditCodecs() {}

    private static Long number(String text) {
        List<Long> numbers = place(text).numbers();
        if (numbers.size() > 1) {
            throw InvalidField.of("", '"' + text + "\" (expected: a number)");
        }
        return numbers.getFirst();
    }

    private static AuditPosition place(String text) {
        try {
            return AuditPosition.read(text);
        } catch (IllegalArgumentException wrong) {
            throw InvalidField.of("", String.valueOf(wrong.getMessage()));
        }
    }
}
