package dev.parley.protocol.extension;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.InvalidField;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A parameter of an operation over REST: how servers read it, documents describe it, and command lines take it. Immutable.
 *
 * @param label what stands for the value in help, such as {@code GROUP}
 * @param flag the flag of a command line; empty for an argument
 * @param schema JSON Schema of the value
 */
public record RestParameter(
        String name,
        Place place,
        Type type,
        boolean required,
        String description,
        String label,
        String flag,
        Map<String, Object> schema) {
    /** Format of a number of seconds in a schema. */
    public static final String SECONDS = "seconds";

    private static final int MOST_SHOWN = 200;

    /** Times of the years 1 to 9999, as RFC 3339 has them: others have no number of milliseconds, or no form on the wire. */
    private static final Instant EARLIEST = Instant.parse("0001-01-01T00:00:00Z");

    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59.999999999Z");

    /** Place of the parameter in a request. */
    public enum Place {
        PATH,
        QUERY,
        /** A member of the object that is the body. */
        MEMBER,
        /** The body itself. */
        BODY
    }

    /** Type of the value, in JSON. */
    public enum Type {
        TEXT,
        TEXTS,
        /** A text such as {@code 2027-01-31T00:00:00Z}; a duration in a command line goes back from now. */
        TIME,
        /** As {@link #TIME}; a duration in a command line begins now. */
        EXPIRY,
        /** A number from 0. */
        NUMBER,
        /** A number of seconds from 0; in a command line, a duration such as {@code 24h}. */
        DURATION,
        TRUTH,
        OBJECT
    }

    public RestParameter {
        requireNonNull(place, "place");
        requireNonNull(type, "type");
        requireNonNull(description, "description");
        requireNonNull(label, "label");
        requireNonNull(flag, "flag");
        requireNonNull(name, "name");
        schema = Collections.unmodifiableMap(new LinkedHashMap<>(schema));
    }

    /** A variable of the path, and an argument in a command line. */
    public static RestParameter path(String name, String label, String description) {
        return new RestParameter(name, Place.PATH, Type.TEXT, true, description, label, "", schema(Type.TEXT));
    }

    /** A parameter of the query that may be left out. */
    public static RestParameter query(String name, Type type, String label, String description) {
        return new RestParameter(name, Place.QUERY, type, false, description, label, "--" + name, schema(type));
    }

    /** A member of the body that may be left out. */
    public static RestParameter member(String name, Type type, String label, String description) {
        return new RestParameter(name, Place.MEMBER, type, false, description, label, "--" + name, schema(type));
    }

    /** The body itself, an object. */
    public static RestParameter body(String name, String label, String description) {
        return new RestParameter(name, Place.BODY, Type.OBJECT, true, description, label, "", schema(Type.OBJECT));
    }

    /** Returns this parameter as a required one. */
    public RestParameter asRequired() {
        return new RestParameter(name, place, type, true, description, label, flag, schema);
    }

    /** Returns this parameter, required, as an argument of a command line. */
    public RestParameter asArgument() {
        return new RestParameter(name, place, type, true, description, label, "", schema);
    }

    /** Returns this parameter with another flag. */
    public RestParameter flag(String other) {
        return new RestParameter(name, place, type, required, description, label, other, schema);
    }

    /** Returns this number with a largest value. */
    public RestParameter atMost(long other) {
        var limited = new LinkedHashMap<>(schema);
        limited.put("maximum", other);
        return new RestParameter(name, place, type, required, description, label, flag, limited);
    }

    /** Returns this parameter at another place of the request. */
    public RestParameter in(Place other) {
        return new RestParameter(name, other, type, required, description, label, flag, schema);
    }

    private static Map<String, Object> schema(Type type) {
        var schema = new LinkedHashMap<String, Object>();
        switch (type) {
            case TEXT -> schema.put("type", "string");
            case TEXTS -> {
                schema.put("type", "array");
                schema.put("items", Map.of("type", "string"));
            }
            case TIME, EXPIRY -> {
                schema.put("type", "string");
                schema.put("format", "date-time");
            }
            case NUMBER, DURATION -> {
                schema.put("type", "integer");
                schema.put("minimum", 0);
                schema.put("maximum", Long.MAX_VALUE);
            }
            case TRUTH -> schema.put("type", "boolean");
            case OBJECT -> schema.put("type", "object");
        }
        return schema;
    }

    /** Type of the values of a schema: {@link Type#OBJECT} for those that are none of the others. */
    public static Type typeOf(Map<String, Object> schema) {
        Object format = schema.getOrDefault("format", "");
        return switch (String.valueOf(schema.get("type"))) {
            case "string" -> format.equals("date-time") ? Type.TIME : Type.TEXT;
            case "integer" -> format.equals(SECONDS) ? Type.DURATION : Type.NUMBER;
            case "boolean" -> Type.TRUTH;
            case "array" -> Map.of("type", "string").equals(schema.get("items")) ? Type.TEXTS : Type.OBJECT;
            default -> Type.OBJECT;
        };
    }

    /**
     * Reads a value as JSON has it, or as the text of a path or a query.
     *
     * @return null for none
     * @throws InvalidField if it is missing or wrong
     */
    @Nullable
    Object read(@Nullable Object given) {
        if (given == null) {
            if (required) {
                throw InvalidField.of(name, "missing (expected: " + expected() + ")");
            }
            return null;
        }
        Object read = switch (type) {
            case TEXT -> given instanceof String ? given : null;
            case TEXTS ->
                given instanceof List<?> list && list.stream().allMatch(String.class::isInstance) ? given : null;
            case TIME, EXPIRY -> time(given) == null ? null : given;
            case NUMBER, DURATION -> number(given);
            case TRUTH ->
                given instanceof Boolean || given.equals("true") || given.equals("false")
                        ? (Boolean) Boolean.parseBoolean(given.toString())
                        : null;
            case OBJECT -> given instanceof Map ? given : null;
        };
        if (read == null) {
            throw InvalidField.of(name, shown(given) + " (expected: " + expected() + ")");
        }
        return read;
    }

    /** A value in an error. */
    private static String shown(Object value) {
        return switch (value) {
            case Map<?, ?> object -> "an object";
            case List<?> list when list.stream().allMatch(String.class::isInstance) -> "a list of texts";
            case List<?> list -> "a list";
            default -> {
                String text = value.toString();
                yield text.length() <= MOST_SHOWN ? text : text.substring(0, MOST_SHOWN) + "…";
            }
        };
    }

    /** The time that a value of the type {@link Type#TIME} is; null if it is none. */
    public static @Nullable Instant time(@Nullable Object value) {
        try {
            Instant time = value == null ? null : Instant.parse(value.toString());
            return time == null || time.isBefore(EARLIEST) || time.isAfter(LATEST) ? null : time;
        } catch (DateTimeParseException wrong) {
            return null;
        }
    }

    private @Nullable Long number(Object given) {
        try {
            long number = given instanceof Number || given instanceof String ? Long.parseLong(given.toString()) : -1;
            return number >= 0 && number <= most() ? (Long) number : null;
        } catch (NumberFormatException wrong) {
            return null;
        }
    }

    private String expected() {
        return switch (type) {
            case TEXT -> "a text";
            case TEXTS -> "a list of texts";
            case TIME, EXPIRY -> "such as 2027-01-31T00:00:00Z";
            case NUMBER, DURATION -> "0 to " + most();
            case TRUTH -> "true or false";
            case OBJECT -> "an object";
        };
    }

    private long most() {
        return schema.get("maximum") instanceof Number most ? most.longValue() : Long.MAX_VALUE;
    }
}
