package dev.parley.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.interop.Check.Result;
import dev.parley.interop.ForeignSdk.Outcome;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A client generated from {@code /openapi.json} by openapi-generator. When it is skipped is as with {@link InteropTest}. */
class OpenApiClientTest {
    @Test
    @DisplayName(
            "a client generated from the OpenAPI document calls agents, finds and reviews an agent, and drains a replica")
    void aGeneratedClientCallsAgentsAndTheAdministration() {
        Agent echo = Agent.named("echo", "Echoes").handle((request, reply) -> {
            reply.artifact("echo", request.text());
            reply.complete();
        });
        try (Hub hub = Hub.builder().inMemory().port(0).agents(echo).start();
                Hub first = Hub.builder().inMemory().port(0).agents(echo).start();
                Hub second = Hub.builder().inMemory().port(0).agents(echo).start()) {
            Outcome outcome = ForeignSdk.OPENAPI_CLIENT.call(
                    List.of(hub.url(), first.url() + "/agents/echo", second.url() + "/agents/echo"));

            if (outcome instanceof Outcome.Unavailable(String reason)) {
                Requirement.missing(reason);
            }
            assertThat(outcome)
                    .isInstanceOfSatisfying(
                            Outcome.Ran.class,
                            ran -> assertThat(ran.checks())
                                    .allSatisfy(check -> assertThat(check.result())
                                            .as(check.detail())
                                            .isEqualTo(Result.PASSED))
                                    .extracting(Check::operation, Check::detail)
                                    .containsExactly(
                                            tuple("SendMessage", "TASK_STATE_COMPLETED"),
                                            tuple("GetTask", "hello"),
                                            tuple("admin/tasks/unreadable", "0"),
                                            tuple("admin/knowledge/reviews/list", "0"),
                                            tuple("registry/register", "active"),
                                            tuple("registry/search", "true"),
                                            tuple("registry/show", "unsigned"),
                                            tuple("registry/review", "4"),
                                            tuple("admin/gateway/add", "active"),
                                            tuple("admin/gateway/drain", "1 of 2 replicas")));
        }
    }
}
