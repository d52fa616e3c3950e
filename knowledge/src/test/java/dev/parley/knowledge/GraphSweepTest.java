package dev.parley.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.journal.ChangeStore;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.store.audit.AuditChain;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.GroupListener;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The removal of many old rows of a graph lets other writes through. */
@Timeout(120)
@Tag("heavy")
final class GraphSweepTest {
    private static final CallContext ALICE = CallContext.of("alice", new Scope("group", "alice"));
    private static final CallContext OPERATOR = CallContext.of("operator", new Scope("group", "operator"));
    private static final ChangeStore.Keeping KEEPING =
            new ChangeStore.Keeping(100, Duration.ofDays(7), 100, Duration.ofDays(1), 50_000);
    private static final int MANY = 30_000;

    /** Of each transaction: 200 ranges of 20 rows. */
    private static final long MOST_ROWS = 4_000;

    private static final List<String> TABLES = List.of("kg_change", "kg_task", "kg_key", "kg_audit");

    @TempDir
    private Path directory;

    private Database database;
    private Graph graph;

    /** Of each transaction the rows that it leaves in the tables, and the number of other writes so far. */
    private record Left(long rows, long otherWrites) {}

    private final List<Left> transactions = Collections.synchronizedList(new ArrayList<>());
    private long otherWrites;

    @BeforeEach
    void open() {
        database = Database.open(directory);
        graph = opened();
    }

    private Graph opened() {
        InstantSource clock = InstantSource.system();
        return Graph.in(database, AuditTrail.in(database, clock), clock, clock, KEEPING);
    }

    @AfterEach
    void close() {
        graph.close();
        database.close();
    }

    private void add(String value) {
        graph.update(Update.of(Patch.add(Statement.of("ex:p1", "ex:status", Literal.of(value)))), ALICE);
    }

    private static long number(DatabaseSession session, String sql) throws SQLException {
        try (ResultSet row = session.bind(sql).executeQuery()) {
            return row.next() ? row.getLong(1) : -1;
        }
    }

    /** Rows that are to be removed, and those that name the source that is to be erased. */
    private static long rows(DatabaseSession session) throws SQLException {
        long rows = number(
                session,
                "SELECT count(*) FROM kg_statement WHERE source = (SELECT term_no FROM kg_term WHERE lexical = 'alice')");
        for (String table : TABLES) {
            rows += number(session, "SELECT count(*) FROM " + table);
        }
        return rows;
    }

    /** Adds many old rows to each table, as if written by a graph that was closed since. */
    private void fill() {
        add("first");
        graph.awaitSweep();
        graph.close();
        String numbers = "WITH RECURSIVE i(n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM i WHERE n < ?) ";
        database.write(session -> {
            int last = 1_000 + MANY;
            session.update(
                    numbers
                            + "INSERT INTO kg_change SELECT space, n, 0, 1, 1, 1, 0, 0, 0, NULL, 0, 1, NULL, 0, NULL, 200"
                            + " FROM i, kg_space",
                    last);
            session.update("UPDATE kg_space SET newest = ?", last);
            session.update(numbers + "INSERT INTO kg_task SELECT space, 'task ' || n % 100, n FROM i, kg_space", last);
            session.update(
                    numbers + "INSERT INTO kg_key SELECT space, 'alice', 'key ' || n, 1, '{}' FROM i, kg_space", last);
            return session.update(
                    numbers + "INSERT INTO kg_audit SELECT n, space, 1, 'alice', 'query', 'ok', '{}' FROM i, kg_space",
                    last);
        });
        graph = opened();
    }

    /** Writes for another group, one write after the other, while something is removed. */
    private void besideOtherWrites(Runnable removal) throws Exception {
        database.listen(new GroupListener() {
            @Override
            public void beforeCommit(DatabaseSession session) throws SQLException {
                transactions.add(new Left(rows(session), otherWrites));
            }
        });
        var done = new AtomicBoolean();
        var others = new FutureTask<>(() -> {
            while (!done.get()) {
                database.write("other", session -> ++otherWrites);
            }
            return otherWrites;
        });
        Thread.startVirtualThread(others);
        try {
            removal.run();
        } finally {
            done.set(true);
        }
        others.get(60, TimeUnit.SECONDS);
    }

    private void assertRemovedInSlices() {
        var removals = new ArrayList<Left>();
        for (int i = 1; i < transactions.size(); i++) {
            long removed = transactions.get(i - 1).rows - transactions.get(i).rows;
            assertThat(removed).isLessThanOrEqualTo(MOST_ROWS);
            if (removed > 0) {
                removals.add(transactions.get(i));
            }
        }
        assertThat(removals.getLast().otherWrites - removals.getFirst().otherWrites)
                .as("other writes between the removals")
                .isPositive();
    }

    @Test
    void aSweepOfManyRowsLetsOtherWritesThrough() throws Exception {
        fill();

        besideOtherWrites(() -> {
            add("second");
            graph.awaitSweep();
        });

        assertRemovedInSlices();
        assertThat(database.<Long>read(session -> number(session, "SELECT count(*) FROM kg_key")))
                .isZero();
        assertThat(database.<Long>read(GraphSweepTest::rows)).isLessThan(400);
    }

    @Test
    void aSweepThatAStopCutOffIsFinishedByTheNextStart() {
        fill();
        add("second");
        graph.close(); // after the rows that the sweep has found
        graph = opened();
        add("third");
        graph.awaitSweep();

        assertThat(database.<Long>read(GraphSweepTest::rows)).isLessThan(400);
    }

    @Test
    void anErasureOfTheSourceOfManyStatementsLetsOtherWritesThrough() throws Exception {
        fill();
        database.write(
                session -> session.update("INSERT INTO kg_statement SELECT c.space, c.change_no, 1, 1, 0, NULL, 1, 0,"
                        + " (SELECT term_no FROM kg_term WHERE lexical = 'alice'), c.change_no, 0, 200 FROM kg_change c"
                        + " WHERE c.change_no > 1000"));

        besideOtherWrites(() -> graph.erase("alice", false, OPERATOR));

        assertRemovedInSlices();
        assertThat(database.<Long>read(session -> number(
                        session,
                        "SELECT count(*) FROM kg_statement WHERE source = (SELECT term_no FROM kg_term"
                                + " WHERE lexical = '" + AuditChain.hashed("alice") + "')")))
                .isGreaterThanOrEqualTo(MANY);
        assertThat(database.<Long>read(
                        session -> number(session, "SELECT count(*) FROM kg_term WHERE lexical = 'alice'")))
                .isZero();
    }

    @Test
    void anErasureOfManyChangesLetsOtherWritesThrough() throws Exception {
        fill();

        besideOtherWrites(() -> graph.erase("alice", true, OPERATOR));

        assertRemovedInSlices();
        assertThat(database.<Long>read(session -> number(session, "SELECT count(*) FROM kg_change")))
                .isZero();
    }
}
