package dev.parley.knowledge.remote;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.knowledge.FusekiServer;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.model.Fact;
import dev.parley.knowledge.model.KnowledgeStoreException;
import dev.parley.knowledge.model.Pattern;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.model.SparqlService;
import dev.parley.knowledge.model.View;
import dev.parley.knowledge.sparql.Sparql;
import dev.parley.knowledge.store.SqlStatementStore;
import dev.parley.knowledge.store.StatementStore;
import dev.parley.knowledge.store.StatementStoreContract;
import dev.parley.store.database.Database;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** KG27: a SPARQL server as store; the server is Apache Jena Fuseki, in a process of its own. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("heavy")
class RemoteStatementsTest extends StatementStoreContract {
    private FusekiServer server;
    private Database database;
    private SqlStatementStore tables;
    private StatementStore store;

    @BeforeAll
    void start(@TempDir Path directory) throws IOException {
        server = new FusekiServer(directory);
        database = Database.open(directory);
        tables = new SqlStatementStore(database, clock);
        store = store(server.dataset());
    }

    private StatementStore store(URI address) {
        var service = new SparqlService(address, address, () -> "");
        return new RemoteStatements(tables, new RemoteServer(service), clock);
    }

    @AfterAll
    void stop() {
        store.close();
        tables.close();
        database.close();
        server.close();
    }

    @Override
    protected StatementStore store() {
        return store;
    }

    @Test
    void otherReadersSeePlainTriples() {
        put("plain", Statement.of("ex:p1", "ex:knows", Resource.of("no iri")));
        put("plain", Statement.of("ex:p1", "ex:label", Literal.of("eins", "de")).in("ex:g"));
        put("plain", Statement.of("ex:p1", "ex:size", Literal.of(4)));
        store.<Integer>write("plain", writing -> {
            writing.remove(Statement.of("ex:p1", "ex:size", Literal.of(4)));
            return 0;
        });

        assertThat(count("GRAPH <urn:parley:graph:plain> { <ex:p1> <ex:knows> <urn:parley:id:no%20iri> }"))
                .isEqualTo(1);
        assertThat(count("GRAPH <urn:parley:graph:plain:ex%3Ag> { <ex:p1> <ex:label> \"eins\"@de }"))
                .isEqualTo(1);
        assertThat(count("GRAPH <urn:parley:graph:plain> { ?s ?p ?o }")).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\" } } ; DROP ALL #",
                "\\u0022 } } ; DROP ALL #",
                "\\",
                "a> } } ; DROP ALL #",
                "\t\b\f\r\n\1",
                "'''\"\"\""
            })
    void nothingThatIsSaidIsTakenForSparql(String hostile) {
        String group = "hostile " + hostile;
        Statement statement =
                Statement.of(hostile, hostile, Literal.of(hostile)).in(hostile);
        Statement reference =
                Statement.of(hostile, "ex:is", Resource.of(hostile)).withProvenance(Map.of(hostile, hostile));
        Statement typed = Statement.of("ex:p1", "ex:is", new Literal("x", hostile, null));

        put(group, statement);
        put(group, reference);
        put(group, typed);

        List<Fact> found = store.read(
                group,
                ReadFilter.NONE,
                Duration.ofSeconds(10),
                view -> view.statements(Pattern.ALL, null, 10).items());
        assertThat(found)
                .extracting(Fact::statement)
                .map(RemoteStatementsTest::withoutTime)
                .containsExactly(statement, reference, typed);
    }

    private static Statement withoutTime(Statement statement) {
        var provenance = new LinkedHashMap<>(statement.provenance());
        provenance.remove("recordedAt");
        return statement.withProvenance(provenance);
    }

    @Test
    void kg31SparqlIsAnsweredOverIt() {
        put("asked", Statement.of("ex:p1", "ex:knows", Resource.of("ex:p2")));
        put("asked", Statement.of("ex:p2", "ex:name", Literal.of("two")));

        Object found = store.read(
                "asked",
                ReadFilter.NONE,
                Duration.ofSeconds(10),
                view -> Sparql.answer(view, "SELECT ?n { ex:p1 ex:knows/ex:name ?n }", Map.of(), Duration.ofSeconds(10))
                        .data());

        assertThat(found.toString()).contains("two");
    }

    @Test
    void aServerThatIsNotThereIsAnError() {
        URI nowhere = URI.create("http://127.0.0.1:1/query");
        StatementStore gone = store(nowhere);

        assertThatThrownBy(() -> gone.<Long>read("g", ReadFilter.NONE, Duration.ofSeconds(10), View::revision))
                .isInstanceOf(KnowledgeStoreException.class);
    }

    @Test
    void aServerThatSaysNothingIsGivenUp() throws IOException {
        try (var silent = new ServerSocket(0)) {
            URI address = URI.create("http://127.0.0.1:" + silent.getLocalPort() + "/query");
            StatementStore slow = store(address);

            assertThatThrownBy(() -> slow.<Long>read("g", ReadFilter.NONE, Duration.ofMillis(100), View::revision))
                    .isInstanceOfSatisfying(
                            KnowledgeStoreException.class,
                            failed -> assertThat(failed.isTimeout()).isTrue());
        }
    }

    private void put(String group, Statement statement) {
        store.<Integer>write(group, writing -> {
            writing.put(statement);
            return 0;
        });
    }

    private int count(String pattern) {
        var endpoint = new SparqlClient(new RemoteServer(server.service()), Duration.ofSeconds(10));
        return Integer.parseInt(requireNonNull(endpoint.ask("SELECT (COUNT(*) AS ?n) { " + pattern + " }")
                .getFirst()
                .get("n")));
    }
}
