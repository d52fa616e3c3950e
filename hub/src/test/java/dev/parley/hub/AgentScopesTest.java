package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Shown;
import dev.parley.trust.Authentication;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys with scopes such as {@code agent:echo}, which are good for the agents of these names only. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class AgentScopesTest {
    private Hub hub;
    private Outsider outsider;

    @BeforeAll
    void start() {
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .drain(Duration.ZERO)
                .authentication(Authentication.named(List.of("required")))
                .agents(
                        agent("echo"),
                        agent("ledger"),
                        agent("echo2"),
                        Agent.named("asks", "Asks the ledger")
                                .handle((request, reply) -> reply.askForInput("What else?")))
                .start();
        outsider = new Outsider(hub.url());
    }

    @AfterAll
    void stop() {
        hub.close();
    }

    private static Agent agent(String name) {
        return Agent.named(name, "Says the name of its caller")
                .handle((request, reply) -> reply.complete(request.context().caller()));
    }

    private HttpResponse<String> create(String key, String scopes) throws Exception {
        return outsider.post(
                "/admin/keys", "{'group':'T1','principal':'alice','scopes':[" + scopes + "]}", "X-Api-Key", key);
    }

    private String key(String scopes) throws Exception {
        HttpResponse<String> made = create(hub.bootstrapKey().orElseThrow(), scopes);
        assertThat(made.statusCode()).as(made.body()).isEqualTo(200);
        return Shown.of(made.body()).at("key").text();
    }

    private HttpResponse<String> send(String agent, String... headers) throws Exception {
        return outsider.post(
                "/agents/" + agent + "/message:send",
                "{'message':{'messageId':'" + UUID.randomUUID() + "','role':'ROLE_USER','parts':[{'text':'who'}]}}",
                headers);
    }

    private int sent(String key, String agent) throws Exception {
        return send(agent, "A2A-Version", "1.0", "X-Api-Key", key).statusCode();
    }

    @Test
    void aLimitedKeyReachesItsAgentsOnly() throws Exception {
        String key = key("'agent:echo'");

        assertThat(sent(key, "echo")).isEqualTo(200);
        assertThat(sent(key, "ledger")).isEqualTo(404);
        assertThat(sent(key, "echo2")).isEqualTo(404);
        assertThat(outsider.get("/agents", "X-Api-Key", key).body())
                .contains("\"echo\"")
                .doesNotContain("ledger", "echo2");
    }

    @Test
    void severalLimitsAddUpAndOtherScopesStay() throws Exception {
        String key = key("'agent:echo','agent:ledger','tasks'");

        assertThat(sent(key, "echo")).isEqualTo(200);
        assertThat(sent(key, "ledger")).isEqualTo(200);
        assertThat(sent(key, "echo2")).isEqualTo(404);
    }

    @Test
    void aKeyWithoutALimitReachesAllAgents() throws Exception {
        String key = key("'agents:echo','tasks'");

        assertThat(sent(key, "echo")).isEqualTo(200);
        assertThat(sent(key, "ledger")).isEqualTo(200);
    }

    @Test
    void theSameCallerDoesNotReachItsOwnTasksElsewhere() throws Exception {
        HttpResponse<String> waiting = send("asks", "A2A-Version", "1.0", "X-Api-Key", key(""));
        String task = Shown.of(waiting.body()).at("task", "id").text();

        for (String path :
                List.of("/agents/asks/tasks/" + task, "/agents/asks/tasks", "/agents/asks/extendedAgentCard")) {
            assertThat(outsider.get(path, "A2A-Version", "1.0", "X-Api-Key", key("'agent:echo'"))
                            .statusCode())
                    .as(path)
                    .isEqualTo(404);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"'agent:echo','admin'", "'agent:none','admin'", "'agent:','admin'"})
    void aLimitedOperatorAdministersNothing(String scopes) throws Exception {
        String key = key(scopes);

        assertThat(create(key, "'admin'").statusCode()).isEqualTo(403);
        assertThat(outsider.get("/admin/keys", "X-Api-Key", key).statusCode()).isEqualTo(403);
        assertThat(outsider.get("/admin/audit", "X-Api-Key", key).statusCode()).isEqualTo(403);
    }

    @Test
    void aRotatedKeyKeepsItsLimit() throws Exception {
        HttpResponse<String> made = create(hub.bootstrapKey().orElseThrow(), "'agent:echo'");
        String id = Shown.of(made.body()).at("id").text();
        HttpResponse<String> rotated = outsider.post(
                "/admin/keys/" + id + "/rotate",
                "{}",
                "X-Api-Key",
                hub.bootstrapKey().orElseThrow());
        assertThat(rotated.statusCode()).as(rotated.body()).isEqualTo(200);
        String next = Shown.of(rotated.body()).at("key").text();

        assertThat(sent(next, "echo")).isEqualTo(200);
        assertThat(sent(next, "ledger")).isEqualTo(404);
    }
}
