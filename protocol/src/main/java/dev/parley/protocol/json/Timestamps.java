package dev.parley.protocol.json;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Locale;

/**
 * Instants as {@code 2026-01-05T09:00:00.000Z}, always with milliseconds and in UTC.
 *
 * <p>By hand because every event carries one, and {@code DateTimeFormatter} takes longer than the rest of the event.
 *
 * <p>Source: A2A specification 1.0, section 5.6.1.
 */
final class Timestamps {
    private static final int LENGTH = "2026-01-05T09:00:00.000Z".length();

    private static final DateTimeFormatter SECOND = DateTimeFormatter.ofPattern(
                    "uuuu-MM-dd'T'HH:mm:ss'.000Z'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    private Timestamps() {}

    /** The newest second that was written, as it is written: most events follow one of the same second. */
    private static volatile Second newest = second(0);

    private record Second(long sinceEpoch, byte[] text) {}

    static String format(Instant instant) {
        Second second = newest;
        if (second.sinceEpoch != instant.getEpochSecond()) {
            second = second(instant.getEpochSecond());
            newest = second;
        }
        byte[] text = second.text.clone();
        int millis = instant.getNano() / 1_000_000;
        text[20] = (byte) ('0' + millis / 100);
        text[21] = (byte) ('0' + millis / 10 % 10);
        text[22] = (byte) ('0' + millis % 10);
        return new String(text, ISO_8859_1);
    }

    private static Second second(long sinceEpoch) {
        return new Second(
                sinceEpoch, SECOND.format(Instant.ofEpochSecond(sinceEpoch)).getBytes(ISO_8859_1));
    }

    /**
     * Reads what ISO 8601 allows with a date, a time and an offset.
     *
     * @throws DateTimeException if it is anything else, or outside of the years 1 to 9999
     */
    static Instant parse(String text) {
        Instant instant = isOurForm(text) ? parseOurForm(text) : Instant.parse(text);
        int year = instant.atOffset(ZoneOffset.UTC).getYear();
        if (year < 1 || year > 9999) {
            throw new DateTimeParseException("year out of range", text, 0);
        }
        return instant;
    }

    /** As {@link #parse}, but the offset may be missing. */
    static Instant parseAsUtc(String text) {
        try {
            return parse(text);
        } catch (DateTimeException withoutOffset) {
            return parse(text + "Z");
        }
    }

    private static boolean isOurForm(String text) {
        if (text.length() != LENGTH) {
            return false;
        }
        String form = "0000-00-00T00:00:00.000Z";
        for (int i = 0; i < LENGTH; i++) {
            char wanted = form.charAt(i);
            char found = text.charAt(i);
            if (wanted == '0' ? found < '0' || found > '9' : found != wanted) {
                return false;
            }
        }
        return true;
    }

    private static Instant parseOurForm(String text) {
        return LocalDateTime.of(
                        number(text, 0, 4),
                        number(text, 5, 7),
                        number(text, 8, 10),
                        number(text, 11, 13),
                        number(text, 14, 16),
                        number(text, 17, 19),
                        number(text, 20, 23) * 1_000_000)
                .toInstant(ZoneOffset.UTC);
    }

    private static int number(String text, int from, int to) {
        return Integer.parseInt(text, from, to, 10);
    }
}
