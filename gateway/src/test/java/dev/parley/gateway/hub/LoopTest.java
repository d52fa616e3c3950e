package dev.parley.gateway.hub;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Routes that lead in a circle, within one hub and over two. */
@Timeout(60)
final class LoopTest {
    private static Hub one;
    private static Hub two;
    private static final Pattern CALLS = Pattern.compile("parley_requests_total\\{[^}]*\\} ([0-9.]+)");

    private static Hub hub() {
        return Hub.builder()
                .inMemory()
                .port(0)
                .drain(Duration.ZERO)
                .agents(Agent.named("waits", "Waits for more").handle((request, reply) -> reply.askForInput("more?")))
                .start();
    }

    @BeforeAll
    static void start() {
        one = hub();
        two = hub();
    }

    @AfterAll
    static void stop() {
        one.close();
        two.close();
    }

    /** Leads the routes in a circle. */
    private static void close(String path, Map<String, ?> options) throws Exception {
        Admin.of(one).add("self", one.agentUrl("self") + path, options);
        Admin.of(two).add("to-one", one.agentUrl("to-two") + path, options);
        Admin.of(one).add("to-two", two.agentUrl("to-one") + path, options);
    }

    /** Leads the routes to agents, whose tasks and cards they have then. */
    private static void open() throws Exception {
        Admin.of(one).add("self", one.agentUrl("waits"), Map.of());
        Admin.of(one).add("to-two", two.agentUrl("waits"), Map.of());
        Admin.of(two).add("to-one", one.agentUrl("waits"), Map.of());
    }

    private static A2AException refusal(Runnable call) {
        return requireNonNull(catchThrowableOfType(A2AException.class, call::run));
    }

    private static double calls() throws Exception {
        double calls = 0;
        for (Hub hub : new Hub[] {one, two}) {
            var page =
                    HttpRequest.newBuilder(URI.create(hub.url() + "/metrics")).build();
            var matches =
                    CALLS.matcher(Admin.HTTP.send(page, BodyHandlers.ofString()).body());
            while (matches.find()) {
                calls += Double.parseDouble(matches.group(1));
            }
        }
        return calls;
    }

    @ParameterizedTest
    @CsvSource({
        "1.0, JSONRPC,",
        "1.0, HTTP+JSON,",
        "1.0, GRPC,",
        "0.3, JSONRPC,",
        "0.1, JSONRPC,",
        "kernel, JSONRPC, /kernel",
        "agentvault, JSONRPC, /agentvault"
    })
    @DisplayName("a message that comes back to its route is refused after few calls, in each dialect")
    void messages(String version, String binding, @Nullable String path) throws Exception {
        open();
        close(path == null ? "" : path, Map.of("version", version, "binding", binding));
        double before = calls();
        for (String route : new String[] {"self", "to-two"}) {
            try (AgentClient client = AgentClient.builder().retries(0).connect(one.agentUrl(route))) {
                for (A2AException refused : new A2AException[] {
                    refusal(() -> client.send("hello")),
                    refusal(() -> {
                        try (var events = client.stream("hello")) {
                            events.forEachRemaining(event -> assertThat(event).isNull());
                        }
                    })
                }) {
                    assertThat(refused.error()).as(refused.getMessage()).isEqualTo(A2AError.UNSUPPORTED_OPERATION);
                    assertThat(refused.getMessage()).isEqualTo("The call comes back to an agent that waits for it");
                }
            }
        }
        assertThat(calls() - before).isPositive().isLessThan(100);
    }

    @Test
    @DisplayName("reads of tasks that began before the routes were closed to a circle end")
    void reads() throws Exception {
        for (String route : new String[] {"self", "to-two"}) {
            open();
            try (AgentClient client = AgentClient.builder().retries(0).connect(one.agentUrl(route))) {
                Task task = (Task) client.send("hello");
                assertThat(task.state()).isEqualTo(TaskState.INPUT_REQUIRED);
                close("", Map.of());

                A2AException refused = refusal(() -> client.task(task.id()));

                assertThat(refused.error())
                        .isIn(A2AError.UNSUPPORTED_OPERATION, A2AError.TASK_NOT_FOUND, A2AError.UNAVAILABLE);
            }
        }
    }

    @Test
    @DisplayName("cards of routes in a circle do not grow")
    void cards() throws Exception {
        open();
        close("", Map.of());
        int[] sizes = new int[6];
        for (int i = 0; i < sizes.length; i++) {
            Admin.of(one).done("POST", "/to-two/refresh", null);
            Admin.of(two).done("POST", "/to-one/refresh", null);
            Admin.of(one).done("POST", "/self/refresh", null);
            var card = HttpRequest.newBuilder(URI.create(one.agentUrl("to-two") + "/.well-known/agent-card.json"))
                    .build();
            sizes[i] = Admin.HTTP.send(card, BodyHandlers.ofByteArray()).body().length;
        }
        assertThat(sizes[5]).isLessThanOrEqualTo(sizes[1]);
    }
}
