package dev.parley.registry.vault;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Rules of JSON values, and the list of faults that clients of AgentVault know: each with its type, place, message and input. Safe for
 * any thread.
 */
final class ValueRules {
    static final int LARGEST_BODY = 256 * 1024;

    private static final String MASK = "**********";
    private static final int LONGEST_URL = 2_083;
    private static final Pattern EMAIL =
            Pattern.compile("[^@\\s\\p{Cntrl}<>()\\[\\],;:\\\\\"]{1,64}@[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)+");

    private ValueRules() {}

    /** A rule of a value. */
    @FunctionalInterface
    interface Rule {
        void check(@Nullable Object value, Faults faults);
    }

    /** A member of an object. */
    record Member(String name, boolean isRequired, Rule rule) {}

    /** Faults of a value, with the place that is checked at present. */
    static final class Faults {
        private final List<Object> place;
        private final List<Map<String, @Nullable Object>> all;

        private Faults(List<Object> place, List<Map<String, @Nullable Object>> all) {
            this.place = place;
            this.all = all;
        }

        static Faults at(Object... place) {
            return new Faults(List.of(place), new ArrayList<>());
        }

        Faults below(Object step) {
            var deeper = new ArrayList<>(place);
            deeper.add(step);
            return new Faults(deeper, all);
        }

        void add(String type, String message, @Nullable Object input) {
            var fault = new LinkedHashMap<String, @Nullable Object>();
            fault.put("type", type);
            fault.put("loc", place);
            fault.put("msg", message);
            fault.put("input", shown(input));
            all.add(fault);
        }

        /** An input without the values of secret members: answers are logged by clients. */
        private @Nullable Object shown(@Nullable Object input) {
            if (input instanceof Map<?, ?> members) {
                var masked = new LinkedHashMap<String, @Nullable Object>();
                members.forEach(
                        (name, value) -> masked.put(String.valueOf(name), isSecret(name) ? MASK : shown(value)));
                return masked;
            }
            return !place.isEmpty() && isSecret(place.getLast()) ? MASK : input;
        }

        private static boolean isSecret(@Nullable Object name) {
            return name instanceof String text
                    && (text.contains("password") || text.contains("token") || text.equals("recovery_key"));
        }

        boolean isEmpty() {
            return all.isEmpty();
        }

        /** @throws VaultException if there are any */
        void refuse() {
            if (!all.isEmpty()) {
                throw VaultException.of(422, all);
            }
        }

        /** All faults as one text. */
        String text(String subject) {
            var text = new StringBuilder(
                    all.size() + " validation error" + (all.size() == 1 ? "" : "s") + " for " + subject);
            for (Map<String, @Nullable Object> fault : all) {
                String where = ((List<?>) requireNonNull(fault.get("loc")))
                        .stream().map(String::valueOf).collect(Collectors.joining("."));
                text.append('\n').append(where).append("\n  ").append(fault.get("msg"));
                text.append(" [type=").append(fault.get("type")).append(']');
            }
            return text.toString();
        }
    }

    /**
     * The object of a body.
     *
     * @throws VaultException if it is not one, or breaks a rule
     */
    static Map<String, @Nullable Object> body(byte[] bytes, Rule rule) {
        if (bytes.length > LARGEST_BODY) {
            throw VaultException.of(413, "Request body too large (limit: " + LARGEST_BODY + " bytes)");
        }
        Faults faults = Faults.at("body");
        Object value = null;
        if (bytes.length > 0) {
            try {
                value = JsonText.request(bytes, Codecs.FREE);
            } catch (A2AException malformed) {
                Faults broken = faults.below(0);
                broken.add("json_invalid", "JSON decode error", Map.of());
                broken.refuse();
            }
        }
        if (value == null || Codecs.NULL.equals(value)) {
            faults.add("missing", "Field required", null);
        } else {
            rule.check(value, faults);
        }
        faults.refuse();
        return members(value);
    }

    /** @throws VaultException if the fields of a form break a rule */
    static void checked(Map<String, @Nullable Object> form, Rule rule) {
        Faults faults = Faults.at("body");
        rule.check(form, faults);
        faults.refuse();
    }

    @SuppressWarnings("unchecked") // JSON has no other names
    static Map<String, @Nullable Object> members(@Nullable Object value) {
        return value instanceof Map<?, ?> map ? (Map<String, @Nullable Object>) map : Map.of();
    }

    static @Nullable String text(Map<String, @Nullable Object> members, String name) {
        return members.get(name) instanceof String text ? text : null;
    }

    static Member required(String name, Rule rule) {
        return new Member(name, true, rule);
    }

    static Member optional(String name, Rule rule) {
        return new Member(name, false, rule);
    }

    static Rule text() {
        return text(0, Integer.MAX_VALUE);
    }

    static Rule text(int least, int most) {
        return (value, faults) -> {
            if (!(value instanceof String text)) {
                faults.add("string_type", "Input should be a valid string", value);
            } else if (text.codePointCount(0, text.length()) < least) {
                faults.add("string_too_short", "String should have at least " + count(least, "character"), value);
            } else if (text.codePointCount(0, text.length()) > most) {
                faults.add("string_too_long", "String should have at most " + count(most, "character"), value);
            }
        };
    }

    /** A text without control characters. */
    static Rule line(int least, int most) {
        return (value, faults) -> {
            text(least, most).check(value, faults);
            if (value instanceof String text && text.chars().anyMatch(Character::isISOControl)) {
                faults.add("value_error", "Value error, control characters are not allowed", value);
            }
        };
    }

    static Rule matching(Pattern pattern) {
        return (value, faults) -> {
            text().check(value, faults);
            if (value instanceof String text && !pattern.matcher(text).matches()) {
                faults.add("string_pattern_mismatch", "String should match pattern '^" + pattern + "$'", value);
            }
        };
    }

    static Rule email() {
        return (value, faults) -> {
            text().check(value, faults);
            if (value instanceof String text
                    && (text.length() > 254 || !EMAIL.matcher(text).matches())) {
                String problem = text.contains("@")
                        ? "The email address is not valid."
                        : "An email address must have an @-sign.";
                faults.add("value_error", "value is not a valid email address: " + problem, value);
            }
        };
    }

    static Rule oneOf(String... words) {
        List<String> quoted = Arrays.stream(words).map(word -> "'" + word + "'").toList();
        String expected = quoted.size() == 1
                ? quoted.getFirst()
                : String.join(", ", quoted.subList(0, quoted.size() - 1)) + " or " + quoted.getLast();
        return (value, faults) -> {
            if (!(value instanceof String) || !List.of(words).contains(value)) {
                faults.add("literal_error", "Input should be " + expected, value);
            }
        };
    }

    static Rule truth() {
        return (value, faults) -> {
            if (!(value instanceof Boolean)) {
                faults.add("bool_type", "Input should be a valid boolean", value);
            }
        };
    }

    /** An absolute URL of one of these schemes; of any if there are none. */
    static Rule url(String... schemes) {
        return (value, faults) -> {
            if (!(value instanceof String text)) {
                faults.add("url_type", "URL input should be a string or URL", value);
                return;
            }
            if (text.length() > LONGEST_URL) {
                faults.add("url_too_long", "URL should have at most " + LONGEST_URL + " characters", value);
                return;
            }
            URI url = uri(text);
            if (url == null || url.getScheme() == null || url.getHost() == null) {
                faults.add("url_parsing", "Input should be a valid URL, relative URL without a base", value);
            } else if (schemes.length > 0
                    && !List.of(schemes).contains(url.getScheme().toLowerCase(Locale.ROOT))) {
                faults.add("url_scheme", "URL scheme should be 'http' or 'https'", value);
            }
        };
    }

    static @Nullable URI uri(String text) {
        try {
            return new URI(text);
        } catch (URISyntaxException invalid) {
            return null;
        }
    }

    /** Any object. */
    static Rule anyObject() {
        return (value, faults) -> {
            if (!(value instanceof Map)) {
                faults.add("dict_type", "Input should be a valid dictionary", value);
            }
        };
    }

    static Rule object(Member... members) {
        return object((value, faults) -> {}, members);
    }

    /** @param whole rule of the object, for one whose members are without faults */
    static Rule object(Rule whole, Member... members) {
        return (value, faults) -> {
            if (!(value instanceof Map<?, ?> map)) {
                faults.add("model_type", "Input should be a valid dictionary or object to extract fields from", value);
                return;
            }
            int before = faults.all.size();
            for (Member member : members) {
                Object found = map.get(member.name());
                if (member.isRequired() && !map.containsKey(member.name())) {
                    faults.below(member.name()).add("missing", "Field required", value);
                } else if (member.isRequired() || found != null) {
                    member.rule().check(found, faults.below(member.name()));
                }
            }
            if (faults.all.size() == before) {
                whole.check(value, faults);
            }
        };
    }

    static Rule list(int least, Rule element) {
        return (value, faults) -> {
            if (!(value instanceof List<?> list)) {
                faults.add("list_type", "Input should be a valid list", value);
                return;
            }
            if (list.size() < least) {
                faults.add(
                        "too_short",
                        "List should have at least " + count(least, "item") + " after validation, not " + list.size(),
                        value);
            }
            for (int i = 0; i < list.size(); i++) {
                element.check(list.get(i), faults.below(i));
            }
        };
    }

    private static String count(int number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }
}
