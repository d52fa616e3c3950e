package dev.parley.knowledge.sparql;

import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.changes.Characters;
import dev.parley.knowledge.changes.ReadSet;
import dev.parley.knowledge.model.Fact;
import dev.parley.knowledge.model.Pattern;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.knowledge.model.View;
import dev.parley.knowledge.rdf.RdfTerms;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.jena.graph.Graph;
import org.apache.jena.graph.Node;
import org.apache.jena.graph.Triple;
import org.apache.jena.graph.impl.GraphBase;
import org.apache.jena.query.ReadWrite;
import org.apache.jena.query.TxnType;
import org.apache.jena.riot.system.PrefixMap;
import org.apache.jena.riot.system.PrefixMapFactory;
import org.apache.jena.sparql.core.DatasetGraphTriplesQuads;
import org.apache.jena.sparql.core.GraphView;
import org.apache.jena.sparql.core.Quad;
import org.apache.jena.sparql.core.Transactional;
import org.apache.jena.sparql.core.TransactionalNull;
import org.apache.jena.util.iterator.ExtendedIterator;
import org.apache.jena.util.iterator.WrappedIterator;
import org.jspecify.annotations.Nullable;

/**
 * The statements of a {@link View} as Jena sees them. What is added and removed is kept aside, and seen, but the view is left
 * as it is.
 *
 * <p>Floors are inside the view, so no query can get below them.
 */
final class StatementDataset extends DatasetGraphTriplesQuads {
    /** Most patterns of a join find little, so they begin with a small page. */
    private static final int FIRST_PAGE = 64;

    private static final int PAGE = 2_000;

    /** Changes that an update may make. */
    private final int maxChanges;

    private final View view;
    private final SparqlBudget budget;
    private final ReadSet read;
    private final Set<Quad> added = new LinkedHashSet<>();
    private final Set<Quad> removed = new LinkedHashSet<>();
    private final Transactional transaction = TransactionalNull.create();
    private final PrefixMap prefixes = PrefixMapFactory.create();

    /** @param maxChanges 0 if it is only read */
    StatementDataset(View view, SparqlBudget budget, int maxChanges) {
        this(view, budget, maxChanges, new ReadSet());
    }

    /** @param read records the statements that are read */
    StatementDataset(View view, SparqlBudget budget, int maxChanges, ReadSet read) {
        this.view = view;
        this.budget = budget;
        this.maxChanges = maxChanges;
        this.read = read;
    }

    /** Shows a statement, or hides it, whatever the view says. */
    void show(Statement statement, boolean held) {
        Quad quad = RdfTerms.quad(statement);
        removed.add(quad);
        if (held) {
            added.add(quad);
        }
    }

    Set<Quad> added() {
        return added;
    }

    Set<Quad> removed() {
        return removed;
    }

    /** Returns the union of all graphs. */
    Graph everything() {
        return new GraphBase() {
            @Override
            protected ExtendedIterator<Triple> graphBaseFind(Triple pattern) {
                var found = findAny(pattern.getSubject(), pattern.getPredicate(), pattern.getObject());
                Set<Triple> distinct = new LinkedHashSet<>();
                found.forEachRemaining(quad -> distinct.add(quad.asTriple()));
                return WrappedIterator.create(distinct.iterator());
            }
        };
    }

    @Override
    protected Iterator<Quad> findInDftGraph(Node subject, Node predicate, Node object) {
        return withChanges(Quad.defaultGraphIRI, subject, predicate, object);
    }

    @Override
    protected Iterator<Quad> findInSpecificNamedGraph(Node graph, Node subject, Node predicate, Node object) {
        return withChanges(graph, subject, predicate, object);
    }

    @Override
    protected Iterator<Quad> findInAnyNamedGraphs(Node subject, Node predicate, Node object) {
        return stream(withChanges(Node.ANY, subject, predicate, object))
                .filter(quad -> !quad.isDefaultGraph())
                .iterator();
    }

    @Override
    protected Iterator<Quad> findAny(Node subject, Node predicate, Node object) {
        return withChanges(Node.ANY, subject, predicate, object);
    }

    private Iterator<Quad> withChanges(Node graph, Node subject, Node predicate, Node object) {
        Iterator<Quad> there = inView(graph, subject, predicate, object);
        if (added.isEmpty() && removed.isEmpty()) {
            return there;
        }
        Stream<Quad> kept = stream(there).filter(quad -> !removed.contains(quad));
        List<Quad> more = added.stream()
                .filter(quad -> quad.matches(graph, subject, predicate, object))
                .toList();
        return Stream.concat(kept, more.stream()).iterator();
    }

    private Iterator<Quad> inView(Node graph, Node subject, Node predicate, Node object) {
        budget.checkTime();
        var wanted = Wanted.of(graph, subject, predicate, object);
        if (wanted == null) {
            return List.<Quad>of().iterator();
        }
        read.add(wanted.subject, wanted.predicate, wanted.object);
        return new Pages(wanted.pattern());
    }

    private static <T> Stream<T> stream(Iterator<T> iterator) {
        Iterable<T> once = () -> iterator;
        return StreamSupport.stream(once.spliterator(), false);
    }

    @Override
    protected void addToDftGraph(Node subject, Node predicate, Node object) {
        addToNamedGraph(Quad.defaultGraphIRI, subject, predicate, object);
    }

    @Override
    protected void addToNamedGraph(Node graph, Node subject, Node predicate, Node object) {
        Quad quad = Quad.create(graph, subject, predicate, object);
        if (!removed.remove(quad) && !inView(graph, subject, predicate, object).hasNext()) {
            added.add(quad);
            checkChanges();
        }
    }

    @Override
    protected void deleteFromDftGraph(Node subject, Node predicate, Node object) {
        deleteFromNamedGraph(Quad.defaultGraphIRI, subject, predicate, object);
    }

    @Override
    protected void deleteFromNamedGraph(Node graph, Node subject, Node predicate, Node object) {
        Quad quad = Quad.create(graph, subject, predicate, object);
        if (!added.remove(quad) && inView(graph, subject, predicate, object).hasNext()) {
            removed.add(quad);
            checkChanges();
        }
    }

    private void checkChanges() {
        if (added.size() + removed.size() > maxChanges) {
            throw budget.refusal("too-many-changes", "it changes more than " + maxChanges + " statements");
        }
    }

    @Override
    public Graph getDefaultGraph() {
        return GraphView.createDefaultGraph(this);
    }

    @Override
    public Graph getGraph(Node graph) {
        return GraphView.createNamedGraph(this, graph);
    }

    @Override
    public Iterator<Node> listGraphNodes() {
        Set<Node> names = new LinkedHashSet<>();
        for (var graph : view.graphs()) {
            if (graph.name() != null) {
                names.add(RdfTerms.resource(graph.name()));
            }
        }
        added.stream().filter(quad -> !quad.isDefaultGraph()).forEach(quad -> names.add(quad.getGraph()));
        // Floors and removals can leave a graph with nothing to see.
        names.removeIf(name -> !contains(name, Node.ANY, Node.ANY, Node.ANY));
        return names.iterator();
    }

    @Override
    public PrefixMap prefixes() {
        return prefixes;
    }

    @Override
    public boolean supportsTransactions() {
        return true;
    }

    @Override
    public void begin(TxnType type) {
        transaction.begin(type);
    }

    @Override
    public void begin(ReadWrite mode) {
        transaction.begin(mode);
    }

    @Override
    public boolean promote(Promote mode) {
        return transaction.promote(mode);
    }

    @Override
    public void commit() {
        transaction.commit();
    }

    @Override
    public void abort() {
        transaction.abort();
    }

    @Override
    public void end() {
        transaction.end();
    }

    @Override
    public ReadWrite transactionMode() {
        return transaction.transactionMode();
    }

    @Override
    public TxnType transactionType() {
        return transaction.transactionType();
    }

    @Override
    public boolean isInTransaction() {
        return transaction.isInTransaction();
    }

    /** A pattern of Jena in our terms; null is any. */
    private record Wanted(
            @Nullable String graph,
            @Nullable String subject,
            @Nullable String predicate,
            @Nullable Term object) {
        /** Returns null if no statement can fit. */
        static @Nullable Wanted of(Node graph, Node subject, Node predicate, Node object) {
            String inGraph = Quad.isDefaultGraph(graph) ? Pattern.DEFAULT_GRAPH : idOrAny(graph);
            String about = idOrAny(subject);
            String says = predicate.isBlank() ? null : idOrAny(predicate);
            Term what = isAny(object) ? null : RdfTerms.term(object);
            boolean possible = (inGraph != null || isAny(graph))
                    && (about != null || isAny(subject))
                    && (says != null || isAny(predicate))
                    && (what != null || isAny(object));
            return possible ? new Wanted(inGraph, about, says, what) : null;
        }

        private static @Nullable String idOrAny(Node node) {
            return isAny(node) ? null : RdfTerms.id(node);
        }

        private static boolean isAny(@Nullable Node node) {
            return node == null || !node.isConcrete();
        }

        Pattern pattern() {
            return new Pattern(list(graph), list(subject), List.of(), list(predicate), list(object), List.of(), null);
        }

        private static <T> List<T> list(@Nullable T value) {
            return value == null ? List.of() : List.of(value);
        }
    }

    /** Reads what fits page by page, since a large graph need not fit into memory. */
    private final class Pages implements Iterator<Quad> {
        private final Pattern pattern;
        private StatementPage<Fact> page;
        private int position;

        Pages(Pattern pattern) {
            this.pattern = pattern;
            this.page = view.statements(pattern, null, FIRST_PAGE);
        }

        @Override
        public boolean hasNext() {
            while (position == page.items().size() && page.next() != null) {
                budget.checkTime();
                page = view.statements(pattern, page.next(), PAGE);
                position = 0;
            }
            return position < page.items().size();
        }

        @Override
        public Quad next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            Statement statement = page.items().get(position++).statement();
            budget.row();
            budget.text(Characters.of(statement.object()));
            return RdfTerms.quad(statement);
        }
    }
}
