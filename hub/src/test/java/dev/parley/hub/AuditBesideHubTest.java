package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Shown;
import dev.parley.hub.admin.Administration;
import dev.parley.store.spi.StoreException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The record of a data directory is read whether or not a hub runs on it. */
@Timeout(60)
class AuditBesideHubTest {
    @TempDir
    Path data;

    private Shown read(String path) {
        var request = new WireRequest("GET", path, Map.<String, List<String>>of(), header -> null, new byte[0], "");
        return Shown.of(
                new String(((WireAnswer.Whole) Administration.audit(data, request)).body(), StandardCharsets.UTF_8));
    }

    @Test
    void theAuditIsReadAndVerifiedBesideARunningHubAndAfterIt() throws Exception {
        assertThatThrownBy(() -> read("/admin/audit/verify"))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("no database");
        try (Hub hub = Hub.builder()
                .data(data)
                .port(0)
                .agents(Agent.named("echo", "Echoes").handle((request, reply) -> {
                    reply.working("begun");
                    reply.complete(request.text());
                }))
                .start()) {
            var caller = new Outsider(hub.url());
            for (int i = 1; i <= 3; i++) {
                String message = "{'message':{'messageId':'" + i + "','role':'ROLE_USER','parts':[{'text':'go'}]}}";
                caller.result("/agents/echo", "SendMessage", message, "A2A-Version", "1.0");

                assertThat(read("/admin/audit/verify").at("good").value()).isEqualTo(true);
                assertThat(read("/admin/audit").at("rows").toString()).contains("task.created");
            }
        }
        assertThat(read("/admin/audit/verify").at("good").value()).isEqualTo(true);
    }
}
