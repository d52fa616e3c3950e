package dev.parley.mcp.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.protocol.CallContext;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The state of requests in the hands of clients. */
class RequestStateTest {
    private static final CallContext ALICE = CallContext.of("alice", new CallContext.Scope("t1", "alice"));
    private static final CallContext BOB = CallContext.of("bob", new CallContext.Scope("t1", "bob"));
    private static final Invocation CALL = call(Map.of("item", "a", "count", 1));

    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-11-23T00:00:00Z"));
    private final RequestState states = new RequestState(new byte[32], now::get);

    private static Invocation call(Map<String, @Nullable Object> arguments) {
        return new Invocation("buy", arguments, Map.of(), null, Map.of());
    }

    @Test
    void aStateIsReadByItsCallerForTheSameRequestOnly() {
        String sealed = states.seal("secret", "tools/call", CALL, ALICE);

        assertThat(sealed).doesNotContain("secret");
        assertThat(states.open(sealed, "tools/call", CALL, ALICE)).isEqualTo("secret");
        assertThat(states.open(sealed, "tools/call", call(new TreeMap<>(Map.of("count", 1, "item", "a"))), ALICE))
                .as("members in another order")
                .isEqualTo("secret");
        refuses(states, sealed, "tools/call", CALL, BOB);
        refuses(states, sealed, "prompts/get", CALL, ALICE);
        refuses(states, sealed, "tools/call", call(Map.of("item", "b")), ALICE);
        refuses(
                new RequestState(new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8}, now::get),
                sealed,
                "tools/call",
                CALL,
                ALICE);
    }

    @Test
    void aStateExpires() {
        String sealed = states.seal("", "tools/call", CALL, ALICE);

        now.updateAndGet(time -> time.plus(RequestState.LIFETIME).minus(Duration.ofSeconds(1)));
        assertThat(states.open(sealed, "tools/call", CALL, ALICE)).isEmpty();
        now.updateAndGet(time -> time.plus(Duration.ofSeconds(1)));
        refuses(states, sealed, "tools/call", CALL, ALICE);
    }

    @Test
    void everyChangedCharacterIsNoticed() {
        String sealed = states.seal("s", "tools/call", CALL, ALICE);

        for (int i = 0; i < sealed.length() - 1; i++) {
            char other = sealed.charAt(i) == 'A' ? 'B' : 'A';
            refuses(states, sealed.substring(0, i) + other + sealed.substring(i + 1), "tools/call", CALL, ALICE);
        }
        refuses(states, "", "tools/call", CALL, ALICE);
        refuses(states, "A".repeat(RequestState.MAX_CHARACTERS + 1), "tools/call", CALL, ALICE);
    }

    private static void refuses(
            RequestState states, String sealed, String method, Invocation call, CallContext caller) {
        assertThatThrownBy(() -> states.open(sealed, method, call, caller))
                .isInstanceOfSatisfying(
                        McpException.class,
                        problem -> assertThat(problem.code()).isEqualTo(McpException.INVALID_PARAMS));
    }
}
