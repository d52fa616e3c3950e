package dev.parley.registry.faces;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.Excerpt;
import dev.parley.registry.EntryFilter;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Queries of ARD as filters of the registry. Keys of a filter are term paths of an entry; values are alternatives, and all keys hold.
 *
 * <p>Source: ARD v0.91, query model and filter expressions of lists.
 */
final class ArdQuery {
    static final String NAMESPACE = "https://agenticresourcediscovery.org/ns#";

    private static final int MAX_KEYS = 30;
    private static final int MAX_VALUES = 100;
    private static final int MAX_FILTER = 4_000;
    private static final String METADATA = "metadata.";

    /** Fields of the registry by term paths of ARD. */
    private static final Map<String, String> FIELDS = Map.of(
            "identifier", "id",
            "@id", "id",
            "displayName", "name",
            "type", "type",
            "publisher", "publisher",
            "version", "version",
            "tags", "tag",
            "capabilities", "ability");

    /** Conditions of the filters of lists, which are also term paths. */
    private static final Map<String, String> LIST_FIELDS = Map.of(
            "displayName", "name",
            "type", "type",
            "publisherId", "publisher",
            "publisher", "publisher",
            "createdAfter", "createdAfter",
            "updatedAfter", "updatedAfter");

    /** Media types that mean the same. */
    private static final List<Set<String>> ALIASES = List.of(
            Set.of("application/a2a-agent-card+json", "application/agent-card+json"),
            Set.of("application/mcp-server-card+json", "application/mcp-server+json"),
            Set.of("application/ai-registry+json", "application/ai-registry"),
            Set.of(
                    "text/markdown; profile=\"urn:air:agent-skills\"",
                    "application/ai-skill+md",
                    "application/ai-skill",
                    "application/agent-skills+zip",
                    "application/agent-skills+gzip"));

    /** A condition of the filter of a list: {@code type = 'a','b'} or {@code createdAfter > 2026-01-01}. */
    private static final Pattern CONDITION = Pattern.compile(
            "\\s*(\\w+)\\s*(?:>=|[=:>])\\s*((?:'[^']*+'|\"[^\"]*+\"|[^'\"\\s]++)(?:\\s*,\\s*(?:'[^']*+'|\"[^\"]*+\"|[^'\"\\s,]++))*+)\\s*");

    private static final Pattern AND = Pattern.compile("(?i)\\GAND\\s");

    private ArdQuery() {}

    /** The filter of a query, {@link EntryFilter#NONE} if it has none. */
    static EntryFilter filter(Map<?, ?> query) {
        Object filter = query.get("filter");
        if (filter == null) {
            return EntryFilter.NONE;
        }
        if (!(filter instanceof Map<?, ?> keys)) {
            throw A2AException.invalidParams("query.filter", "no object (expected: term paths with their values)");
        }
        if (keys.size() > MAX_KEYS) {
            throw A2AException.invalidParams(
                    "query.filter", keys.size() + " keys (expected: at most " + MAX_KEYS + ")");
        }
        Map<String, String> prefixes = prefixes(query.get("@context"));
        var fields = new LinkedHashMap<String, List<String>>();
        keys.forEach((key, given) -> {
            String field = field(String.valueOf(key), prefixes);
            List<String> values = values(field, String.valueOf(key), given);
            fields.merge(field, values, (one, other) -> both(field, one, other));
        });
        return of(fields);
    }

    private static EntryFilter of(Map<String, List<String>> fields) {
        // No value holds for a condition without values, as of two keys for one field that exclude each other.
        fields.replaceAll((field, values) -> values.isEmpty() ? List.of("") : values);
        return new EntryFilter(List.of(), List.of(), fields, false);
    }

    /**
     * The field of the registry for a term path.
     *
     * @throws A2AException if there is none
     */
    static String field(String path, Map<String, String> prefixes) {
        String term = path;
        int colon = path.indexOf(':');
        if (colon > 0 && prefixes.containsKey(path.substring(0, colon))) {
            term = prefixes.get(path.substring(0, colon)) + path.substring(colon + 1);
        }
        if (term.startsWith(NAMESPACE)) {
            term = term.substring(NAMESPACE.length());
        } else if (term.indexOf(':') > 0) {
            term = METADATA + term;
        }
        String field = FIELDS.get(term);
        if (field == null && term.startsWith(METADATA) && term.length() > METADATA.length()) {
            field = term;
        }
        if (field == null) {
            throw A2AException.invalidParams(
                    "query.filter",
                    Excerpt.of(path, 100) + ": unsupported path (expected: "
                            + String.join(
                                    ", ", FIELDS.keySet().stream().sorted().toList()) + " or metadata.NAME)");
        }
        return field;
    }

    /** Prefixes of a JSON-LD context, with their IRIs; other parts of contexts name terms that are known. */
    static Map<String, String> prefixes(@Nullable Object context) {
        var prefixes = new LinkedHashMap<String, String>();
        List<?> parts = context instanceof List<?> list ? list : context == null ? List.of() : List.of(context);
        for (Object part : parts) {
            if (part instanceof Map<?, ?> terms) {
                terms.forEach((name, iri) -> {
                    Object id = iri instanceof Map<?, ?> expanded ? expanded.get("@id") : iri;
                    if (id instanceof String text && prefixes.size() < MAX_KEYS) {
                        prefixes.put(String.valueOf(name), text);
                    }
                });
            }
        }
        return prefixes;
    }

    private static List<String> values(String field, String key, @Nullable Object given) {
        List<?> all = given instanceof List<?> list ? list : Collections.singletonList(given);
        if (all.isEmpty() || all.size() > MAX_VALUES) {
            throw A2AException.invalidParams(
                    "query.filter",
                    Excerpt.of(key, 100) + ": " + all.size() + " values (expected: 1 to " + MAX_VALUES + ")");
        }
        var values = new ArrayList<String>();
        for (Object value : all) {
            if (!(value instanceof String || value instanceof Number || value instanceof Boolean)) {
                throw A2AException.invalidParams(
                        "query.filter", Excerpt.of(key, 100) + ": neither text, number nor truth value");
            }
            add(values, field, value.toString());
        }
        return values;
    }

    /** Adds a value as the registry has it: older URNs, other names of a type, other cases of a domain. */
    private static void add(List<String> values, String field, String value) {
        switch (field) {
            case "id" -> values.add(written(value));
            case "type" -> values.addAll(aliases(value));
            case "publisher", "name" -> values.add(value.toLowerCase(Locale.ROOT));
            case "createdAfter", "updatedAfter" -> values.add(time(field, value).toString());
            default -> values.add(value);
        }
    }

    /** The identifier as it is written: the prefix {@code urn:ai:} is an older one. */
    static String written(String identifier) {
        return identifier.startsWith("urn:ai:") ? "urn:air:" + identifier.substring("urn:ai:".length()) : identifier;
    }

    static Set<String> aliases(String type) {
        String bare = type.strip().toLowerCase(Locale.ROOT);
        return ALIASES.stream().filter(same -> same.contains(bare)).findFirst().orElse(Set.of(type.strip()));
    }

    static Instant time(String field, String text) {
        try {
            return text.length() == 10
                    ? LocalDate.parse(text).atStartOfDay().toInstant(ZoneOffset.UTC)
                    : OffsetDateTime.parse(text).toInstant();
        } catch (DateTimeException malformed) {
            throw A2AException.invalidParams(
                    field, Excerpt.of(text, 40) + " (expected: a time such as 2026-01-31T12:00:00Z)");
        }
    }

    /**
     * The filter of a list: an expression such as {@code type = 'x' AND createdAfter > '2026-01-01'}, and conditions as parameters of their
     * own, such as {@code type=x,y}.
     */
    static EntryFilter ofList(Map<String, @Nullable Object> params) {
        var fields = new LinkedHashMap<String, List<String>>();
        LIST_FIELDS.forEach((name, field) -> {
            if (params.get(name) instanceof String text && !text.isBlank()) {
                put(fields, field, List.of(text.split("\\s*,\\s*")));
            }
        });
        if (params.get("filter") instanceof String text && !text.isBlank()) {
            expression(text, fields);
        }
        return of(fields);
    }

    private static void expression(String text, Map<String, List<String>> fields) {
        if (text.length() > MAX_FILTER) {
            throw A2AException.invalidParams(
                    "filter", text.length() + " characters (expected: at most " + MAX_FILTER + ")");
        }
        Matcher condition = CONDITION.matcher(text);
        Matcher and = AND.matcher(text);
        int at = 0;
        while (true) {
            if (!condition.region(at, text.length()).lookingAt()) {
                throw malformed(text.substring(at));
            }
            String field = LIST_FIELDS.get(condition.group(1));
            if (field == null) {
                throw malformed(condition.group(1));
            }
            put(fields, field, split(condition.group(2)));
            at = condition.end();
            if (at == text.length()) {
                return;
            }
            if (!and.find(at)) {
                throw malformed(text.substring(at));
            }
            at = and.end();
        }
    }

    private static List<String> split(String list) {
        var values = new ArrayList<String>();
        Matcher value =
                Pattern.compile("'([^']*+)'|\"([^\"]*+)\"|([^'\"\\s,]++)").matcher(list);
        while (value.find()) {
            String quoted = value.group(1) != null ? value.group(1) : value.group(2);
            values.addAll(List.of((quoted != null ? quoted : requireNonNull(value.group(3))).split("\\s*,\\s*")));
        }
        return values;
    }

    private static void put(Map<String, List<String>> fields, String field, List<String> given) {
        if (given.size() > MAX_VALUES) {
            throw A2AException.invalidParams("filter", given.size() + " values (expected: at most " + MAX_VALUES + ")");
        }
        var values = new ArrayList<String>();
        given.forEach(value -> add(values, field, value));
        fields.merge(field, values, (one, other) -> both(field, one, other));
    }

    /** Values that fulfil two conditions of a field; of times the later one. */
    private static List<String> both(String field, List<String> one, List<String> other) {
        return field.endsWith("After")
                ? List.of(Stream.concat(one.stream(), other.stream())
                        .map(Instant::parse)
                        .max(Comparator.naturalOrder())
                        .orElseThrow()
                        .toString())
                : one.stream().filter(other::contains).toList();
    }

    private static A2AException malformed(String rest) {
        return A2AException.invalidParams(
                "filter",
                "\"" + Excerpt.of(rest, 100) + "\" (expected: FIELD = 'VALUE' AND …, with "
                        + String.join(
                                ", ", LIST_FIELDS.keySet().stream().sorted().toList()) + ")");
    }
}
