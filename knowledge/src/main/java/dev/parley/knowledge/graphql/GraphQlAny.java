package dev.parley.knowledge.graphql;

import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.protocol.InvalidField;
import graphql.GraphQLContext;
import graphql.execution.CoercedVariables;
import graphql.language.ArrayValue;
import graphql.language.BooleanValue;
import graphql.language.EnumValue;
import graphql.language.FloatValue;
import graphql.language.IntValue;
import graphql.language.NullValue;
import graphql.language.ObjectField;
import graphql.language.ObjectValue;
import graphql.language.StringValue;
import graphql.language.Value;
import graphql.language.VariableReference;
import graphql.schema.Coercing;
import graphql.schema.CoercingParseLiteralException;
import graphql.schema.GraphQLScalarType;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Scalar {@code Any}: any JSON value. */
final class GraphQlAny implements Coercing<Object, Object> {
    private static final int MAX_NUMBER = 1_000;

    private GraphQlAny() {}

    /** Returns a scalar of any JSON value under this name. */
    static GraphQLScalarType scalar(String name) {
        return GraphQLScalarType.newScalar()
                .name(name)
                .coercing(new GraphQlAny())
                .build();
    }

    @Override
    public Object serialize(Object value, GraphQLContext context, Locale locale) {
        return value;
    }

    @Override
    public Object parseValue(Object value, GraphQLContext context, Locale locale) {
        return value;
    }

    @Override
    public @Nullable Object parseLiteral(
            Value<?> literal, CoercedVariables variables, GraphQLContext context, Locale locale) {
        return switch (literal) {
            case StringValue text -> text.getValue();
            case BooleanValue truth -> truth.isValue();
            case EnumValue name -> name.getName();
            case IntValue number -> number(new BigDecimal(number.getValue()));
            case FloatValue number -> number(number.getValue());
            case NullValue nothing -> null;
            case ArrayValue array ->
                array.getValues().stream()
                        .map(element -> parseLiteral(element, variables, context, locale))
                        .toList();
            case ObjectValue object -> {
                var members = new LinkedHashMap<String, @Nullable Object>();
                object.getObjectFields()
                        .forEach(member -> members.put(
                                member.getName(), parseLiteral(member.getValue(), variables, context, locale)));
                yield members;
            }
            case VariableReference variable -> variables.get(variable.getName());
            default ->
                throw CoercingParseLiteralException.newCoercingParseLiteralException()
                        .message("not a value")
                        .build();
        };
    }

    @Override
    public Value<?> valueToLiteral(Object value, GraphQLContext context, Locale locale) {
        return literal(value);
    }

    private static Value<?> literal(@Nullable Object value) {
        return switch (value) {
            case null -> NullValue.of();
            case Boolean truth -> BooleanValue.of(truth);
            case Number number -> literal(new BigDecimal(number.toString()));
            case List<?> list -> {
                var array = ArrayValue.newArrayValue();
                list.forEach(element -> array.value(literal(element)));
                yield array.build();
            }
            case Map<?, ?> members ->
                ObjectValue.newObjectValue()
                        .objectFields(members.entrySet().stream()
                                .map(member ->
                                        new ObjectField(String.valueOf(member.getKey()), literal(member.getValue())))
                                .toList())
                        .build();
            default -> StringValue.of(value.toString());
        };
    }

    private static Value<?> literal(BigDecimal number) {
        // A number with an exponent is not expanded: it may have a billion digits.
        return number.scale() == 0
                ? IntValue.newIntValue(number.unscaledValue()).build()
                : FloatValue.newFloatValue(number).build();
    }

    private static BigDecimal number(BigDecimal number) {
        if (number.precision() > MAX_NUMBER || Math.abs(number.scale()) > MAX_NUMBER) {
            throw CoercingParseLiteralException.newCoercingParseLiteralException()
                    .message("a number that is too long")
                    .build();
        }
        return number;
    }

    /**
     * Returns the term that a value denotes.
     *
     * @throws InvalidField if it denotes none
     */
    static Term term(String field, @Nullable Object value) {
        return switch (value) {
            case String text -> Literal.of(text);
            case Boolean truth -> Literal.of(truth);
            case BigDecimal number -> Literal.of(number);
            case Number number -> Literal.of(new BigDecimal(number.toString()));
            case Map<?, ?> members -> term(field, members);
            case null, default ->
                throw InvalidField.of(field, "expected: text, a number, a boolean, or an object with id or value");
        };
    }

    private static Term term(String field, Map<?, ?> members) {
        if (members.get("id") instanceof String id && !members.containsKey("value")) {
            return Term.Resource.of(id);
        }
        if (members.containsKey("id") || !(term(field, members.get("value")) instanceof Literal value)) {
            throw InvalidField.of(field, "expected: either an id or a value");
        }
        if (members.get("language") instanceof String language) {
            return Literal.of(value.lexical(), language);
        }
        return members.get("type") instanceof String type ? new Literal(value.lexical(), type, null) : value;
    }
}
