package dev.parley.cli;

import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How the text of a setting becomes its value; the same from a flag, the environment or a file.
 *
 * @param expected what a good text looks like, for messages
 * @param parser throws IllegalArgumentException for any other text
 */
record SettingType<T>(String expected, Function<String, T> parser) {
    static final SettingType<String> TEXT = new SettingType<>("a text", text -> text);

    /** Value of an HTTP header. */
    static final SettingType<String> HEADER_VALUE =
            new SettingType<>("at most 8192 printable ASCII characters", text -> {
                if (!text.matches("[ -~]{0,8192}")) {
                    throw new IllegalArgumentException();
                }
                return text;
            });

    static final SettingType<Boolean> FLAG =
            new SettingType<>("true or false", text -> switch (text.toLowerCase(Locale.ROOT)) {
                case "true", "1", "" -> true;
                case "false", "0" -> false;
                default -> throw new IllegalArgumentException();
            });

    static final SettingType<Duration> DURATION =
            new SettingType<>("a duration such as 500ms, 2s, 1m30s, 1h or 30d", SettingType::duration);

    static final SettingType<Integer> PORT = new SettingType<>("a port from 0 to 65535", text -> {
        int port = Integer.parseInt(text);
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException();
        }
        return port;
    });

    static final SettingType<Integer> COUNT = new SettingType<>("a number from 1 on", text -> {
        int count = Integer.parseInt(text);
        if (count < 1) {
            throw new IllegalArgumentException();
        }
        return count;
    });

    static final SettingType<Long> SIZE = new SettingType<>("a size such as 512KB or 10MB", SettingType::size);

    static final SettingType<Path> PATH = new SettingType<>("a path", Path::of);

    static final SettingType<URI> HTTP_URL = new SettingType<>("an http or https URL", HttpAddress::of);

    /** Separated by commas; blanks around an element do not count. */
    static final SettingType<List<String>> LIST = new SettingType<>(
            "values separated by commas",
            text -> Arrays.stream(text.split(",", -1))
                    .map(String::strip)
                    .filter(element -> !element.isEmpty())
                    .toList());

    static final SettingType<Map<String, @Nullable Object>> JSON_OBJECT =
            new SettingType<>("a JSON object such as {\"k\":\"v\"}", SettingType::object);

    static SettingType<String> oneOf(String... choices) {
        return new SettingType<>("one of " + String.join(", ", choices), text -> {
            if (!List.of(choices).contains(text)) {
                throw new IllegalArgumentException();
            }
            return text;
        });
    }

    private static final Pattern STEP = Pattern.compile("(\\d+)(ms|s|m|h|d)");

    private static Duration duration(String text) {
        if (text.matches("\\d+")) {
            return Duration.ofSeconds(Long.parseLong(text));
        }
        if (text.startsWith("P")) {
            try {
                Duration iso = Duration.parse(text);
                if (!iso.isNegative()) {
                    return iso;
                }
            } catch (DateTimeParseException unreadable) {
                throw new IllegalArgumentException(unreadable);
            }
        }
        Matcher steps = STEP.matcher(text);
        Duration sum = Duration.ZERO;
        int end = 0;
        while (steps.find() && steps.start() == end) {
            long count = Long.parseLong(steps.group(1));
            sum = sum.plus(
                    switch (steps.group(2)) {
                        case "ms" -> Duration.ofMillis(count);
                        case "s" -> Duration.ofSeconds(count);
                        case "m" -> Duration.ofMinutes(count);
                        case "h" -> Duration.ofHours(count);
                        default -> Duration.ofDays(count);
                    });
            end = steps.end();
        }
        if (end == 0 || end != text.length()) {
            throw new IllegalArgumentException();
        }
        return sum;
    }

    private static final Pattern SIZES = Pattern.compile("(\\d{1,12})(B|KB|MB|GB)?", Pattern.CASE_INSENSITIVE);

    private static long size(String text) {
        Matcher size = SIZES.matcher(text);
        if (!size.matches()) {
            throw new IllegalArgumentException();
        }
        String unit = size.group(2) == null ? "B" : size.group(2).toUpperCase(Locale.ROOT);
        long factor = switch (unit) {
            case "KB" -> 1L << 10;
            case "MB" -> 1L << 20;
            case "GB" -> 1L << 30;
            default -> 1L;
        };
        return Math.multiplyExact(Long.parseLong(size.group(1)), factor);
    }

    @SuppressWarnings("unchecked") // a JSON object has string keys
    private static Map<String, @Nullable Object> object(String text) {
        try {
            return (Map<String, @Nullable Object>) Json.read(text.getBytes(StandardCharsets.UTF_8), Map.class);
        } catch (A2AException malformed) {
            throw new IllegalArgumentException(malformed);
        }
    }
}
