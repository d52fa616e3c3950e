package dev.parley.knowledge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.journal.QueryLog;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.ErrorKind;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.audit.Filter;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.Work;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Records of queries and of refused updates while the disk stands still. */
@Timeout(120)
final class QueryLogTest {
    private static final CallContext HOSTILE = CallContext.of("mallory", new Scope("hostile", "mallory"));
    private static final CallContext ORDINARY = CallContext.of("alice", new Scope("ordinary", "alice"));

    private final CountDownLatch diskWorks = new CountDownLatch(1);
    private Database database;
    private AuditTrail trail;
    private Graph graph;

    @BeforeEach
    void open(@TempDir Path directory) {
        database = Database.open(directory);
        trail = AuditTrail.in(database, InstantSource.system());
        graph = Graph.in(database, trail, InstantSource.system());
        ask(HOSTILE);
        ask(ORDINARY);
    }

    @AfterEach
    void close() {
        diskWorks.countDown();
        graph.close();
        database.close();
    }

    private void stopDisk() {
        database.submit(new Work() {
            @Override
            public void write(DatabaseSession session) {
                try {
                    assertThat(diskWorks.await(100, TimeUnit.SECONDS)).isTrue();
                } catch (InterruptedException stopped) {
                    Thread.currentThread().interrupt();
                }
            }

            @Override
            public void committed() {}

            @Override
            public void failed(Exception cause) {}
        });
    }

    private void ask(CallContext caller) {
        graph.query(Query.sparql("ASK { ?s ?p ?o }"), caller);
    }

    private @Nullable A2AException refusal() {
        try {
            ask(HOSTILE);
            return null;
        } catch (A2AException refused) {
            return refused;
        }
    }

    @Test
    void aGroupWithTooManyRecordsThatWaitIsRefusedAndAnotherIsNot() {
        stopDisk();

        int answered = 0;
        A2AException refused = refusal();
        while (refused == null && answered < QueryLog.MAX_NOTES) {
            answered++;
            refused = refusal();
        }

        assertThat(refused).isNotNull();
        assertThat(refused.error()).isEqualTo(KnowledgeError.KNOWLEDGE_QUERY);
        assertThat(refused.metadata()).containsEntry("reason", "busy");
        assertThat(refused.retryAfter()).isNotNull();
        for (int i = 0; i < 50; i++) {
            ask(ORDINARY);
        }
        diskWorks.countDown();
        Update update = Update.of(Patch.add(Statement.of("ex:a", "ex:status", Literal.of("new"))));
        assertThat(graph.update(update, ORDINARY).success()).isTrue();
        awaitRecords(answered);
        ask(HOSTILE);
    }

    @Test
    void recordsOfRefusedUpdatesAreNotLostWhileTheDiskStandsStill() {
        graph.rules("hostile", Alignment.read("{\"rules\":[{\"on\":\"query\",\"effect\":\"forbid\"}]}"));
        var update = new Update(List.of(), "DELETE WHERE { <ex:a> ?p ?o }", null, null, null, null, Map.of());
        stopDisk();

        int forbidden = 0;
        ErrorKind error;
        do {
            error = catchThrowableOfType(A2AException.class, () -> graph.update(update, HOSTILE))
                    .error();
            forbidden += error == KnowledgeError.ALIGNMENT_VIOLATION ? 1 : 0;
        } while (error == KnowledgeError.ALIGNMENT_VIOLATION && forbidden < QueryLog.MAX_NOTES);

        assertThat(error).isEqualTo(KnowledgeError.KNOWLEDGE_UPDATE);
        diskWorks.countDown();
        awaitRecords(0);
        Filter refused = new Filter("hostile", "mallory", "knowledge.updated", null, null, null);
        assertThat(trail.rows(refused, 0, QueryLog.MAX_NOTES)).hasSize(forbidden);
    }

    /** Works of a group are written in their order, so what was noted before is on disk when this is. */
    private void awaitRecords(int least) {
        database.write("hostile", session -> least);
        assertThat(graph.queries("hostile", 0, QueryLog.MAX_NOTES)).hasSizeGreaterThanOrEqualTo(least);
    }
}
