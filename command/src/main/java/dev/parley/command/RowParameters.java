package dev.parley.command;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.extension.RestParameter;
import dev.parley.protocol.extension.RestParameter.Type;
import dev.parley.protocol.settings.SettingType;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Arguments and options of commands that are derived from the rows of operations. */
public final class RowParameters {
    private static final String TIMES = "such as 90d, 2027-01-31 or 2027-01-31T12:00:00Z";
    private static final String DATES = "a time such as 2027-01-31T12:00:00Z, 2027-01-31";
    private static final String SECONDS = "a duration such as 90s, 1h30m or 2d";

    private RowParameters() {}

    /** A command line. */
    public interface Typed {
        /** Value of an option; null if it is not given. */
        @Nullable
        String option(String name);

        /** Values of an option that may be repeated. */
        List<String> options(String name);

        /** True if an option is given. */
        boolean has(String name);

        /** An argument that the command requires. */
        String requiredArgument(int index);
    }

    /** Adds arguments and options. */
    public static void describe(CommandSpec spec, List<RestParameter> parameters) {
        for (RestParameter one : parameters) {
            if (one.flag().isEmpty()) {
                int index = spec.positionalParameters().size();
                spec.addPositional(Parameters.argument(index, true, one.label(), one.description()));
            } else if (one.type() == Type.TRUTH) {
                spec.addOption(Parameters.flag(one.flag(), one.description()));
            } else {
                spec.addOption(OptionSpec.builder(one.flag())
                        .type(one.type() == Type.TEXTS ? List.class : String.class)
                        .auxiliaryTypes(String.class)
                        .arity("1")
                        .paramLabel(one.label())
                        .description(one.description())
                        .build());
            }
        }
    }

    /**
     * Values by the names of parameters. A duration stands for a time: before now, or from now on for a {@link Type#EXPIRY}.
     *
     * @throws CommandException if a required one is missing, or one is wrong
     */
    public static Map<String, Object> values(Typed call, List<RestParameter> parameters) {
        var values = new LinkedHashMap<String, Object>();
        int arguments = 0;
        for (RestParameter one : parameters) {
            Object value = one.flag().isEmpty() ? value(one, call.requiredArgument(arguments++)) : value(call, one);
            if (value != null) {
                values.put(one.name(), value);
            } else if (one.required()) {
                throw CommandException.usage("missing " + one.flag(), null);
            }
        }
        return values;
    }

    private static @Nullable Object value(Typed call, RestParameter one) {
        if (!call.has(one.flag())) {
            return null;
        }
        if (one.type() == Type.TRUTH) {
            return true;
        }
        if (one.type() == Type.TEXTS) {
            return call.options(one.flag());
        }
        return value(one, requireNonNull(call.option(one.flag())));
    }

    private static Object value(RestParameter one, String text) {
        return switch (one.type()) {
            case TIME -> reading(one, text, TIMES, () -> past(text).toString());
            case EXPIRY ->
                reading(one, text, TIMES, () -> time(text, after -> after).toString());
            case DURATION ->
                reading(
                        one,
                        text,
                        SettingType.DURATION.expected(),
                        () -> SettingType.DURATION.parser().apply(text).toSeconds());
            default -> text;
        };
    }

    private static Object reading(RestParameter one, String text, String expected, Supplier<Object> reader) {
        try {
            return reader.get();
        } catch (IllegalArgumentException | ArithmeticException | DateTimeException wrong) {
            throw CommandException.usage("invalid " + shown(one) + ": " + text + " (expected: " + expected + ")", null);
        }
    }

    /** The name of a parameter in messages. */
    static String shown(RestParameter one) {
        return one.flag().isEmpty() ? one.label() : one.flag();
    }

    /** Type and limits of a parameter on a command line, by its schema, such as {@code celsius or fahrenheit}. */
    static String expected(RestParameter one) {
        Map<String, Object> schema = one.schema();
        return switch (one.type()) {
            case TEXT -> choices(schema, "a text");
            case TEXTS -> choices((Map<?, ?>) requireNonNull(schema.get("items")), "a text") + ", repeatable";
            case TIME -> DATES + " or, before now, 90d";
            case EXPIRY -> DATES + " or, from now on, 90d";
            case DURATION ->
                schema.get("maximum") instanceof Long most && most < Long.MAX_VALUE
                        ? SECONDS + ", at most "
                                + Duration.ofSeconds(most)
                                        .toString()
                                        .substring(2)
                                        .toLowerCase(Locale.ROOT)
                        : SECONDS;
            case NUMBER -> number(schema);
            case TRUTH -> "true or false";
            case OBJECT ->
                switch (String.valueOf(schema.get("type"))) {
                    case "number" -> "a number";
                    case "object" -> "a JSON object, or @FILE";
                    case "array" -> "a JSON array, or @FILE";
                    default -> "JSON, or @FILE";
                };
        };
    }

    private static String choices(Map<?, ?> schema, String otherwise) {
        return schema.get("enum") instanceof List<?> words
                ? words.stream().map(String::valueOf).collect(Collectors.joining(" or "))
                : otherwise;
    }

    private static String number(Map<String, Object> schema) {
        Object least = schema.getOrDefault("minimum", 0L);
        return schema.get("maximum") instanceof Long most && most < Long.MAX_VALUE
                ? "a whole number from " + least + " to " + most
                : "a whole number from " + least;
    }

    /** A number without a unit is not seconds, because it may be meant as a year. */
    private static Instant past(String text) {
        if (text.matches("\\d+")) {
            throw new IllegalArgumentException("a number");
        }
        return time(text, Duration::negated);
    }

    private static Instant time(String text, UnaryOperator<Duration> direction) {
        try {
            return Instant.now()
                    .plus(direction.apply(SettingType.DURATION.parser().apply(text)));
        } catch (IllegalArgumentException none) {
            return text.contains("T")
                    ? Instant.parse(text)
                    : LocalDate.parse(text).atStartOfDay(ZoneOffset.UTC).toInstant();
        }
    }
}
