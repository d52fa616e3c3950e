package dev.parley.knowledge;

import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.spi.Fact;
import dev.parley.knowledge.spi.Floors;
import dev.parley.knowledge.spi.Pattern;
import dev.parley.knowledge.spi.StatementStore;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A change that is worked out here, and sent to the server when it is complete. */
final class RemoteWriting extends RemoteView implements StatementStore.Writing {
    private final InstantSource clock;

    /** By their nodes; empty for what is removed. */
    private final Map<String, Optional<RemoteStatement>> changes = new LinkedHashMap<>();

    /** Plain triples of what was there before and is not any more. */
    private final StringBuilder gone = new StringBuilder();

    private long last = -1;

    /** A group that has never had a statement need not be asked for each one. */
    private boolean isNew;

    RemoteWriting(RemoteEndpoint endpoint, String group, InstantSource clock) {
        super(endpoint, group, Floors.NONE);
        this.clock = clock;
    }

    @Override
    Piece piece(Pattern pattern, long after, int limit) {
        Piece there = super.piece(pattern, after, limit);
        if (changes.isEmpty()) {
            return there;
        }
        List<RemoteStatement> merged = new ArrayList<>();
        for (RemoteStatement held : there.statements()) {
            if (!changes.containsKey(RemoteStatement.node(held.statement()))) {
                merged.add(held);
            }
        }
        long end = there.next() < 0 ? Long.MAX_VALUE : there.next();
        for (Optional<RemoteStatement> change : changes.values()) {
            if (change.isPresent()) {
                RemoteStatement held = change.get();
                if (held.number() > after && held.number() <= end && says(pattern, held.statement())) {
                    merged.add(held);
                }
            }
        }
        merged.sort(Comparator.comparingLong(RemoteStatement::number));
        return new Piece(merged, there.next());
    }

    private static boolean says(Pattern pattern, Statement statement) {
        String graph = Objects.requireNonNullElse(statement.graph(), Pattern.DEFAULT_GRAPH);
        return (pattern.graphs().isEmpty() || pattern.graphs().contains(graph))
                && (pattern.subjects().isEmpty()
                        || pattern.subjects().contains(statement.subject().id()))
                && (pattern.predicates().isEmpty() || pattern.predicates().contains(statement.predicate()))
                && (pattern.objects().isEmpty() || pattern.objects().contains(statement.object()));
    }

    @Override
    public List<Fact> find(Statement statement) {
        RemoteStatement held = held(statement);
        return held == null || held.isHint() ? List.of() : List.of(held.fact());
    }

    private @Nullable RemoteStatement held(Statement statement) {
        String node = RemoteStatement.node(statement);
        Optional<RemoteStatement> changed = changes.get(node);
        if (changed != null) {
            return changed.orElse(null);
        }
        last();
        if (isNew) {
            return null;
        }
        var rows = endpoint.ask(RemoteStatement.PREFIX + "SELECT * WHERE { VALUES ?node { " + node + " } GRAPH " + space
                + " { " + RemoteStatement.PATTERN + " } }");
        return rows.hasNext() ? RemoteStatement.of(rows.next()) : null;
    }

    @Override
    public void put(Statement statement) {
        var subject = new Term.Resource(statement.subject().id(), null);
        Term said =
                statement.object() instanceof Term.Resource object ? Term.Resource.of(object.id()) : statement.object();
        keep(
                new Statement(
                        subject,
                        statement.predicate(),
                        said,
                        statement.graph(),
                        statement.certainty(),
                        statement.provenance()),
                held(statement),
                false);
        mention(statement.subject(), statement);
        if (statement.object() instanceof Term.Resource object) {
            mention(object, statement);
        }
    }

    private void keep(Statement statement, @Nullable RemoteStatement before, boolean isHint) {
        long number = before == null ? nextNumber() : before.number();
        changes.put(
                RemoteStatement.node(statement),
                Optional.of(new RemoteStatement(number, statement, clock.instant(), isHint)));
    }

    /** Stores the type with which a resource is mentioned, unless it is stated already. */
    private void mention(Term.Resource resource, Statement with) {
        if (resource.type() == null) {
            return;
        }
        Statement type = Statement.of(resource.id(), Term.TYPE, Term.Resource.of(resource.type()))
                .in(with.graph());
        RemoteStatement before = held(type);
        if (before == null || before.isHint()) {
            Double known = before == null ? null : before.statement().certainty();
            Double certainty = with.certainty();
            boolean better = known == null || certainty != null && certainty > known;
            keep(type.withCertainty(better ? certainty : known).withProvenance(with.provenance()), before, true);
        }
    }

    private long nextNumber() {
        last = last() + 1;
        return last;
    }

    private long last() {
        if (last < 0) {
            var rows = endpoint.ask(RemoteStatement.PREFIX + "SELECT ?last WHERE { GRAPH " + space + " { " + space
                    + " p:last ?last } }");
            last = rows.hasNext() ? rows.next().getLiteral("last").getLong() : 0;
            isNew = last == 0;
        }
        return last;
    }

    @Override
    public void remove(Statement statement) {
        RemoteStatement before = held(statement);
        if (before != null) {
            changes.put(RemoteStatement.node(statement), Optional.empty());
            gone.append(plain(statement));
        }
    }

    /** The triple that other readers see. */
    private String plain(Statement statement) {
        String graph = statement.graph() == null ? "" : ":" + RemoteEndpoint.name(statement.graph());
        return "GRAPH <urn:parley:graph:" + group + graph + "> { "
                + RemoteEndpoint.iri(statement.subject().id()) + " " + RemoteEndpoint.iri(statement.predicate()) + " "
                + RemoteEndpoint.term(statement.object()) + " }\n";
    }

    /** Makes the server do what was done here, all of it in one update. */
    void send() {
        if (changes.isEmpty()) {
            return;
        }
        long revision = revision() + 1;
        long numbers = nextNumber();
        var nodes = new StringBuilder(space);
        var held = new StringBuilder();
        var plain = new StringBuilder();
        changes.forEach((node, change) -> {
            nodes.append(' ').append(node);
            change.ifPresent(statement -> {
                held.append(statement.triples());
                plain.append(statement.isHint() ? "" : plain(statement.statement()));
            });
        });
        endpoint.change(RemoteStatement.PREFIX
                + "DELETE { GRAPH " + space + " { ?node ?p ?o } } WHERE { VALUES ?node { " + nodes + " } GRAPH " + space
                + " { ?node ?p ?o } } ;\n"
                + "DELETE DATA { " + gone + " } ;\n"
                + "INSERT DATA { GRAPH " + space + " { " + space + " p:revision " + revision + " ; p:last " + numbers
                + " .\n" + held + " }\n" + plain + " }");
    }
}
