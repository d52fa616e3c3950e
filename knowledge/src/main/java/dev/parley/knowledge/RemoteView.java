package dev.parley.knowledge;

import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.spi.EntityFilter;
import dev.parley.knowledge.spi.EntityFilter.Comparison;
import dev.parley.knowledge.spi.EntityFilter.Condition;
import dev.parley.knowledge.spi.Fact;
import dev.parley.knowledge.spi.Floors;
import dev.parley.knowledge.spi.Page;
import dev.parley.knowledge.spi.Pattern;
import dev.parley.knowledge.spi.View;
import dev.parley.protocol.InvalidField;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Statements of a group on a SPARQL server. The server finds statements by their terms; floors, rules and conditions on
 * entities are evaluated here, page by page, because servers differ in comparisons.
 */
class RemoteView implements View {
    private static final int PAGE = 1_000;

    final RemoteEndpoint endpoint;
    final String group;
    final String space;
    private final Floors floors;
    private final boolean asksForTypes;
    private long hiddenByCertainty;
    private long hiddenByAge;

    RemoteView(RemoteEndpoint endpoint, String group, Floors floors) {
        this.endpoint = endpoint;
        this.group = RemoteEndpoint.name(group);
        this.space = "<urn:parley:statements:" + this.group + ">";
        this.floors = floors;
        this.asksForTypes = floors.rules().stream()
                .anyMatch(rule -> !rule.pattern().subjectTypes().isEmpty());
    }

    /** Some statements, in the order of their numbers; {@code next} is the number they end with, or -1 at the end. */
    record Piece(List<RemoteStatement> statements, long next) {}

    /** Statements that fit what {@code pattern} says of graph, subject, predicate and object. */
    Piece piece(Pattern pattern, long after, int limit) {
        var query = new StringBuilder(RemoteStatement.PREFIX)
                .append("SELECT * WHERE { GRAPH ")
                .append(space)
                .append(" {\n");
        values(query, "graph", pattern.graphs(), graph -> graph.equals(Pattern.DEFAULT_GRAPH) ? "" : graph);
        values(query, "subject", pattern.subjects(), Function.identity());
        values(query, "predicate", pattern.predicates(), Function.identity());
        values(query, "object", pattern.objects(), RemoteStatement::text);
        query.append(RemoteStatement.PATTERN)
                .append("FILTER(?number > ")
                .append(after)
                .append(") } } ORDER BY ?number LIMIT ")
                .append(limit);
        List<RemoteStatement> found = new ArrayList<>();
        endpoint.ask(query.toString()).forEachRemaining(row -> found.add(RemoteStatement.of(row)));
        return new Piece(found, found.size() < limit ? -1 : found.getLast().number());
    }

    private static <T> void values(StringBuilder query, String name, List<T> values, Function<T, String> text) {
        if (!values.isEmpty()) {
            String list = values.stream()
                    .map(value -> RemoteEndpoint.quote(text.apply(value)))
                    .collect(Collectors.joining(" "));
            query.append("VALUES ?").append(name).append(" { ").append(list).append(" }\n");
        }
    }

    /** Gives {@code sink} what fits and is seen, until it returns false. */
    private void each(Pattern pattern, long after, Predicate<RemoteStatement> sink) {
        long position = after;
        while (position >= 0) {
            Piece piece = piece(pattern, position, PAGE);
            Map<String, Set<String>> types =
                    asksForTypes || !pattern.subjectTypes().isEmpty() ? typesIn(piece.statements()) : Map.of();
            for (RemoteStatement held : piece.statements()) {
                if (fits(pattern, held, types) && isSeen(held, types) && !sink.test(held)) {
                    return;
                }
            }
            position = piece.next();
        }
    }

    private void all(Pattern pattern, Consumer<RemoteStatement> sink) {
        each(pattern, 0, held -> {
            sink.accept(held);
            return true;
        });
    }

    private Map<String, Set<String>> typesIn(List<RemoteStatement> statements) {
        List<String> subjects = statements.stream()
                .map(held -> held.statement().subject().id())
                .distinct()
                .toList();
        Map<String, Set<String>> types = new HashMap<>();
        long position = subjects.isEmpty() ? -1 : 0;
        while (position >= 0) {
            Piece piece = piece(about(subjects, Pattern.predicates(List.of(Term.TYPE))), position, PAGE);
            piece.statements().forEach(held -> addType(types, held));
            position = piece.next();
        }
        return types;
    }

    private static void addType(Map<String, Set<String>> types, RemoteStatement held) {
        if (held.statement().object() instanceof Term.Resource type) {
            types.computeIfAbsent(held.statement().subject().id(), id -> new LinkedHashSet<>())
                    .add(type.id());
        }
    }

    private static boolean fits(Pattern pattern, RemoteStatement held, Map<String, Set<String>> types) {
        return pattern.fits(held.statement(), id -> types.getOrDefault(id, Set.of()));
    }

    private static boolean isAtLeast(@Nullable Double floor, @Nullable Double certainty) {
        return floor == null || floor == 0 || certainty != null && certainty >= floor;
    }

    /** Statements hidden by rules are not counted, because a number would reveal them. */
    private boolean isSeen(RemoteStatement held, Map<String, Set<String>> types) {
        if (!isAllowed(held, types)) {
            return false;
        }
        if (!isAtLeast(floors.certainty(), held.statement().certainty())) {
            hiddenByCertainty++;
            return false;
        }
        boolean isOld = floors.confirmedSince() != null && held.confirmedAt().isBefore(floors.confirmedSince());
        hiddenByAge += isOld ? 1 : 0;
        return !isOld;
    }

    private boolean isAllowed(RemoteStatement held, Map<String, Set<String>> types) {
        return floors.sees(held.statement(), id -> types.getOrDefault(id, Set.of()));
    }

    @Override
    public long revision() {
        var rows = endpoint.ask(RemoteStatement.PREFIX + "SELECT ?revision WHERE { GRAPH " + space + " { " + space
                + " p:revision ?revision } }");
        return rows.hasNext() ? rows.next().getLiteral("revision").getLong() : 0;
    }

    @Override
    public Page<Fact> statements(Pattern pattern, @Nullable String after, int limit) {
        List<RemoteStatement> found = new ArrayList<>();
        each(pattern, cursor(after), held -> {
            found.add(held);
            return found.size() <= limit;
        });
        return page(found, limit);
    }

    private static Page<Fact> page(List<RemoteStatement> found, int limit) {
        List<Fact> facts =
                found.stream().limit(limit).map(RemoteStatement::fact).toList();
        boolean more = found.size() > limit && limit > 0;
        return new Page<>(facts, more ? String.valueOf(found.get(limit - 1).number()) : null);
    }

    private static long cursor(@Nullable String after) {
        try {
            return after == null ? 0 : Long.parseUnsignedLong(after);
        } catch (NumberFormatException notOurs) {
            throw InvalidField.of("after", after + " (expected: the cursor of a page)");
        }
    }

    @Override
    public Map<String, Page<Fact>> about(
            Collection<String> subjects, Pattern pattern, @Nullable String after, int limit) {
        return grouped(
                subjects,
                about(List.copyOf(subjects), pattern),
                after,
                limit,
                held -> held.statement().subject().id());
    }

    @Override
    public Map<String, Page<Fact>> pointingAt(
            Collection<String> objects, Pattern pattern, @Nullable String after, int limit) {
        List<Term> resources = objects.stream().<Term>map(Term.Resource::of).toList();
        var pointing = new Pattern(
                pattern.graphs(),
                pattern.subjects(),
                pattern.subjectTypes(),
                pattern.predicates(),
                resources,
                pattern.sources(),
                pattern.minCertainty());
        return grouped(
                objects,
                pointing,
                after,
                limit,
                held -> ((Term.Resource) held.statement().object()).id());
    }

    private static Pattern about(List<String> subjects, Pattern pattern) {
        return new Pattern(
                pattern.graphs(),
                subjects,
                pattern.subjectTypes(),
                pattern.predicates(),
                pattern.objects(),
                pattern.sources(),
                pattern.minCertainty());
    }

    private Map<String, Page<Fact>> grouped(
            Collection<String> parents,
            Pattern pattern,
            @Nullable String after,
            int limit,
            Function<RemoteStatement, String> parent) {
        Map<String, List<RemoteStatement>> found = new LinkedHashMap<>();
        Set<String> open = parents.stream().map(Term::expand).collect(Collectors.toSet());
        if (!open.isEmpty()) {
            each(pattern, cursor(after), held -> {
                String id = parent.apply(held);
                if (open.contains(id)) {
                    List<RemoteStatement> children = found.computeIfAbsent(id, key -> new ArrayList<>());
                    children.add(held);
                    if (children.size() > limit) {
                        open.remove(id);
                    }
                }
                return !open.isEmpty();
            });
        }
        Map<String, Page<Fact>> pages = new LinkedHashMap<>();
        found.forEach((id, children) -> pages.put(id, page(children, limit)));
        return pages;
    }

    @Override
    public Page<String> entities(EntityFilter filter, @Nullable String after, int limit) {
        List<Term> types = filter.types().stream().<Term>map(Term.Resource::of).toList();
        Pattern candidates = types.isEmpty()
                ? Pattern.ALL
                : new Pattern(List.of(), List.of(), List.of(), List.of(Term.TYPE), types, List.of(), null);
        Set<String> ids = new LinkedHashSet<>();
        all(candidates, held -> ids.add(held.statement().subject().id()));
        Map<String, List<Term>> values = new HashMap<>();
        List<String> fitting = new ArrayList<>();
        List<String> all = List.copyOf(ids);
        for (int from = 0; from < all.size(); from += PAGE) {
            fitting.addAll(fitting(all.subList(from, Math.min(all.size(), from + PAGE)), filter, values));
        }
        if (filter.orderBy() != null) {
            fitting.sort(order(filter, values));
        }
        int start = (int) Math.min(fitting.size(), cursor(after));
        int end = Math.min(fitting.size(), start + limit);
        return new Page<>(fitting.subList(start, end), end < fitting.size() ? String.valueOf(end) : null);
    }

    private List<String> fitting(List<String> ids, EntityFilter filter, Map<String, List<Term>> values) {
        Map<String, List<RemoteStatement>> said = new HashMap<>();
        all(
                about(ids, Pattern.ALL),
                held -> said.computeIfAbsent(held.statement().subject().id(), id -> new ArrayList<>())
                        .add(held));
        List<String> fitting = new ArrayList<>();
        for (String id : ids) {
            List<RemoteStatement> statements = said.getOrDefault(id, List.of());
            String text = filter.text();
            boolean fits = (text == null || statements.stream().anyMatch(held -> contains(held, text)))
                    && filter.conditions().stream().allMatch(condition -> isMet(condition, statements));
            if (fits) {
                fitting.add(id);
                values.put(
                        id,
                        statements.stream()
                                .filter(held -> held.statement().predicate().equals(filter.orderBy()))
                                .map(held -> held.statement().object())
                                .toList());
            }
        }
        return fitting;
    }

    private static boolean contains(RemoteStatement held, String text) {
        return held.statement().object() instanceof Term.Literal literal
                && literal.lexical().toLowerCase(Locale.ROOT).contains(text.toLowerCase(Locale.ROOT));
    }

    private static boolean isMet(Condition condition, List<RemoteStatement> statements) {
        return condition.holds()
                == statements.stream()
                        .filter(held ->
                                condition.predicate().contains(held.statement().predicate()))
                        .anyMatch(held -> condition.comparison() == Comparison.EXISTS
                                || condition.values().stream()
                                        .anyMatch(value ->
                                                compares(held.statement().object(), condition.comparison(), value)));
    }

    private static boolean compares(Term said, Comparison comparison, Term value) {
        Double left = Terms.worth(said);
        Double right = Terms.worth(value);
        if (comparison == Comparison.EQUAL) {
            return said.equals(value) || left != null && left.equals(right);
        }
        if (comparison == Comparison.CONTAINS) {
            return text(said).toLowerCase(Locale.ROOT).contains(text(value).toLowerCase(Locale.ROOT));
        }
        if (right != null && left == null) {
            return false;
        }
        int order = left != null && right != null
                ? left.compareTo(right)
                : text(said).compareTo(text(value));
        return switch (comparison) {
            case LESS -> order < 0;
            case AT_MOST -> order <= 0;
            case MORE -> order > 0;
            case AT_LEAST -> order >= 0;
            case EQUAL, CONTAINS, EXISTS -> throw new IllegalStateException(comparison.name());
        };
    }

    private static String text(Term term) {
        return switch (term) {
            case Term.Resource resource -> resource.id();
            case Term.Literal literal -> literal.lexical();
        };
    }

    /** Entities without a value come last in both directions. */
    private static Comparator<String> order(EntityFilter filter, Map<String, List<Term>> values) {
        Comparator<Term> byValue = Comparator.comparing(
                        (Term term) -> Objects.requireNonNullElse(Terms.worth(term), Double.MAX_VALUE))
                .thenComparing(RemoteView::text);
        Comparator<Term> way = filter.descending() ? byValue.reversed() : byValue;
        return Comparator.comparing(
                id -> values.getOrDefault(id, List.of()).stream().min(byValue).orElse(null), Comparator.nullsLast(way));
    }

    @Override
    public Map<String, Set<String>> types(Collection<String> ids) {
        Map<String, Set<String>> types = new LinkedHashMap<>();
        if (!ids.isEmpty()) {
            all(about(List.copyOf(ids), Pattern.predicates(List.of(Term.TYPE))), held -> addType(types, held));
        }
        return types;
    }

    private static <T> List<T> list(@Nullable T value) {
        return value == null ? List.of() : List.of(value);
    }

    @Override
    public List<GraphInfo> graphs() {
        Map<String, Long> sizes = new LinkedHashMap<>();
        long position = 0;
        while (position >= 0) {
            Piece piece = piece(Pattern.ALL, position, PAGE);
            Map<String, Set<String>> types = asksForTypes ? typesIn(piece.statements()) : Map.of();
            for (RemoteStatement held : piece.statements()) {
                if (!held.isHint() && isAllowed(held, types)) {
                    sizes.merge(Objects.requireNonNullElse(held.statement().graph(), ""), 1L, Long::sum);
                }
            }
            position = piece.next();
        }
        return sizes.entrySet().stream()
                .map(entry -> new GraphInfo(entry.getKey().isEmpty() ? null : entry.getKey(), entry.getValue()))
                .toList();
    }

    @Override
    public Set<String> predicates(@Nullable String type) {
        var pattern = new Pattern(List.of(), List.of(), list(type), List.of(), List.of(), List.of(), null);
        Set<String> predicates = new LinkedHashSet<>();
        all(pattern, held -> predicates.add(held.statement().predicate()));
        return predicates;
    }

    @Override
    public Set<String> classes() {
        Set<String> classes = new LinkedHashSet<>();
        all(Pattern.predicates(List.of(Term.TYPE)), held -> {
            if (held.statement().object() instanceof Term.Resource type) {
                classes.add(type.id());
            }
        });
        return classes;
    }

    @Override
    public Hidden hidden() {
        return new Hidden(hiddenByCertainty, hiddenByAge, 0);
    }
}
