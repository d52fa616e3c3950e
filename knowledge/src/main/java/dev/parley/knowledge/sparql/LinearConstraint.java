package dev.parley.knowledge.sparql;

import static java.util.Objects.requireNonNullElse;

import org.apache.jena.graph.Node;
import org.apache.jena.shacl.engine.ValidationContext;
import org.apache.jena.shacl.engine.constraint.ConstraintTerm;
import org.apache.jena.shacl.engine.constraint.PatternConstraint;
import org.apache.jena.shacl.parser.ConstraintVisitor;
import org.apache.jena.shacl.validation.ReportItem;
import org.apache.jena.sparql.expr.nodevalue.NodeFunctions;
import org.jspecify.annotations.Nullable;

/**
 * {@code sh:pattern} in linear time. Immutable.
 *
 * <p>Source: Shapes Constraint Language (SHACL), section 4.4.3 "sh:pattern".
 */
final class LinearConstraint extends ConstraintTerm {
    /** A pattern cannot be matched in linear time. */
    static final class Unsupported extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private Unsupported(String message) {
            super(message, null, false, false);
        }
    }

    private final PatternConstraint parsed;
    private final @Nullable LinearPattern pattern;
    private final @Nullable String problem;

    LinearConstraint(PatternConstraint parsed) {
        this.parsed = parsed;
        LinearPattern compiled = null;
        String wrong = null;
        try {
            // Jena has quoted the pattern already.
            String flags = requireNonNullElse(parsed.getFlagsStr(), "").replace("q", "");
            compiled = LinearPattern.of(parsed.getPattern(), flags);
        } catch (IllegalArgumentException unsupported) {
            wrong = String.valueOf(unsupported.getMessage());
        }
        this.pattern = compiled;
        this.problem = wrong;
    }

    /** Reason why the pattern cannot be matched; null if it can. */
    @Nullable
    String problem() {
        return problem;
    }

    String text() {
        return parsed.getPattern();
    }

    @Override
    public @Nullable ReportItem validate(ValidationContext context, Node node) {
        if (pattern == null) {
            throw new Unsupported("sh:pattern \"" + text() + "\": " + problem);
        }
        if (node.isBlank()) {
            return parsed.validate(context, node); // looks at no text
        }
        String text = NodeFunctions.str(node);
        return pattern.matcher(text).find() ? null : new ReportItem(parsed + ": Does not match: '" + text + "'", node);
    }

    @Override
    public Node getComponent() {
        return parsed.getComponent();
    }

    @Override
    public void visit(ConstraintVisitor visitor) {
        parsed.visit(visitor);
    }

    @Override
    public String toString() {
        return parsed.toString();
    }
}
