package dev.parley.mcp.client;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Calls of legacy servers that wait for the answer to a question of the server. Safe for any thread. */
final class ParkedCalls {
    private static final String STATE = "parked:";
    private static final int MOST = 1_000;
    private static final Duration LONGEST = Duration.ofHours(1);

    /** @param question id of the request of the server */
    record Parked(McpConnection connection, ClientExchange exchange, String tool, Object question, Instant since) {
        void giveUp(String reason) {
            connection.questions.leave(exchange, false);
            connection.abandon(exchange, reason);
        }
    }

    private final Map<String, Parked> calls = new ConcurrentHashMap<>();

    /** Other clients, at other hubs or before a restart, have exchanges of the same numbers. */
    private final String client = UUID.randomUUID().toString();

    /** Whether a state of a call is one of {@link #add}. */
    static boolean isOne(@Nullable String state) {
        return state != null && state.startsWith(STATE);
    }

    /** Keeps a call; returns the state for its continuation. */
    String add(Parked call) {
        calls.values().removeIf(each -> {
            boolean isOld = each.since.plus(LONGEST).isBefore(call.since) || calls.size() >= MOST;
            if (isOld) {
                each.giveUp("no answer to a question in time");
            }
            return isOld;
        });
        String state = STATE + client + ":" + call.exchange.id();
        calls.put(state, call);
        return state;
    }

    Optional<Parked> take(String state) {
        return Optional.ofNullable(calls.remove(state));
    }

    void close() {
        calls.values().forEach(each -> each.exchange.close());
        calls.clear();
    }
}
