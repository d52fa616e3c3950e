package dev.parley.mcp.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.mcp.InputRequest;
import dev.parley.mcp.InputResponse;
import dev.parley.mcp.McpException;
import dev.parley.mcp.wire.McpMessage;
import dev.parley.mcp.wire.Meta;
import dev.parley.mcp.wire.RawJson;
import dev.parley.mcp.wire.Revision;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.CallContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Subscriptions of {@code subscriptions/listen}. */
class SubscriptionTest {
    private static final CallContext ALICE = CallContext.of("alice", new CallContext.Scope("t1", "alice"));
    private static final CallContext BOB = CallContext.of("bob", new CallContext.Scope("t1", "bob"));
    private static final McpPeer WITH_TASKS =
            new McpPeer(Revision.V2026_07_28, Map.of("extensions", Map.of(Meta.TASKS, Map.of())), null);

    private final ConformanceProvider provider = new ConformanceProvider();
    private final List<McpMessage> sent = new ArrayList<>();

    @AfterEach
    void close() {
        provider.close();
    }

    private Subscription listen(CallContext caller, McpPeer peer, Map<String, @Nullable Object> notifications) {
        return Subscription.listen(
                provider,
                caller,
                peer,
                new McpMessage.Request(4, Methods.LISTEN, new RawJson().with("notifications", notifications)),
                sent::add);
    }

    private String waitingTask() {
        return ((FixtureTasks) provider.tasks())
                .asking(Map.of("q", new InputRequest("elicitation/create", Map.of())), answers -> "done", ALICE)
                .taskId();
    }

    private Object acknowledged() {
        return Trees.map(((McpMessage.Notification) sent.getFirst()).params().get("notifications"));
    }

    @Test
    @DisplayName("changes of a task are sent as the whole task with the id of the subscription, until it is closed")
    void tasks() {
        String task = waitingTask();
        Subscription subscription = listen(ALICE, WITH_TASKS, Map.of("taskIds", List.of(task, "unknown")));

        provider.tasks().update(task, Map.of("q", InputResponse.of(InputResponse.ACCEPT)), ALICE);

        assertThat(acknowledged()).isEqualTo(Map.of("taskIds", List.of(task)));
        assertThat(sent).hasSize(2);
        McpMessage.Notification change = (McpMessage.Notification) sent.getLast();
        assertThat(change.method()).isEqualTo("notifications/tasks");
        assertThat(change.params())
                .containsEntry("taskId", task)
                .containsEntry("status", "completed")
                .containsKey("result")
                .containsEntry("_meta", Map.of(Meta.SUBSCRIPTION_ID, 4));
        subscription.close();
        String other = waitingTask();
        provider.tasks().cancel(other, ALICE);
        assertThat(sent).hasSize(2);
    }

    @Test
    @DisplayName("tasks of other callers, and tasks for a client without the extension, are not acknowledged")
    void tasksOfOthers() {
        String task = waitingTask();

        listen(BOB, WITH_TASKS, Map.of("taskIds", List.of(task))).close();
        assertThat(acknowledged()).isEqualTo(Map.of("taskIds", List.of()));
        sent.clear();
        listen(ALICE, new McpPeer(Revision.V2026_07_28, Map.of(), null), Map.of("taskIds", List.of(task)))
                .close();
        assertThat(acknowledged()).isEqualTo(Map.of());
    }

    @Test
    @DisplayName("more names than the limit are refused")
    void limit() {
        List<String> uris = IntStream.rangeClosed(0, Subscription.MAX_NAMES)
                .mapToObj(number -> "test://" + number)
                .toList();

        assertThatThrownBy(() -> listen(ALICE, WITH_TASKS, Map.of("resourceSubscriptions", uris)))
                .isInstanceOf(McpException.class)
                .hasMessageContaining("resourceSubscriptions");
        assertThat(sent).isEmpty();
    }
}
