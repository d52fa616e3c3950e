package dev.parley.mcp.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.mcp.CallResult;
import dev.parley.mcp.InputResponse;
import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.mcp.McpProvider.Outcome;
import dev.parley.mcp.client.ServerFailure.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Questions that do not name their call reach the caller of that call, or nobody. */
@Timeout(60)
class QuestionRouterTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Progress NONE = Progress.NONE;
    private static final Duration NOW = Duration.ZERO;

    private final ConcurrentLinkedQueue<Object> refused = new ConcurrentLinkedQueue<>();
    private final QuestionRouter router =
            new QuestionRouter(true, question -> refused.add(String.valueOf(question.get("id"))));
    private final ClientExchange first = new ClientExchange(1);
    private final ClientExchange second = new ClientExchange(2);
    private final ClientExchange third = new ClientExchange(3);

    private static Map<String, @Nullable Object> question(String id) {
        return Map.of("id", id, "method", "elicitation/create");
    }

    private static String next(ClientExchange call) throws InterruptedException {
        return String.valueOf(call.next(NOW).get("id"));
    }

    private static void assertSilence(ClientExchange call) {
        assertThatThrownBy(() -> call.next(NOW))
                .isInstanceOfSatisfying(
                        ServerFailure.class,
                        failure -> assertThat(failure.kind()).isEqualTo(Kind.TIMEOUT));
    }

    @Test
    void callsThatWaitForAnswersDoNotDisturbTheQuestionsOfOthers() throws Exception {
        for (ClientExchange call : List.of(first, second, third)) {
            router.enter(call, "ask", LIMIT);
            router.question(question("of " + call.id()));
        }

        assertThat(List.of(next(first), next(second), next(third))).containsExactly("of 1", "of 2", "of 3");
        router.enter(first, "ask", LIMIT);
        router.question(question("again of 1"));
        assertThat(next(first)).isEqualTo("again of 1");
        assertThat(refused).isEmpty();
    }

    @Test
    void aSecondQuestionOfACallIsItsOwn() throws Exception {
        router.enter(first, "ask", LIMIT);
        router.question(question("one"));
        router.question(question("two"));

        assertThat(next(first)).isEqualTo("one");
        assertThat(next(first)).isEqualTo("two");
    }

    @Test
    void aQuestionThatTwoCallsMayHaveAskedWaitsForTheAnswerOfOne() throws Exception {
        router.enter(first, "slow", LIMIT);
        router.enter(second, "ask", LIMIT);
        router.question(question("of 2"));
        assertSilence(first);
        assertSilence(second);

        router.leave(first, true);

        assertThat(next(second)).isEqualTo("of 2");
        assertThat(refused).isEmpty();
    }

    @Test
    void aQuestionThatMayBeThatOfACallThatWasGivenUpIsRefused() throws Exception {
        router.enter(first, "slow", LIMIT);
        router.enter(second, "ask", LIMIT);
        router.question(question("of whom"));

        router.leave(first, false);

        assertSilence(second);
        assertThat(refused).containsExactly("of whom");
    }

    @Test
    void questionsThatCannotBeToldApartFailTheirCallsWithTheReason() throws Exception {
        router.enter(first, "ask", LIMIT);
        router.enter(second, "ask", LIMIT);
        router.question(question("one"));
        router.question(question("two"));

        for (ClientExchange call : List.of(first, second)) {
            assertThatThrownBy(() -> call.next(NOW))
                    .isInstanceOf(ServerFailure.class)
                    .hasMessageContaining("2 calls at once");
        }
        assertThat(refused).containsExactly("one", "two");
    }

    @Test
    void toolsThatHaveAskedWaitForEachOtherUpToTheirLimit() throws Exception {
        router.enter(first, "ask", LIMIT);
        router.question(question("one"));
        router.enter(second, "ask", LIMIT);

        assertThatThrownBy(() -> router.enter(third, "ask", Duration.ofMillis(1_200)))
                .isInstanceOfSatisfying(
                        ServerFailure.class,
                        failure -> assertThat(failure.kind()).isEqualTo(Kind.TIMEOUT))
                .hasMessageContaining("has not begun");
        router.enter(third, "quiet", LIMIT);
        router.leave(third, true);
        router.leave(second, true);
        router.enter(third, "ask", NOW);
    }

    @Test
    void aQuestionOfNoCallIsRefused() throws Exception {
        router.question(question("early"));
        router.enter(first, "ask", LIMIT);
        router.question(question("own"));
        router.leave(first, false);
        router.question(question("late"));

        assertThat(next(first)).isEqualTo("own");
        assertThat(refused).containsExactly("early", "late");
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 8, 30})
    @DisplayName("K2: callers that are asked at the same time answer their own questions, in any order")
    void severalQuestionsOverStdio(int callers) throws Exception {
        var program = new StdioTransport.Program("scripted", ScriptedServer.command("legacy"), Map.of(), null);
        try (McpClient client = McpClient.connect(
                        () -> StdioTransport.start(program, line -> {}, () -> {}), McpClient.Limits.DEFAULT, null);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Outcome.Questions<CallResult>> asked = all(threads, callers, caller ->
                    (Outcome.Questions<CallResult>) client.call(invocation(caller, null), LIMIT, NONE));
            List<Outcome<CallResult>> answered =
                    all(threads, callers, caller -> client.call(invocation(caller, asked.get(caller)), LIMIT, NONE));

            for (int caller = 0; caller < callers; caller++) {
                assertThat(asked.get(caller).requests().toString()).contains("Which colour? (" + caller + ")");
                assertThat(((Outcome.Complete<CallResult>) answered.get(caller))
                                .result()
                                .toString())
                        .contains("accept {colour=red " + caller + "}");
            }
        }
    }

    private static Invocation invocation(int caller, Outcome.@Nullable Questions<CallResult> asked) {
        Map<String, @Nullable Object> arguments = Map.of("text", String.valueOf(caller));
        return asked == null
                ? new Invocation("ask", arguments, Map.of(), null, Map.of())
                : new Invocation(
                        "ask",
                        arguments,
                        Map.of("question", InputResponse.accept(Map.of("colour", "red " + caller))),
                        asked.state(),
                        Map.of());
    }

    private interface Step<T> {
        T of(int caller) throws Exception;
    }

    private static <T> List<T> all(ExecutorService threads, int callers, Step<T> step) throws Exception {
        var steps = new ArrayList<Callable<T>>();
        for (int i = 0; i < callers; i++) {
            int caller = i;
            steps.add(() -> step.of(caller));
        }
        var results = new ArrayList<T>();
        for (Future<T> each : threads.invokeAll(steps, 50, TimeUnit.SECONDS)) {
            results.add(each.get());
        }
        return results;
    }
}
