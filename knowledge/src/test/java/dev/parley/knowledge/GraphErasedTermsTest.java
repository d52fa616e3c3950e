package dev.parley.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.model.Pattern;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.store.Faults;
import dev.parley.store.Faults.Fault;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.testkit.Eventually;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Terms that were erased while a query still saw them are not in memory afterwards. */
@Timeout(120)
final class GraphErasedTermsTest {
    private static final String GROUP = "group";
    private static final CallContext ALICE = CallContext.of("alice", new Scope(GROUP, "alice"));
    private static final CallContext BOB = CallContext.of("bob", new Scope(GROUP, "bob"));
    private static final CallContext OPERATOR = CallContext.of("operator", new Scope(GROUP, "operator"));

    /** Looked up by its terms. */
    private static final Pattern SECRET = new Pattern(
            List.of(), List.of("ex:secret"), List.of(), List.of(), List.of(Literal.of("a secret")), List.of(), null);

    @TempDir
    private Path directory;

    private final Faults faults = new Faults();
    private Database database;
    private Graph graph;

    @BeforeEach
    void open() {
        database = Database.open(directory, faults::wrap);
        graph = opened();
    }

    private Graph opened() {
        InstantSource clock = InstantSource.system();
        return Graph.in(database, AuditTrail.in(database, clock), clock);
    }

    @AfterEach
    void close() {
        faults.pass();
        graph.close();
        database.close();
    }

    private void add(CallContext caller) {
        graph.update(Update.of(Patch.add(Statement.of("ex:secret", "ex:is", Literal.of("a secret")))), caller);
    }

    private static String statements(Graph of) {
        String query = "{ statements { nodes { subject { id } object { value } } } }";
        return String.valueOf(of.query(Query.graphql(query, Map.of()), BOB).data());
    }

    /** Reads all statements from the moment before {@code change}, but after it is done. */
    private void readFromBefore(Runnable change) throws Exception {
        var begun = new CompletableFuture<Boolean>();
        var changed = new CompletableFuture<Boolean>();
        var reader = new CompletableFuture<Integer>();
        Thread.startVirtualThread(() -> {
            try {
                reader.complete(graph.read(BOB, view -> {
                    view.revision(); // here its moment is fixed
                    begun.complete(true);
                    changed.join();
                    return view.statements(SECRET, null, 10).items().size();
                }));
            } catch (RuntimeException failure) {
                reader.completeExceptionally(failure);
                begun.completeExceptionally(failure);
            }
        });
        begun.get(60, TimeUnit.SECONDS);
        try {
            change.run();
        } finally {
            changed.complete(true);
        }
        assertThat(reader.get(60, TimeUnit.SECONDS)).isOne();
    }

    @Test
    void aQueryThatStillSawThemDoesNotBringThemBackIntoMemory() throws Exception {
        for (int round = 0; round < 3; round++) {
            add(ALICE);
            restart(); // so that nothing is in memory when the query reads

            readFromBefore(() -> graph.erase("alice", true, OPERATOR));
            assertThat(statements(graph)).doesNotContain("secret");
            add(BOB);

            try (Graph fresh = opened()) {
                assertThat(statements(graph)).isEqualTo(statements(fresh)).contains("id=ex:secret", "value=a secret");
            }
            restart(); // since both graphs have numbered their entries of the audit
            graph.erase("bob", true, OPERATOR);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aQueryDoesNotBringThemBackIfTheCommitOfTheErasureFailed(boolean durable) throws Exception {
        add(ALICE);
        restart();

        readFromBefore(() -> {
            database.write(session -> session);
            faults.commits(Fault.IO, durable);
            try {
                graph.erase("alice", true, OPERATOR);
            } catch (RuntimeException refused) {
                // It is repeated below.
            }
            faults.pass();
        });
        Eventually.holds("the outage ends", () -> database.outage().isEmpty());
        graph.erase("alice", true, OPERATOR);
        add(BOB);

        try (Graph fresh = opened()) {
            assertThat(statements(graph)).isEqualTo(statements(fresh)).contains("id=ex:secret", "value=a secret");
        }
    }

    private void restart() {
        close();
        open();
    }
}
