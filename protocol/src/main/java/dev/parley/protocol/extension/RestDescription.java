package dev.parley.protocol.extension;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.InvalidField;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Description of an operation over REST beside its address: from it servers read the request, documents such as OpenAPI are
 * written, and commands get their flags and their help.
 *
 * @param answer JSON Schema of the answer; empty for that of its form
 */
public record RestDescription(
        String summary, List<RestParameter> parameters, Map<String, Object> answer, boolean isStrict) {
    /** A description of an operation that ignores members which are no parameters. */
    public RestDescription(String summary, List<RestParameter> parameters, Map<String, Object> answer) {
        this(summary, parameters, answer, false);
    }

    public RestDescription {
        requireNonNull(summary, "summary");
        parameters = List.copyOf(parameters);
        requireNonNull(answer, "answer");
    }

    /** This description of an operation that refuses members which are no parameters. */
    public RestDescription strict() {
        return new RestDescription(summary, parameters, answer, true);
    }

    /** The parameter that is the body itself. */
    public Optional<RestParameter> body() {
        return parameters.stream()
                .filter(one -> one.place() == RestParameter.Place.BODY)
                .findFirst();
    }

    /** Whether the parameter of that name is a list, which a query gives by repetition. */
    public boolean isList(String name) {
        return parameters.stream().anyMatch(one -> one.name().equals(name) && one.type() == RestParameter.Type.TEXTS);
    }

    /** Whether the query has a parameter of that name. */
    public boolean hasInQuery(String name) {
        return parameters.stream()
                .anyMatch(one ->
                        one.place() == RestParameter.Place.QUERY && one.name().equals(name));
    }

    /**
     * Reads the call of the operation of that name. Members that are no parameters are ignored, unless it is strict.
     *
     * @throws InvalidField if one is missing or wrong
     */
    public MethodCall call(String name, Map<String, @Nullable Object> params) {
        if (isStrict) {
            requireKnown(params.keySet());
        }
        var read = new LinkedHashMap<String, @Nullable Object>();
        for (RestParameter parameter : parameters) {
            Object value = parameter.read(params.get(parameter.name()));
            if (value != null) {
                read.put(parameter.name(), value);
            }
        }
        return new MethodCall(name, read);
    }

    /**
     * Refuses names that are neither parameters nor those that every request of A2A may have.
     *
     * @throws InvalidField naming the first one
     */
    public void requireKnown(Set<String> names) {
        List<String> known = parameters.stream().map(RestParameter::name).toList();
        for (String name : names) {
            boolean isOfA2a =
                    name.equals("tenant") || name.toLowerCase(Locale.ROOT).startsWith("a2a-");
            if (!isOfA2a && !known.contains(name)) {
                throw InvalidField.of(name, "unknown (expected: " + String.join(", ", known) + ")");
            }
        }
    }
}
