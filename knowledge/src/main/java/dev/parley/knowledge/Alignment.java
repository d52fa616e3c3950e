package dev.parley.knowledge;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.model.Pattern;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.InvalidField;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Rules of a group for changes and queries of its graph; the first rule that matches applies.
 *
 * <p>As JSON:
 *
 * <pre>{@code
 * {"otherwise": "allow",
 *  "rules": [
 *    {"id": "salaries", "on": ["query", "subscribe"], "match": {"graph": ["ex:hr"]}, "effect": "redact"},
 *    {"id": "guesses", "on": ["update"], "match": {"certaintyBelow": 0.5}, "effect": "review", "message": "please look"}]}
 * }</pre>
 *
 * @param otherwise effect if no rule matches: {@code ALLOW} or {@code DENY}
 * @param rules in the order in which they are tried
 */
public record Alignment(Effect otherwise, List<Rule> rules) {
    /** Everything is allowed. */
    public static final Alignment NONE = new Alignment(Effect.ALLOW, List.of());

    private static final int MAX_RULES = 1_000;

    /** Operation that a rule applies to; in lower case in JSON. */
    public enum On {
        QUERY,
        UPDATE,
        SUBSCRIBE
    }

    /** Effect of a rule; in lower case in JSON. */
    public enum Effect {
        /** As if there were no rules. */
        ALLOW,
        /** Readers do not see the statement; of an update its patch is left out. */
        REDACT,
        /** The update waits for approval. */
        REVIEW,
        /** The update is answered as not successful. */
        REJECT,
        /** The operation is answered with an error. */
        FORBID,
        /** If no rule matches: the statement is hidden, the update is not successful. */
        DENY
    }

    /**
     * A rule.
     *
     * @param match condition on a statement; its {@code sources} are the agents that the statement comes from
     * @param principals callers that the rule applies to; empty for all
     * @param certaintyBelow matches statements of a lower or unknown certainty; null for any
     * @param message for people to read; null for none
     */
    public record Rule(
            String id,
            Set<On> on,
            Pattern match,
            List<String> principals,
            @Nullable Double certaintyBelow,
            Effect effect,
            @Nullable String message) {
        public Rule {
            requireNonNull(id, "id");
            on = Set.copyOf(on);
            principals = List.copyOf(principals);
            boolean reads = on.contains(On.QUERY) || on.contains(On.SUBSCRIBE);
            if (reads && (effect == Effect.REVIEW || effect == Effect.REJECT)) {
                throw InvalidField.of(
                        "effect", name(effect) + " for query or subscribe (expected: allow, redact or forbid)");
            }
            if (effect == Effect.DENY) {
                throw InvalidField.of("effect", "deny (expected: allow, redact, review, reject or forbid)");
            }
        }

        private boolean isAbout(On operation, String caller) {
            return on.contains(operation) && (principals.isEmpty() || principals.contains(caller));
        }

        /** Returns the graphs and predicates that the rule names. */
        private Stream<String> named() {
            return Stream.concat(match.graphs().stream(), match.predicates().stream());
        }

        /** Returns true if the rule decides about every statement with a name that it lists. */
        private boolean isAboutNamesAlone() {
            boolean one = match.graphs().isEmpty() || match.predicates().isEmpty();
            Pattern names =
                    match.graphs().isEmpty() ? Pattern.predicates(match.predicates()) : Pattern.ALL.in(match.graphs());
            return one && certaintyBelow == null && match.equals(names);
        }

        private Rule withSource(String name, String alias) {
            List<String> sources = match.sources();
            return sources.contains(name) && !sources.contains(alias)
                    ? new Rule(id, on, match.from(append(sources, alias)), principals, certaintyBelow, effect, message)
                    : this;
        }

        private static List<String> append(List<String> some, String more) {
            return Stream.concat(some.stream(), Stream.of(more)).toList();
        }

        /** Returns the rule as it applies to statements. */
        private ReadFilter.Rule readRule() {
            return new ReadFilter.Rule(match, certaintyBelow, effect == Effect.ALLOW);
        }

        /** Returns the error for a forbidden operation. */
        A2AException violation() {
            var detail = new LinkedHashMap<String, String>();
            detail.put("reason", "forbidden");
            detail.put("ruleId", id);
            if (message != null) {
                detail.put("message", message);
            }
            return A2AException.of(
                    KnowledgeError.ALIGNMENT_VIOLATION, KnowledgeError.ALIGNMENT_VIOLATION.defaultMessage(), detail);
        }

        /** Returns true if the rule matches any statement. */
        private boolean isUnconditional() {
            return match.equals(Pattern.ALL) && certaintyBelow == null;
        }
    }

    public Alignment {
        rules = List.copyOf(rules);
        if (otherwise != Effect.ALLOW && otherwise != Effect.DENY) {
            throw InvalidField.of("otherwise", name(otherwise) + " (expected: allow or deny)");
        }
        if (rules.size() > MAX_RULES) {
            throw InvalidField.of("rules", rules.size() + " (expected: at most " + MAX_RULES + ")");
        }
    }

    private static String name(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns the rule that forbids a query as a whole: one that matches everything, or one about graphs or predicates that
     * the query names. The graph's content is not read, so the answer reveals nothing about it.
     */
    Optional<Rule> forbids(On operation, String caller, Predicate<String> names) {
        if (rules.stream().noneMatch(rule -> rule.effect == Effect.FORBID && rule.isAbout(operation, caller))) {
            return Optional.empty(); // saves computing the names in the query
        }
        var decided = new HashSet<String>();
        for (Rule rule : rules) {
            if (rule.isAbout(operation, caller)) {
                boolean forbids = rule.effect == Effect.FORBID;
                if (rule.isUnconditional()) {
                    return forbids ? Optional.of(rule) : Optional.empty();
                }
                List<String> named = rule.named().filter(names).toList();
                if (forbids && !decided.containsAll(named)) {
                    return Optional.of(rule);
                }
                if (rule.isAboutNamesAlone()) {
                    decided.addAll(named);
                }
            }
        }
        return Optional.empty();
    }

    /**
     * Refuses what a rule {@link #forbids}.
     *
     * @param names tests for a name in the query; called only if a rule depends on it
     * @throws A2AException ALIGNMENT_VIOLATION
     */
    void requireAllowed(On operation, String caller, Supplier<Predicate<String>> names) {
        var known = new ArrayList<Predicate<String>>(1);
        Predicate<String> whenAsked = name -> {
            if (known.isEmpty()) {
                known.add(names.get());
            }
            return known.getFirst().test(name);
        };
        forbids(operation, caller, whenAsked).ifPresent(rule -> {
            throw rule.violation();
        });
    }

    /** Returns these rules with each mention of the source {@code name} extended to {@code alias}. */
    Alignment withSource(String name, String alias) {
        return new Alignment(
                otherwise,
                rules.stream().map(rule -> rule.withSource(name, alias)).toList());
    }

    /** Returns true if a rule about reading depends on types. */
    boolean readsByTypes() {
        return rules.stream()
                .anyMatch(rule -> !rule.match.subjectTypes().isEmpty()
                        && (rule.on.contains(On.QUERY) || rule.on.contains(On.SUBSCRIBE)));
    }

    /** Returns the read filter of a reader by the rules, without the limits of a query. */
    ReadFilter readFilter(On operation, String caller) {
        List<ReadFilter.Rule> seen = rules.stream()
                .filter(rule -> rule.isAbout(operation, caller))
                .map(Rule::readRule)
                .toList();
        return new ReadFilter(null, null, seen, otherwise == Effect.ALLOW);
    }

    /**
     * Returns the first rule that matches a statement to be changed.
     *
     * @param types reads the types of the subject; called only if a rule depends on them
     */
    Optional<Rule> ofUpdate(Statement statement, String caller, Function<String, Set<String>> types) {
        var plain = new Statement(
                Term.Resource.of(statement.subject().id()),
                statement.predicate(),
                statement.object(),
                statement.graph(),
                statement.certainty(),
                statement.provenance());
        return rules.stream()
                .filter(rule -> rule.isAbout(On.UPDATE, caller))
                // A type that only the caller asserts does not satisfy an ALLOW rule.
                .filter(rule -> rule.readRule().fits(rule.effect == Effect.ALLOW ? plain : statement, types))
                .findFirst();
    }

    // ---- As JSON

    /**
     * Reads rules.
     *
     * @throws InvalidField if the JSON does not have the form above
     */
    public static Alignment read(String json) {
        Map<?, ?> file = Json.read(json.getBytes(StandardCharsets.UTF_8), Map.class);
        var rules = new ArrayList<Placed>();
        Object list = file.get("rules");
        if (list != null && !(list instanceof List<?>)) {
            throw InvalidField.of("rules", "no list (expected: a list of rules)");
        }
        int place = 0;
        for (Object one : list == null ? List.of() : (List<?>) list) {
            if (!(one instanceof Map<?, ?> members)) {
                throw InvalidField.of("rules[" + place + "]", "no object (expected: a rule)");
            }
            rules.add(new Placed(number(members, "priority"), rule(members, "rules[" + place + "]")));
            place++;
        }
        rules.sort(Comparator.comparing(Placed::priority, Comparator.nullsLast(Comparator.naturalOrder())));
        Object otherwise = file.get("otherwise");
        return new Alignment(
                otherwise == null ? Effect.ALLOW : one(Effect.class, otherwise, "otherwise"),
                rules.stream().map(Placed::rule).toList());
    }

    private record Placed(@Nullable Double priority, Rule rule) {}

    private static Rule rule(Map<?, ?> members, String place) {
        Object match = members.get("match");
        if (match != null && !(match instanceof Map<?, ?>)) {
            throw InvalidField.of(place + ".match", "no object (expected: an object)");
        }
        Map<?, ?> fields = match == null ? Map.of() : (Map<?, ?>) match;
        for (Object name : fields.keySet()) {
            // A misspelt condition would match everything or nothing.
            if (!FIELDS.contains(name.toString())) {
                throw InvalidField.of(
                        place + ".match", "unknown member " + name + " (expected: " + String.join(", ", FIELDS) + ")");
            }
        }
        var on = EnumSet.noneOf(On.class);
        for (String one : texts(members.get("on"), place + ".on")) {
            on.add(one(On.class, one, place + ".on"));
        }
        Object id = members.get("id");
        Object message = members.get("message");
        return new Rule(
                id == null ? place : id.toString(),
                on.isEmpty() ? EnumSet.allOf(On.class) : on,
                new Pattern(
                        texts(fields.get("graph"), place + ".match.graph"),
                        texts(fields.get("subject"), place + ".match.subject"),
                        texts(fields.get("subjectType"), place + ".match.subjectType"),
                        texts(fields.get("predicate"), place + ".match.predicate"),
                        List.<Term>of(),
                        texts(fields.get("sourceAgent"), place + ".match.sourceAgent"),
                        null),
                texts(fields.get("principal"), place + ".match.principal"),
                number(fields, "certaintyBelow"),
                one(Effect.class, String.valueOf(members.get("effect")), place + ".effect"),
                message == null ? null : message.toString());
    }

    private static final List<String> FIELDS =
            List.of("graph", "subject", "subjectType", "predicate", "sourceAgent", "principal", "certaintyBelow");

    private static List<String> texts(@Nullable Object value, String place) {
        return switch (value) {
            case null -> List.of();
            case String text -> List.of(text);
            case List<?> list -> list.stream().map(String::valueOf).toList();
            default -> throw InvalidField.of(place, value + " (expected: a text, or a list of texts)");
        };
    }

    private static @Nullable Double number(Map<?, ?> members, String name) {
        return switch (members.get(name)) {
            case null -> null;
            case Number number -> number.doubleValue();
            case Object other -> throw InvalidField.of(name, other + " (expected: a number)");
        };
    }

    private static <E extends Enum<E>> E one(Class<E> type, Object value, String place) {
        for (E constant : requireNonNull(type.getEnumConstants())) {
            if (name(constant).equals(value)) {
                return constant;
            }
        }
        String all = String.join(
                ", ",
                List.of(type.getEnumConstants()).stream()
                        .map(constant -> name(constant))
                        .toList());
        throw InvalidField.of(place, value + " (expected: one of " + all + ")");
    }

    /** These rules as JSON, as {@link #read} takes them. */
    public String json() {
        var list = new ArrayList<Map<String, Object>>();
        for (Rule rule : rules) {
            var members = new LinkedHashMap<String, Object>();
            members.put("id", rule.id);
            members.put("on", rule.on.stream().sorted().map(Alignment::name).toList());
            var match = new LinkedHashMap<String, Object>();
            put(match, "graph", rule.match.graphs());
            put(match, "subject", rule.match.subjects());
            put(match, "subjectType", rule.match.subjectTypes());
            put(match, "predicate", rule.match.predicates());
            put(match, "sourceAgent", rule.match.sources());
            put(match, "principal", rule.principals);
            if (rule.certaintyBelow != null) {
                match.put("certaintyBelow", rule.certaintyBelow);
            }
            members.put("match", match);
            members.put("effect", name(rule.effect));
            if (rule.message != null) {
                members.put("message", rule.message);
            }
            list.add(members);
        }
        return new String(Json.write(Map.of("otherwise", name(otherwise), "rules", list)), StandardCharsets.UTF_8);
    }

    private static void put(Map<String, Object> members, String name, List<String> values) {
        if (!values.isEmpty()) {
            members.put(name, values);
        }
    }
}
