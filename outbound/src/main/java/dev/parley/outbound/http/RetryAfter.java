package dev.parley.outbound.http;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import org.jspecify.annotations.Nullable;

/** Reads the header {@code Retry-After}: seconds, or a date. Source: RFC 9110, section 10.2.3. */
public final class RetryAfter {
    private RetryAfter() {}

    /** Returns how long to wait, at most {@code cap}; null if the header is absent or says nothing sensible. */
    public static @Nullable Duration parse(@Nullable String header, Instant now, Duration cap) {
        if (header == null) {
            return null;
        }
        String text = header.strip();
        if (text.matches("\\d{1,18}")) {
            long seconds = Long.parseLong(text);
            return seconds >= cap.toSeconds() ? cap : Duration.ofSeconds(seconds);
        }
        try {
            Instant date = ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME)
                    .toInstant();
            Duration wait = Duration.between(now, date);
            if (wait.isNegative()) {
                return Duration.ZERO;
            }
            return wait.compareTo(cap) > 0 ? cap : wait;
        } catch (DateTimeException e) {
            return null;
        }
    }
}
