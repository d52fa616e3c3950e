package dev.parley.knowledge.sparql;

import com.google.re2j.Matcher;
import dev.parley.knowledge.api.Term;
import java.math.BigDecimal;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.apache.jena.graph.Node;
import org.apache.jena.graph.NodeFactory;
import org.apache.jena.query.Query;
import org.apache.jena.sparql.algebra.Op;
import org.apache.jena.sparql.engine.ExecutionContext;
import org.apache.jena.sparql.engine.QueryIterator;
import org.apache.jena.sparql.engine.binding.Binding;
import org.apache.jena.sparql.engine.iterator.QueryIteratorWrapper;
import org.apache.jena.sparql.engine.main.OpExecutor;
import org.apache.jena.sparql.expr.E_Function;
import org.apache.jena.sparql.expr.E_Multiply;
import org.apache.jena.sparql.expr.E_Regex;
import org.apache.jena.sparql.expr.E_StrAfter;
import org.apache.jena.sparql.expr.E_StrBefore;
import org.apache.jena.sparql.expr.E_StrConcat;
import org.apache.jena.sparql.expr.E_StrContains;
import org.apache.jena.sparql.expr.E_StrDatatype;
import org.apache.jena.sparql.expr.E_StrReplace;
import org.apache.jena.sparql.expr.Expr;
import org.apache.jena.sparql.expr.ExprAggregator;
import org.apache.jena.sparql.expr.ExprEvalException;
import org.apache.jena.sparql.expr.ExprFunction1;
import org.apache.jena.sparql.expr.ExprFunction2;
import org.apache.jena.sparql.expr.ExprFunctionN;
import org.apache.jena.sparql.expr.ExprList;
import org.apache.jena.sparql.expr.NodeValue;
import org.apache.jena.sparql.expr.aggregate.AggGroupConcat;
import org.apache.jena.sparql.expr.aggregate.AggGroupConcatDistinct;
import org.apache.jena.sparql.expr.aggregate.Aggregator;
import org.apache.jena.sparql.expr.nodevalue.NodeValueOps;
import org.apache.jena.sparql.modify.request.UpdateModify;
import org.apache.jena.sparql.sse.Tags;
import org.apache.jena.sparql.syntax.Element;
import org.apache.jena.sparql.syntax.ElementService;
import org.apache.jena.sparql.syntax.syntaxtransform.ElementTransform;
import org.apache.jena.sparql.syntax.syntaxtransform.ElementTransformCopyBase;
import org.apache.jena.sparql.syntax.syntaxtransform.ElementTransformer;
import org.apache.jena.sparql.syntax.syntaxtransform.ExprTransformApplyElementTransform;
import org.apache.jena.sparql.syntax.syntaxtransform.QueryTransformOps;
import org.apache.jena.update.Update;
import org.apache.jena.update.UpdateRequest;
import org.jspecify.annotations.Nullable;

/**
 * Keeps SPARQL within its {@link SparqlBudget} where a few characters of query can cost hours or gigabytes: in joins, in
 * searches, and in functions that make texts or numbers longer.
 */
final class SparqlGuard extends ExprTransformApplyElementTransform {
    private static final int MAX_DIGITS = 10_000;
    private static final double BITS_A_DIGIT = Math.log(10) / Math.log(2);

    /** Steps that take so little time that they need no check of the clock. */
    private static final long STEPS_AT_ONCE = 1 << 24;

    private final SparqlBudget budget;

    private final ElementTransform elements;

    private SparqlGuard(SparqlBudget budget, ElementTransform elements) {
        super(elements);
        this.budget = budget;
        this.elements = elements;
    }

    private static SparqlGuard within(SparqlBudget budget) {
        return new SparqlGuard(budget, new NoService(budget));
    }

    static Query guard(Query query, SparqlBudget budget) {
        SparqlGuard guard = within(budget);
        return QueryTransformOps.transform(query, guard.elements, guard);
    }

    /** Guards the patterns of an update where they are; a transformed copy would have lost its WITH and USING. */
    static UpdateRequest guard(UpdateRequest update, SparqlBudget budget) {
        SparqlGuard guard = within(budget);
        for (Update operation : update.getOperations()) {
            if (operation instanceof UpdateModify modify) {
                modify.setElement(ElementTransformer.transform(modify.getWherePattern(), guard.elements, guard));
            }
        }
        return update;
    }

    @Override
    public Expr transform(ExprFunctionN function, ExprList args) {
        return switch (function) {
            case E_Regex regex -> new Regex(args, budget);
            case E_StrReplace replace -> new Replace(args, budget);
            case E_StrConcat concat -> new Concat(args, budget);
            case E_Function cast
            when cast.getFunctionIRI().startsWith(Term.XSD) ->
                super.transform(function, shortened(args, cast.getFunctionIRI()));
            default -> super.transform(function, args);
        };
    }

    private ExprList shortened(ExprList args, String type) {
        return new ExprList(args.getList().stream()
                .<Expr>map(arg -> new Part(arg, value -> requireShort(value, type)))
                .toList());
    }

    @Override
    public Expr transform(ExprFunction2 function, Expr left, Expr right) {
        return switch (function) {
            case E_Multiply product -> new Checked(function, left, right, this::requireFewDigits);
            case E_StrDatatype typed ->
                new Checked(function, left, right, (text, type) -> requireShort(text, type.asString()));
            case E_StrContains find -> new Checked(function, left, right, this::look);
            case E_StrBefore find -> new Checked(function, left, right, this::look);
            case E_StrAfter find -> new Checked(function, left, right, this::look);
            default -> super.transform(function, left, right);
        };
    }

    private void requireShort(NodeValue text, String type) {
        if (Term.Literal.isTooLong(text.asString(), type)) {
            throw budget.refusal("too-much", "it makes a " + type + " of a long text");
        }
    }

    /** A number that is multiplied by itself has twice the digits, after thirty times more than fit anywhere. */
    private void requireFewDigits(NodeValue left, NodeValue right) {
        if (digits(left) + digits(right) > MAX_DIGITS) {
            throw budget.refusal("too-much", "it reckons with numbers of more than " + MAX_DIGITS + " digits");
        }
    }

    private static long digits(NodeValue value) {
        if (!value.isInteger() && !value.isDecimal()) {
            return 0;
        }
        BigDecimal number = value.getDecimal();
        return (long) (number.unscaledValue().bitLength() / BITS_A_DIGIT) + Math.abs((long) number.scale());
    }

    /** Looks for a text in another before a function does, which cannot be interrupted. */
    private void look(NodeValue in, NodeValue text) {
        if (!in.isLiteral() || !text.isLiteral()) {
            return;
        }
        String all = in.asString();
        String wanted = text.asString();
        if ((long) all.length() * wanted.length() <= STEPS_AT_ONCE) {
            return;
        }
        int same = 0;
        for (int i = 0; i + wanted.length() <= all.length() && same < wanted.length(); i++) {
            for (same = 0; same < wanted.length() && all.charAt(i + same) == wanted.charAt(same); same++) {
                budget.step();
            }
        }
    }

    @Override
    public Expr transform(ExprAggregator aggregation) {
        Aggregator aggregator = aggregation.getAggregator();
        if (!(aggregator instanceof AggGroupConcat || aggregator instanceof AggGroupConcatDistinct)) {
            return super.transform(aggregation);
        }
        var counted = new ExprList(new Part(
                aggregator.getExprList().get(0),
                value -> budget.text(value.asString().length())));
        return new ExprAggregator(aggregation.getVar(), aggregator.copy(counted));
    }

    /** A query must not reach other machines. */
    private static final class NoService extends ElementTransformCopyBase {
        private final SparqlBudget budget;

        NoService(SparqlBudget budget) {
            this.budget = budget;
        }

        @Override
        public Element transform(ElementService service, Node where, Element what) {
            throw budget.refusal("not-supported", "SERVICE is switched off");
        }
    }

    /** Counts the rows of every step. */
    static final class Executor extends OpExecutor {
        private final SparqlBudget budget;

        Executor(ExecutionContext context, SparqlBudget budget) {
            super(context);
            this.budget = budget;
        }

        @Override
        protected QueryIterator exec(Op op, QueryIterator input) {
            return new QueryIteratorWrapper(super.exec(op, input)) {
                @Override
                protected Binding moveToNextBinding() {
                    budget.row();
                    return super.moveToNextBinding();
                }
            };
        }
    }

    /** {@code REGEX} in linear time. */
    private static final class Regex extends ExprFunctionN {
        private final SparqlBudget budget;
        private final Expression expression = new Expression();

        Regex(ExprList args, SparqlBudget budget) {
            super(Tags.tagRegex, args);
            this.budget = budget;
        }

        @Override
        public NodeValue eval(List<NodeValue> args) {
            String text = text("REGEX", args.get(0));
            LinearPattern pattern = expression.of("REGEX", args.get(1), args.size() > 2 ? args.get(2) : null, budget);
            return NodeValue.makeBoolean(
                    pattern.matcher(new Steps(text, budget)).find());
        }

        @Override
        public Expr copy(ExprList args) {
            return new Regex(args, budget);
        }
    }

    /** {@code REPLACE} in linear time, that counts what it makes. */
    private static final class Replace extends ExprFunctionN {
        private final SparqlBudget budget;
        private final Expression expression = new Expression();

        Replace(ExprList args, SparqlBudget budget) {
            super(Tags.tagReplace, args);
            this.budget = budget;
        }

        @Override
        public NodeValue eval(List<NodeValue> args) {
            Node literal = NodeValueOps.checkAndGetStringLiteral("REPLACE", args.get(0));
            String text = literal.getLiteralLexicalForm();
            LinearPattern pattern = expression.of("REPLACE", args.get(1), args.size() > 3 ? args.get(3) : null, budget);
            String made = replaced(text, pattern, text("REPLACE", args.get(2)));
            return made.equals(text)
                    ? args.get(0)
                    : NodeValue.makeNode(NodeFactory.createLiteral(
                            made,
                            literal.getLiteralLanguage(),
                            literal.getLiteralBaseDirection(),
                            literal.getLiteralDatatype()));
        }

        private String replaced(String text, LinearPattern pattern, String replacement) {
            Matcher matcher = pattern.matcher(new Steps(text, budget));
            var made = new StringBuilder();
            try {
                for (boolean first = true; matcher.find(); first = false) {
                    // As Jena does it: of the places where nothing is matched, the first one counts.
                    if (first || matcher.end() > matcher.start()) {
                        int before = made.length();
                        matcher.appendReplacement(made, replacement);
                        budget.text(made.length() - before);
                    }
                }
            } catch (IndexOutOfBoundsException | IllegalArgumentException noSuchGroup) {
                throw new ExprEvalException("REPLACE: " + noSuchGroup.getMessage(), noSuchGroup);
            }
            budget.text(text.length());
            return matcher.appendTail(made).toString();
        }

        @Override
        public Expr copy(ExprList args) {
            return new Replace(args, budget);
        }
    }

    private static String text(String function, NodeValue value) {
        return NodeValueOps.checkAndGetStringLiteral(function, value).getLiteralLexicalForm();
    }

    /** A regular expression that is mostly the same from row to row. */
    private static final class Expression {
        private String source = "";
        private String flags = "";
        private @Nullable LinearPattern compiled;

        LinearPattern of(String function, NodeValue expression, @Nullable NodeValue flags, SparqlBudget budget) {
            String newSource = text(function, expression);
            String newFlags = flags == null ? "" : text(function, flags);
            LinearPattern known = compiled;
            if (known != null && newSource.equals(this.source) && newFlags.equals(this.flags)) {
                return known;
            }
            try {
                LinearPattern made = LinearPattern.of(newSource, newFlags);
                this.source = newSource;
                this.flags = newFlags;
                this.compiled = made;
                return made;
            } catch (IllegalArgumentException wrong) {
                // Not an error of this row: a filter that is always false would hide what is wrong.
                boolean large = LinearPattern.isTooLarge(newSource);
                throw budget.refusal(large ? "too-much" : "not-supported", function + ": " + wrong.getMessage());
            }
        }
    }

    /** {@code CONCAT} that counts what it makes. */
    private static final class Concat extends E_StrConcat {
        private final SparqlBudget budget;

        Concat(ExprList args, SparqlBudget budget) {
            super(args);
            this.budget = budget;
        }

        @Override
        public NodeValue eval(List<NodeValue> args) {
            budget.text(args.stream().mapToLong(arg -> arg.asString().length()).sum());
            return super.eval(args);
        }

        @Override
        public Expr copy(ExprList args) {
            return new Concat(args, budget);
        }
    }

    /** A part of an expression that is looked at when its value is known. */
    private static final class Part extends ExprFunction1 {
        private final Consumer<NodeValue> check;

        Part(Expr expr, Consumer<NodeValue> check) {
            super(expr, "part");
            this.check = check;
        }

        @Override
        public NodeValue eval(NodeValue value) {
            check.accept(value);
            return value;
        }

        @Override
        public Expr copy(Expr expr) {
            return new Part(expr, check);
        }
    }

    /** A function that is called when its arguments were found not to be too much for it. */
    private static final class Checked extends ExprFunction2 {
        private final ExprFunction2 function;
        private final BiConsumer<NodeValue, NodeValue> check;

        Checked(ExprFunction2 function, Expr left, Expr right, BiConsumer<NodeValue, NodeValue> check) {
            super(left, right, function.getFunctionSymbol().getSymbol());
            this.function = function;
            this.check = check;
        }

        @Override
        public NodeValue eval(NodeValue left, NodeValue right) {
            check.accept(left, right);
            return function.eval(left, right);
        }

        @Override
        public Expr copy(Expr left, Expr right) {
            return new Checked(function, left, right, check);
        }
    }

    /** A text that counts how often it is looked at. */
    private record Steps(CharSequence text, SparqlBudget budget) implements CharSequence {
        @Override
        public char charAt(int index) {
            budget.step();
            return text.charAt(index);
        }

        @Override
        public int length() {
            return text.length();
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return text.subSequence(start, end);
        }

        @Override
        public String toString() {
            return text.toString();
        }
    }
}
