package dev.parley.mesh;

import static dev.parley.protocol.json.Codecs.FREE;
import static dev.parley.protocol.json.Codecs.INT;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.protocol.InvalidField;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.DescribedCodecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.protocol.retry.Backoff;
import dev.parley.protocol.support.Excerpt;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** JSON of small values that envelopes and documents share. */
public final class Wire {
    private static final int LONGEST_NUMBER = 32;
    private static final int SHOWN = 60;

    private static final long LATEST_MILLIS =
            Instant.parse("9999-12-31T23:59:59.999Z").toEpochMilli();

    /** Milliseconds since 1970. */
    public static final Codec<Instant> MILLIS = DescribedCodecs.like(
            Codecs.number(0, LATEST_MILLIS),
            value -> Instant.ofEpochMilli(whole(value, 0, LATEST_MILLIS)),
            Instant::toEpochMilli);

    /** Milliseconds, at least one. */
    public static final Codec<Duration> DURATION = DescribedCodecs.like(
            Codecs.number(1, LATEST_MILLIS),
            value -> Duration.ofMillis(whole(value, 1, LATEST_MILLIS)),
            Duration::toMillis);

    /** JSON of retry policies. */
    public static final ObjectCodec<RetryPolicy> RETRY_POLICY = ObjectCodec.<RetryPolicy>of()
            .always("maxRetries", INT, RetryPolicy.DEFAULT.maxRetries(), RetryPolicy::maxRetries)
            .always("backoff", words(Backoff.Growth.class), RetryPolicy.DEFAULT.backoff(), RetryPolicy::backoff)
            .as(v -> new RetryPolicy(v.next(), v.next()));

    private Wire() {}

    private static long whole(@Nullable Object value, long least, long most) {
        BigDecimal number = number(value);
        if (number != null && number.stripTrailingZeros().scale() <= 0) {
            if (number.compareTo(BigDecimal.valueOf(least)) >= 0 && number.compareTo(BigDecimal.valueOf(most)) <= 0) {
                return number.longValueExact();
            }
        }
        throw InvalidField.of(
                "", shown(value) + " (expected: a whole number of milliseconds, " + least + " to " + most + ")");
    }

    /** A number, which may be written as a text, as in ProtoJSON; null for other values. */
    public static @Nullable BigDecimal number(@Nullable Object value) {
        if (!(value instanceof Number || value instanceof String)) {
            return null;
        }
        String written = String.valueOf(value);
        try {
            return written.length() > LONGEST_NUMBER ? null : new BigDecimal(written);
        } catch (NumberFormatException noNumber) {
            return null;
        }
    }

    /** A value of {@link Codecs#FREE} in an error. */
    public static String shown(@Nullable Object value) {
        return Excerpt.of(new String(JsonText.write(FREE, value == null ? Codecs.NULL : value), UTF_8), SHOWN);
    }

    /** The constants of an enum by their names in lower case. */
    static <E extends Enum<E>> Codec<E> words(Class<E> type) {
        var words = new EnumMap<E, String>(type);
        for (E constant : type.getEnumConstants()) {
            words.put(constant, constant.name().toLowerCase(Locale.ROOT));
        }
        return Codecs.words(words, Map.of());
    }
}
