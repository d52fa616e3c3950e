package dev.parley.knowledge.remote;

import static java.util.Objects.requireNonNullElse;

import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.model.Fact;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.remote.RemoteStatement.Remark;
import dev.parley.knowledge.store.Asking;
import dev.parley.knowledge.store.GraphWriting;
import dev.parley.knowledge.store.SqlWriting;
import dev.parley.protocol.A2AException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** An update that is worked out here. The server gets it when the hub has committed it. */
final class RemoteWriting extends RemoteView implements GraphWriting {
    /** Statements that are looked up in one request. */
    private static final int AT_ONCE = 250;

    /** Characters of an update, which the hub keeps until the server has it. */
    private static final int MAX_UPDATE = 32 << 20;

    private final long nowMs;
    private final long lastBefore;
    private final long newestBefore;
    private final List<Recording> recordings = new ArrayList<>();
    private final Map<Statement, Boolean> changed = new LinkedHashMap<>();

    /** Statements of the server that have been read, by their nodes; empty for a statement that it does not have. */
    private final Map<String, Optional<RemoteStatement>> known = new HashMap<>();

    /** Plain triples of removed statements. */
    private final Set<String> gone = new LinkedHashSet<>();

    private long last;
    private long newest;
    private long change;

    /**
     * @param last number of the statement that the server got last; 0 if it has none of the group
     * @param newest number of the group's newest change
     */
    RemoteWriting(SparqlClient endpoint, Of of, long last, long newest, long nowMs) {
        super(endpoint, of, ReadFilter.NONE, new LinkedHashMap<>(), new LinkedHashSet<>());
        this.last = last;
        this.lastBefore = last;
        this.newestBefore = newest;
        this.newest = newest;
        this.nowMs = nowMs;
    }

    @Override
    public long nowMs() {
        return nowMs;
    }

    @Override
    public long nextChange() {
        return ++newest;
    }

    @Override
    public long numberedBefore() {
        return newestBefore;
    }

    /** Leaves out a number if no change has one, so that of two updates that were computed at once one is found to be outdated. */
    void requireNumber() {
        newest = Math.max(newest, newestBefore + 1);
    }

    /** Whether the changes have the next numbers still, in the transaction that writes them. */
    boolean isNext(SqlWriting rows) {
        return rows.hasNumbered(newestBefore, newest);
    }

    /** Takes the number in a transaction of its own: the one of the update begins later. */
    @Override
    public long take(Asking<Long> taking) {
        return of.tables().database().write(of.group(), session -> taking.ask(session, space()));
    }

    @Override
    public void change(long number) {
        this.change = number;
    }

    @Override
    public void record(Recording recording) {
        recordings.add(recording);
    }

    List<Recording> recordings() {
        return recordings;
    }

    @Override
    public Map<Statement, Boolean> changed() {
        return changed;
    }

    private void changed(Resource subject, String predicate, Term object, @Nullable String graph, boolean held) {
        changed.put(new Statement(subject, predicate, object, graph, null, Map.of()), held);
    }

    // ---- Looking up

    @Override
    public void expect(Collection<Statement> statements) {
        Set<String> nodes = new LinkedHashSet<>();
        for (Statement one : statements) {
            nodes.add(RemoteStatement.node(one));
            type(one.subject(), one.graph()).ifPresent(type -> nodes.add(RemoteStatement.node(type)));
            if (one.object() instanceof Resource object) {
                type(object, one.graph()).ifPresent(type -> nodes.add(RemoteStatement.node(type)));
            }
        }
        nodes.removeAll(known.keySet());
        List<String> unknown = List.copyOf(nodes);
        for (int from = 0; from < unknown.size(); from += AT_ONCE) {
            lookUp(unknown.subList(from, Math.min(unknown.size(), from + AT_ONCE)));
        }
    }

    private void lookUp(List<String> nodes) {
        nodes.forEach(node -> known.put(node, Optional.empty()));
        long position = lastBefore == 0 ? -1 : 0;
        while (position >= 0) {
            Piece piece = held("VALUES ?node { " + String.join(" ", nodes) + " }\n", position, nodes.size() + 1);
            piece.statements().forEach(one -> known.put(RemoteStatement.node(one.said()), Optional.of(one)));
            position = piece.next();
        }
    }

    private @Nullable RemoteStatement current(Statement statement) {
        String node = RemoteStatement.node(statement);
        Optional<RemoteStatement> changed = changes.get(node);
        return (changed != null ? changed : onServer(node)).orElse(null);
    }

    private Optional<RemoteStatement> onServer(String node) {
        if (!known.containsKey(node)) {
            lookUp(List.of(node));
        }
        return requireNonNullElse(known.get(node), Optional.empty());
    }

    @Override
    public List<Fact> find(Statement statement) {
        RemoteStatement held = current(statement);
        return held == null || held.isHint() ? List.of() : List.of(held.fact(space(), held.latest()));
    }

    // ---- Changing

    private void hold(RemoteStatement statement) {
        changes.put(RemoteStatement.node(statement.said()), Optional.of(statement));
    }

    @Override
    public void put(Statement statement) {
        changed(statement.subject(), statement.predicate(), statement.object(), statement.graph(), true);
        RemoteStatement before = current(statement);
        var remark = Remark.of(statement, nowMs, change);
        hold(
                before == null || before.isHint()
                        ? new RemoteStatement(number(before), said(statement), List.of(remark), false)
                        : before.saidBy(remark, false));
        mention(statement.subject(), statement);
        if (statement.object() instanceof Resource object) {
            mention(object, statement);
        }
    }

    private long number(@Nullable RemoteStatement before) {
        return before == null ? ++last : before.number();
    }

    /** A statement without annotations and types. */
    private static Statement said(Statement statement) {
        Term object = statement.object() instanceof Resource resource ? Resource.of(resource.id()) : statement.object();
        return new Statement(
                Resource.of(statement.subject().id()),
                statement.predicate(),
                object,
                statement.graph(),
                null,
                Map.of());
    }

    private static Optional<Statement> type(Resource resource, @Nullable String graph) {
        return Optional.ofNullable(resource.type())
                .map(type -> Statement.of(resource.id(), Term.TYPE, Resource.of(type))
                        .in(graph));
    }

    /** Holds the type with which a resource is mentioned, unless it is stated already. */
    private void mention(Resource resource, Statement with) {
        Statement type = type(resource, with.graph()).orElse(null);
        if (type == null) {
            return;
        }
        changed(resource, Term.TYPE, type.object(), with.graph(), true);
        RemoteStatement before = current(type);
        var remark = Remark.of(with, nowMs, change);
        if (before == null) {
            hold(new RemoteStatement(number(null), type, List.of(remark), true));
        } else if (before.isHint()) {
            Remark held = before.latest();
            Double best = better(held.certainty(), remark.certainty());
            var again = new Remark(held.source(), best, nowMs, change, held.provenance());
            hold(new RemoteStatement(before.number(), type, List.of(again), true));
        }
    }

    private static @Nullable Double better(@Nullable Double one, @Nullable Double other) {
        return one == null || other == null ? (one == null ? other : one) : Double.valueOf(Math.max(one, other));
    }

    @Override
    public void remove(Statement statement) {
        changed(statement.subject(), statement.predicate(), statement.object(), statement.graph(), false);
        if (current(statement) != null) {
            changes.put(RemoteStatement.node(statement), Optional.empty());
            gone.add(plain(statement));
        }
    }

    @Override
    public Left withdraw(Statement statement, @Nullable String source) {
        RemoteStatement held = current(statement);
        String name = requireNonNullElse(source, "");
        if (held != null && held.latest().source().equals(name)) {
            return withdraw(statement);
        }
        if (held != null
                && held.remarks().stream().anyMatch(remark -> remark.source().equals(name))) {
            hold(new RemoteStatement(
                    held.number(),
                    held.said(),
                    held.remarks().stream()
                            .filter(remark -> !remark.source().equals(name))
                            .toList(),
                    held.isHint()));
        }
        return Left.AS_IT_WAS;
    }

    @Override
    public Left withdraw(Statement statement) {
        RemoteStatement held = current(statement);
        if (held == null) {
            return Left.AS_IT_WAS;
        }
        List<Remark> others = held.remarks().stream()
                .skip(1)
                .sorted(Comparator.comparingLong(Remark::confirmedMs)
                        .thenComparingLong(Remark::change)
                        .reversed())
                .toList();
        if (others.isEmpty()) {
            remove(statement);
            return held.isHint() ? Left.AS_IT_WAS : Left.NOTHING;
        }
        changed(statement.subject(), statement.predicate(), statement.object(), statement.graph(), true);
        hold(new RemoteStatement(held.number(), held.said(), others, false));
        return Left.OF_OTHERS;
    }

    /** Result of a rewrite of provenances, with the number after which it continues, or -1 at the end. */
    record Rewritten(int statements, long next) {}

    /** Changes the provenances of some statements in which {@code value} names something. */
    Rewritten rewrite(String value, UnaryOperator<Map<String, @Nullable Object>> provenance, long after) {
        Piece piece = held("?node p:names " + SparqlClient.quote(value) + " .\n", after, AT_ONCE);
        int count = 0;
        for (RemoteStatement one : piece.statements()) {
            known.put(RemoteStatement.node(one.said()), Optional.of(one));
            Set<String> sources = new HashSet<>();
            List<Remark> remarks = one.remarks().stream()
                    .map(remark -> remark.with(provenance.apply(remark.provenance())))
                    .filter(remark -> sources.add(remark.source()))
                    .toList();
            if (!remarks.equals(one.remarks())) {
                hold(new RemoteStatement(one.number(), one.said(), remarks, one.isHint()));
                count++;
            }
        }
        return new Rewritten(count, piece.next());
    }

    // ---- Sending

    /** True if the server has nothing to do. */
    boolean isEmpty() {
        return changes.isEmpty();
    }

    /** The triple that other readers see. */
    private String plain(Statement statement) {
        String graph = statement.graph() == null ? "" : ":" + SparqlClient.name(statement.graph());
        return "GRAPH <urn:parley:graph:" + group + graph + "> { "
                + SparqlClient.iri(statement.subject().id()) + " " + SparqlClient.iri(statement.predicate()) + " "
                + SparqlClient.term(statement.object()) + " }\n";
    }

    /**
     * Writes the update in SPARQL. The server does nothing unless its graph bears the mark of the update before, so that
     * a repetition, however late, has no effect.
     *
     * @param before mark of the update before; empty for the first one
     * @param mark of this update
     */
    String sparql(String before, String mark) {
        var held = new StringBuilder();
        var plain = new StringBuilder();
        changes.forEach((node, change) -> change.ifPresent(statement -> {
            held.append(statement.triples());
            plain.append(statement.isHint() ? "" : plain(statement.said()));
        }));
        String replaced = changes.keySet().stream()
                .filter(node ->
                        requireNonNullElse(known.get(node), Optional.empty()).isPresent())
                .collect(Collectors.joining(" "));
        String isNext = before.isEmpty()
                ? "FILTER NOT EXISTS { GRAPH " + space + " { " + space + " p:applied ?any } }"
                : "GRAPH " + space + " { " + marks(before, lastBefore) + " }";
        var text = new StringBuilder(RemoteStatement.PREFIX);
        if (!replaced.isEmpty()) {
            text.append("DELETE { GRAPH " + space + " { ?node ?p ?o } } WHERE { " + isNext + " VALUES ?node { "
                    + replaced + " } GRAPH " + space + " { ?node ?p ?o } } ;\n");
        }
        text.append("DELETE { ");
        if (!before.isEmpty()) {
            text.append("GRAPH " + space + " { " + marks(before, lastBefore) + " }\n");
        }
        gone.forEach(text::append);
        text.append("}\nINSERT { GRAPH " + space + " { " + marks(mark, last) + "\n");
        text.append(held)
                .append("}\n")
                .append(plain)
                .append("} WHERE { ")
                .append(isNext)
                .append(" }");
        if (text.length() > MAX_UPDATE) {
            throw A2AException.of(
                    KnowledgeError.KNOWLEDGE_UPDATE,
                    KnowledgeError.KNOWLEDGE_UPDATE.defaultMessage(),
                    Map.of("reason", "too-much", "limit", MAX_UPDATE + " characters"));
        }
        return text.toString();
    }

    private String marks(String mark, long number) {
        return space + " p:applied " + SparqlClient.quote(mark) + " ; p:last \"" + number + "\" .";
    }
}
