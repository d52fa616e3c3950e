package dev.parley.knowledge.sparql;

import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.model.EntityFilter;
import dev.parley.knowledge.model.Fact;
import dev.parley.knowledge.model.Pattern;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.knowledge.model.View;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A list of statements as SPARQL and SHACL see it. What they never ask for is missing. */
record StatementsView(List<Statement> statements) implements View {
    StatementsView(Statement... statements) {
        this(List.of(statements));
    }

    @Override
    public StatementPage<Fact> statements(Pattern pattern, @Nullable String after, int limit) {
        int from = after == null ? 0 : Integer.parseInt(after);
        List<Fact> fitting = statements.stream()
                .filter(statement -> fits(pattern, statement))
                .map(StatementsView::fact)
                .toList();
        int to = Math.min(fitting.size(), from + limit);
        return new StatementPage<>(fitting.subList(from, to), to == fitting.size() ? null : String.valueOf(to));
    }

    private static boolean fits(Pattern pattern, Statement statement) {
        return among(pattern.graphs(), Objects.requireNonNullElse(statement.graph(), Pattern.DEFAULT_GRAPH))
                && among(pattern.subjects(), statement.subject().id())
                && among(pattern.predicates(), statement.predicate())
                && among(pattern.objects(), statement.object());
    }

    private static <T> boolean among(List<T> wanted, T one) {
        return wanted.isEmpty() || wanted.contains(one);
    }

    private static Fact fact(Statement statement) {
        return new Fact(statement, Instant.EPOCH);
    }

    @Override
    public List<GraphInfo> graphs() {
        return statements.stream()
                .collect(Collectors.groupingBy(
                        statement -> Objects.requireNonNullElse(statement.graph(), Pattern.DEFAULT_GRAPH),
                        Collectors.counting()))
                .entrySet()
                .stream()
                .map(entry -> new GraphInfo(
                        entry.getKey().equals(Pattern.DEFAULT_GRAPH) ? null : entry.getKey(), entry.getValue()))
                .toList();
    }

    @Override
    public long revision() {
        return 0;
    }

    @Override
    public Hidden hidden() {
        return new Hidden(0, 0, 0);
    }

    @Override
    public Map<String, StatementPage<Fact>> about(
            Collection<String> subjects, Pattern pattern, @Nullable String after, int limit) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Map<String, StatementPage<Fact>> pointingAt(
            Collection<String> objects, Pattern pattern, @Nullable String after, int limit) {
        throw new UnsupportedOperationException();
    }

    @Override
    public StatementPage<String> entities(EntityFilter filter, @Nullable String after, int limit) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Map<String, Set<String>> types(Collection<String> ids) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Set<String> predicates(@Nullable String type) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Set<String> classes() {
        throw new UnsupportedOperationException();
    }
}
