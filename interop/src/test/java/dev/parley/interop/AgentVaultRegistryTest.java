package dev.parley.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.agents.DemoAgents;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.interop.Check.Result;
import dev.parley.interop.ForeignSdk.Outcome;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Unchanged clients of AgentVault's registry. When it is skipped is as with {@link InteropTest}. */
class AgentVaultRegistryTest {
    @Test
    @DisplayName(
            "AV21, AV27 AgentVault's command line, its deployment and its pipelines use the registry; a generated agent starts")
    void clientsOfAgentVault() {
        try (Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .agents(DemoAgents.all().toArray(Agent[]::new))
                .start()) {
            Outcome outcome = ForeignSdk.AGENTVAULT_REGISTRY.call(List.of(hub.url()));

            if (outcome instanceof Outcome.Unavailable(String reason)) {
                Requirement.missing(reason);
            }
            assertThat(outcome)
                    .isInstanceOfSatisfying(
                            Outcome.Ran.class,
                            ran -> assertThat(ran.checks())
                                    .allSatisfy(check -> assertThat(check.result())
                                            .as(check.operation() + ": " + check.detail())
                                            .isEqualTo(Result.PASSED))
                                    .extracting(Check::operation)
                                    .containsExactly(
                                            "deployment",
                                            "lookups",
                                            "config",
                                            "discover",
                                            "run",
                                            "build",
                                            "build_adk"));
        }
    }
}
