package dev.parley.client;

import static dev.parley.client.TestAgent.rpc;
import static dev.parley.client.TestAgent.rpcError;
import static dev.parley.client.TestAgent.task;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.client.RawServer.Request;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.spi.WireListener;
import dev.parley.client.wire.Attempts;
import dev.parley.dialect.Json;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.ListTasks;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class AgentClientTest {

    @Test
    void aSentTextComesBackAsATask() throws Exception {
        try (var agent = answering("{\"task\":" + task("COMPLETED") + "}");
                var client = agent.client()) {
            SendResult result = client.send("Hello");

            assertThat(result)
                    .isInstanceOfSatisfying(
                            Task.class, task -> assertThat(task.state()).isEqualTo(TaskState.COMPLETED));
            Request call = call(agent);
            assertThat(call.line()).isEqualTo("POST /agent HTTP/1.1");
            assertThat(call.header("A2A-Version")).isEqualTo("1.0");
            assertThat(call.header("Upgrade")).isNull();
            assertThat(call.text())
                    .contains("\"method\":\"SendMessage\"", "\"text\":\"Hello\"", "\"role\":\"ROLE_USER\"")
                    .doesNotContain("tenant");
        }
    }

    @Test
    void restIsSpokenToo() throws Exception {
        try (var agent = new TestAgent(
                        "HTTP+JSON",
                        (request, connection) -> connection.answer(
                                200,
                                "{\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_AGENT\",\"parts\":[{\"text\":\"hi\"}]}}",
                                "Content-Type: application/a2a+json"));
                var client = agent.client()) {
            assertThat(client.send("Hello"))
                    .isInstanceOfSatisfying(
                            Message.class, message -> assertThat(message.text()).isEqualTo("hi"));
            assertThat(call(agent).line()).isEqualTo("POST /agent/message:send HTTP/1.1");
        }
    }

    @Test
    void everyOperationHasItsMethod() throws Exception {
        String config = "{\"id\":\"p\",\"taskId\":\"t1\",\"url\":\"https://hooks.example.com/\"}";
        try (var agent = new TestAgent((request, connection) -> {
                    String text = request.text();
                    connection.answer(
                            200,
                            rpc(
                                    text.contains("ListTaskPush")
                                            ? "{\"configs\":[" + config + "]}"
                                            : text.contains("DeleteTaskPush")
                                                    ? "{}"
                                                    : text.contains("PushNotificationConfig\"")
                                                            ? config
                                                            : text.contains("ExtendedAgentCard")
                                                                    ? TestAgent.card(
                                                                                    "http://127.0.0.1:1/",
                                                                                    "JSONRPC",
                                                                                    "")
                                                                            .replace("\"test\"", "\"extended\"")
                                                                    : text.contains("ListTasks")
                                                                            ? page("", "t1")
                                                                            : task("WORKING")));
                });
                var client = agent.client()) {
            assertThat(client.task("t1").id()).isEqualTo("t1");
            assertThat(client.task("t1", 3).id()).isEqualTo("t1");
            assertThat(client.tasks(ListTasks.all()).tasks()).hasSize(1);
            assertThat(client.cancel("t1").state()).isEqualTo(TaskState.WORKING);
            PushConfig created =
                    client.createPushConfig(new PushConfig(null, null, "t1", "https://hooks.example.com/", null, null));
            assertThat(created.id()).isEqualTo("p");
            assertThat(client.pushConfig("t1", "p")).isEqualTo(created);
            assertThat(client.pushConfigs("t1")).containsExactly(created);
            client.deletePushConfig("t1", "p");
            assertThat(client.extendedCard().name()).isEqualTo("extended");
            assertThat(client.card().name()).isEqualTo("extended");

            assertThat(agent.methods())
                    .containsExactly(
                            "GetTask",
                            "GetTask",
                            "ListTasks",
                            "CancelTask",
                            "CreateTaskPushNotificationConfig",
                            "GetTaskPushNotificationConfig",
                            "ListTaskPushNotificationConfigs",
                            "DeleteTaskPushNotificationConfig",
                            "GetExtendedAgentCard");
        }
    }

    @Test
    void allTasksAreReadPageByPage() throws Exception {
        try (var agent = new TestAgent((request, connection) -> connection.answer(
                        200,
                        rpc(
                                request.text().contains("\"pageToken\":\"next\"")
                                        ? page("", "t3")
                                        : page("next", "t1", "t2"))));
                var client = agent.client()) {
            var ids = new ArrayList<String>();
            for (Task task : client.allTasks(new ListTasks(null, "c1", null, 2, null, null, null, false))) {
                ids.add(task.id());
            }

            assertThat(ids).containsExactly("t1", "t2", "t3");
            assertThat(agent.calls).allSatisfy(call -> assertThat(call.text()).contains("\"contextId\":\"c1\""));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"JSONRPC", "HTTP+JSON"})
    void theTenantOfTheInterfaceIsInEveryRequest(String binding) throws Exception {
        try (var agent = new TestAgent((request, connection) ->
                connection.answer(200, binding.equals("JSONRPC") ? rpc(task("WORKING")) : task("WORKING")))) {
            agent.with(TestAgent.card(
                    "{\"url\":\"" + agent.url() + "\",\"protocolBinding\":\"" + binding
                            + "\",\"protocolVersion\":\"1.0\",\"tenant\":\"acme\"}",
                    ""));

            try (var client = agent.client()) {
                client.task("t1");
            }

            assertThat(call(agent).line() + call(agent).text())
                    .containsAnyOf("/agent/acme/tasks/t1", "\"tenant\":\"acme\"");
        }
    }

    @Test
    void whatTheAgentRefusesIsItsError() throws Exception {
        try (var agent = new TestAgent(
                        (request, connection) -> connection.answer(200, rpcError(-32001, "TASK_NOT_FOUND")));
                var client = agent.client()) {
            A2AException refusal = catchThrowableOfType(A2AException.class, () -> client.task("t9"));

            assertThat(refusal.error()).isEqualTo(A2AError.TASK_NOT_FOUND);
            assertThat(agent.calls).hasSize(1);
        }
    }

    @Test
    void aMissingCredentialIsNamed() throws Exception {
        try (var agent = new TestAgent(
                        "HTTP+JSON",
                        (request, connection) -> connection.answer(401, "", "WWW-Authenticate: Bearer realm=\"hub\""));
                var client = agent.client()) {
            A2AException refusal = catchThrowableOfType(A2AException.class, () -> client.task("t1"));

            assertThat(refusal.error()).isEqualTo(A2AError.UNAUTHENTICATED);
            assertThat(refusal.metadata()).containsEntry("wwwAuthenticate", "Bearer realm=\"hub\"");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {301, 302, 303, 307, 308})
    void aRedirectIsNotFollowed(int status) throws Exception {
        try (var elsewhere = answering(task("COMPLETED"));
                var agent = new TestAgent(
                        (request, connection) -> connection.answer(status, "", "Location: " + elsewhere.url()));
                var client = TestAgent.hasty().bearer("s3cret").connect(agent.origin())) {
            ClientException refusal = catchThrowableOfType(ClientException.class, () -> client.task("t1"));

            assertThat(refusal.problem()).isEqualTo(Problem.REDIRECTED);
            assertThat(refusal).hasMessageContaining(elsewhere.url());
            assertThat(elsewhere.server.requests).isEmpty();
        }
    }

    // ---- Trying again

    @ParameterizedTest
    @ValueSource(ints = {429, 503})
    void whatIsDeclinedForNowIsSentAgainWhenTheServerWantsIt(int status) throws Exception {
        var waits = new ArrayList<Duration>();
        try (var agent = turns(status, "Retry-After: 7", "{\"task\":" + task("COMPLETED") + "}");
                var client = TestAgent.hasty().pause(noted(waits)).connect(agent.origin())) {
            client.send("Hello");

            assertThat(waits)
                    .singleElement()
                    .satisfies(wait -> assertThat(wait).isBetween(Duration.ofSeconds(7), Duration.ofSeconds(8)));
            List<Request> calls = List.copyOf(agent.calls);
            assertThat(calls).hasSize(2);
            assertThat(messageId(calls.get(0)))
                    .isEqualTo(messageId(calls.get(1)))
                    .isNotEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {502, 504})
    void whatGotLostBehindAProxyIsAskedAgainIfThatIsSafe(int status) throws Exception {
        try (var agent = turns(status, "X: y", task("COMPLETED"));
                var client = agent.client()) {
            assertThat(client.task("t1").state()).isEqualTo(TaskState.COMPLETED);
            assertThat(agent.calls).hasSize(2);
        }
        try (var agent = turns(status, "X: y", "{\"task\":" + task("COMPLETED") + "}");
                var client = agent.client()) {
            assertThatThrownBy(() -> client.send("Hello")).isInstanceOf(A2AException.class);
            assertThatCode(() -> client.cancel("t1")).doesNotThrowAnyException();
            assertThat(agent.calls).hasSize(2);
        }
    }

    @Test
    void whatGotLostOnABrokenConnectionIsAskedAgainIfThatIsSafe() throws Exception {
        var turn = new AtomicInteger();
        try (var agent = new TestAgent((request, connection) -> {
                    if (turn.getAndIncrement() == 0) {
                        connection.reset();
                    } else {
                        connection.answer(200, rpc(task("COMPLETED")));
                    }
                });
                var client = agent.client()) {
            assertThat(client.task("t1").state()).isEqualTo(TaskState.COMPLETED);

            turn.set(0);
            ClientException loss = catchThrowableOfType(ClientException.class, () -> client.send("Hello"));
            assertThat(loss.problem()).isEqualTo(Problem.LOST);
            assertThat(agent.methods()).containsExactly("GetTask", "GetTask", "SendMessage");
        }
    }

    @Test
    void aMessageWhoseAnswerWasLostIsRepeatedToAnAgentThatDeduplicates() throws Exception {
        var turn = new AtomicInteger();
        try (var agent = new TestAgent((request, connection) -> {
                    if (turn.getAndIncrement() % 2 == 0) {
                        connection.reset();
                    } else if (request.text().contains("SendStreamingMessage")) {
                        TestAgent.beginStream(connection);
                        TestAgent.send(connection, 1, "{\"task\":" + task("COMPLETED") + "}");
                        TestAgent.endStream(connection);
                    } else {
                        connection.answer(200, rpc("{\"task\":" + task("COMPLETED") + "}"));
                    }
                });
                var client = TestAgent.hasty().deduplicates(true).connect(agent.origin())) {
            assertThat(((Task) client.send("Hello")).state()).isEqualTo(TaskState.COMPLETED);
            try (var stream = client.stream("Hello")) {
                assertThat(stream.next()).isInstanceOf(Task.class);
                assertThat(stream.hasNext()).isFalse();
            }

            assertThat(agent.methods())
                    .containsExactly("SendMessage", "SendMessage", "SendStreamingMessage", "SendStreamingMessage");
            assertThat(agent.calls.stream().map(AgentClientTest::messageId).distinct())
                    .as("one message of each kind, sent twice")
                    .hasSize(2);
        }
    }

    @Test
    void aCancellationWhoseAnswerWasLostIsNotRepeatedToAnAgentThatDeduplicates() throws Exception {
        try (var agent = new TestAgent((request, connection) -> connection.reset());
                var client = TestAgent.hasty().deduplicates(true).connect(agent.origin())) {
            ClientException loss = catchThrowableOfType(ClientException.class, () -> client.cancel("t1"));

            assertThat(loss.problem()).isEqualTo(Problem.LOST);
            assertThat(agent.methods()).containsExactly("CancelTask");
        }
    }

    @Test
    void whatNeverLeftIsSentWhenThereIsSomebodyToSendItTo() throws Exception {
        RawServer gone = new RawServer(connection -> {});
        gone.close();
        AgentCard card = card(gone.url("/agent"));
        var waits = new ArrayList<Duration>();
        var started = new ArrayList<RawServer>();
        Attempts.Pause start = wait -> {
            waits.add(wait);
            if (waits.size() == 2) {
                started.add(server(gone.port(), rpc("{\"task\":" + task("COMPLETED") + "}")));
            }
            return false;
        };

        try (var client = TestAgent.hasty().pause(start).of(card)) {
            assertThat(client.send("Hello")).isInstanceOf(Task.class);
            assertThat(waits).hasSize(2);
        } finally {
            started.forEach(RawServer::close);
        }
    }

    @Test
    void afterSoManyRetriesTheLastErrorStands() throws Exception {
        try (var agent = new TestAgent((request, connection) -> connection.answer(503, "", "Retry-After: 0"));
                var client = TestAgent.hasty().retries(2).connect(agent.origin())) {
            A2AException refusal = catchThrowableOfType(A2AException.class, () -> client.task("t1"));

            assertThat(refusal.retryAfter()).isEqualTo(Duration.ZERO);
            assertThat(agent.calls).hasSize(3);
        }
    }

    @Test
    void aRetryBehindTheDeadlineIsLeftToTheCaller() throws Exception {
        try (var agent = new TestAgent((request, connection) -> connection.answer(429, "", "Retry-After: 31"));
                var client = agent.client()) {
            A2AException refusal = catchThrowableOfType(A2AException.class, () -> client.task("t1"));

            assertThat(refusal.retryAfter()).isEqualTo(Duration.ofSeconds(31));
            assertThat(agent.calls).hasSize(1);
        }
    }

    // ---- Bounds

    @Test
    void aSilentAgentIsGivenUpAtTheDeadline() throws Exception {
        try (var agent = new TestAgent((request, connection) -> connection.awaitClose());
                var client = TestAgent.hasty()
                        .callTimeout(Duration.ofMillis(100))
                        .sendTimeout(Duration.ofMillis(200))
                        .of(agent.foundCard())) {
            assertThat(catchThrowableOfType(ClientException.class, () -> client.task("t1"))
                            .problem())
                    .isEqualTo(Problem.TIMED_OUT);
            assertThat(catchThrowableOfType(ClientException.class, () -> client.send("Hello"))
                            .problem())
                    .isEqualTo(Problem.TIMED_OUT);
            // A call whose time is up before it has reached the agent is not sent, but no call is sent twice.
            assertThat(agent.calls).hasSizeLessThanOrEqualTo(2);
        }
    }

    @Test
    void anAgentThatDripsItsAnswerIsGivenUpToo() throws Exception {
        try (var agent = new TestAgent((request, connection) -> {
                    connection.write("HTTP/1.1 200 OK\nContent-Length: 1000000\n\n{");
                    connection.awaitClose();
                });
                var client =
                        TestAgent.hasty().callTimeout(Duration.ofMillis(200)).of(agent.foundCard())) {
            assertThat(catchThrowableOfType(ClientException.class, () -> client.task("t1"))
                            .problem())
                    .isEqualTo(Problem.TIMED_OUT);
        }
    }

    @Test
    void theCallersOwnDeadlineCountsIfItIsSooner() throws Exception {
        try (var agent = new TestAgent((request, connection) -> connection.awaitClose());
                var client = agent.client()) {
            CallContext context =
                    CallContext.anonymous().withDeadline(Instant.now().plusMillis(100));

            assertThat(catchThrowableOfType(ClientException.class, () -> client.call(GetTask.of("t1"), context))
                            .problem())
                    .isEqualTo(Problem.TIMED_OUT);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"Content-Length: 10000000000", "Connection: close"})
    void anAnswerLongerThanTheLimitIsNotRead(String header) throws Exception {
        try (var agent = new TestAgent((request, connection) -> {
                    connection.write("HTTP/1.1 200 OK\n" + header + "\n\n");
                    for (; ; ) {
                        connection.writeExactly(new byte[8192]);
                    }
                });
                var client = TestAgent.hasty().maxAnswerBytes(100_000).connect(agent.origin())) {
            assertThat(catchThrowableOfType(ClientException.class, () -> client.task("t1"))
                            .problem())
                    .isEqualTo(Problem.ANSWER_TOO_LARGE);
            assertThat(agent.calls).hasSize(1);
        }
    }

    @Test
    void anInterruptedCallerStopsWaiting() throws Exception {
        var arrived = new CountDownLatch(1);
        try (var agent = new TestAgent((request, connection) -> {
                    arrived.countDown();
                    connection.awaitClose();
                });
                var client = agent.client()) {
            Thread caller = Thread.currentThread();
            after(arrived, caller::interrupt);

            ClientException stop = catchThrowableOfType(ClientException.class, () -> client.send("Hello"));

            assertThat(stop.problem()).isEqualTo(Problem.INTERRUPTED);
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void closingEndsCallsThatAreUnderWayAndRefusesNewOnes() throws Exception {
        var arrived = new CountDownLatch(1);
        try (var agent = new TestAgent((request, connection) -> {
            arrived.countDown();
            connection.awaitClose();
        })) {
            AgentClient client = agent.client();
            after(arrived, client::close);

            assertThat(catchThrowableOfType(ClientException.class, () -> client.send("Hello"))
                            .problem())
                    .isEqualTo(Problem.CLOSED);
            client.close();
            assertThat(catchThrowableOfType(ClientException.class, () -> client.send("Hello"))
                            .problem())
                    .isEqualTo(Problem.CLOSED);
            assertThat(catchThrowableOfType(ClientException.class, () -> client.stream("Hello"))
                            .problem())
                    .isEqualTo(Problem.CLOSED);
        }
    }

    @Test
    void closingEndsTheWaitForARetry() throws Exception {
        var declined = new CountDownLatch(1);
        try (var agent = new TestAgent((request, connection) -> {
            connection.answer(503, "", "Retry-After: 20");
            declined.countDown();
        })) {
            AgentClient client = agent.client();
            after(declined, client::close);

            assertThat(catchThrowableOfType(ClientException.class, () -> client.task("t1"))
                            .problem())
                    .isEqualTo(Problem.CLOSED);
        }
    }

    // ---- Credentials and origins

    @Test
    void headersGoWithEveryRequest() throws Exception {
        try (var agent = answering(task("COMPLETED"));
                var client = TestAgent.hasty()
                        .bearer("s3cret")
                        .header("X-Team", "red")
                        .connect(agent.origin())) {
            client.task("t1");

            assertThat(agent.server.requests).hasSize(2).allSatisfy(request -> {
                assertThat(request.header("Authorization")).isEqualTo("Bearer s3cret");
                assertThat(request.header("X-Team")).isEqualTo("red");
            });
        }
    }

    @ParameterizedTest
    @CsvSource({
        "header, X-My-Key, X-My-Key: k&1",
        "query, key, GET /agent/tasks/t1?key=k%261",
        "cookie, session, Cookie: session=k&1",
    })
    void anApiKeyGoesWhereTheCardWantsIt(String location, String name, String expected) throws Exception {
        try (var agent = new TestAgent("HTTP+JSON", (request, connection) -> connection.answer(200, task("WORKING")))) {
            agent.with(TestAgent.card(
                    agent.url(),
                    "HTTP+JSON",
                    "\"securitySchemes\":{\"b\":{\"httpAuthSecurityScheme\":{\"scheme\":\"Bearer\"}},"
                            + "\"k\":{\"apiKeySecurityScheme\":{\"location\":\"" + location + "\",\"name\":\"" + name
                            + "\"}}},"));

            try (var client = TestAgent.hasty().apiKey("k&1").connect(agent.origin())) {
                client.task("t1");
            }

            assertThat(call(agent).head()).containsIgnoringCase(expected);
        }
    }

    @Test
    void anApiKeyHasAUsualPlaceIfTheCardNamesNone() throws Exception {
        try (var agent = answering(task("COMPLETED"));
                var client = TestAgent.hasty().apiKey("k").connect(agent.origin())) {
            client.task("t1");

            assertThat(call(agent).header("X-API-Key")).isEqualTo("k");
        }
    }

    @Test
    void whatWouldBreakOutOfAHeaderIsRefusedAndNotRepeated() {
        AgentClientBuilder builder = AgentClient.builder();

        assertThatThrownBy(() -> builder.bearer("s3cret\r\nX-Evil: 1"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining("s3cret");
        assertThatThrownBy(() -> builder.apiKey("s3cret\n"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining("s3cret");
        assertThatThrownBy(() -> builder.header("X\r\nY", "z")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.header("X", "a\0b")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.header("Host", "x")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.header("Content-Length", "1")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.extensions("https://a\r\nX: y")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aCardThatLeadsToAnotherOriginIsRefusedUnlessThatIsAllowed() throws Exception {
        try (var other = answering(task("COMPLETED"));
                var agent = answering(task("COMPLETED"))) {
            agent.with(TestAgent.card(other.url(), "JSONRPC", ""));

            ClientException refusal = catchThrowableOfType(
                    ClientException.class,
                    () -> TestAgent.hasty().bearer("s3cret").connect(agent.origin()));
            assertThat(refusal.problem()).isEqualTo(Problem.ORIGIN_NOT_ALLOWED);
            assertThat(refusal).hasMessageContaining("allowOrigin(\"http://localhost:" + other.server.port() + "\")");
            assertThat(other.server.requests).isEmpty();

            try (var client = TestAgent.hasty()
                    .bearer("s3cret")
                    .allowOrigin("http://localhost:" + other.server.port())
                    .connect(agent.origin())) {
                client.task("t1");
            }
            assertThat(call(other).header("Authorization")).isEqualTo("Bearer s3cret");
        }
    }

    @Test
    void aCardThatChangesItsMindAboutTheOriginIsRefusedToo() throws Exception {
        try (var other = answering(task("COMPLETED"));
                var agent = answering(task("COMPLETED"));
                var client = agent.client()) {
            agent.with(TestAgent.card(other.url(), "JSONRPC", ""));

            assertThat(catchThrowableOfType(ClientException.class, client::refreshCard)
                            .problem())
                    .isEqualTo(Problem.ORIGIN_NOT_ALLOWED);
            client.task("t1");
            assertThat(other.server.requests).isEmpty();
        }
    }

    @Test
    void extensionsAndTraceAreSentAlong() throws Exception {
        String trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        try (var agent = answering(task("COMPLETED"));
                var client = TestAgent.hasty().extensions("https://a.example/x").connect(agent.origin())) {
            client.call(
                    GetTask.of("t1"),
                    CallContext.anonymous()
                            .withExtensions(Set.of("https://a.example/y"))
                            .withTraceparent(trace));

            assertThat(call(agent).header("A2A-Extensions")).contains("https://a.example/x", "https://a.example/y");
            assertThat(call(agent).header("traceparent")).isEqualTo(trace);
        }
    }

    @Test
    void aListenerSeesTheWireWithoutCredentials() throws Exception {
        var lines = new ArrayList<String>();
        WireListener listener = new Notes(lines);
        try (var agent = answering("{\"task\":" + task("COMPLETED") + "}");
                var client = TestAgent.hasty()
                        .bearer("s3cret-s3cret-s3cret")
                        .header("X-Pin", "1234")
                        .listener(listener)
                        .connect(agent.origin())) {
            client.send(
                    Message.user(Part.text("my s3cret-s3cret-s3cret")),
                    new SendConfiguration(
                            List.of(),
                            new PushConfig(
                                    null,
                                    null,
                                    null,
                                    "https://hooks.example.com/",
                                    "tok",
                                    new PushConfig.Authentication("Basic", "cred")),
                            null,
                            false));

            assertThat(lines).hasSize(4);
            assertThat(lines.get(2))
                    .startsWith("2 POST " + agent.url())
                    .contains("\"token\":\"***\"", "\"credentials\":\"***\"", "my ***", "SendMessage");
            assertThat(lines.get(3)).startsWith("2 200 ").contains("TASK_STATE_COMPLETED");
            assertThat(String.join("\n", lines)).doesNotContain("s3cret", "1234", "tok\"", "cred\"");
        }
    }

    // ---- Defaults

    @Test
    void theDefaultsAreThese() {
        assertThat(AgentClient.builder().settings())
                .hasToString(
                        "ClientSettings[headers=[], apiKey=none, keys=none, credentials=false, preferred=[], version=null, allowed=[],"
                                + " extensions=[], callTimeout=PT30S, sendTimeout=PT5M, streamTimeout=null, connectTimeout=PT10S,"
                                + " streamSilence=PT5M, retries=3, deduplicates=false,"
                                + " reconnects=10,"
                                + " backoff=Backoff[first=PT0.2S, longest=PT10S, growth=EXPONENTIAL, floor=0.5], maxAnswerBytes=67108864,"
                                + " maxEventBytes=16777216, sslContext=null, plainHttp=false, cards=not verified, listener=none]");
    }

    @Test
    void settingsThatMakeNoSenseAreRefused() {
        AgentClientBuilder builder = AgentClient.builder();

        assertThatThrownBy(() -> builder.callTimeout(Duration.ZERO)).hasMessageContaining("callTimeout: PT0S");
        assertThatThrownBy(() -> builder.retries(-1)).hasMessageContaining("retries: -1");
        assertThatThrownBy(() -> builder.allowOrigin("ftp://x")).isInstanceOf(IllegalArgumentException.class);
    }

    /** Answers every call with one result. */
    private static TestAgent answering(String result) throws Exception {
        return new TestAgent((request, connection) -> connection.answer(200, rpc(result)));
    }

    /** Answers the first call with a status and no body, the others with a result; a cancel always with a task. */
    private static TestAgent turns(int status, String header, String result) throws Exception {
        var turn = new AtomicInteger();
        return new TestAgent((request, connection) -> {
            if (turn.incrementAndGet() == 1) {
                connection.answer(status, "", header);
            } else {
                connection.answer(200, rpc(request.text().contains("CancelTask") ? task("CANCELED") : result));
            }
        });
    }

    private static RawServer server(int port, String answer) {
        try {
            return new RawServer(
                    connection -> {
                        while (connection.request() != null) {
                            connection.answer(200, answer);
                        }
                    },
                    port);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String page(String next, String... ids) {
        var tasks = new ArrayList<String>();
        for (String id : ids) {
            tasks.add(task("WORKING").replace("t1", id));
        }
        return "{\"tasks\":[" + String.join(",", tasks) + "],\"nextPageToken\":\"" + next
                + "\",\"pageSize\":50,\"totalSize\":" + ids.length + "}";
    }

    private static Request call(TestAgent agent) {
        return requireNonNull(agent.calls.peek());
    }

    private static String messageId(Request request) {
        return request.text().replaceFirst("(?s).*\"messageId\":\"([^\"]+)\".*", "$1");
    }

    private static AgentCard card(String url) {
        return Json.read(TestAgent.card(url, "JSONRPC", "").getBytes(UTF_8), AgentCard.class);
    }

    private static Attempts.Pause noted(List<Duration> waits) {
        return wait -> {
            waits.add(wait);
            return false;
        };
    }

    private static void after(CountDownLatch event, Runnable then) {
        Thread.ofVirtual().start(() -> {
            try {
                event.await();
                then.run();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }
}
