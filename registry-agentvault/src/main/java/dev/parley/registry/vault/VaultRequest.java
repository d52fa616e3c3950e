package dev.parley.registry.vault;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.spi.WireRequest;
import dev.parley.registry.vault.ValueRules.Faults;
import java.net.URLDecoder;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A request to a route, with readers of its parameters that collect faults.
 *
 * @param variable the variable part of the path; empty for none
 */
record VaultRequest(WireRequest http, String variable, Faults queryFaults) {
    private static final Set<String> YES = Set.of("true", "1", "yes", "on", "t", "y");
    private static final Set<String> NO = Set.of("false", "0", "no", "off", "f", "n");
    private static final Pattern BOUNDARY = Pattern.compile("boundary=\"?([^\";,]{1,70})\"?");
    private static final Pattern PART = Pattern.compile("(?s)name=\"([^\"]{1,100})\".*?\r\n\r\n(.*)\r\n$");

    static VaultRequest of(WireRequest http, String variable) {
        return new VaultRequest(http, variable, Faults.at("query"));
    }

    String address() {
        return http.address();
    }

    /** The token of the header Authorization; null if it has none. */
    @Nullable
    String bearer() {
        String header = http.header("Authorization");
        if (header == null || !header.toLowerCase(Locale.ROOT).startsWith("bearer ")) {
            return null;
        }
        return header.substring("bearer ".length()).strip();
    }

    int number(String name, int fallback, int least, int most) {
        String text = http.parameter(name);
        if (text.isEmpty()) {
            return fallback;
        }
        Faults here = queryFaults.below(name);
        try {
            long number = Long.parseLong(text.strip());
            if (number < least) {
                here.add("greater_than_equal", "Input should be greater than or equal to " + least, text);
            } else if (number > most) {
                here.add("less_than_equal", "Input should be less than or equal to " + most, text);
            } else {
                return (int) number;
            }
        } catch (NumberFormatException foreign) {
            here.add("int_parsing", "Input should be a valid integer, unable to parse string as an integer", text);
        }
        return fallback;
    }

    @Nullable
    Boolean truth(String name) {
        if (!http.query().containsKey(name)) {
            return null;
        }
        String text = http.parameter(name).toLowerCase(Locale.ROOT);
        if (!YES.contains(text) && !NO.contains(text)) {
            queryFaults
                    .below(name)
                    .add("bool_parsing", "Input should be a valid boolean, unable to interpret input", text);
        }
        return YES.contains(text);
    }

    @Nullable
    String text(String name, int most) {
        if (!http.query().containsKey(name)) {
            return null;
        }
        ValueRules.text(0, most).check(http.parameter(name), queryFaults.below(name));
        return http.parameter(name);
    }

    /** A query parameter that must be there. */
    String requiredText(String name) {
        if (!http.query().containsKey(name)) {
            queryFaults.below(name).add("missing", "Field required", null);
        }
        queryFaults.refuse();
        return http.parameter(name);
    }

    List<String> texts(String name) {
        return http.query().getOrDefault(name, List.of());
    }

    /** The variable part of the path, decoded once more: clients encode it once or twice. */
    String decodedVariable() {
        try {
            return URLDecoder.decode(variable.replace("+", "%2B"), UTF_8);
        } catch (IllegalArgumentException plain) {
            return variable;
        }
    }

    /** Fields of a form, which is encoded as in URLs or in parts. */
    Map<String, @Nullable Object> form() {
        var fields = new LinkedHashMap<String, @Nullable Object>();
        if (http.body().length > ValueRules.LARGEST_BODY) {
            throw VaultException.of(413, "Request body too large (limit: " + ValueRules.LARGEST_BODY + " bytes)");
        }
        String body = new String(http.body(), UTF_8);
        String type = http.header("Content-Type");
        Matcher boundary = BOUNDARY.matcher(type == null ? "" : type);
        if (type != null && type.toLowerCase(Locale.ROOT).startsWith("multipart/form-data") && boundary.find()) {
            for (String part : body.split(Pattern.quote("--" + boundary.group(1)), -1)) {
                Matcher field = PART.matcher(part);
                if (field.find()) {
                    fields.put(field.group(1), field.group(2));
                }
            }
            return fields;
        }
        for (String pair : body.split("&", -1)) {
            String[] field = pair.split("=", 2);
            try {
                fields.put(
                        URLDecoder.decode(field[0], UTF_8), URLDecoder.decode(field.length > 1 ? field[1] : "", UTF_8));
            } catch (IllegalArgumentException undecodable) {
                // not a field; those that are required are then missing
            }
        }
        return fields;
    }
}
