package dev.parley.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.Subscribe;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.model.Review;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.Feed;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Numbers of rows when more than one graph writes to a database, each with a memory of its own. */
@Timeout(120)
@Tag("heavy")
final class SeveralWritersTest {
    private static final String GROUP = "group";
    private static final CallContext ALICE = CallContext.of("alice", new Scope(GROUP, "alice"));
    private static final CallContext BOB = CallContext.of("bob", new Scope("other", "bob"));

    @TempDir
    private Path directory;

    private @Nullable DataSource server;

    private @Nullable Database database;

    private @Nullable AuditTrail trail;

    private final List<Graph> graphs = new ArrayList<>();

    private void open(DatabaseKind kind) throws IOException {
        server = kind == DatabaseKind.POSTGRESQL ? PostgresqlServer.schema() : null;
        openAgain();
    }

    private void openAgain() {
        database = server == null ? Database.open(directory) : Database.open(server);
        trail = AuditTrail.in(database, InstantSource.system());
    }

    private Database database() {
        return Objects.requireNonNull(database, "opened first by each test");
    }

    private Graph graph() {
        Graph opened = Graph.in(database(), Objects.requireNonNull(trail), InstantSource.system());
        graphs.add(opened);
        return opened;
    }

    @AfterEach
    void close() {
        graphs.forEach(Graph::close);
        graphs.clear();
        database().close();
    }

    private static Update adding(String subject, String value) {
        return Update.of(Patch.add(Statement.of(subject, "ex:status", Literal.of(value))));
    }

    private static void add(Graph graph, CallContext caller, String subject, String value) {
        assertThat(graph.update(adding(subject, value), caller).success()).isTrue();
    }

    private long number(String sql) {
        return database().read(session -> session.number(sql));
    }

    private List<String> texts(String sql) {
        return database().read(session -> session.list(row -> DatabaseSession.text(row, 1), sql));
    }

    private static String values(Graph graph, CallContext caller) {
        return String.valueOf(
                graph.query(Query.graphql("{ statements { nodes { object { value } } } }", Map.of()), caller)
                        .data());
    }

    @ParameterizedTest
    @EnumSource
    void graphsThatWriteByTurnsNumberTermsAndChangesOnce(DatabaseKind kind) throws Exception {
        open(kind);
        Graph one = graph();
        Graph other = graph();
        try (Feed<Change> feed =
                one.subscribe(Subscribe.graphql("subscription { knowledgeChanged { op } }", Map.of()), ALICE)) {
            for (int round = 0; round < 5; round++) {
                add(one, ALICE, "ex:one" + round, "value " + round);
                add(other, ALICE, "ex:other" + round, "value " + round);
                add(other, BOB, "ex:one" + round, "of bob " + round);
            }
            assertThat(Objects.requireNonNull(feed.next(Duration.ofSeconds(30))))
                    .isNotEmpty();
        }

        assertThat(number("SELECT count(*) - count(DISTINCT lexical) FROM kg_term"))
                .isZero();
        assertThat(number("SELECT count(*) FROM kg_change JOIN kg_space USING (space) WHERE group_id = 'group'"
                        + " AND change_no BETWEEN 1 AND 10"))
                .isEqualTo(10);
        assertThat(number("SELECT newest FROM kg_space WHERE group_id = 'group'"))
                .isEqualTo(10);
        assertThat(number("SELECT newest FROM kg_space WHERE group_id = 'other'"))
                .isEqualTo(5);
        String all = values(graph(), ALICE);
        assertThat(all).contains("value 0", "value 4").doesNotContain("of bob");
        assertThat(values(one, ALICE)).isEqualTo(all);
        assertThat(values(other, ALICE)).isEqualTo(all);
    }

    @ParameterizedTest
    @EnumSource
    void anUpdateThatIsUndoneLeavesNoGap(DatabaseKind kind) throws IOException {
        open(kind);
        Graph graph = graph();
        graph.shapes(GROUP, """
                @prefix sh: <http://www.w3.org/ns/shacl#> .
                <ex:S> a sh:NodeShape ; sh:targetNode <ex:p1> ; sh:property [ sh:path <ex:status> ; sh:maxCount 1 ] .
                """);
        add(graph, ALICE, "ex:p1", "first");

        assertThat(graph.update(adding("ex:p1", "second"), ALICE).success()).isFalse();
        add(graph, ALICE, "ex:p2", "third");

        assertThat(number("SELECT max(change_no) FROM kg_change")).isEqualTo(2);
        assertThat(number("SELECT newest FROM kg_space WHERE group_id = 'group'"))
                .isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    void reviewsAndQueriesAreNumberedOnce(DatabaseKind kind) throws IOException {
        open(kind);
        Graph one = graph();
        one.rules(GROUP, Alignment.read("{\"rules\":[{\"id\":\"r\",\"effect\":\"review\",\"on\":\"update\"}]}"));
        Graph other = graph();
        for (Graph each : List.of(one, other, one, other)) {
            add(each, ALICE, "ex:p1", "held");
            values(each, ALICE);
        }
        database().write(GROUP, session -> session); // after the records of the queries

        assertThat(one.reviews(GROUP, null, null, 10).items())
                .extracting(Review::id)
                .containsExactly("1", "2", "3", "4");
        assertThat(one.queries(GROUP, 0, 10)).hasSize(4);
    }

    @ParameterizedTest
    @EnumSource
    void changesOfGroupsHaveDifferentIds(DatabaseKind kind) throws IOException {
        open(kind);
        Graph graph = graph();
        add(graph, ALICE, "ex:p1", "of alice");
        add(graph, BOB, "ex:p1", "of bob");

        String query = "{ statements { nodes { provenance } } }";
        assertThat(graph.query(Query.graphql(query, Map.of()), ALICE).data())
                .isNotEqualTo(graph.query(Query.graphql(query, Map.of()), BOB).data());
        assertThat(number("SELECT count(DISTINCT change_no) FROM kg_change")).isOne();
    }

    /** What another hub does in a transaction that ends while this hub waits for it. */
    private void whileItWaits(Connection another, Runnable update) throws Exception {
        var done = new CompletableFuture<Boolean>();
        Thread.ofVirtual().start(() -> {
            try {
                update.run();
                done.complete(true);
            } catch (Throwable failure) {
                done.completeExceptionally(failure);
            }
        });
        Eventually.holds(
                "the hub waits for the other transaction",
                () -> done.isDone() || number("SELECT count(*) FROM pg_locks WHERE NOT granted") > 0);
        assertThat(done).isNotDone();
        another.commit();
        assertThat(done.get(60, TimeUnit.SECONDS)).isTrue();
    }

    private Connection anotherHub() throws SQLException {
        Connection connection = Objects.requireNonNull(server).getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    private static long number(Connection connection, String sql) throws SQLException {
        try (ResultSet row = connection.createStatement().executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    @Test
    void anUpdateIsNumberedBehindTheOneOfAnotherHub() throws Exception {
        open(DatabaseKind.POSTGRESQL);
        Graph graph = graph();
        add(graph, ALICE, "ex:p1", "first");
        try (Connection another = anotherHub()) {
            long taken = number(another, "UPDATE kg_space SET newest = newest + 1 RETURNING newest");
            number(
                    another,
                    "INSERT INTO kg_change SELECT space, " + taken + ", op, s, p, o, g, s_type, o_type, certainty,"
                            + " provenance, made_ms, replaced, more, types, bytes FROM kg_change RETURNING change_no");

            whileItWaits(another, () -> add(graph, ALICE, "ex:p1", "third"));

            assertThat(number("SELECT max(change_no) FROM kg_change")).isEqualTo(taken + 1);
            assertThat(number("SELECT newest FROM kg_space")).isEqualTo(taken + 1);
        }
    }

    @Test
    void aTermThatAnotherHubInsertsMeanwhileHasItsNumber() throws Exception {
        open(DatabaseKind.POSTGRESQL);
        Graph graph = graph();
        add(graph, ALICE, "ex:p1", "first");
        add(graph, ALICE, "ex:shared", "second");
        try (Connection another = anotherHub()) {
            // As if this hub had never inserted it.
            String row = "hash, twin, lexical, datatype, language, number FROM kg_term WHERE lexical = 'ex:shared'";
            another.createStatement()
                    .execute("CREATE TABLE copied AS SELECT " + row
                            + "; DELETE FROM kg_statement WHERE s = (SELECT term_no FROM kg_term WHERE lexical = 'ex:shared')"
                            + "; DELETE FROM kg_term WHERE lexical = 'ex:shared'");
            another.commit();
            long taken = number(
                    another,
                    "INSERT INTO kg_term (hash, twin, lexical, datatype, language, number) SELECT * FROM copied"
                            + " RETURNING term_no");
            Graph fresh = graph();

            whileItWaits(another, () -> add(fresh, ALICE, "ex:shared", "again"));

            assertThat(number("SELECT count(*) FROM kg_term WHERE lexical = 'ex:shared'"))
                    .isOne();
            assertThat(number("SELECT count(*) FROM kg_statement WHERE s = " + taken))
                    .isOne();
            add(fresh, ALICE, "ex:more", "other terms");
            assertThat(values(fresh, ALICE)).contains("again", "other terms");
        }
    }

    @Test
    void aGroupThatAnotherHubAddsMeanwhileHasItsNumber() throws Exception {
        open(DatabaseKind.POSTGRESQL);
        Graph graph = graph();
        try (Connection another = anotherHub()) {
            number(another, "INSERT INTO kg_space (group_id, forgotten) VALUES ('group', 0) RETURNING space");

            whileItWaits(another, () -> add(graph, ALICE, "ex:p1", "first"));

            assertThat(number("SELECT count(*) FROM kg_space")).isOne();
            assertThat(values(graph, ALICE)).contains("first");
        }
    }

    @ParameterizedTest
    @EnumSource
    void rowsOfAnEarlierSchemaKeepTheirNumbers(DatabaseKind kind) throws IOException {
        open(kind);
        Graph before = graph();
        for (int each = 0; each < 3; each++) {
            add(before, ALICE, "ex:p" + each, "value " + each);
        }
        before.rules(GROUP, Alignment.read("{\"rules\":[{\"id\":\"r\",\"effect\":\"review\",\"on\":\"update\"}]}"));
        add(before, ALICE, "ex:p9", "held");
        before.rules(GROUP, Alignment.NONE);
        values(before, ALICE);
        add(before, BOB, "ex:p0", "first of bob");
        database().write(GROUP, session -> session);
        close();
        openAgain();
        database().write(session -> {
            session.once("ALTER TABLE kg_space DROP COLUMN newest");
            session.once("ALTER TABLE kg_space DROP COLUMN erasures");
            session.once("ALTER TABLE kg_space DROP COLUMN plain_ids");
            session.once("DROP INDEX kg_term_by_hash");
            session.once("ALTER TABLE kg_term DROP COLUMN twin");
            session.once("CREATE INDEX kg_term_by_hash ON kg_term (hash)");
            session.once("DELETE FROM kg_setting WHERE name = 'last review'");
            // Another term with the hash of the first one, as attackers find them, and numbers as all groups shared
            // them.
            session.once(
                    "INSERT INTO kg_term (term_no, hash, lexical, datatype) SELECT 1000, hash, 'ex:twin', 0 FROM kg_term"
                            + " WHERE term_no = 1");
            session.once(
                    "UPDATE kg_change SET change_no = 7 WHERE space = (SELECT space FROM kg_space WHERE group_id = 'other')");
            if (kind == DatabaseKind.POSTGRESQL) {
                for (String column : List.of(
                        "kg_space ALTER COLUMN space",
                        "kg_term ALTER COLUMN term_no",
                        "kg_provenance ALTER COLUMN provenance",
                        "kg_audit ALTER COLUMN audit_no")) {
                    session.once("ALTER TABLE " + column + " DROP IDENTITY");
                }
            }
            return session.update("UPDATE module_version SET version = 4 WHERE module = 'knowledge'");
        });
        List<String> terms = texts("SELECT CAST(term_no AS TEXT) || lexical FROM kg_term ORDER BY term_no");
        String changes =
                "SELECT CAST(space AS TEXT) || ' ' || CAST(change_no AS TEXT) FROM kg_change ORDER BY space, change_no";
        List<String> changed = texts(changes);

        Graph graph = graph();

        assertThat(texts("SELECT CAST(term_no AS TEXT) || lexical FROM kg_term ORDER BY term_no"))
                .isEqualTo(terms);
        add(graph, ALICE, "ex:p3", "value 3");
        add(graph, BOB, "ex:p1", "second of bob");
        add(graph, ALICE, "ex:twin", "of the twin");
        assertThat(texts(changes)).containsAll(changed).hasSize(changed.size() + 3);
        assertThat(number("SELECT newest FROM kg_space WHERE group_id = 'other'"))
                .isEqualTo(8);
        assertThat(number("SELECT newest FROM kg_space WHERE group_id = 'group'"))
                .isEqualTo(5);
        assertThat(number("SELECT count(*) - count(DISTINCT hash) FROM kg_term"))
                .isOne();
        assertThat(values(graph, ALICE)).contains("value 0", "value 3");
        graph.rules(GROUP, Alignment.read("{\"rules\":[{\"id\":\"r\",\"effect\":\"review\",\"on\":\"update\"}]}"));
        add(graph, ALICE, "ex:p9", "held again");
        database().write(GROUP, session -> session);
        assertThat(graph.reviews(GROUP, null, null, 10).items())
                .extracting(Review::id)
                .containsExactly("1", "2");
        assertThat(graph.queries(GROUP, 0, 10)).hasSize(2);
    }
}
