package dev.parley.dialect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.operations.V1Operations;
import dev.parley.dialect.spi.Binding;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Whatever bytes come in, an answer goes out. Seeded, so that a failure can be seen again. */
@Tag("heavy")
final class FuzzTest {
    private static final int ROUNDS = 10_000;
    private static final List<byte[]> EXAMPLES =
            Wire.examples(".json").stream().map(Wire::example).toList();
    private static final List<String> FRAGMENTS = List.of(
            "\"",
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            "null",
            "true",
            "-",
            "1e999",
            "\\u0000",
            "\\ud800",
            "\u0000",
            "\uFEFF",
            "\"id\":",
            "\"params\":{}",
            "\"jsonrpc\":\"2.0\"",
            "\"method\":\"SendMessage\"",
            "[[[[[[[[",
            "99999999999999999999",
            "é😀");
    private static final List<String> PATHS = List.of(
            "",
            "/",
            "/message:send",
            "/message:stream",
            "/tasks",
            "/tasks/t",
            "/tasks/t:cancel",
            "/tasks/t:subscribe",
            "/tasks/t/pushNotificationConfigs",
            "/tasks/t/pushNotificationConfigs/p",
            "/extendedAgentCard",
            "/.well-known/agent-card.json",
            "/acme/tasks",
            "/v1/tasks",
            "//",
            "/:",
            "/%2F/%",
            "/tasks/\u0000");
    private static final List<String> VERBS = List.of("GET", "POST", "POST", "POST", "DELETE", "PUT", "HEAD", "");
    private static final List<String> HEADERS = List.of(
            "A2A-Version", "A2A-Extensions", "Accept", "Content-Type", "Last-Event-ID", "If-None-Match", "traceparent");
    private static final List<String> VALUES = List.of(
            "1.0",
            "0.3",
            ".",
            "1.0,2.0",
            "",
            " ",
            ",;=",
            "application/json",
            "application/a2a+json;charset=",
            "*",
            "\"",
            "-1",
            "é");

    private final Random random = new Random(20260105);

    @Test
    void noInputBytesEscapeAsAnException() {
        for (int round = 0; round < ROUNDS; round++) {
            var exchange = new Exchange();
            exchange.endpoint.answers = FuzzTest::answer;
            exchange.endpoint.events =
                    List.of(new LoggedEvent(1, Json.read(Wire.example("event.task.json"), TaskEvent.class)));
            for (int i = random.nextInt(3); i > 0; i--) {
                exchange.with(pick(HEADERS), pick(VALUES));
            }
            String verb = pick(VERBS);
            var request = new WireRequest(
                    verb,
                    pick(PATHS),
                    exchange.request(verb, "/?" + pick(HEADERS) + "=" + pick(List.of("1.0", "x")), new byte[0])
                            .query(),
                    exchange.request(verb, "", new byte[0]).arrival().headers(),
                    body(),
                    "127.0.0.1");

            var answer = exchange.send(request);

            if (answer instanceof WireAnswer.Whole whole && whole.body().length > 0) {
                assertThat(Json.read(whole.body(), Object.class)).isNotNull();
                assertThat(new String(whole.body(), UTF_8))
                        .doesNotContain("Exception", "dev.parley", "tools.jackson", "reference ");
            }
        }
    }

    @Test
    void noAnswerOfAPeerEscapesAsAnythingElse() {
        for (String name : List.of("JSONRPC", "HTTP+JSON")) {
            Binding binding = WireBinding.of(new AgentCard.Interface("http://localhost", name, null, "1.0"))
                    .orElseThrow();
            for (int round = 0; round < ROUNDS / 4; round++) {
                byte[] body = body();
                int status = random.nextInt(100, 600);
                assertThat(binding.refusal(status, body)).isNotNull();
                try {
                    LoggedEvent event = binding.event(pick(VALUES), new String(body, UTF_8));
                    // None if the update cannot be read although it is one.
                    assertThat(event == null ? 0 : event.sequence()).isNotNegative();
                } catch (A2AException expected) {
                    assertThat(expected).hasMessageNotContaining("dev.parley");
                }
            }
        }
    }

    /** Any answer of the right type. */
    private static Object answer(Operation.Call<?> call) {
        return switch (call) {
            case Operation.SendMessage send -> send.message();
            case Operation.GetTask get -> Json.read(Wire.example("task.full.json"), Task.class);
            case Operation.CancelTask cancel -> Json.read(Wire.example("task.minimal.json"), Task.class);
            case Operation.ListTasks list -> new Operation.TaskPage(List.of(), "", 50, 0, list.includeArtifacts());
            case Operation.CreatePushConfig create -> create.config();
            case Operation.GetPushConfig get -> Json.read(Wire.example("pushConfig.full.json"), PushConfig.class);
            case Operation.ListPushConfigs list -> new Operation.PushConfigPage(List.of(), "");
            case Operation.DeletePushConfig delete -> new Operation.Empty();
            case Operation.GetExtendedAgentCard card -> Json.read(Wire.example("card.full.json"), AgentCard.class);
            case Operation.ExtensionCall<?> other -> throw new IllegalArgumentException(other.name());
        };
    }

    private byte[] body() {
        byte[] example = pick(EXAMPLES);
        byte[] body = random.nextBoolean()
                ? example
                : ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\""
                                + pick(V1Operations.TABLE.all()).method() + "\",\"params\":"
                                + new String(example, UTF_8) + "}")
                        .getBytes(UTF_8);
        for (int i = random.nextInt(4); i > 0; i--) {
            body = mutated(body);
        }
        return body;
    }

    private byte[] mutated(byte[] body) {
        int at = random.nextInt(body.length + 1);
        int to = Math.min(body.length, at + random.nextInt(20));
        byte[] inserted = switch (random.nextInt(4)) {
            case 0 -> pick(FRAGMENTS).getBytes(UTF_8);
            case 1 -> randomBytes();
            case 2 -> Arrays.copyOfRange(body, at, to);
            default -> new byte[0];
        };
        var mutated = new ByteArrayOutputStream();
        mutated.writeBytes(Arrays.copyOf(body, at));
        mutated.writeBytes(inserted);
        mutated.writeBytes(Arrays.copyOfRange(body, random.nextBoolean() ? at : to, body.length));
        return mutated.toByteArray();
    }

    private byte[] randomBytes() {
        byte[] bytes = new byte[1 + random.nextInt(4)];
        random.nextBytes(bytes);
        return bytes;
    }

    private <T> T pick(List<T> choices) {
        return choices.get(random.nextInt(choices.size()));
    }
}
