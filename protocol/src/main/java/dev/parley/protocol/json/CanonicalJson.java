package dev.parley.protocol.json;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.protocol.A2AException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * JSON in the one form in which it is signed.
 *
 * <p>Numbers are doubles here. Integers that no double is equal to are refused, for others would have the same form.
 *
 * <p>Source: RFC 8785.
 */
public final class CanonicalJson {
    private static final int MAX_PLAIN_EXPONENT = 21;
    private static final int MIN_PLAIN_EXPONENT = -6;

    private final StringBuilder out = new StringBuilder();

    private CanonicalJson() {}

    /**
     * Returns the form of any JSON.
     *
     * @throws A2AException PARSE_ERROR if it has none: a name twice, half a surrogate pair, a number out of range
     */
    public static byte[] of(byte[] json) {
        return of(JsonText.read(json, Codecs.FREE));
    }

    /** Returns the form of maps, lists, strings, numbers, booleans and null. */
    public static byte[] of(@Nullable Object tree) {
        var canonical = new CanonicalJson();
        canonical.write(tree);
        return canonical.out.toString().getBytes(UTF_8);
    }

    private void write(@Nullable Object value) {
        switch (value) {
            case String text -> write(text);
            case Number number -> out.append(text(number));
            case Map<?, ?> members -> write(members);
            case List<?> elements -> {
                String separator = "[";
                for (Object element : elements) {
                    out.append(separator);
                    write(element);
                    separator = ",";
                }
                out.append(elements.isEmpty() ? "[]" : "]");
            }
            case null -> out.append("null");
            default -> out.append(value.equals(Codecs.NULL) ? "null" : value); // true and false
        }
    }

    private void write(Map<?, ?> members) {
        var sorted = new TreeMap<String, @Nullable Object>(); // by UTF-16 code units, as the form wants it
        members.forEach((name, value) -> sorted.put(String.valueOf(name), value));
        String separator = "{";
        for (Map.Entry<String, @Nullable Object> member : sorted.entrySet()) {
            out.append(separator);
            write(member.getKey());
            out.append(':');
            write(member.getValue());
            separator = ",";
        }
        out.append(sorted.isEmpty() ? "{}" : "}");
    }

    private void write(String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"', '\\' -> out.append('\\').append(c);
                case '\b' -> out.append("\\b");
                case '\t' -> out.append("\\t");
                case '\n' -> out.append("\\n");
                case '\f' -> out.append("\\f");
                case '\r' -> out.append("\\r");
                default -> {
                    if (c < ' ') {
                        out.append(String.format("\\u%04x", (int) c));
                    } else if (Character.isSurrogate(c)) {
                        if (!Character.isSurrogatePair(c, i + 1 < text.length() ? text.charAt(i + 1) : ' ')) {
                            throw FieldPath.invalid("half a surrogate pair in a string");
                        }
                        out.append(c).append(text.charAt(++i));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }

    private static String text(Number number) {
        double value = number.doubleValue();
        if (value == 0) {
            return "0"; // -0 too
        }
        String text = text(value);
        boolean whole = !(number instanceof Double);
        if (whole && new BigDecimal(text).compareTo(new BigDecimal(number.toString())) != 0) {
            throw FieldPath.invalid("an integer that no double is equal to: " + number);
        }
        return text;
    }

    /** Source: ECMAScript, Number::toString. */
    private static String text(double value) {
        BigDecimal shortest = shortest(Math.abs(value));
        String digits = shortest.unscaledValue().toString();
        int point = digits.length() - shortest.scale(); // where it stands among the digits
        var text = new StringBuilder(value < 0 ? "-" : "");
        if (point > MAX_PLAIN_EXPONENT || point <= MIN_PLAIN_EXPONENT) {
            text.append(digits.charAt(0));
            if (digits.length() > 1) {
                text.append('.').append(digits, 1, digits.length());
            }
            return text.append(point > 0 ? "e+" : "e").append(point - 1).toString();
        }
        return text.append(shortest.toPlainString()).toString();
    }

    /** The shortest decimal that is read back as {@code value}. */
    private static BigDecimal shortest(double value) {
        BigDecimal shortest = new BigDecimal(Double.toString(value)).stripTrailingZeros();
        if (shortest.precision() == 2) { // Java prefers two digits that are nearer to one that suffices
            BigDecimal shorter = shortest.round(new MathContext(1, RoundingMode.HALF_EVEN));
            return shorter.doubleValue() == value ? shorter.stripTrailingZeros() : shortest;
        }
        return shortest;
    }
}
