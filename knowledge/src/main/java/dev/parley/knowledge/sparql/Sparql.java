package dev.parley.knowledge.sparql;

import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.KnowledgeOperation;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.model.KnowledgeStoreException;
import dev.parley.knowledge.model.View;
import dev.parley.knowledge.rdf.RdfTerms;
import dev.parley.protocol.A2AException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IllegalFormatException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.jena.graph.Node;
import org.apache.jena.query.ARQ;
import org.apache.jena.query.Query;
import org.apache.jena.query.Syntax;
import org.apache.jena.shared.JenaException;
import org.apache.jena.shared.impl.PrefixMappingImpl;
import org.apache.jena.sparql.core.Prologue;
import org.apache.jena.sparql.core.Quad;
import org.apache.jena.sparql.core.Var;
import org.apache.jena.sparql.engine.main.QC;
import org.apache.jena.sparql.exec.QueryExec;
import org.apache.jena.sparql.exec.UpdateExec;
import org.apache.jena.sparql.expr.E_Function;
import org.apache.jena.sparql.function.FunctionFactory;
import org.apache.jena.sparql.function.FunctionRegistry;
import org.apache.jena.sparql.function.StandardFunctions;
import org.apache.jena.sparql.lang.SPARQLParser;
import org.apache.jena.sparql.lang.UpdateParser;
import org.apache.jena.sparql.modify.UpdateRequestSink;
import org.apache.jena.sparql.modify.request.UpdateLoad;
import org.apache.jena.sparql.util.Context;
import org.apache.jena.sparql.util.FmtUtils;
import org.apache.jena.sys.JenaSystem;
import org.apache.jena.update.UpdateRequest;
import org.jspecify.annotations.Nullable;

/**
 * SPARQL 1.1 over a {@link View}. Nothing it can be asked reads a file, opens a connection, or loads a class.
 *
 * <p>IRIs are taken as they are written, as ids are everywhere in the graph: without {@code BASE} nothing is resolved, and a
 * prefix that is not declared stands for itself, so {@code ex:p1} is the entity {@code ex:p1}.
 *
 * <p>Safe for any thread.
 */
public final class Sparql {
    static {
        JenaSystem.init();
    }

    private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

    /** Characters of a query: parsing it reads its numbers and regular expressions, which nothing can interrupt. */
    private static final int MAX_QUERY = 100_000;

    private static final String NESTED = "it is nested too deeply";

    private static final Pattern SLOW = Pattern.compile("[0-9]{1000}|(?i:regex|replace)\\s*\\(");

    /** Short form of {@code rdf:type} as a predicate. */
    private static final Pattern A = Pattern.compile("[\\s(/|^!]a[\\s)/|*+?]");

    /** The functions of XPath and the casts of XML Schema. Jena's own registry also loads classes by their name. */
    private static final FunctionRegistry FUNCTIONS = new FunctionRegistry() {
        @Override
        public @Nullable FunctionFactory getFunctionFactory(String uri) {
            return isRegistered(uri) ? super.getFunctionFactory(uri) : null;
        }
    };

    static {
        StandardFunctions.loadStdDefs(FUNCTIONS);
        // Removes the XPath twins of functions that are bounded under their SPARQL names, and math:pow, whose result
        // can have
        // more digits than memory holds.
        Stream.of(
                        "matches",
                        "replace",
                        "concat",
                        "contains",
                        "substring-before",
                        "substring-after",
                        "apply",
                        "/math#pow")
                .forEach(name -> FUNCTIONS.remove(
                        "http://www.w3.org/2005/xpath-functions" + (name.startsWith("/") ? "" : "#") + name));
        // Callers choose the names of functions; they shall not choose what the log says.
        E_Function.WarnOnUnknownFunction = false;
    }

    /**
     * Result of a query.
     *
     * @param data for SELECT and ASK the object of "SPARQL 1.1 Query Results JSON Format", for CONSTRUCT and DESCRIBE an
     *     array of KGStatements
     * @param truncated true if there was more than an answer may hold
     */
    public record Answer(Object data, boolean truncated) {}

    private Sparql() {}

    /**
     * Answers a query.
     *
     * @param variables values of its variables: a KGObject, or a string, number or boolean for a plain literal
     * @throws A2AException KNOWLEDGE_QUERY with a {@code reason}: {@code syntax}, {@code timeout}, {@code too-much}, {@code
     *     not-supported}, {@code failed}; INVALID_PARAMS if a variable has no usable value
     */
    public static Answer answer(View view, String query, Map<String, @Nullable Object> variables, Duration patience) {
        var budget = new SparqlBudget(KnowledgeError.KNOWLEDGE_QUERY, patience);
        return guarded(budget, () -> {
            Query parsed = query(query, budget);
            var execution = QueryExec.dataset(new StatementDataset(view, budget, 0))
                    .query(SparqlGuard.guard(parsed, budget))
                    .context(context(budget));
            bindings(variables).forEach(execution::substitution);
            try (QueryExec running = execution.build()) {
                return SparqlResult.of(running);
            }
        });
    }

    /**
     * Returns what an update comes to: first what it removes, then what it adds. What is there already is not added again,
     * so its certainty stays.
     *
     * @param certainty of what it adds; null for unknown
     * @throws A2AException KNOWLEDGE_UPDATE with a {@code reason} as for queries, or {@code too-many-changes}
     */
    public static List<Patch> patches(View view, String update, @Nullable Double certainty, Duration patience) {
        var budget = new SparqlBudget(KnowledgeError.KNOWLEDGE_UPDATE, patience);
        return guarded(budget, () -> {
            UpdateRequest parsed = update(update, budget);
            if (parsed.getOperations().stream().anyMatch(UpdateLoad.class::isInstance)) {
                throw budget.refusal("not-supported", "LOAD is switched off");
            }
            var dataset = new StatementDataset(view, budget, KnowledgeOperation.MAX_MUTATIONS);
            UpdateExec.dataset(dataset)
                    .update(SparqlGuard.guard(parsed, budget))
                    .context(context(budget))
                    .build()
                    .execute();
            List<Patch> patches = new ArrayList<>();
            dataset.removed().forEach(quad -> patches.add(Patch.remove(statement(quad, budget))));
            dataset.added()
                    .forEach(quad ->
                            patches.add(Patch.add(statement(quad, budget).withCertainty(certainty))));
            return patches;
        });
    }

    private static Statement statement(Quad quad, SparqlBudget budget) {
        Statement statement =
                RdfTerms.statement(quad.getGraph(), quad.getSubject(), quad.getPredicate(), quad.getObject());
        if (statement == null) {
            throw budget.refusal("not-supported", "it says what no statement can say: " + quad);
        }
        return statement;
    }

    private static Query query(String text, SparqlBudget budget) {
        requireShort(text.length() <= MAX_QUERY, budget);
        var parsed = new Query();
        parse(
                parsed,
                budget,
                () -> SPARQLParser.createParser(Syntax.syntaxSPARQL_11).parse(parsed, text));
        return parsed;
    }

    private static UpdateRequest update(String text, SparqlBudget budget) {
        // Data to insert may be long.
        requireShort(text.length() <= MAX_QUERY || !SLOW.matcher(text).find(), budget);
        var parsed = new UpdateRequest();
        parse(
                parsed,
                budget,
                () -> UpdateParser.createParser(Syntax.syntaxSPARQL_11)
                        .parse(new UpdateRequestSink(parsed), parsed, text));
        return parsed;
    }

    private static void requireShort(boolean isShort, SparqlBudget budget) {
        if (!isShort) {
            throw budget.refusal("too-much", "it has more than " + MAX_QUERY + " characters");
        }
    }

    /** True for what a query names, however it writes it: as an IRI, a text, or the value of a variable. */
    public static Predicate<String> namedIn(String query, Map<String, @Nullable Object> variables, Duration patience) {
        var budget = new SparqlBudget(KnowledgeError.KNOWLEDGE_QUERY, patience);
        Predicate<String> named = guarded(budget, () -> writtenOut(query(query, budget)));
        Set<String> values = bindings(variables).values().stream()
                .map(value -> value.isURI() ? value.getURI() : value.isLiteral() ? value.getLiteralLexicalForm() : "")
                .collect(Collectors.toSet());
        return name -> named.test(name) || values.contains(name);
    }

    /** True for what an update names, however it writes it. */
    public static Predicate<String> namedIn(String update, Duration patience) {
        var budget = new SparqlBudget(KnowledgeError.KNOWLEDGE_UPDATE, patience);
        return guarded(budget, () -> writtenOut(update(update, budget)));
    }

    /** Looks at a request as it is without prefixes, base and escapes. */
    private static Predicate<String> writtenOut(Prologue request) {
        request.setPrefixMapping(new PrefixMappingImpl());
        request.setBaseURI((String) null);
        String text = request.toString();
        return name -> {
            String written = FmtUtils.stringEsc(name);
            return text.contains("<" + written + ">")
                    || text.contains("\"" + written + "\"")
                    || name.equals(Term.TYPE) && A.matcher(text).find();
        };
    }

    private static void parse(Prologue request, SparqlBudget budget, Runnable parser) {
        request.setPrefixMapping(new Prefixes());
        try {
            parser.run();
        } catch (JenaException noSparql) {
            if (noSparql.getCause() instanceof StackOverflowError deep) {
                throw budget.refusal("too-much", NESTED).causedBy(deep);
            }
            // Below its first line the parser lists every token that could follow.
            String message = String.valueOf(noSparql.getMessage());
            throw budget.refusal("syntax", message.lines().findFirst().orElse(message));
        }
    }

    private static <T> T guarded(SparqlBudget budget, Supplier<T> work) {
        try {
            T answer = work.get();
            budget.requireKept();
            return answer;
        } catch (JenaException | IllegalFormatException failed) { // the second when Jena fails to say what is wrong
            throw budget.refusal("failed", String.valueOf(failed.getMessage())).causedBy(failed);
        } catch (KnowledgeStoreException failed) {
            if (failed.isTimeout()) {
                throw budget.refusal("timeout", "it takes too long").causedBy(failed);
            }
            throw failed;
        } catch (StackOverflowError deep) {
            throw budget.refusal("too-much", NESTED).causedBy(deep);
        }
    }

    private static Context context(SparqlBudget budget) {
        Context context = ARQ.getContext().copy();
        context.set(ARQ.httpServiceAllowed, false);
        context.set(ARQ.enablePropertyFunctions, false);
        FunctionRegistry.set(context, FUNCTIONS);
        QC.setFactory(context, execution -> new SparqlGuard.Executor(execution, budget));
        return context;
    }

    private static Map<Var, Node> bindings(Map<String, @Nullable Object> variables) {
        Map<Var, Node> bindings = new LinkedHashMap<>();
        variables.forEach((name, value) -> {
            if (!VARIABLE.matcher(name).matches()) {
                throw A2AException.invalidParams("variables", name + " (expected: the name of a variable)");
            }
            if (value != null) {
                bindings.put(Var.alloc(name), RdfTerms.node(SparqlResult.term("variables." + name, value)));
            }
        });
        return bindings;
    }

    /** The four prefixes that ids may have, those that a query declares, and all others standing for themselves. */
    private static final class Prefixes extends PrefixMappingImpl {
        Prefixes() {
            setNsPrefix("rdf", Term.RDF);
            setNsPrefix("rdfs", Term.RDFS);
            setNsPrefix("owl", Term.OWL);
            setNsPrefix("xsd", Term.XSD);
        }

        @Override
        public @Nullable String getNsPrefixURI(String prefix) {
            String declared = super.getNsPrefixURI(prefix);
            return declared != null || prefix.isEmpty() ? declared : prefix + ":";
        }
    }
}
