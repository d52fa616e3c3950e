package dev.parley.gateway.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.hub.Hub;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An agent whose errors repeat its address and the credential of the gateway, and each operation of its callers. */
@Timeout(60)
final class InnerAddressTest {
    private static final String SECRET = "secret-of-the-route-0123456789";
    private static final String HOOK = "http://127.0.0.1:1/hook";
    private static final Map<String, Object> ID = Map.of("id", "t");

    @TempDir
    private Path directory;

    private FakeAgent agent;
    private Hub hub;

    /** Callers: the suffix of the address, the header with the version, and the parameters of each method. */
    enum Caller {
        V1("", "1.0") {
            @Override
            Map<String, Object> calls() {
                Map<String, Object> text = Map.of("text", "hello");
                Map<String, Object> message =
                        Map.of("message", Map.of("messageId", "m", "role", "ROLE_USER", "parts", List.of(text)));
                var calls = new LinkedHashMap<String, Object>();
                calls.put("SendMessage", message);
                calls.put("SendStreamingMessage", message);
                for (String method : List.of("GetTask", "CancelTask", "SubscribeToTask")) {
                    calls.put(method, ID);
                }
                calls.put("ListTasks", Map.of());
                calls.put("CreateTaskPushNotificationConfig", Map.of("taskId", "t", "id", "p", "url", HOOK));
                calls.put("GetTaskPushNotificationConfig", Map.of("taskId", "t", "id", "p"));
                calls.put("ListTaskPushNotificationConfigs", Map.of("taskId", "t"));
                calls.put("DeleteTaskPushNotificationConfig", Map.of("taskId", "t", "id", "p"));
                calls.put("GetExtendedAgentCard", Map.of());
                return calls;
            }
        },
        V03("", "0.3") {
            @Override
            Map<String, Object> calls() {
                Map<String, Object> text = Map.of("kind", "text", "text", "hello");
                Map<String, Object> message = Map.of(
                        "message", Map.of("kind", "message", "messageId", "m", "role", "user", "parts", List.of(text)));
                var calls = new LinkedHashMap<String, Object>();
                calls.put("message/send", message);
                calls.put("message/stream", message);
                for (String method : List.of("tasks/get", "tasks/cancel", "tasks/resubscribe")) {
                    calls.put(method, ID);
                }
                calls.put(
                        "tasks/pushNotificationConfig/set",
                        Map.of("taskId", "t", "pushNotificationConfig", Map.of("id", "p", "url", HOOK)));
                calls.put("tasks/pushNotificationConfig/get", ID);
                calls.put("tasks/pushNotificationConfig/list", ID);
                calls.put("tasks/pushNotificationConfig/delete", Map.of("id", "t", "pushNotificationConfigId", "p"));
                calls.put("agent/getAuthenticatedExtendedCard", Map.of());
                return calls;
            }
        },
        V01("", "") {
            @Override
            Map<String, Object> calls() {
                return older();
            }
        },
        KERNEL("/kernel", "") {
            @Override
            Map<String, Object> calls() {
                return older();
            }
        },
        AGENTVAULT("/agentvault", "") {
            @Override
            Map<String, Object> calls() {
                Map<String, Object> calls = older();
                Map<String, Object> text = Map.of("type", "text", "content", "hello");
                Map<String, Object> message = Map.of("message", Map.of("role", "user", "parts", List.of(text)));
                calls.put("tasks/send", message);
                calls.put("tasks/sendSubscribe", ID);
                calls.keySet().removeIf(method -> method.startsWith("tasks/pushNotification"));
                return calls;
            }
        };

        private final String suffix;
        private final String version;

        Caller(String suffix, String version) {
            this.suffix = suffix;
            this.version = version;
        }

        abstract Map<String, Object> calls();

        private static Map<String, Object> older() {
            Map<String, Object> text = Map.of("type", "text", "text", "hello", "content", "hello");
            Map<String, Object> message =
                    Map.of("id", "named", "message", Map.of("role", "user", "parts", List.of(text)));
            var calls = new LinkedHashMap<String, Object>();
            calls.put("tasks/send", message);
            calls.put("tasks/sendSubscribe", message);
            for (String method : List.of("tasks/get", "tasks/cancel", "tasks/resubscribe")) {
                calls.put(method, ID);
            }
            calls.put("tasks/pushNotification/set", Map.of("id", "t", "pushNotificationConfig", Map.of("url", HOOK)));
            calls.put("tasks/pushNotification/get", ID);
            return calls;
        }
    }

    @BeforeEach
    void start() throws Exception {
        Path secrets = Files.createDirectory(directory.resolve("secrets"));
        Files.writeString(secrets.resolve("key"), SECRET);
        agent = new FakeAgent();
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .drain(Duration.ZERO)
                .webhookAllow(List.of("127.0.0.1"))
                .set("gateway-secrets", secrets.toString())
                .start();
        Admin.of(hub)
                .add("fake", agent.url(), Map.of("set", List.of("credential=bearer", "secret=file:key", "retries=0")));
    }

    @AfterEach
    void stop() {
        hub.close();
        agent.close();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("no answer to a caller has the address of the agent or the credential of the route")
    void hidden(Caller caller) throws Exception {
        String leak = "no disk at " + agent.url() + "/x and http://inner.example:1/rpc for " + SECRET;
        agent.results = request -> FakeAgent.task("t", "c", "first");
        assertThat(answer(
                        caller, "SendMessage", requireNonNull(Caller.V1.calls().get("SendMessage")), Caller.V1))
                .contains("first");

        agent.results = request -> "\"error\":{\"code\":-32603,\"message\":\"" + leak
                + "\",\"data\":[{\"@type\":\"type.googleapis.com/google.rpc.ErrorInfo\",\"reason\":\"" + leak
                + "\",\"domain\":\"a2a-protocol.org\",\"metadata\":{\"address\":\"" + leak + "\"}}]}";
        walk(caller);
        agent.results = request -> "\"error\":{\"code\":-32001,\"message\":\"" + leak + "\"}";
        walk(caller);
        agent.results = request -> "\"result\":\"" + leak + "\"";
        walk(caller);
        agent.results = request -> leak; // no JSON
        walk(caller);
        agent.redirect = "http://inner.example:1/" + SECRET;
        walk(caller);
        agent.close();
        walk(caller);
    }

    private void walk(Caller caller) throws Exception {
        for (Map.Entry<String, Object> call : caller.calls().entrySet()) {
            assertThat(answer(caller, call.getKey(), call.getValue(), caller))
                    .as(call.getKey())
                    .isNotEmpty()
                    .doesNotContain(URI.create(agent.url()).getAuthority())
                    .doesNotContain("inner.example")
                    .doesNotContain(SECRET);
        }
    }

    /** The head and body of an answer. */
    private String answer(Caller caller, String method, Object parameters, Caller version) throws Exception {
        byte[] body = Json.write(Map.of("jsonrpc", "2.0", "id", 1, "method", method, "params", parameters));
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create(hub.agentUrl("fake") + (caller == version ? caller.suffix : "")))
                .header("Content-Type", "application/json")
                .timeout(Duration.ofSeconds(20))
                .POST(BodyPublishers.ofByteArray(body));
        if (!version.version.isEmpty()) {
            request.header("A2A-Version", version.version);
        }
        HttpResponse<byte[]> answer = Admin.HTTP.send(request.build(), BodyHandlers.ofByteArray());
        return answer.headers().map() + "\n" + new String(answer.body(), UTF_8);
    }
}
