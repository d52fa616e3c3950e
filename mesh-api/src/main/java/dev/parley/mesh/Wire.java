package dev.parley.mesh;

import static dev.parley.dialect.json.Codecs.FREE;
import static dev.parley.dialect.json.Codecs.INT;

import dev.parley.dialect.json.Codec;
import dev.parley.dialect.json.Codecs;
import dev.parley.dialect.json.Shape;
import dev.parley.protocol.InvalidField;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** JSON of small values that envelopes and documents share. */
public final class Wire {
    private static final long LATEST_MILLIS =
            Instant.parse("9999-12-31T23:59:59.999Z").toEpochMilli();

    /** Milliseconds since 1970. */
    public static final Codec<Instant> MILLIS = Codecs.via(
            FREE, value -> Instant.ofEpochMilli(whole(value, 0, LATEST_MILLIS)), instant -> instant.toEpochMilli());

    /** Milliseconds, at least one. */
    public static final Codec<Duration> DURATION = Codecs.via(
            FREE, value -> Duration.ofMillis(whole(value, 1, LATEST_MILLIS)), duration -> duration.toMillis());

    /** JSON of retry policies. */
    public static final Codec<RetryPolicy> RETRY_POLICY = Shape.<RetryPolicy>of()
            .always("maxRetries", INT, RetryPolicy.DEFAULT.maxRetries(), RetryPolicy::maxRetries)
            .always("backoff", words(RetryPolicy.Backoff.class), RetryPolicy.DEFAULT.backoff(), RetryPolicy::backoff)
            .as(v -> new RetryPolicy(v.next(), v.next()));

    private Wire() {}

    private static long whole(@Nullable Object value, long least, long most) {
        if (value instanceof Number number && number.doubleValue() == Math.rint(number.doubleValue())) {
            double exact = number.doubleValue();
            if (exact >= least && exact <= most) {
                return number.longValue();
            }
        }
        throw InvalidField.of("", value + " (expected: a whole number of milliseconds, " + least + " to " + most + ")");
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
