package dev.parley.protocol.extension;

import static java.util.Objects.requireNonNull;

import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A parameter of an operation over REST: how documents describe it, and command lines take it. Immutable.
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

    /** Returns this parameter at another place of the request. */
    public RestParameter in(Place other) {
        return new RestParameter(name, other, type, required, description, label, flag, schema);
    }

    /** Type of the values of a schema: {@link Type#OBJECT} for a schema of another type. */
    public static Type typeOf(Map<String, Object> schema) {
        Object format = schema.getOrDefault("format", "");
        return switch (String.valueOf(schema.get("type"))) {
            case "string" -> format.equals("date-time") ? Type.TIME : Type.TEXT;
            case "integer" -> format.equals(SECONDS) ? Type.DURATION : Type.NUMBER;
            case "boolean" -> Type.TRUTH;
            case "array" ->
                schema.get("items") instanceof Map<?, ?> items && "string".equals(items.get("type"))
                        ? Type.TEXTS
                        : Type.OBJECT;
            default -> Type.OBJECT;
        };
    }

    /** The time that a value of the type {@link Type#TIME} is; null if it is not one. */
    public static @Nullable Instant time(@Nullable Object value) {
        try {
            Instant time = value == null ? null : Instant.parse(value.toString());
            return time == null || time.isBefore(EARLIEST) || time.isAfter(LATEST) ? null : time;
        } catch (DateTimeParseException wrong) {
            return null;
        }
    }
}
