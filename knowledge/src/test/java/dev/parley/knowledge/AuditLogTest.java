package dev.parley.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.journal.AuditLog;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.store.database.Session;
import dev.parley.store.database.Work;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Records of questions while the disk stands still. */
@Timeout(120)
final class AuditLogTest {
    private static final CallContext HOSTILE = CallContext.of("mallory", new Scope("hostile", "mallory"));
    private static final CallContext ORDINARY = CallContext.of("alice", new Scope("ordinary", "alice"));

    private final CountDownLatch diskWorks = new CountDownLatch(1);
    private Database database;
    private Graph graph;

    @BeforeEach
    void open(@TempDir Path directory) {
        database = Database.open(directory);
        graph = Graph.in(database, AuditTrail.in(database, InstantSource.system()), InstantSource.system());
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
            public void write(Session session) {
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
        while (refused == null && answered < AuditLog.MAX_NOTES) {
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

    /** Works of a group are written in their order, so what was noted before is on disk when this is. */
    private void awaitRecords(int least) {
        database.write("hostile", session -> least);
        assertThat(graph.audit("hostile", 0, AuditLog.MAX_NOTES)).hasSizeGreaterThanOrEqualTo(least);
    }
}
