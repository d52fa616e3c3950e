package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.knowledge.FusekiServer;
import dev.parley.knowledge.api.KnowledgeEndpoint;
import dev.parley.knowledge.api.KnowledgeExtension;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The same rows with the statements on a SPARQL server, and the server's absence. */
@Tag("heavy")
@DisplayName("KG27: a hub with --knowledge-store")
final class RemoteKnowledgeTest extends KnowledgeMatrixTest {
    @TempDir
    private static Path directory;

    private static FusekiServer server;

    @BeforeAll
    static void startServer() throws IOException {
        server = new FusekiServer(directory);
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @Override
    HubBuilder stored(HubBuilder builder) {
        try {
            server.clear(); // for what is there belongs to the database of another test
            return builder.data(Files.createTempDirectory(directory, "data"))
                    .set("knowledge-store", "sparql=" + server.dataset());
        } catch (IOException failure) {
            throw new AssertionError(failure);
        }
    }

    @Test
    void onlyTheGraphIsUnavailableWhileItsServerIsAway() throws Exception {
        CallContext caller = CallContext.anonymous();
        Query query = Query.graphql("{ entity(id: \"ex:p1\") { value(predicate: \"ex:status\") } }", Map.of());
        try (AgentClient client = AgentClient.connect(hub.agentUrl("with"))) {
            KnowledgeEndpoint graph = KnowledgeExtension.endpoint(client, client.card());
            graph.update(Update.of(Patch.add(Statement.of("ex:p1", "ex:status", Literal.of("kept")))), caller);
            int port = server.dataset().getPort();
            server.close();
            try {
                assertThatThrownBy(() -> graph.query(query, caller))
                        .isInstanceOfSatisfying(
                                A2AException.class,
                                away -> assertThat(away.error()).isEqualTo(A2AError.UNAVAILABLE));
                assertThat(new Outsider(hub.url()).get("/ready").statusCode()).isEqualTo(200);
                assertThat(new Outsider(hub.url())
                                .result(
                                        "/agents/without",
                                        "SendMessage",
                                        "{'message':{'messageId':'m1','role':'ROLE_USER','parts':[{'text':'hello'}]}}",
                                        "A2A-Version",
                                        "1.0")
                                .at("task", "status", "state")
                                .text())
                        .isEqualTo("TASK_STATE_COMPLETED");
            } finally {
                server = new FusekiServer(directory, "--port=" + port);
            }
            // It came back empty, which is not what the database says.
            assertThatThrownBy(() -> graph.update(
                            Update.of(Patch.add(Statement.of("ex:p1", "ex:status", Literal.of("lost")))), caller))
                    .isInstanceOf(A2AException.class);
        }
    }

    @AfterEach
    @Override
    void close() {
        super.close();
    }
}
