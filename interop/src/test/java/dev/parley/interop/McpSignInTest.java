package dev.parley.interop;

import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;

import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.protocol.AgentCard.SecurityRequirement;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.trust.Authentication;
import dev.parley.trust.Callers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;

/** The SDKs of MCP, unmodified, sign users in at the authorization server of a hub. Skipped as {@link InteropTest}. */
final class McpSignInTest {
    private static final String ALICE = "key-of-alice-1234567";
    private static final String BOB = "key-of-bob-123456789";

    private static Hub hub;

    @BeforeAll
    static void start() {
        hub = Hub.builder()
                .port(0)
                .inMemory()
                .drain(Duration.ZERO)
                .agents(
                        Agent.named("who", "Tells its caller")
                                .skill("who", "Tells its caller")
                                .handle((request, reply) ->
                                        reply.complete(request.context().caller())),
                        Agent.named("guarded", "Needs a scope")
                                .skill(new Skill(
                                        "open",
                                        "Open",
                                        "Opens",
                                        List.of("test"),
                                        List.of(),
                                        List.of(),
                                        List.of(),
                                        List.of(new SecurityRequirement(Map.of("oauth2", List.of("files")))),
                                        Map.of()))
                                .handle((request, reply) -> reply.complete("in")))
                .callers(Callers.builder()
                        .apiKey("alice", ALICE)
                        .scopes("alice", List.of("tasks", "files"))
                        .apiKey("bob", BOB)
                        .scopes("bob", List.of("tasks"))
                        .build())
                .authentication(Authentication.named(List.of("required")).withScopes(List.of("tasks")))
                .start();
    }

    @AfterAll
    static void stop() {
        hub.close();
    }

    @TestFactory
    @DisplayName("K3, GEM34: each SDK registers itself, signs a user in, gets a further scope, and refreshes its token")
    Stream<DynamicNode> everySdk() {
        return ForeignSdk.MCP_SIGN_IN.stream()
                .map(sdk -> dynamicContainer(
                        sdk.name(),
                        Stream.of(sdk)
                                .map(one -> one.call(List.of(hub.url(), ALICE, BOB)))
                                .flatMap(outcome ->
                                        Results.tests(outcome, check -> Results.assertExpected(check, Map.of())))));
    }
}
