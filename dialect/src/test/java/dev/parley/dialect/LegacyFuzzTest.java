package dev.parley.dialect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.legacy.LegacyCard;
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
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever bytes come to a dialect, an answer in its form goes out. Seeded, so that a failure can be seen again. */
@Tag("heavy")
final class LegacyFuzzTest {
    private static final int ROUNDS = 4_000;

    private static final List<String> BODIES = List.of(
            "{'message':{'kind':'message','messageId':'m','role':'user','parts':[{'kind':'text','text':'hi'},"
                    + "{'kind':'file','file':{'bytes':'AAEC','name':'a','mimeType':'b/c'}},{'kind':'data','data':{}}]},"
                    + "'configuration':{'blocking':true,'historyLength':3,'acceptedOutputModes':['text/plain'],"
                    + "'pushNotificationConfig':{'url':'https://h.example','authentication':{'schemes':['a']}}}}",
            "{'request':{'messageId':'m','role':'ROLE_USER','content':[{'text':'hi'},"
                    + "{'file':{'fileWithUri':'x:y','mimeType':'b/c'}},{'data':{'data':{'a':1}}}]},"
                    + "'configuration':{'pushNotification':{'url':'https://h.example'},'blocking':false}}",
            "{'id':'mine','sessionId':'s','message':{'role':'user','parts':[{'type':'text','text':'hi'},"
                    + "{'type':'data','data':[1]}]},'acceptedOutputModes':['text','file'],'historyLength':2,"
                    + "'pushNotification':{'url':'https://h.example','token':'t'},'metadata':{'a':null}}",
            "{'id':'mine','session_id':'s','history_length':1,'message':{'role':'user','parts':"
                    + "[{'type':'file','file':{'mime_type':'a/b','uri':'x:y'}}]},'push_notification':{'url':'x:y'}}",
            "{'id':'t','message':{'role':'system','parts':[{'type':'text','content':'hi'},"
                    + "{'type':'file','url':'x:y','mediaType':'a/b','filename':'f'},{'type':'data','content':{}}],"
                    + "'metadata':{'mcp_context':{'items':{}}}},'webhookUrl':'https://h.example'}",
            "{'id':'t-9','historyLength':1,'pushNotificationConfigId':'p','metadata':{}}",
            "{'taskId':'t','parent':'tasks/t','configId':'c','name':'tasks/t/pushNotificationConfigs/c','config':"
                    + "{'name':'tasks/t','pushNotificationConfig':{'url':'x:y'}},'pushNotificationConfig':{'url':'x:y'}}",
            "{}");

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
            "\"parts\":[]",
            "\"role\":\"user\"",
            "\"kind\":\"data\"",
            "\"url\":\"::\"",
            "\"name\":\"tasks/\"",
            "[[[[[[[[",
            "99999999999999999999",
            "é😀");

    private static final List<String> METHODS = List.of(
            "message/send",
            "message/stream",
            "tasks/get",
            "tasks/list",
            "tasks/cancel",
            "tasks/resubscribe",
            "tasks/pushNotificationConfig/set",
            "tasks/pushNotificationConfig/get",
            "tasks/pushNotificationConfig/list",
            "tasks/pushNotificationConfig/delete",
            "agent/getAuthenticatedExtendedCard",
            "tasks/send",
            "tasks/sendSubscribe",
            "tasks/pushNotification/set",
            "tasks/pushNotification/get",
            "agent/getCard",
            "tasks/",
            "");

    private static final List<String> REST_PATHS = List.of(
            "/v1/message:send",
            "/v1/message:stream",
            "/v1/tasks",
            "/v1/tasks/t",
            "/v1/tasks/t:cancel",
            "/v1/tasks/t:subscribe",
            "/v1/tasks/t/pushNotificationConfigs",
            "/v1/tasks/t/pushNotificationConfigs/p",
            "/v1/card",
            "/v1",
            "/v1/",
            "/v1/tasks/%2F",
            "/v1//tasks",
            "/v1/tasks/\u0000");

    private static final List<String> BELOW = List.of(
            "",
            "",
            "",
            "",
            "/",
            "/x",
            "/.well-known/agent.json",
            "/.well-known/agent-card.json",
            "/agent-card.json",
            "/files/",
            "/files/t/a/0",
            "/files/t/a/99999999999",
            "/files/////",
            "/files/t/a/0/1");

    private static final List<String> VERBS = List.of("GET", "POST", "POST", "POST", "DELETE", "PUT", "HEAD", "");

    private static final List<String> HEADERS =
            List.of("A2A-Version", "X-A2A-Extensions", "Accept", "Content-Type", "Last-Event-ID", "If-None-Match");

    private static final List<String> VALUES = List.of(
            "1.0", "0.3", "0.2.6", "0.1", "0.1.0.", "", ",;=", "application/json", "text/event-stream", "*", "-1", "é");

    private final Random random = new Random(20260105);

    static Object answer(Operation.Call<?> call) {
        Task task = Json.read(Wire.example("task.full.json"), Task.class);
        return switch (call) {
            case Operation.SendMessage send -> task;
            case Operation.GetTask get -> task;
            case Operation.CancelTask cancel -> task;
            case Operation.ListTasks list -> new Operation.TaskPage(List.of(task), "", 50, 1, true);
            case Operation.CreatePushConfig create -> create.config();
            case Operation.GetPushConfig get -> Json.read(Wire.example("pushConfig.full.json"), PushConfig.class);
            case Operation.ListPushConfigs list ->
                new Operation.PushConfigPage(
                        List.of(Json.read(Wire.example("pushConfig.full.json"), PushConfig.class)), "");
            case Operation.DeletePushConfig delete -> new Operation.Empty();
            case Operation.GetExtendedAgentCard card -> Json.read(Wire.example("card.full.json"), AgentCard.class);
            case Operation.ExtensionCall<?> other -> throw new IllegalArgumentException(other.name());
        };
    }

    private Exchange exchange() {
        var exchange = new Exchange().inEveryDialect();
        exchange.endpoint.answers = LegacyFuzzTest::answer;
        exchange.endpoint.events = List.of(
                new LoggedEvent(1, Json.read(Wire.example("event.task.json"), TaskEvent.class)),
                new LoggedEvent(2, Json.read(Wire.example("event.artifactUpdate.json"), TaskEvent.class)),
                new LoggedEvent(3, Json.read(Wire.example("event.statusUpdate.json"), TaskEvent.class)));
        for (int i = random.nextInt(3); i > 0; i--) {
            exchange.with(pick(HEADERS), pick(VALUES));
        }
        return exchange;
    }

    private static WireAnswer send(Exchange exchange, String verb, String path, byte[] body) {
        WireRequest plain = exchange.request(verb, "", body);
        return exchange.send(
                new WireRequest(verb, path, Map.of(), plain.arrival().headers(), body, plain.address()));
    }

    /** An answer over JSON-RPC holds a result or an error, and never tells of what is inside. */
    private static void checkRpc(WireAnswer answer) throws InterruptedException {
        String body =
                answer instanceof WireAnswer.Whole whole ? new String(whole.body(), UTF_8) : Exchange.frames(answer);
        checkInnocent(answer, body);
        boolean stream = answer.headers().getOrDefault("Content-Type", "").startsWith("text/event-stream");
        if (stream || body.isEmpty()) {
            return;
        }
        Tree tree = Tree.of(body);
        if (tree.value() instanceof Map<?, ?> members && members.containsKey("jsonrpc")) {
            assertThat(members.containsKey("result")).isNotEqualTo(members.containsKey("error"));
            if (members.containsKey("error")) {
                assertThat(tree.at("error", "code").value()).isInstanceOf(Integer.class);
                assertThat(tree.at("error", "message").value()).isInstanceOf(String.class);
            }
        }
    }

    private static void checkInnocent(WireAnswer answer, String body) {
        if (answer instanceof WireAnswer.Whole whole) {
            assertThat(whole.status()).as(body).isNotEqualTo(500);
        }
        assertThat(body).doesNotContain("Exception", "dev.parley", "tools.jackson", "(reference ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/kernel", "/agentvault"})
    void noBytesOverJsonRpcGetAnythingButAnAnswer(String base) throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            String below = base.isEmpty() ? "" : pick(BELOW);

            checkRpc(send(exchange(), below.isEmpty() ? "POST" : pick(VERBS), base + below, body()));
        }
    }

    @Test
    void noBytesOverRestGetAnythingButAnAnswer() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            WireAnswer answer = send(exchange(), pick(VERBS), pick(REST_PATHS), pick(List.of(bare(), body())));

            String body = answer instanceof WireAnswer.Whole whole
                    ? new String(whole.body(), UTF_8)
                    : Exchange.frames(answer);
            checkInnocent(answer, body);
            if (answer instanceof WireAnswer.Whole whole && whole.status() >= 400) {
                Tree error = Tree.of(body);
                // The form of 0.3 names the error; that of 1.0, where no version of 0.3 was meant, nests it.
                boolean named = error.at("error").value() instanceof String
                        && error.at("code").value() != null;
                assertThat(named || error.at("error", "code").value() != null)
                        .as(body)
                        .isTrue();
            }
        }
    }

    @Test
    void noAnswerOfAPeerEscapesAsAnythingElse() {
        for (String version : List.of("0.3", "0.2", "0.1", "kernel", "agentvault")) {
            Binding binding = WireBinding.of(new AgentCard.Interface("http://localhost", "JSONRPC", null, version))
                    .orElseThrow();
            for (int round = 0; round < ROUNDS / 2; round++) {
                byte[] body = random.nextBoolean() ? body() : result();
                assertThat(binding.refusal(random.nextInt(100, 600), body)).isNotNull();
                try {
                    assertThat(binding.event(pick(VALUES), new String(body, UTF_8)))
                            .isNotNull();
                } catch (A2AException expected) {
                    assertThat(expected).hasMessageNotContaining("dev.parley");
                }
                try {
                    binding.result(Operation.GetTask.of("t"), 200, body);
                } catch (A2AException expected) {
                    assertThat(expected).hasMessageNotContaining("dev.parley");
                }
            }
        }
    }

    @Test
    void noCardEscapesAsAnythingElse() {
        byte[] card = LegacyCard.union(Json.read(Wire.example("card.full.json"), AgentCard.class));
        for (int round = 0; round < ROUNDS / 2; round++) {
            byte[] broken = mutated(card);
            try {
                assertThat(Json.readCard(broken)).isNotNull();
            } catch (A2AException expected) {
                assertThat(expected).hasMessageNotContaining("dev.parley");
            }
        }
    }

    private byte[] bare() {
        byte[] body = bytes(pick(BODIES));
        for (int i = random.nextInt(4); i > 0; i--) {
            body = mutated(body);
        }
        return body;
    }

    private byte[] body() {
        byte[] body = bytes("{'jsonrpc':'2.0','id':1,'method':'" + pick(METHODS) + "','params':" + pick(BODIES) + "}");
        for (int i = random.nextInt(4); i > 0; i--) {
            body = mutated(body);
        }
        return body;
    }

    private byte[] result() {
        byte[] body = bytes("{'jsonrpc':'2.0','id':1,'result':" + pick(BODIES) + "}");
        return random.nextBoolean() ? mutated(body) : body;
    }

    private static byte[] bytes(String json) {
        return json.replace('\'', '"').getBytes(UTF_8);
    }

    private byte[] mutated(byte[] body) {
        int at = random.nextInt(body.length + 1);
        int to = Math.min(body.length, at + random.nextInt(20));
        byte[] inserted = switch (random.nextInt(3)) {
            case 0 -> pick(FRAGMENTS).getBytes(UTF_8);
            case 1 -> Arrays.copyOfRange(body, at, to);
            default -> new byte[0];
        };
        var mutated = new ByteArrayOutputStream();
        mutated.writeBytes(Arrays.copyOf(body, at));
        mutated.writeBytes(inserted);
        mutated.writeBytes(Arrays.copyOfRange(body, random.nextBoolean() ? at : to, body.length));
        return mutated.toByteArray();
    }

    private <T> T pick(List<T> choices) {
        return choices.get(random.nextInt(choices.size()));
    }
}
