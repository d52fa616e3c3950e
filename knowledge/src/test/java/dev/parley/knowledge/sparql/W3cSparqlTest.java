package dev.parley.knowledge.sparql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.parley.dialect.Json;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.model.Pattern;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.model.View;
import dev.parley.knowledge.rdf.RdfTerms;
import dev.parley.knowledge.store.SqlStatementStore;
import dev.parley.protocol.A2AException;
import dev.parley.store.database.Database;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.jena.graph.Graph;
import org.apache.jena.graph.Node;
import org.apache.jena.graph.Triple;
import org.apache.jena.query.Query;
import org.apache.jena.query.QueryFactory;
import org.apache.jena.query.ResultSet;
import org.apache.jena.query.ResultSetFactory;
import org.apache.jena.query.ResultSetRewindable;
import org.apache.jena.query.Syntax;
import org.apache.jena.rdf.model.Property;
import org.apache.jena.rdf.model.RDFList;
import org.apache.jena.rdf.model.RDFNode;
import org.apache.jena.rdf.model.Resource;
import org.apache.jena.rdf.model.ResourceFactory;
import org.apache.jena.riot.RDFDataMgr;
import org.apache.jena.riot.RDFLanguages;
import org.apache.jena.riot.ResultSetMgr;
import org.apache.jena.riot.resultset.ResultSetLang;
import org.apache.jena.sparql.core.DatasetGraph;
import org.apache.jena.sparql.core.DatasetGraphFactory;
import org.apache.jena.sparql.core.Quad;
import org.apache.jena.sparql.graph.GraphFactory;
import org.apache.jena.sparql.resultset.RDFInput;
import org.apache.jena.sparql.resultset.ResultsCompare;
import org.apache.jena.sparql.util.IsoMatcher;
import org.apache.jena.vocabulary.RDF;
import org.apache.jena.vocabulary.RDFS;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The test suite of SPARQL 1.1 over the database. {@code docs/conformance.md} says where it comes from, and how to run this;
 * the directory {@code sparql/sparql11} of it is given as {@code -Dparley.w3c.sparql=…}.
 */
class W3cSparqlTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final List<String> QUERY = List.of(
            "aggregates",
            "bind",
            "bindings",
            "cast",
            "construct",
            "exists",
            "functions",
            "grouping",
            "negation",
            "project-expression",
            "property-path",
            "subquery",
            "syntax-query",
            "json-res");

    private static final List<String> UPDATE = List.of(
            "add",
            "basic-update",
            "clear",
            "copy",
            "delete-data",
            "delete-insert",
            "delete-where",
            "delete",
            "drop",
            "move",
            "syntax-update-1",
            "syntax-update-2",
            "update-silent");

    /** Why is said in {@code docs/conformance.md}. */
    private static final List<String> NOT_PASSED = List.of(
            "functions/bnode01",
            "property-path/values_and_path",
            "update-silent/load-silent",
            "update-silent/load-into-silent");

    private final Map<String, String> failures = new TreeMap<>();
    private int groups;

    @Test
    void kg31PassesTheTestSuiteOfSparql11(@TempDir Path directory) throws IOException {
        String suite = System.getProperty("parley.w3c.sparql");
        assumeTrue(suite != null, "the suite is not here");
        try (Database database = Database.open(directory)) {
            var store = new SqlStatementStore(database, InstantSource.system());

            int queries = run(Path.of(suite), QUERY, store);
            int failedQueries = failures.size();
            int updates = run(Path.of(suite), UPDATE, store);

            System.out.printf(
                    "SPARQL 1.1 Query: %d of %d; Update: %d of %d%n",
                    queries - failedQueries, queries, updates - failures.size() + failedQueries, updates);
            failures.forEach((name, problem) -> System.out.println(name + ": " + problem));
            assertThat(queries).isGreaterThan(250);
            assertThat(failures.keySet()).containsExactlyInAnyOrderElementsOf(NOT_PASSED);
        }
    }

    private int run(Path suite, List<String> directories, SqlStatementStore store) throws IOException {
        int count = 0;
        for (String directory : directories) {
            var manifest = RDFDataMgr.loadModel(
                    suite.resolve(directory).resolve("manifest.ttl").toUri().toString());
            var entries = manifest.listObjectsOfProperty(mf("entries")).toList();
            for (RDFNode test : entries.getFirst().as(RDFList.class).asJavaList()) {
                count++;
                String name = directory + "/" + test.asResource().getLocalName();
                try {
                    String problem = problem(test.asResource(), store);
                    if (problem != null) {
                        failures.put(name, problem);
                    }
                } catch (A2AException refused) {
                    failures.put(name, refused.metadata().toString());
                }
            }
        }
        return count;
    }

    /** Returns what is wrong; null if the test passes. */
    private @Nullable String problem(Resource test, SqlStatementStore store) throws IOException {
        Resource action = test.getPropertyResourceValue(mf("action"));
        String kind = test.getPropertyResourceValue(RDF.type).getLocalName();
        String group = "group-" + ++groups;
        return switch (kind) {
            case "PositiveSyntaxTest11" -> syntaxError(store, view -> ask(view, text(action)));
            case "PositiveUpdateSyntaxTest11" -> syntaxError(store, view -> change(view, text(action)));
            case "NegativeSyntaxTest11" -> accepted(syntaxError(store, view -> ask(view, text(action))));
            case "NegativeUpdateSyntaxTest11" -> accepted(syntaxError(store, view -> change(view, text(action))));
            case "QueryEvaluationTest" -> {
                load(store, group, data(action, qt("data"), qt("graphData")));
                String query = text(action.getPropertyResourceValue(qt("query")));
                var answer = store.read(group, ReadFilter.NONE, PATIENCE, view -> ask(view, query));
                yield compare(query, answer.data(), test.getPropertyResourceValue(mf("result")));
            }
            case "UpdateEvaluationTest" -> {
                load(store, group, data(action, ut("data"), ut("graphData")));
                String update = text(action.getPropertyResourceValue(ut("request")));
                store.<Boolean>write(group, writing -> {
                    for (Patch patch : change(writing, update)) {
                        if (patch.op() == Patch.Op.ADD) {
                            writing.put(patch.statement());
                        } else {
                            writing.remove(patch.statement());
                        }
                    }
                    return true;
                });
                DatasetGraph expected = data(test.getPropertyResourceValue(mf("result")), ut("data"), ut("graphData"));
                yield IsoMatcher.isomorphic(expected, content(store, group)) ? null : "another dataset";
            }
            default -> "unknown kind " + kind;
        };
    }

    private static @Nullable String accepted(@Nullable String error) {
        return error == null ? "accepted" : null;
    }

    private static @Nullable String syntaxError(SqlStatementStore store, Function<View, Object> asking) {
        try {
            store.read("empty", ReadFilter.NONE, PATIENCE, asking);
            return null;
        } catch (A2AException refused) {
            return "syntax".equals(refused.metadata().get("reason"))
                    ? refused.metadata().get("detail")
                    : null;
        }
    }

    private static Sparql.Answer ask(View view, String query) {
        return Sparql.answer(view, query, Map.of(), PATIENCE);
    }

    private static List<Patch> change(View view, String update) {
        return Sparql.patches(view, update, null, PATIENCE);
    }

    /** The text of a request, whose base is where it is. */
    private static String text(Resource file) {
        try {
            return "BASE <" + file.getURI() + "> " + Files.readString(Path.of(URI.create(file.getURI())));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static DatasetGraph data(Resource described, Property plain, Property named) {
        DatasetGraph data = DatasetGraphFactory.create();
        described
                .listProperties(plain)
                .forEach(statement ->
                        RDFDataMgr.read(data, statement.getResource().getURI()));
        described.listProperties(named).forEach(statement -> {
            Resource graph = statement.getResource();
            Resource file = graph.isAnon() ? graph.getPropertyResourceValue(ut("graph")) : graph;
            String name = graph.isAnon() ? graph.getProperty(RDFS.label).getString() : graph.getURI();
            data.addGraph(RdfTerms.resource(name), RDFDataMgr.loadGraph(file.getURI()));
        });
        return data;
    }

    private static void load(SqlStatementStore store, String group, DatasetGraph data) {
        store.<Boolean>write(group, writing -> {
            data.find().forEachRemaining(quad -> writing.put(statement(quad)));
            return true;
        });
    }

    private static Statement statement(Quad quad) {
        Statement statement =
                RdfTerms.statement(quad.getGraph(), quad.getSubject(), quad.getPredicate(), quad.getObject());
        if (statement == null) {
            throw new IllegalArgumentException(quad.toString());
        }
        return statement;
    }

    private static DatasetGraph content(SqlStatementStore store, String group) {
        return store.read(group, ReadFilter.NONE, PATIENCE, view -> {
            DatasetGraph content = DatasetGraphFactory.create();
            view.statements(Pattern.ALL, null, Integer.MAX_VALUE - 1)
                    .items()
                    .forEach(fact -> content.add(RdfTerms.quad(fact.statement())));
            return content;
        });
    }

    private static @Nullable String compare(String text, Object data, Resource expected) throws IOException {
        Query query = QueryFactory.create(text, Syntax.syntaxSPARQL_11);
        Path file = Path.of(URI.create(expected.getURI()));
        if (query.isConstructType()) {
            Graph graph = GraphFactory.createDefaultGraph();
            for (Object said : (List<?>) data) {
                graph.add(triple((Map<?, ?>) said));
            }
            return RDFDataMgr.loadGraph(expected.getURI()).isIsomorphicWith(graph) ? null : "another graph " + graph;
        }
        var json = new ByteArrayInputStream(Json.write(data));
        if (query.isAskType()) {
            boolean is = ResultSetMgr.readBoolean(json, ResultSetLang.RS_JSON);
            return is == ResultSetMgr.readBoolean(expected.getURI()) ? null : "answered " + is;
        }
        ResultSetRewindable found = ResultSetFactory.makeRewindable(ResultSetMgr.read(json, ResultSetLang.RS_JSON));
        boolean isRdf = file.toString().endsWith(".ttl") || file.toString().endsWith(".rdf");
        ResultSet read = isRdf
                ? RDFInput.fromRDF(RDFDataMgr.loadModel(expected.getURI()))
                : ResultSetMgr.read(
                        new ByteArrayInputStream(Files.readAllBytes(file)),
                        RDFLanguages.filenameToLang(file.toString()));
        ResultSetRewindable wanted = ResultSetFactory.makeRewindable(read);
        boolean same = ResultsCompare.equalsByTerm(wanted, found);
        wanted.reset();
        found.reset();
        return same || ResultsCompare.equalsByValue(wanted, found) ? null : "another result " + data;
    }

    private static Triple triple(Map<?, ?> said) {
        List<Node> nodes = new ArrayList<>();
        for (String member : List.of("subject", "predicate", "object")) {
            Object value = said.get(member);
            if (value == null) {
                throw new IllegalArgumentException(said.toString());
            }
            Term term = SparqlResult.term(member, value);
            nodes.add(RdfTerms.node(term));
        }
        return Triple.create(nodes.get(0), nodes.get(1), nodes.get(2));
    }

    private static Property mf(String name) {
        return ResourceFactory.createProperty("http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#", name);
    }

    private static Property qt(String name) {
        return ResourceFactory.createProperty("http://www.w3.org/2001/sw/DataAccess/tests/test-query#", name);
    }

    private static Property ut(String name) {
        return ResourceFactory.createProperty("http://www.w3.org/2009/sparql/tests/test-update#", name);
    }
}
