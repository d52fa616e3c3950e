package dev.parley.knowledge.sparql;

import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.changes.Proposal;
import dev.parley.knowledge.changes.ReadSet;
import dev.parley.knowledge.model.View;
import dev.parley.knowledge.rdf.RdfFiles;
import dev.parley.knowledge.rdf.RdfTerms;
import dev.parley.protocol.A2AException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.IllegalFormatException;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.jena.graph.Graph;
import org.apache.jena.graph.Node;
import org.apache.jena.graph.NodeFactory;
import org.apache.jena.riot.Lang;
import org.apache.jena.riot.RDFParser;
import org.apache.jena.shacl.ShaclValidator;
import org.apache.jena.shacl.Shapes;
import org.apache.jena.shacl.engine.ShaclPaths;
import org.apache.jena.shacl.engine.constraint.PatternConstraint;
import org.apache.jena.shacl.parser.Constraint;
import org.apache.jena.shacl.parser.PropertyShape;
import org.apache.jena.shacl.parser.Shape;
import org.apache.jena.shacl.validation.ReportEntry;
import org.apache.jena.shacl.validation.Severity;
import org.apache.jena.shacl.vocabulary.SHACL;
import org.apache.jena.shared.JenaException;
import org.apache.jena.sparql.core.Quad;
import org.apache.jena.sparql.path.P_Link;
import org.apache.jena.sparql.path.Path;
import org.apache.jena.sys.JenaSystem;
import org.apache.jena.vocabulary.OWL;
import org.jspecify.annotations.Nullable;

/**
 * SHACL shapes of a group. Immutable, and safe for any thread.
 *
 * <p>Source: Shapes Constraint Language (SHACL), part "Core". Constraints in SPARQL or JavaScript are refused: shapes come
 * from callers too, and what runs on every update must not be a program.
 */
public final class ShaclShapes {
    static {
        JenaSystem.init();
    }

    /** Constructs beyond SHACL Core: programs, and external graphs. */
    private static final Set<Node> REFUSED = Set.of(
            OWL.imports.asNode(),
            SHACL.sparql,
            SHACL.select,
            SHACL.ask,
            SHACL.construct,
            SHACL.target,
            SHACL.validator,
            SHACL.nodeValidator,
            SHACL.propertyValidator,
            shacl("js"),
            shacl("jsLibrary"),
            shacl("rule"),
            shacl("shapesGraph"));

    /** No shapes, so everything conforms. */
    static final ShaclShapes NONE = parse("");

    private final Graph graph;
    private final Shapes shapes;

    /**
     * Something that does not look as it has to.
     *
     * @param shape the id of the shape; of the nearest one around it that has a name, if it has none
     * @param focusNode the id of the validated entity, or the text of a literal
     * @param path the predicate, or a path as SPARQL writes it; null if the entity as a whole is meant
     * @param message the violation, for people
     */
    public record Violation(
            String shape, String focusNode, @Nullable String path, String message) {}

    private ShaclShapes(Graph graph, Shapes shapes) {
        this.graph = graph;
        this.shapes = shapes;
    }

    /**
     * Reads shapes.
     *
     * @throws A2AException INVALID_PARAMS if they are no Turtle, no SHACL, or use what is refused
     */
    public static ShaclShapes parse(String turtle) {
        try {
            Graph graph = RDFParser.fromString(turtle, Lang.TURTLE)
                    .resolver(RdfFiles.asWritten())
                    .errorHandler(RdfFiles.Strict.INSTANCE)
                    .toGraph();
            for (Node refused : REFUSED) {
                if (graph.contains(Node.ANY, refused, Node.ANY)) {
                    throw A2AException.invalidParams("shapes", refused + " (expected: constraints of SHACL Core)");
                }
            }
            Shapes shapes = Shapes.parse(graph);
            shapes.getShapeMap().values().forEach(ShaclShapes::matchLinearly);
            return new ShaclShapes(graph, shapes);
        } catch (JenaException | IllegalFormatException noShapes) { // the second as in RdfFiles
            throw A2AException.invalidParams("shapes", String.valueOf(noShapes.getMessage()))
                    .causedBy(noShapes);
        }
    }

    /** Shapes are matched against values that callers write: that must not backtrack. */
    private static void matchLinearly(Shape shape) {
        ((List<Constraint>) shape.getConstraints())
                .replaceAll(one -> one instanceof PatternConstraint pattern ? new LinearConstraint(pattern) : one);
    }

    /**
     * Refuses patterns that take backtracking. Those that are set already are refused when they are used.
     *
     * @throws A2AException INVALID_PARAMS if there is one
     */
    public void requireLinear() {
        for (Shape shape : shapes.getShapeMap().values()) {
            for (Constraint one : shape.getConstraints()) {
                if (one instanceof LinearConstraint pattern && pattern.problem() != null) {
                    throw A2AException.invalidParams(
                            "shapes", "sh:pattern \"" + pattern.text() + "\": " + pattern.problem());
                }
            }
        }
    }

    /** The shapes as statements, each about the classes of its graph. */
    public List<Statement> declarations() {
        return graph.stream()
                .map(triple -> RdfTerms.statement(
                        Quad.defaultGraphIRI, triple.getSubject(), triple.getPredicate(), triple.getObject()))
                .filter(Objects::nonNull)
                .toList();
    }

    /** Constraint of a shape that entities violate. */
    private record Broken(String entity, Node shape, Node component) {
        static Broken of(String entity, ReportEntry entry) {
            return new Broken(entity, entry.source(), entry.sourceConstraintComponent());
        }
    }

    /**
     * Looks at some entities as all graphs together describe them. What is said of them is what is wrong with what {@code
     * seen} has of them; of a constraint that only the rest of {@code everything} breaks, no more than which one it is.
     *
     * @return violations; an empty list if the entities conform. Warnings are not reported
     * @throws A2AException KNOWLEDGE_UPDATE if it takes too long
     */
    List<Violation> check(View everything, View seen, Collection<String> entities, Duration patience) {
        return check(everything, seen, new Proposal(new LinkedHashSet<>(entities), List.of()), patience, new ReadSet());
    }

    /**
     * {@link #check(View, View, Collection, Duration)} of the entities that an update touches, as if it was done.
     *
     * @param read receives the rows of both views
     */
    public List<Violation> check(View everything, View seen, Proposal update, Duration patience, ReadSet read) {
        var budget = new SparqlBudget(KnowledgeError.KNOWLEDGE_UPDATE, patience);
        try {
            var all = new StatementDataset(everything, budget, 0, read);
            update.changed().forEach(one -> all.show(one.statement(), one.held()));
            Map<Broken, List<Violation>> broken = broken(all, update.touched());
            if (!broken.isEmpty() && !everything.equals(seen)) {
                var some = new StatementDataset(seen, budget, 0, read);
                update.changed().forEach(one -> some.show(one.statement(), one.seen()));
                Map<Broken, List<Violation>> told = broken(some, update.touched());
                broken.replaceAll((one, secret) -> told.getOrDefault(one, List.of(hidden(one))));
            }
            return broken.values().stream().flatMap(List::stream).toList();
        } catch (LinearConstraint.Unsupported pattern) {
            throw budget.refusal("not-supported", String.valueOf(pattern.getMessage()));
        } catch (JenaException | StackOverflowError failed) {
            throw budget.refusal("failed", "the shapes cannot be checked").causedBy(failed);
        }
    }

    private Map<Broken, List<Violation>> broken(StatementDataset dataset, Collection<String> entities) {
        Graph data = dataset.everything();
        var broken = new LinkedHashMap<Broken, List<Violation>>();
        for (String entity : shapes.isEmpty() ? List.<String>of() : entities) {
            for (ReportEntry entry : ShaclValidator.get()
                    .validate(shapes, data, RdfTerms.resource(entity))
                    .getEntries()) {
                if (entry.severity().equals(Severity.Violation)) {
                    broken.computeIfAbsent(Broken.of(entity, entry), one -> new ArrayList<>())
                            .add(violation(entry));
                }
            }
        }
        return broken;
    }

    private Violation violation(ReportEntry entry) {
        Node focus = entry.focusNode();
        String id = RdfTerms.id(focus);
        return new Violation(
                name(entry.source()),
                id == null ? focus.getLiteralLexicalForm() : id,
                path(entry.resultPath()),
                entry.message());
    }

    /** All of it is in the shapes and in the update: neither a value nor how many there are. */
    private Violation hidden(Broken one) {
        Path path = shapes.getShape(one.shape) instanceof PropertyShape property ? property.getPath() : null;
        var own = graph.find(one.shape, SHACL.message, Node.ANY);
        String message = own.hasNext()
                ? own.next().getObject().getLiteralLexicalForm()
                : "sh:" + one.component.getLocalName() + ", by statements that are hidden";
        return new Violation(name(one.shape), one.entity, path(path), message);
    }

    private String name(Node shape) {
        Node named = shape;
        for (int depth = 0; named.isBlank() && depth < 10; depth++) {
            var around = graph.find(Node.ANY, Node.ANY, named);
            if (!around.hasNext()) {
                break;
            }
            named = around.next().getSubject();
        }
        return String.valueOf(RdfTerms.id(named));
    }

    private static @Nullable String path(@Nullable Path path) {
        if (path == null) {
            return null;
        }
        return path instanceof P_Link link ? link.getNode().getURI() : ShaclPaths.pathToString(path);
    }

    private static Node shacl(String name) {
        return NodeFactory.createURI(SHACL.getURI() + name);
    }
}
