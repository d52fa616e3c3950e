package dev.parley.knowledge.graphql;

import static java.util.Comparator.comparing;
import static java.util.Comparator.nullsLast;
import static java.util.Comparator.reverseOrder;

import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.model.EntityFilter;
import dev.parley.knowledge.model.EntityFilter.Comparison;
import dev.parley.knowledge.model.EntityFilter.Condition;
import dev.parley.knowledge.model.Fact;
import dev.parley.knowledge.model.Pattern;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.knowledge.model.View;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Statements in a list, and how often they were asked for. Types are statements. */
final class MemoryView implements View {
    static final Instant CONFIRMED = Instant.parse("2026-01-05T10:00:00Z");

    private final List<Fact> facts = new ArrayList<>();
    private int questions;

    /** Adds statements as words: subject, predicate, and an id or a value. */
    MemoryView say(String subject, String predicate, Object object) {
        Term term = object instanceof Term given ? given : GraphQlAny.term("object", object);
        return add(Statement.of(subject, predicate, term));
    }

    /** Adds a statement that points at something. */
    MemoryView link(String subject, String predicate, String object) {
        return say(subject, predicate, Term.Resource.of(object));
    }

    MemoryView add(Statement statement) {
        facts.add(new Fact(statement, CONFIRMED));
        return this;
    }

    /** How many questions were asked since the last call. */
    int questions() {
        int asked = questions;
        questions = 0;
        return asked;
    }

    @Override
    public long revision() {
        return facts.size();
    }

    @Override
    public StatementPage<Fact> statements(Pattern pattern, @Nullable String after, int limit) {
        questions++;
        return page(facts.stream().filter(fact -> fits(fact, pattern)).toList(), after, limit);
    }

    @Override
    public Map<String, StatementPage<Fact>> about(
            Collection<String> subjects, Pattern pattern, @Nullable String after, int limit) {
        questions++;
        var found = new LinkedHashMap<String, StatementPage<Fact>>();
        for (String subject : subjects) {
            found.put(
                    subject,
                    page(
                            facts.stream()
                                    .filter(fact ->
                                            fact.statement().subject().id().equals(subject))
                                    .filter(fact -> fits(fact, pattern))
                                    .toList(),
                            after,
                            limit));
        }
        return found;
    }

    @Override
    public Map<String, StatementPage<Fact>> pointingAt(
            Collection<String> objects, Pattern pattern, @Nullable String after, int limit) {
        questions++;
        var found = new LinkedHashMap<String, StatementPage<Fact>>();
        for (String object : objects) {
            found.put(
                    object,
                    page(
                            facts.stream()
                                    .filter(fact -> fact.statement().object().equals(Term.Resource.of(object)))
                                    .filter(fact -> fits(fact, pattern))
                                    .toList(),
                            after,
                            limit));
        }
        return found;
    }

    @Override
    public StatementPage<String> entities(EntityFilter filter, @Nullable String after, int limit) {
        questions++;
        var bySubject = new LinkedHashMap<String, List<Statement>>();
        facts.forEach(fact -> bySubject
                .computeIfAbsent(fact.statement().subject().id(), id -> new ArrayList<>())
                .add(fact.statement()));
        var ids = bySubject.entrySet().stream()
                .filter(entity -> filter.types().isEmpty()
                        || filter.types().stream().anyMatch(typesOf(entity.getKey())::contains))
                .filter(entity -> filter.text() == null
                        || entity.getValue().stream().anyMatch(said -> contains(said.object(), filter.text())))
                .filter(entity -> filter.conditions().stream()
                        .allMatch(condition -> holds(entity.getValue(), condition) == condition.holds()))
                .map(Map.Entry::getKey);
        if (filter.orderBy() != null) {
            var order = comparing(
                    (String id) -> bySubject.getOrDefault(id, List.of()).stream()
                            .filter(said -> said.predicate().equals(filter.orderBy()))
                            .map(said -> said.object() instanceof Literal literal ? literal.lexical() : "")
                            .min(String::compareTo)
                            .orElse(null),
                    nullsLast(filter.descending() ? reverseOrder() : String::compareTo));
            ids = ids.sorted(order);
        }
        return page(ids.toList(), after, limit);
    }

    private static boolean holds(List<Statement> said, Condition condition) {
        return said.stream()
                .filter(statement -> condition.predicate().contains(statement.predicate()))
                .anyMatch(statement -> condition.comparison() == Comparison.EXISTS
                        || condition.values().stream()
                                .anyMatch(value -> compares(statement.object(), condition.comparison(), value)));
    }

    private static boolean compares(Term said, Comparison comparison, Term value) {
        return switch (comparison) {
            case EQUAL -> said.equals(value);
            case LESS -> compare(said, value) < 0;
            case AT_MOST -> compare(said, value) <= 0;
            case MORE -> compare(said, value) > 0;
            case AT_LEAST -> compare(said, value) >= 0;
            case CONTAINS -> value instanceof Literal text && contains(said, text.lexical());
            case EXISTS -> true;
        };
    }

    private static int compare(Term left, Term right) {
        if (left instanceof Literal one && right instanceof Literal two) {
            return one.value() instanceof BigDecimal number && two.value() instanceof BigDecimal other
                    ? number.compareTo(other)
                    : one.lexical().compareTo(two.lexical());
        }
        return left.toString().compareTo(right.toString());
    }

    private static boolean contains(Term said, String text) {
        return said instanceof Literal literal
                && literal.lexical().toLowerCase(Locale.ROOT).contains(text.toLowerCase(Locale.ROOT));
    }

    @Override
    public Map<String, Set<String>> types(Collection<String> ids) {
        questions++;
        var types = new TreeMap<String, Set<String>>();
        ids.forEach(id -> types.put(id, typesOf(id)));
        return types;
    }

    private Set<String> typesOf(String id) {
        var types = new LinkedHashSet<String>();
        for (Fact fact : facts) {
            Statement said = fact.statement();
            if (said.subject().id().equals(id) && said.subject().type() != null) {
                types.add(said.subject().type());
            }
            if (said.subject().id().equals(id)
                    && said.predicate().equals(Term.TYPE)
                    && said.object() instanceof Term.Resource type) {
                types.add(type.id());
            }
        }
        return types;
    }

    @Override
    public List<GraphInfo> graphs() {
        questions++;
        var counts = new LinkedHashMap<@Nullable String, Long>();
        facts.forEach(fact -> counts.merge(fact.statement().graph(), 1L, Long::sum));
        return counts.entrySet().stream()
                .map(graph -> new GraphInfo(graph.getKey(), graph.getValue()))
                .toList();
    }

    @Override
    public Set<String> predicates(@Nullable String type) {
        questions++;
        var used = new LinkedHashSet<String>();
        for (Fact fact : facts) {
            if (type == null || typesOf(fact.statement().subject().id()).contains(type)) {
                used.add(fact.statement().predicate());
            }
        }
        return used;
    }

    @Override
    public Set<String> classes() {
        questions++;
        var classes = new LinkedHashSet<String>();
        facts.forEach(fact -> classes.addAll(typesOf(fact.statement().subject().id())));
        return classes;
    }

    @Override
    public Hidden hidden() {
        return new Hidden(0, 0, 0);
    }

    private boolean fits(Fact fact, Pattern pattern) {
        Statement said = fact.statement();
        return fits(pattern.graphs(), Objects.requireNonNullElse(said.graph(), Pattern.DEFAULT_GRAPH))
                && fits(pattern.subjects(), said.subject().id())
                && fits(pattern.predicates(), said.predicate())
                && fits(pattern.objects(), said.object())
                && fits(pattern.sources(), said.provenance().get("sourceAgentId"))
                && (pattern.subjectTypes().isEmpty()
                        || pattern.subjectTypes().stream()
                                .anyMatch(typesOf(said.subject().id())::contains))
                && (pattern.minCertainty() == null
                        || said.certainty() != null && said.certainty() >= pattern.minCertainty());
    }

    private static boolean fits(List<?> wanted, @Nullable Object is) {
        return wanted.isEmpty() || is != null && wanted.contains(is);
    }

    private static <T> StatementPage<T> page(List<T> all, @Nullable String after, int limit) {
        int from = after == null ? 0 : Integer.parseInt(after);
        int to = Math.min(all.size(), from + limit);
        return new StatementPage<>(all.subList(Math.min(from, to), to), to < all.size() ? String.valueOf(to) : null);
    }
}
