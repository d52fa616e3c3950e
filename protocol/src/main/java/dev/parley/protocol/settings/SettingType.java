package dev.parley.protocol.settings;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Conversion of the text of a setting to its value; the same for flags, the environment and files.
 *
 * @param <T> type of the value
 * @param expected form of a valid text, for messages
 * @param parser throws IllegalArgumentException for any other text
 */
public record SettingType<T>(String expected, Function<String, T> parser) {
    private static final int LAST_PORT = 65_535;

    public static final SettingType<String> TEXT = new SettingType<>("a text", text -> text);

    /** Value of an HTTP header. */
    public static final SettingType<String> HEADER_VALUE =
            new SettingType<>("at most 8192 printable ASCII characters", text -> {
                if (!text.matches("[ -~]{0,8192}")) {
                    throw new IllegalArgumentException();
                }
                return text;
            });

    public static final SettingType<Boolean> FLAG =
            new SettingType<>("true or false", text -> switch (text.toLowerCase(Locale.ROOT)) {
                case "true", "1", "" -> true;
                case "false", "0" -> false;
                default -> throw new IllegalArgumentException();
            });

    public static final SettingType<Duration> DURATION =
            new SettingType<>("a duration such as 500ms, 2s, 1m30s, 1h or 30d", SettingType::duration);

    public static final SettingType<Integer> PORT = new SettingType<>("a port from 0 to 65535", text -> {
        int port = Integer.parseInt(text);
        if (port < 0 || port > LAST_PORT) {
            throw new IllegalArgumentException();
        }
        return port;
    });

    public static final SettingType<Integer> COUNT =
            new SettingType<>("a number from 1 on", text -> inRange(Integer.parseInt(text), Integer.MAX_VALUE));

    public static final SettingType<Long> SIZE = new SettingType<>("a size such as 512KB or 10MB", SettingType::size);

    /** Returns the type of numbers from 1 to {@code most}. */
    public static SettingType<Integer> countTo(int most) {
        return new SettingType<>("a number from 1 to " + most, text -> inRange(Integer.parseInt(text), most));
    }

    /** A path; an empty text, as of an unset variable of a shell, would be the working directory. */
    public static final SettingType<Path> PATH = new SettingType<>("a path", Path::of)
            .requiring(path -> !path.toString().isEmpty(), "a path");

    public static final SettingType<URI> HTTP_URL = new SettingType<>("an http or https URL", SettingType::url);

    /** Separated by commas; blanks around an element do not count. */
    public static final SettingType<List<String>> LIST = new SettingType<>(
            "values separated by commas",
            text -> Arrays.stream(text.split(",", -1))
                    .map(String::strip)
                    .filter(element -> !element.isEmpty())
                    .toList());

    /** Returns the type of one of these texts. */
    public static SettingType<String> oneOf(String... choices) {
        return new SettingType<>("one of " + String.join(", ", choices), text -> {
            if (!List.of(choices).contains(text)) {
                throw new IllegalArgumentException();
            }
            return text;
        });
    }

    /** Returns this type with a further condition. */
    public SettingType<T> requiring(Predicate<T> condition, String expected) {
        return new SettingType<>(expected, text -> {
            T value = parser.apply(text);
            if (!condition.test(value)) {
                throw new IllegalArgumentException();
            }
            return value;
        });
    }

    private static int inRange(int count, int most) {
        if (count < 1 || count > most) {
            throw new IllegalArgumentException();
        }
        return count;
    }

    private static URI url(String text) {
        URI url = URI.create(text);
        if (url.getHost() == null
                || !("http".equals(url.getScheme()) || "https".equals(url.getScheme()))
                || url.getPort() == 0
                || url.getPort() > LAST_PORT) {
            throw new IllegalArgumentException();
        }
        return url;
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
}
