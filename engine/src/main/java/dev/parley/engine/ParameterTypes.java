package dev.parley.engine;

import dev.parley.protocol.Part;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Types of parameters of {@link Skill} methods, and the conversion of JSON values to them. */
final class ParameterTypes {
    private ParameterTypes() {}

    /** Describes the accepted values of a type; null for an unsupported type. */
    static @Nullable String expected(Type type) {
        return switch (raw(type)) {
            case Class<?> simple when simple == String.class -> "a string";
            case Class<?> simple when simple == int.class || simple == Integer.class -> "an integer of 32 bits";
            case Class<?> simple when simple == long.class || simple == Long.class -> "an integer of 64 bits";
            case Class<?> simple when simple == double.class || simple == Double.class -> "a number";
            case Class<?> simple when simple == boolean.class || simple == Boolean.class -> "true or false";
            case Class<?> simple when simple == Object.class -> "any value but null";
            case Class<?> list when list == List.class -> expectedList(element(type, 0));
            case Class<?> map when map == Map.class && element(type, 1) == Object.class -> "an object";
            case null, default -> null;
        };
    }

    private static @Nullable String expectedList(Type element) {
        String expected = expected(element);
        return element == Object.class ? "a list" : expected == null ? null : "a list, each element " + expected;
    }

    /** Converts a JSON value to a type; null if the value does not fit. */
    static @Nullable Object converted(Type type, @Nullable Object value) {
        Class<?> simple = raw(type);
        return switch (value) {
            case String text when simple == String.class -> text;
            case Boolean truth when simple == boolean.class || simple == Boolean.class -> truth;
            case Number number -> number(simple, number);
            case List<?> list when simple == List.class -> list(element(type, 0), list);
            case Map<?, ?> map when simple == Map.class -> map;
            case null -> null;
            default -> simple == Object.class ? value : null;
        };
    }

    private static @Nullable Object number(@Nullable Class<?> type, Number number) {
        if (type == Object.class) {
            return number;
        }
        try {
            // Without loss: 5.0 is an integer, as some bindings have only floating-point numbers; 5.5 is not an
            // integer.
            var exact = new BigDecimal(number.toString());
            if (type == int.class || type == Integer.class) {
                return exact.intValueExact();
            }
            if (type == long.class || type == Long.class) {
                return exact.longValueExact();
            }
            double floating = exact.doubleValue();
            return (type == double.class || type == Double.class) && Double.isFinite(floating) ? floating : null;
        } catch (ArithmeticException | NumberFormatException none) {
            return null;
        }
    }

    private static @Nullable Object list(Type element, List<?> list) {
        if (element == Object.class) {
            return list;
        }
        var converted = new ArrayList<Object>(list.size());
        for (Object one : list) {
            Object value = converted(element, one);
            if (value == null) {
                return null;
            }
            converted.add(value);
        }
        return converted;
    }

    static boolean isListOfParts(Type type) {
        if (!(type instanceof ParameterizedType list)) {
            return false;
        }
        Class<?> element = raw(list.getActualTypeArguments()[0]);
        return element != null && Part.class.isAssignableFrom(element);
    }

    private static @Nullable Class<?> raw(Type type) {
        return switch (type) {
            case Class<?> simple -> simple;
            case ParameterizedType generic -> raw(generic.getRawType());
            case WildcardType wildcard -> raw(wildcard.getUpperBounds()[0]);
            default -> null;
        };
    }

    private static Type element(Type container, int index) {
        if (!(container instanceof ParameterizedType generic)) {
            return Object.class;
        }
        Type element = generic.getActualTypeArguments()[index];
        return element instanceof WildcardType wildcard ? wildcard.getUpperBounds()[0] : element;
    }
}
