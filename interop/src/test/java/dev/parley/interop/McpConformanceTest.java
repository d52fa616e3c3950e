package dev.parley.interop;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Hub;
import dev.parley.interop.Check.Result;
import dev.parley.interop.ForeignSdk.Outcome;
import dev.parley.mcp.client.ConformanceClient;
import dev.parley.mcp.server.FixtureHub;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The public conformance suite of MCP against a hub. When it is skipped is as with {@link InteropTest}. */
class McpConformanceTest {
    /** Means of authorization that the client does not have; the suite does not score them. */
    private static final Set<String> UNSUPPORTED =
            Set.of("auth/enterprise-managed-authorization", "auth/dpop", "auth/dpop-nonce", "auth/wif-jwt-bearer");

    @Test
    @DisplayName(
            "GEM34 every scenario of the conformance suite of MCP passes, of both revisions and of the tasks extension")
    void server() {
        try (Hub hub = FixtureHub.conformance()) {
            Outcome outcome = ForeignSdk.MCP_CONFORMANCE.call(List.of(hub.url() + FixtureHub.PATH));

            if (outcome instanceof Outcome.Unavailable(String reason)) {
                Requirement.missing(reason);
            }
            assertThat(outcome).isInstanceOfSatisfying(Outcome.Ran.class, ran -> {
                assertThat(ran.checks())
                        .filteredOn(check -> check.result() != Result.PASSED)
                        .as("scenarios that test nothing here (docs/conformance.md)")
                        .allSatisfy(check -> assertThat(check.result()).isEqualTo(Result.NOT_OFFERED))
                        .extracting(Check::operation)
                        .containsExactly("tasks-status-notifications", "server-sse-polling");
                assertThat(ran.checks().stream()
                                .collect(groupingBy(check -> check.dialect() + " " + check.binding(), counting())))
                        .isEqualTo(Map.of(
                                "2026-07-28 required", 37L,
                                "2026-07-28 unscored", 13L,
                                "2025-11-25 required", 30L,
                                "2025-11-25 unscored", 3L));
            });
        }
    }

    @Test
    @DisplayName(
            "ONE23 every scenario that the conformance suite of MCP requires of a client passes, of both revisions")
    void client() {
        String command = String.join(
                " ",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                ConformanceClient.class.getName());
        Outcome outcome = ForeignSdk.MCP_CONFORMANCE.call(List.of("--client", command));

        if (outcome instanceof Outcome.Unavailable(String reason)) {
            Requirement.missing(reason);
        }
        assertThat(outcome).isInstanceOfSatisfying(Outcome.Ran.class, ran -> {
            assertThat(ran.checks())
                    .filteredOn(check -> check.result() != Result.PASSED)
                    .allSatisfy(check -> assertThat(check.binding()).isEqualTo("unscored"))
                    .extracting(Check::operation)
                    .isSubsetOf(UNSUPPORTED);
            assertThat(ran.checks().stream()
                            .collect(groupingBy(check -> check.dialect() + " " + check.binding(), counting())))
                    .isEqualTo(Map.of(
                            "2026-07-28 required", 32L,
                            "2026-07-28 unscored", 7L,
                            "2025-11-25 required", 18L,
                            "2025-11-25 unscored", 7L));
        });
    }
}
