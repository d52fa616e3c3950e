package dev.parley.mcp.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.mcp.wire.McpMessage;
import dev.parley.mcp.wire.Revision;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Sessions of older revisions, and messages on their way to clients. */
class McpSessionsTest {
    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-11-23T00:00:00Z"));
    private final McpSessions sessions = new McpSessions(now::get);

    private static McpSession of(String owner) {
        return new McpSession(owner, Revision.V2025_11_25, Map.of());
    }

    @Test
    void aSessionIsItsOwnersOnly() {
        String id = sessions.add(of("alice"));

        assertThat(id).matches("[!-~]{32,}");
        assertThat(sessions.of(id, "alice")).isNotNull();
        assertThat(sessions.of(id, "bob")).isNull();
        assertThat(sessions.of("other", "alice")).isNull();
    }

    @Test
    void theLongestUnusedSessionOfACallerEndsForANewOne() {
        String first = sessions.add(of("alice"));
        String second = sessions.add(of("alice"));
        String ofBob = sessions.add(of("bob"));
        for (int i = 2; i < McpSessions.MAX_OF_OWNER; i++) {
            sessions.add(of("alice"));
        }
        assertThat(sessions.of(first, "alice")).isNotNull();
        sessions.add(of("alice"));

        assertThat(sessions.of(first, "alice")).isNotNull();
        assertThat(sessions.of(second, "alice")).isNull();
        assertThat(sessions.of(ofBob, "bob")).isNotNull();
    }

    @Test
    void noMoreSessionsThanTheLimitAreKeptOfAllCallers() {
        String first = sessions.add(of("first"));
        for (int i = 0; i < McpSessions.MAX; i++) {
            sessions.add(of("caller " + i));
        }

        assertThat(sessions.of(first, "first")).isNull();
    }

    @Test
    void anIdleSessionEnds() {
        String id = sessions.add(of("alice"));
        now.updateAndGet(time -> time.plus(McpSessions.IDLE).plus(Duration.ofSeconds(1)));
        sessions.add(of("bob"));

        assertThat(sessions.of(id, "alice")).isNull();
    }

    @Test
    void aSlowReaderLosesNotificationsButNoAnswer() throws InterruptedException {
        var outbox = new Outbox(() -> {});
        for (int i = 0; i < 10_000; i++) {
            outbox.send(new McpMessage.Notification("notifications/progress", Map.of("progress", i)));
            outbox.send(new McpMessage.Notification("notifications/tools/list_changed", Map.of()));
        }
        outbox.send(new McpMessage.Request("q", "elicitation/create", Map.of()));
        outbox.end(HttpReply.last(200, new McpMessage.Result(1, Map.of())));

        var all = requireNonNull(outbox.next(Duration.ZERO));
        assertThat(all).hasSizeLessThanOrEqualTo(Outbox.MAX_NOTIFICATIONS + 2);
        assertThat(all.get(all.size() - 2).message()).isInstanceOf(McpMessage.Request.class);
        assertThat(all.getLast().isLast()).isTrue();
        assertThat(outbox.next(Duration.ZERO)).isNull();
    }
}
