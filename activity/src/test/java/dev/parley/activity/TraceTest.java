package dev.parley.activity;

import static dev.parley.activity.ActivityHub.ANN;
import static dev.parley.activity.ActivityHub.BOB;
import static dev.parley.activity.ActivityHub.GUS;
import static dev.parley.activity.ActivityHub.ROOT;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Hub;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Traces from the log of tasks, over HTTP. */
@Timeout(40)
@Tag("heavy")
class TraceTest {
    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

    @TempDir
    private Path data;

    private static List<?> spans(Map<?, ?> trace) {
        return (List<?>) requireNonNull(trace.get("spans"));
    }

    private static Map<?, ?> span(Map<?, ?> trace, String agent) {
        return spans(trace).stream()
                .map(each -> (Map<?, ?>) each)
                .filter(each -> agent.equals(each.get("agent")))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aDelegatedCallIsAChildOfTheTaskThatMadeIt() throws Exception {
        try (var hub = ActivityHub.guarded(Hub.builder().data(data), data)) {
            String task = hub.traced(TRACE).send("relay", "Hello", ANN);

            Map<?, ?> trace = hub.ok("/activity/traces/" + TRACE, ANN);

            Map<?, ?> relay = span(trace, "relay");
            Map<?, ?> echo = span(trace, "echo");
            assertThat(relay.get("id")).isEqualTo(task);
            assertThat(relay.get("parent")).isNull();
            assertThat(relay.get("caller")).isEqualTo("ann");
            assertThat(relay.get("name")).isEqualTo("Hello");
            assertThat(relay.get("state")).isEqualTo("TASK_STATE_COMPLETED");
            assertThat(echo.get("parent")).isEqualTo(task);
            assertThat(String.valueOf(echo.get("events"))).contains("kind=artifact", "kind=status");
            assertThat(hub.ok("/activity/traces/" + task, ANN)).as("by a task").isEqualTo(trace);
        }
        try (var hub = ActivityHub.guarded(Hub.builder().data(data), data)) {
            assertThat(spans(hub.ok("/activity/traces/" + TRACE, ANN)))
                    .as("after a restart")
                    .hasSize(2);
        }
    }

    @Test
    void aTraceShowsOnlyTasksThatTheCallerCouldList() throws Exception {
        try (var hub = ActivityHub.guarded(Hub.builder().data(data), data)) {
            String task = hub.traced(TRACE).send("relay", "Hello", ANN);

            for (String key : List.of(GUS, BOB, ROOT)) {
                for (String id : List.of(TRACE, task)) {
                    assertThat(hub.get("/activity/traces/" + id, key).status()).isEqualTo(404);
                }
            }
            assertThat(hub.get("/activity/traces/" + TRACE + "?group=sales", GUS)
                            .status())
                    .isEqualTo(403);
            assertThat(spans(hub.ok("/activity/traces/" + TRACE + "?group=*", ROOT)))
                    .hasSizeGreaterThan(1);
            assertThat(spans(hub.ok("/activity/traces/" + task + "?group=sales", ROOT)))
                    .hasSizeGreaterThan(1);
        }
    }

    @Test
    void anUnknownTraceIsNotFound() throws Exception {
        try (var hub = ActivityHub.open(Hub.builder().inMemory())) {
            ActivityHub.Answer answer = hub.get("/activity/traces/" + TRACE, null);

            assertThat(answer.status()).isEqualTo(404);
            assertThat(answer.body()).contains("TASK_NOT_FOUND");
            assertThat(hub.get("/activity/traces/nothing", null).status()).isEqualTo(404);
        }
    }

    @Test
    void aFailureHasItsTextAndATraceItsPageAtTheBackend() throws Exception {
        try (var hub =
                ActivityHub.open(Hub.builder().inMemory().set("trace-link", "https://jaeger.example/trace/{trace}"))) {
            hub.traced(TRACE).send("broken", "Hello", null);

            Map<?, ?> trace = hub.ok("/activity/traces/" + TRACE, null);

            assertThat(span(trace, "broken").get("error")).isEqualTo("Disk full");
            assertThat(trace.get("link")).isEqualTo("https://jaeger.example/trace/" + TRACE);
        }
    }
}
