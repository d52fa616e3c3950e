package dev.parley.knowledge.remote;

import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.changes.Characters;
import dev.parley.knowledge.model.EntityFilter;
import dev.parley.knowledge.model.EntityFilter.Comparison;
import dev.parley.knowledge.model.EntityFilter.Condition;
import dev.parley.knowledge.model.Fact;
import dev.parley.knowledge.model.KnowledgeStoreException;
import dev.parley.knowledge.model.Pattern;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.knowledge.remote.RemoteStatement.Remark;
import dev.parley.knowledge.store.Asking;
import dev.parley.knowledge.store.Cursor;
import dev.parley.knowledge.store.GraphView;
import dev.parley.knowledge.store.GroupCache;
import dev.parley.knowledge.store.SqlStatementStore;
import dev.parley.knowledge.store.Terms;
import dev.parley.protocol.support.FairPool;
import java.time.Instant;
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
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Statements of a group on a SPARQL server. The server finds statements by their terms; minimums, rules and conditions on
 * entities are evaluated here, page by page, because servers differ in comparisons.
 */
class RemoteView implements GraphView {
    private static final int PAGE = 1_000;

    /** Characters of statements that a page has; one that would have more ends early. */
    private static final long MAX_CHARACTERS = 16L << 20;

    /**
     * A group's graph.
     *
     * @param tables of the hub
     * @param revision number of the last change
     * @param certainties of statements without one, by their graph
     */
    record Of(
            SqlStatementStore tables, String group, GroupCache space, long revision, Map<String, Double> certainties) {}

    final SparqlClient endpoint;
    final Of of;
    final String group;
    final String space;

    /** Statements that an update has changed, by their nodes; empty for those that it has removed. */
    final Map<String, Optional<RemoteStatement>> changes;

    private final ReadFilter readFilter;
    private final boolean asksForTypes;
    private final Set<String> sources;
    private long hiddenByCertainty;
    private long hiddenByAge;

    RemoteView(SparqlClient endpoint, Of of, ReadFilter readFilter) {
        this(endpoint, of, readFilter, Map.of(), new LinkedHashSet<>());
    }

    RemoteView(
            SparqlClient endpoint,
            Of of,
            ReadFilter readFilter,
            Map<String, Optional<RemoteStatement>> changes,
            Set<String> sources) {
        this.endpoint = endpoint;
        this.of = of;
        this.group = SparqlClient.name(of.group());
        this.space = graph(of.group());
        this.changes = changes;
        this.readFilter = readFilter;
        this.sources = sources;
        this.asksForTypes = readFilter.rules().stream()
                .anyMatch(rule -> !rule.pattern().subjectTypes().isEmpty());
    }

    /** IRI of the graph on the server that holds the statements of a group. */
    static String graph(String group) {
        return "<urn:parley:statements:" + SparqlClient.name(group) + ">";
    }

    @Override
    public GroupCache space() {
        return of.space();
    }

    @Override
    public ReadFilter readFilter() {
        return readFilter;
    }

    @Override
    public GraphView seenBy(ReadFilter reader) {
        return reader.equals(readFilter) ? this : new RemoteView(endpoint, of, reader, changes, sources);
    }

    @Override
    public <T> T ask(Asking<T> question) {
        return of.tables().lookUp(of.group(), question);
    }

    /** Some statements, in the order of their numbers; {@code next} is the number they end with, or -1 at the end. */
    record Piece(List<RemoteStatement> statements, long next) {}

    /** Statements that fit what {@code pattern} says of graph, subject, predicate and object, as the update leaves them. */
    private Piece piece(Pattern pattern, long after, int limit) {
        var where = new StringBuilder();
        values(where, "graph", pattern.graphs(), graph -> graph.equals(Pattern.DEFAULT_GRAPH) ? "" : graph);
        values(where, "subject", pattern.subjects(), Function.identity());
        values(where, "predicate", pattern.predicates(), Function.identity());
        values(where, "object", pattern.objects(), RemoteStatement::text);
        Piece held = held(where.toString(), after, limit);
        if (changes.isEmpty()) {
            return held;
        }
        List<RemoteStatement> merged = new ArrayList<>();
        for (RemoteStatement one : held.statements()) {
            if (!changes.containsKey(RemoteStatement.node(one.said()))) {
                merged.add(one);
            }
        }
        long end = held.next() < 0 ? Long.MAX_VALUE : held.next();
        for (Optional<RemoteStatement> change : changes.values()) {
            change.filter(one -> one.number() > after && one.number() <= end && says(pattern, one.said()))
                    .ifPresent(merged::add);
        }
        merged.sort(Comparator.comparingLong(RemoteStatement::number));
        return new Piece(merged, held.next());
    }

    /** Statements on the server; fewer than {@code limit} with a next piece if they are long. */
    final Piece held(String where, long after, int limit) {
        String query = RemoteStatement.PREFIX + "SELECT * WHERE { GRAPH " + space + " {\n" + where
                + RemoteStatement.PATTERN + "FILTER(?number > " + after + ") } } ORDER BY ?number LIMIT ";
        for (int size = limit; ; size = (size + 3) / 4) {
            try {
                List<RemoteStatement> found = endpoint.ask(query + size).stream()
                        .map(RemoteStatement::of)
                        .toList();
                return new Piece(
                        found, found.size() < size ? -1 : found.getLast().number());
            } catch (SparqlClient.TooLong tooLong) {
                if (size == 1) {
                    throw new KnowledgeStoreException("a statement is too long to be read", tooLong, false);
                }
            }
        }
    }

    private static boolean says(Pattern pattern, Statement statement) {
        String graph = Objects.requireNonNullElse(statement.graph(), Pattern.DEFAULT_GRAPH);
        return (pattern.graphs().isEmpty() || pattern.graphs().contains(graph))
                && (pattern.subjects().isEmpty()
                        || pattern.subjects().contains(statement.subject().id()))
                && (pattern.predicates().isEmpty() || pattern.predicates().contains(statement.predicate()))
                && (pattern.objects().isEmpty() || pattern.objects().contains(statement.object()));
    }

    private static <T> void values(StringBuilder query, String name, List<T> values, Function<T, String> text) {
        if (!values.isEmpty()) {
            String list = values.stream()
                    .map(value -> SparqlClient.quote(text.apply(value)))
                    .collect(Collectors.joining(" "));
            query.append("VALUES ?").append(name).append(" { ").append(list).append(" }\n");
        }
    }

    /** Gives {@code sink} what fits and is seen, until it returns false. */
    private void each(Pattern pattern, long after, Predicate<RemoteStatement> sink) {
        long position = after;
        while (position >= 0) {
            FairPool.checkpoint();
            Piece piece = piece(pattern, position, PAGE);
            Map<String, Set<String>> types = asksForTypes ? typesIn(piece.statements(), false) : Map.of();
            // Rules match all types; patterns of the caller match only types that the caller may see.
            Map<String, Set<String>> seenTypes =
                    pattern.subjectTypes().isEmpty() ? Map.of() : typesIn(piece.statements(), true);
            for (RemoteStatement held : piece.statements()) {
                if (pattern.fits(judged(held), id -> seenTypes.getOrDefault(id, Set.of()))
                        && isSeen(held, types)
                        && !sink.test(held)) {
                    return;
                }
            }
            position = piece.next();
        }
    }

    /** The statement as patterns and the read filter judge it: with the certainty of its graph if it has none. */
    private Statement judged(RemoteStatement held) {
        Statement statement = held.fact(of.space(), held.latest()).statement();
        String graph = Objects.requireNonNullElse(statement.graph(), "");
        Double certainty = statement.certainty() == null ? of.certainties().get(graph) : null;
        return certainty == null ? statement : statement.withCertainty(certainty);
    }

    private void all(Pattern pattern, Consumer<RemoteStatement> sink) {
        each(pattern, 0, held -> {
            sink.accept(held);
            return true;
        });
    }

    private Map<String, Set<String>> typesIn(List<RemoteStatement> statements, boolean seen) {
        List<String> subjects = statements.stream()
                .map(held -> held.said().subject().id())
                .distinct()
                .toList();
        if (seen) {
            return hasRules()
                    ? new RemoteView(endpoint, of, readFilter, changes, sources).types(subjects)
                    : typesIn(statements, false);
        }
        Map<String, Set<String>> types = new HashMap<>();
        long position = subjects.isEmpty() ? -1 : 0;
        while (position >= 0) {
            Piece piece = piece(about(subjects, Pattern.predicates(List.of(Term.TYPE))), position, PAGE);
            piece.statements().forEach(held -> addType(types, held));
            position = piece.next();
        }
        return types;
    }

    private boolean hasRules() {
        return !readFilter.equals(ReadFilter.NONE);
    }

    private static void addType(Map<String, Set<String>> types, RemoteStatement held) {
        if (held.said().object() instanceof Term.Resource type) {
            types.computeIfAbsent(held.said().subject().id(), id -> new LinkedHashSet<>())
                    .add(type.id());
        }
    }

    private static boolean isAtLeast(@Nullable Double least, @Nullable Double certainty) {
        return least == null || least == 0 || certainty != null && certainty >= least;
    }

    /** Statements hidden by rules are not counted, because a number would reveal them. */
    private boolean isSeen(RemoteStatement held, Map<String, Set<String>> types) {
        if (!isAllowed(held, types)) {
            return false;
        }
        if (!isAtLeast(readFilter.certainty(), judged(held).certainty())) {
            hiddenByCertainty++;
            return false;
        }
        boolean isOld = readFilter.confirmedSince() != null
                && Instant.ofEpochMilli(held.latest().confirmedMs()).isBefore(readFilter.confirmedSince());
        hiddenByAge += isOld ? 1 : 0;
        return !isOld;
    }

    private boolean isAllowed(RemoteStatement held, Map<String, Set<String>> types) {
        return readFilter.sees(judged(held), id -> types.getOrDefault(id, Set.of()));
    }

    @Override
    public long revision() {
        return of.revision();
    }

    @Override
    public StatementPage<Fact> statements(Pattern pattern, @Nullable String after, int limit) {
        List<RemoteStatement> found = new ArrayList<>();
        long[] characters = {0};
        Cursor cursor = Cursor.of("statements", of.space().number(), pattern);
        each(pattern, position(cursor, after), held -> {
            found.add(held);
            characters[0] += characters(held);
            return found.size() <= limit && characters[0] <= MAX_CHARACTERS;
        });
        boolean isCut = found.size() <= limit && characters[0] > MAX_CHARACTERS;
        return isCut
                ? new StatementPage<>(facts(found), cursor.write(found.getLast().number()))
                : page(found, cursor, limit);
    }

    private static long characters(RemoteStatement held) {
        return held.remarks().stream()
                .mapToLong(remark -> Characters.of(held.said().withProvenance(remark.provenance())))
                .sum();
    }

    private List<Fact> facts(List<RemoteStatement> held) {
        List<Fact> facts =
                held.stream().map(one -> one.fact(of.space(), one.latest())).toList();
        facts.forEach(
                fact -> sources.add(Objects.requireNonNullElse(fact.statement().graph(), Pattern.DEFAULT_GRAPH)));
        return facts;
    }

    private StatementPage<Fact> page(List<RemoteStatement> found, Cursor cursor, int limit) {
        List<Fact> facts = facts(found.subList(0, Math.min(limit, found.size())));
        boolean more = found.size() > limit && limit > 0;
        return new StatementPage<>(
                facts, more ? cursor.write(found.get(limit - 1).number()) : null);
    }

    @Override
    public StatementPage<Fact> saidBy(String source, @Nullable String after, int limit) {
        List<Fact> found = new ArrayList<>();
        Cursor cursor = Cursor.of("saidBy", of.space().number(), source);
        long position = position(cursor, after);
        while (position >= 0) {
            Piece piece = held("?node p:names " + SparqlClient.quote(source) + " .\n", position, limit + 1);
            for (RemoteStatement held : piece.statements()) {
                for (Remark remark : held.remarks()) {
                    if (remark.source().equals(source)) {
                        if (found.size() == limit) {
                            return new StatementPage<>(found, cursor.write(position));
                        }
                        found.add(held.fact(of.space(), remark));
                    }
                }
                position = held.number();
            }
            position = piece.next();
        }
        return new StatementPage<>(found, null);
    }

    private static long position(Cursor cursor, @Nullable String after) {
        long[] position = cursor.read(after, 1);
        return position == null ? 0 : position[0];
    }

    @Override
    public Map<String, StatementPage<Fact>> about(
            Collection<String> subjects, Pattern pattern, @Nullable String after, int limit) {
        return grouped(
                subjects,
                about(List.copyOf(subjects), pattern),
                Cursor.of("about", of.space().number(), pattern),
                after,
                limit,
                held -> held.said().subject().id());
    }

    @Override
    public Map<String, StatementPage<Fact>> pointingAt(
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
                Cursor.of("pointingAt", of.space().number(), pattern),
                after,
                limit,
                held -> ((Term.Resource) held.said().object()).id());
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

    private Map<String, StatementPage<Fact>> grouped(
            Collection<String> parents,
            Pattern pattern,
            Cursor cursor,
            @Nullable String after,
            int limit,
            Function<RemoteStatement, String> parent) {
        Map<String, List<RemoteStatement>> found = new LinkedHashMap<>();
        Set<String> open = parents.stream().map(Term::expand).collect(Collectors.toCollection(LinkedHashSet::new));
        long[] characters = {0};
        long[] last = {0};
        if (!open.isEmpty()) {
            each(pattern, position(cursor, after), held -> {
                String id = parent.apply(held);
                if (open.contains(id)) {
                    List<RemoteStatement> children = found.computeIfAbsent(id, key -> new ArrayList<>());
                    children.add(held);
                    if (children.size() > limit) {
                        open.remove(id);
                    }
                    characters[0] += characters(held);
                    last[0] = held.number();
                }
                return !open.isEmpty() && characters[0] <= MAX_CHARACTERS;
            });
        }
        boolean isCut = characters[0] > MAX_CHARACTERS;
        Map<String, StatementPage<Fact>> pages = new LinkedHashMap<>();
        found.forEach((id, children) -> pages.put(id, page(children, cursor, limit)));
        if (isCut) {
            // The statements of these parents that follow were not read.
            open.forEach(id -> pages.put(
                    id, new StatementPage<>(facts(found.getOrDefault(id, List.of())), cursor.write(last[0]))));
        }
        return pages;
    }

    @Override
    public StatementPage<String> entities(EntityFilter filter, @Nullable String after, int limit) {
        List<Term> types = filter.types().stream().<Term>map(Term.Resource::of).toList();
        Pattern candidates = types.isEmpty()
                ? Pattern.ALL
                : new Pattern(List.of(), List.of(), List.of(), List.of(Term.TYPE), types, List.of(), null);
        Set<String> ids = new LinkedHashSet<>();
        all(candidates, held -> ids.add(held.said().subject().id()));
        Map<String, List<Term>> values = new HashMap<>();
        List<String> fitting = new ArrayList<>();
        List<String> all = List.copyOf(ids);
        for (int from = 0; from < all.size(); from += PAGE) {
            fitting.addAll(fitting(all.subList(from, Math.min(all.size(), from + PAGE)), filter, values));
        }
        if (filter.orderBy() != null) {
            fitting.sort(order(filter, values));
        }
        Cursor cursor = Cursor.of("entities", of.space().number(), filter);
        int start = (int) Math.min(fitting.size(), position(cursor, after));
        int end = Math.min(fitting.size(), start + limit);
        return new StatementPage<>(fitting.subList(start, end), end < fitting.size() ? cursor.write(end) : null);
    }

    private List<String> fitting(List<String> ids, EntityFilter filter, Map<String, List<Term>> values) {
        Map<String, List<RemoteStatement>> said = new HashMap<>();
        all(
                about(ids, Pattern.ALL),
                held -> said.computeIfAbsent(held.said().subject().id(), id -> new ArrayList<>())
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
                                .filter(held -> held.said().predicate().equals(filter.orderBy()))
                                .map(held -> held.said().object())
                                .toList());
            }
        }
        return fitting;
    }

    private static boolean contains(RemoteStatement held, String text) {
        return held.said().object() instanceof Term.Literal literal
                && literal.lexical().toLowerCase(Locale.ROOT).contains(text.toLowerCase(Locale.ROOT));
    }

    private static boolean isMet(Condition condition, List<RemoteStatement> statements) {
        return condition.holds()
                == statements.stream()
                        .filter(held ->
                                condition.predicate().contains(held.said().predicate()))
                        .anyMatch(held -> condition.comparison() == Comparison.EXISTS
                                || condition.values().stream()
                                        .anyMatch(value ->
                                                compares(held.said().object(), condition.comparison(), value)));
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
            Map<String, Set<String>> types = asksForTypes ? typesIn(piece.statements(), false) : Map.of();
            for (RemoteStatement held : piece.statements()) {
                if (!held.isHint() && isAllowed(held, types)) {
                    sizes.merge(Objects.requireNonNullElse(held.said().graph(), ""), 1L, Long::sum);
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
        all(pattern, held -> predicates.add(held.said().predicate()));
        return predicates;
    }

    @Override
    public Set<String> classes() {
        Set<String> classes = new LinkedHashSet<>();
        all(Pattern.predicates(List.of(Term.TYPE)), held -> {
            if (held.said().object() instanceof Term.Resource type) {
                classes.add(type.id());
            }
        });
        return classes;
    }

    @Override
    public Set<String> sources() {
        return sources;
    }

    @Override
    public Hidden hidden() {
        return new Hidden(hiddenByCertainty, hiddenByAge, 0);
    }
}
