package dev.parley.knowledge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.knowledge.UnreliableProxy.Fault;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.model.Pattern;
import dev.parley.knowledge.model.SparqlService;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.store.spi.StoreException;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** KG27: faults between a graph and the server of its statements. */
@Tag("heavy")
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FusekiFaultsTest {
    private static final CallContext CALLER = CallContext.of("ann", new Scope("group", "ann"));
    private static final InstantSource CLOCK = InstantSource.system();

    private FusekiServer server;
    private UnreliableProxy proxy;
    private Database database;
    private Graph graph;

    @BeforeAll
    void start(@TempDir Path directory) throws IOException {
        server = new FusekiServer(directory);
    }

    @AfterAll
    void stop() {
        server.close();
    }

    @BeforeEach
    void open(@TempDir Path directory) throws IOException {
        proxy = new UnreliableProxy(server.dataset());
        proxy.send("application/sparql-update", "DROP ALL");
        database = Database.open(directory);
        graph = graph(database, proxy.address());
    }

    @AfterEach
    void close() {
        graph.close();
        database.close();
        proxy.close();
    }

    private static Graph graph(Database database, URI address) {
        return graph(database, address, "");
    }

    private static Graph graph(Database database, URI address, String credentials) {
        return Graph.in(
                database,
                AuditTrail.in(database, CLOCK),
                CLOCK,
                new SparqlService(address, address, () -> credentials));
    }

    private static Statement status(String value) {
        return Statement.of("ex:p1", "ex:status", Literal.of(value));
    }

    private UpdateResult update(Patch... patches) {
        return graph.update(Update.of(patches), CALLER);
    }

    private String values() {
        return String.valueOf(graph.query(
                        Query.graphql("{ entity(id:\"ex:p1\") { values(predicate:\"ex:status\") } }", Map.of()), CALLER)
                .data());
    }

    private String changes() {
        return String.valueOf(graph.query(Query.graphql("{ changes { nodes { op } } }", Map.of()), CALLER)
                .data());
    }

    @Test
    void anUpdateThatTheServerHasNotGotIsSentBeforeTheNextQuery() {
        update(Patch.add(status("before")));
        proxy.fault = Fault.NOT_SENT;
        UpdateResult result = update(Patch.replace(status("after")));

        assertThat(result.success()).isTrue();
        assertUnavailable(this::values);
        proxy.fault = Fault.NONE;
        assertThat(values()).contains("after").doesNotContain("before");
        assertThat(changes()).isEqualTo("{changes={nodes=[{op=add}, {op=replace}]}}");
    }

    @Test
    void anUpdateWhoseAnswerIsLostIsDoneOnce() {
        proxy.fault = Fault.NOT_ANSWERED;
        UpdateResult result = update(Patch.add(status("once")));

        assertThat(result.statementsAffected()).isEqualTo(1);
        proxy.fault = Fault.NONE;
        assertThat(values()).contains("once");
        assertThat(update(Patch.add(status("once"))).statementsAffected()).isZero();
        assertThat(changes()).isEqualTo("{changes={nodes=[{op=add}]}}");
    }

    @Test
    void aRepetitionThatComesLateHasNoEffect() throws IOException {
        update(Patch.add(status("old")));
        String first = proxy.updates().getLast();
        update(Patch.replace(status("new")));
        String second = proxy.updates().getLast();
        update(Patch.remove(status("new")));

        for (String late : List.of(first, second, first)) {
            assertThat(proxy.send("application/sparql-update", late).statusCode())
                    .isLessThan(300);
        }

        assertThat(values()).doesNotContain("old", "new");
        assertThat(update(Patch.add(status("next"))).success()).isTrue();
        assertThat(values()).contains("next");
    }

    @Test
    void anUpdateThatIsRefusedInTheDatabaseNeverReachesTheServer() {
        update(Patch.add(status("here")));
        int sent = proxy.updates().size();
        graph.rules("group", Alignment.read("{\"rules\":[{\"id\":\"r\",\"on\":\"update\",\"effect\":\"review\"}]}"));
        update(Patch.replace(status("later")));
        graph.reject("1", null, CALLER);

        assertThatThrownBy(() -> graph.approve("1", null, CALLER)).isInstanceOf(A2AException.class);

        assertThat(proxy.updates()).hasSize(sent);
        assertThat(values()).contains("here");
    }

    @Test
    void aServerThatStopsAndStartsIsAnErrorMeanwhileAndNothingElse(@TempDir Path data) throws IOException {
        int port;
        try (var free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        String[] arguments = {"--port=" + port, "--loc=" + Files.createDirectory(data.resolve("tdb"))};
        try (Database own = Database.open(data)) {
            URI address;
            Graph other;
            try (var first = new FusekiServer(data, arguments)) {
                address = first.dataset();
                other = graph(own, address);
                other.update(Update.of(Patch.add(status("kept"))), CALLER);
            }
            Query query = Query.sparql("SELECT ?o { <ex:p1> <ex:status> ?o }");
            assertUnavailable(() -> other.query(query, CALLER));
            assertUnavailable(() -> other.update(Update.of(Patch.add(status("lost"))), CALLER));
            assertThat(other.reviews("group", null, null, 10).items()).isEmpty();
            assertThat(other.queries("group", own.write("group", session -> 0L), 10))
                    .isNotEmpty();
            assertThat(other.storeProblem()).isPresent();

            try (var second = new FusekiServer(data, arguments)) {
                assertThat(second.dataset()).isEqualTo(address);
                assertThat(String.valueOf(other.query(query, CALLER).data()))
                        .contains("kept")
                        .doesNotContain("lost");
                assertThat(other.storeProblem()).isEmpty();
                other.close();
            }
        }
    }

    @Test
    void aServerThatWasSetBackIsNotTakenForTheOneOfTheDatabase() throws IOException {
        update(Patch.add(status("one")));
        String first = proxy.updates().getLast();
        update(Patch.replace(status("two")));
        graph.close();
        proxy.send("application/sparql-update", "DROP ALL");
        proxy.send("application/sparql-update", first);

        graph = graph(database, proxy.address());

        assertUnavailable(this::values);
        assertUnavailable(() -> update(Patch.add(status("three"))));
        assertThat(graph.storeProblem())
                .hasValueSatisfying(problem -> assertThat(problem).contains("backups"));
    }

    @Test
    void twoDatabasesDoNotMixTheirStatements(@TempDir Path directory) {
        update(Patch.add(status("ours")));

        try (Database another = Database.open(directory);
                Graph theirs = graph(another, proxy.address())) {
            assertUnavailable(() -> theirs.update(Update.of(Patch.add(status("theirs"))), CALLER));
        }
        assertThat(values()).isEqualTo("{entity={values=[ours]}}");
    }

    @Test
    void aDatabaseIsNotOpenedWithoutItsStatements(@TempDir Path directory) {
        update(Patch.add(status("remote")));
        graph.close();
        assertThatThrownBy(() -> Graph.in(database, AuditTrail.in(database, CLOCK), CLOCK))
                .isInstanceOf(StoreException.class);

        try (Database another = Database.open(directory)) {
            try (Graph local = Graph.in(another, AuditTrail.in(another, CLOCK), CLOCK)) {
                local.update(Update.of(Patch.add(status("local"))), CALLER);
            }
            assertThatThrownBy(() -> graph(another, proxy.address())).isInstanceOf(StoreException.class);
        }
    }

    @Test
    void redirectsAreNotFollowedAndCredentialsNotTold() {
        String secret = "Bearer top-secret";
        graph.close();
        graph = graph(database, proxy.moved(), secret);

        assertThatThrownBy(this::values).isInstanceOfSatisfying(A2AException.class, refused -> {
            assertThat(refused.error()).isEqualTo(A2AError.UNAVAILABLE);
            assertThat(String.valueOf(refused.getMessage())).doesNotContain("127.0.0.1", "secret");
        });
        assertThat(graph.storeProblem())
                .hasValueSatisfying(
                        problem -> assertThat(problem).contains("redirect").doesNotContain("secret"));
        assertThat(proxy.credentials()).doesNotContain(secret);

        graph.close();
        graph = graph(database, proxy.address(), secret);
        assertThat(update(Patch.add(status("here"))).success()).isTrue();
        assertThat(proxy.credentials()).contains(secret);
    }

    @Test
    void longStatementsAreReadInPiecesOfBoundedSize() {
        // 18 MiB. Jena reads a literal in a time that grows with the square of its length: almost a second for a
        // mebibyte.
        for (int i = 0; i < 9; i++) {
            String kind = "%07d ".formatted(i);
            graph.load(
                    IntStream.range(0, 16)
                            .mapToObj(n ->
                                    Statement.of("ex:" + kind.strip() + n, "ex:text", Literal.of(kind.repeat(1 << 14))))
                            .toList(),
                    CALLER,
                    "file");
        }

        int pages = graph.read(CALLER, view -> {
            String after = null;
            int statements = 0;
            int count = 0;
            do {
                var page = view.statements(Pattern.ALL, after, 1_000);
                statements += page.items().size();
                after = page.next();
                count++;
            } while (after != null);
            assertThat(statements).isEqualTo(144);
            return count;
        });

        assertThat(pages).isGreaterThan(1);
    }

    @Test
    void aServerThatIsSilentEndsQueriesInTime() throws IOException {
        try (var silent = new ServerSocket(0)) {
            graph.close();
            graph = graph(database, URI.create("http://127.0.0.1:" + silent.getLocalPort() + "/kg"));
            long began = System.nanoTime();

            assertThatThrownBy(this::values)
                    .isInstanceOfSatisfying(
                            A2AException.class,
                            late -> assertThat(late.metadata()).containsEntry("reason", "timeout"));

            assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(60));
        }
    }

    private static void assertUnavailable(Runnable call) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        A2AException.class, away -> assertThat(away.error()).isEqualTo(A2AError.UNAVAILABLE));
    }
}
