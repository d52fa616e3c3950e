package dev.parley.mesh.hub;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.mesh.hub.Peer.Answer;
import dev.parley.mesh.hub.Sink.Callback;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.TaskState;
import dev.parley.testkit.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Messages about tasks at the addresses that delegations name. */
@Timeout(120)
@Execution(ExecutionMode.CONCURRENT) // most of them wait for the pauses between attempts
@Tag("heavy")
final class CallbacksTest {
    private static final CountDownLatch OPEN = new CountDownLatch(0);

    private static HubBuilder hub(CountDownLatch released) {
        Agent worker = Agent.named("worker", "Works").skill("work", "Works").handle((request, reply) -> {
            reply.progress(30, "begun");
            reply.progress(10, "once more");
            reply.progress(60, "half");
            reply.artifact("piece", "one");
            assertThat(released.await(60, TimeUnit.SECONDS)).isTrue();
            reply.complete();
        });
        Agent asking = Agent.named("asking", "Asks").skill("ask", "Asks").handle((request, reply) -> {
            if (request.text().equals("begin")) {
                reply.move(TaskState.INPUT_REQUIRED, Message.agent(Part.text("Which?")), Map.of());
            } else {
                reply.complete("took " + request.text());
            }
        });
        return Hub.builder()
                .inMemory()
                .port(0)
                .set("webhook-allow", "127.0.0.1")
                .agents(worker, asking);
    }

    private static String delegation(Sink sink, String id, String agent, String task, String metadata) {
        String content = "{'task':'%s','parameters':{'text':'begin'},'callback':'%s'}".formatted(task, sink.url());
        return Peer.envelope(id, agent, "task_delegation", content, metadata);
    }

    private static boolean isResult(Callback callback) {
        return callback.type().equals("task_result")
                && !callback.content("status").equals("partial");
    }

    @Test
    @DisplayName(
            "ONE06, ONE08 the callback gets rising progress up to 100, pieces and the result, in order, with headers and signature")
    void progressAndResult() throws Exception {
        try (var sink = new Sink(0);
                Hub hub = hub(OPEN).start()) {
            Answer accepted =
                    new Peer(hub.url()).post("/agents/worker/one", delegation(sink, "m-1", "worker", "work", "{}"));

            List<Callback> all = sink.until(CallbacksTest::isResult);

            List<Integer> progress = all.stream()
                    .filter(each -> each.type().equals("status_update"))
                    .map(each -> Integer.parseInt(each.content("progress").toString()))
                    .toList();
            assertThat(progress).isSorted().endsWith(100).contains(30, 60).doesNotContain(10);
            assertThat(all)
                    .anyMatch(each -> each.content("status").equals("partial")
                            && each.content("result").equals("one"));
            Callback last = all.getLast();
            assertThat(last.content("status")).isEqualTo("completed");
            assertThat(last.content("taskId")).isEqualTo(accepted.content("taskId"));
            assertThat(last.envelope().get("correlationId")).isEqualTo("c-m-1");
            assertThat(last.headers().get("X-message-id"))
                    .containsExactly(String.valueOf(last.envelope().get("messageId")));
            assertThat(last.headers().get("X-a2a-version")).containsExactly("1.0");
            assertThat(last.headers()).containsKey("Webhook-signature");
            assertThat(all.stream().map(each -> each.envelope().get("messageId")))
                    .doesNotHaveDuplicates();
            assertThat(all.stream().map(each -> each.headers().get("Webhook-id")))
                    .doesNotHaveDuplicates();
        }
    }

    @Test
    @DisplayName("ONE12 further attempts follow the retryPolicy of the envelope, and end with it")
    void retries() throws Exception {
        String policy = "{'retryPolicy':{'maxRetries':%d,'backoff':'%s'}}";
        try (var patient = new Sink(2);
                var broken = new Sink(100);
                Hub hub = hub(OPEN).start()) {
            var peer = new Peer(hub.url());
            peer.post("/agents/worker/one", delegation(broken, "m-1", "worker", "work", policy.formatted(1, "linear")));
            peer.post(
                    "/agents/worker/one",
                    delegation(patient, "m-2", "worker", "work", policy.formatted(3, "exponential")));

            patient.until(CallbacksTest::isResult);
            List<Callback> attempts = new ArrayList<>(patient.attempts);
            assertThat(pause(attempts, 1)).isGreaterThan(Duration.ofMillis(750));
            assertThat(pause(attempts, 2)).isGreaterThan(Duration.ofMillis(1500));
            assertThat(attempts.get(0).envelope()).isEqualTo(attempts.get(2).envelope());

            requireNonNull(broken.attempts.poll(60, TimeUnit.SECONDS));
            requireNonNull(broken.attempts.poll(60, TimeUnit.SECONDS));
            assertThat(broken.attempts.poll(3, TimeUnit.SECONDS))
                    .as("given up after one repetition")
                    .isNull();
        }
    }

    private static Duration pause(List<Callback> attempts, int number) {
        return Duration.ofNanos(
                attempts.get(number).nanoTime() - attempts.get(number - 1).nanoTime());
    }

    @Test
    @DisplayName(
            "ONE08 callbacks about tasks of one correlation id come in the order of their events, others do not wait")
    void inOrder() throws Exception {
        var released = new CountDownLatch(1);
        Agent slow = Agent.named("slow", "Ends late").skill("work", "Works").handle((request, reply) -> {
            reply.progress(50, "begun");
            assertThat(released.await(60, TimeUnit.SECONDS)).isTrue();
            reply.complete();
        });
        String policy = "{'retryPolicy':{'maxRetries':9,'backoff':'linear'}}";
        try (var sink = new Sink(3);
                var other = new Sink(0);
                Hub hub = hub(OPEN).agents(slow).start()) {
            var peer = new Peer(hub.url());
            String first = delegate(peer, delegation(sink, "m-1", "slow", "work", policy));
            requireNonNull(sink.attempts.poll(60, TimeUnit.SECONDS));
            String second = delegate(peer, delegation(sink, "m-2", "worker", "work", policy));
            delegate(peer, delegation(other, "m-3", "worker", "work", policy));
            other.until(CallbacksTest::isResult);
            assertThat(sink.accepted).as("the first callback has failed").isEmpty();
            peer.get("/agents/worker/one/tasks/" + second, "Prefer", "wait=60");
            released.countDown();

            List<Callback> all =
                    sink.until(each -> isResult(each) && each.content("taskId").equals(first));

            assertThat(all.getFirst().content("taskId")).isEqualTo(first);
            assertThat(all.getLast().content("taskId")).isEqualTo(first);
            assertThat(all.stream().filter(each -> each.content("taskId").equals(second)))
                    .hasSizeGreaterThan(3);
            assertThat(all.stream()
                            .map(each ->
                                    ((Number) requireNonNull(each.envelope().get("timestamp"))).longValue()))
                    .isSorted();
        }
    }

    /** Sends a delegation of the correlation id "c", and returns the id of its task. */
    private static String delegate(Peer peer, String envelope) throws Exception {
        Answer accepted = peer.post(
                "/agents/" + (envelope.contains("'slow'") ? "slow" : "worker") + "/one",
                envelope.replaceAll("c-m-\\d", "c"));
        assertThat(accepted.status()).as(accepted.body()).isEqualTo(202);
        return String.valueOf(accepted.content("taskId"));
    }

    @Test
    @DisplayName("ONE12 a callback that is given up is listed among the dead letters, and delivered on demand")
    void deadLetters() throws Exception {
        try (var sink = new Sink(2);
                Hub hub = hub(OPEN).start()) {
            var peer = new Peer(hub.url());
            Answer accepted = peer.post(
                    "/agents/worker/one",
                    delegation(sink, "m-1", "worker", "work", "{'retryPolicy':{'maxRetries':1,'backoff':'linear'}}"));
            requireNonNull(sink.attempts.poll(60, TimeUnit.SECONDS));
            requireNonNull(sink.attempts.poll(60, TimeUnit.SECONDS));
            Answer dead = Eventually.value(
                    "a dead letter, which is listed after the last attempt",
                    () -> peer.get("/admin/webhooks/dead"),
                    answer -> answer.at("webhooks", 0) != null);

            String task = String.valueOf(accepted.content("taskId"));
            assertThat(dead.at("webhooks", 0, "taskId")).as(dead.body()).isEqualTo(task);
            assertThat(dead.at("webhooks", 0, "url")).isEqualTo(sink.url());
            assertThat(dead.text("webhooks", 0, "attempts")).isEqualTo("2");
            assertThat(sink.accepted).isEmpty();

            String path = "/admin/webhooks/" + task + "/" + dead.text("webhooks", 0, "configId") + "/redeliver";
            assertThat(peer.post(path, "{}").status()).isEqualTo(200);

            assertThat(sink.until(CallbacksTest::isResult).getLast().content("taskId"))
                    .isEqualTo(task);
            assertThat(peer.get("/admin/webhooks/dead").at("webhooks", 0)).isNull();
        }
    }

    @Test
    @DisplayName("ONE33 messages by type, durations, deliveries and waiting tasks of each agent are metrics")
    void metrics() throws Exception {
        var released = new CountDownLatch(1);
        Agent busy = Agent.named("busy", "Ends late")
                .skill("work", "Works")
                .concurrency(1)
                .handle((request, reply) -> {
                    assertThat(released.await(60, TimeUnit.SECONDS)).isTrue();
                    reply.complete();
                });
        try (var sink = new Sink(1);
                Hub hub = hub(OPEN).agents(busy).start()) {
            var peer = new Peer(hub.url());
            peer.post(
                    "/agents/worker/one",
                    delegation(sink, "m-1", "worker", "work", "{'retryPolicy':{'maxRetries':9,'backoff':'linear'}}"));
            sink.until(CallbacksTest::isResult);
            peer.delegate("m-2", "busy", "work", "x");
            peer.post("/agents/busy/one", delegation(sink, "m-3", "busy", "work", "{'priority':'low'}"));

            String waiting = page(peer, "parley_waiting_tasks_by_priority{agent=\"busy\",priority=\"low\"} 1.0");
            released.countDown();

            assertThat(waiting)
                    .contains(
                            "one_messages_total{agent=\"worker\",direction=\"in\",type=\"task_delegation\"} 1.0",
                            "one_messages_total{agent=\"worker\",direction=\"out\",type=\"task_acceptance\"} 1.0",
                            "parley_run_duration_seconds_count{agent=\"worker\",state=\"completed\"} 1",
                            "parley_webhook_delivery_seconds_count{agent=\"worker\",dialect=\"one\",outcome=\"failed\"} 1")
                    .containsPattern(
                            "one_messages_total\\{agent=\"worker\",direction=\"out\",type=\"task_result\"} [1-9]")
                    .containsPattern(
                            "parley_webhook_delivery_seconds_count\\{agent=\"worker\",dialect=\"one\",outcome=\"accepted\"} [1-9]");
        }
    }

    /** The page of metrics, once it has a line. */
    private static String page(Peer peer, String line) throws Exception {
        return Eventually.value(line, () -> peer.get("/metrics").body(), page -> page.contains(line));
    }

    @Test
    @DisplayName("ONE08 callbacks to private addresses are refused unless the operator allows them")
    void privateAddresses() throws Exception {
        try (var sink = new Sink(0);
                Hub hub = hub(OPEN).set("webhook-allow", "10.0.0.1").start()) {
            Answer refused =
                    new Peer(hub.url()).post("/agents/worker/one", delegation(sink, "m-1", "worker", "work", "{}"));

            assertThat(refused.status()).isEqualTo(400);
            assertThat(refused.content("code")).isEqualTo("invalid_message");
            assertThat(refused.content("details", "path")).as("M12").isEqualTo("message.content.callback");
            Answer begun = new Peer(hub.url()).delegate("m-2", "worker", "work", "x");
            Answer registered = new Peer(hub.url())
                    .post(
                            "/agents/worker/one/tasks/" + begun.content("taskId") + "/callback",
                            "{'agentId':'planner','callback':'" + sink.url() + "'}");
            assertThat(registered.content("details", "path")).as("M12").isEqualTo("callback");
        }
    }

    @Test
    @DisplayName("a callback that is registered for a task of SendMessage receives messages about it")
    void registered() throws Exception {
        var released = new CountDownLatch(1);
        try (var sink = new Sink(0);
                Hub hub = hub(released).start()) {
            var peer = new Peer(hub.url());
            Answer begun = peer.post(
                    "/agents/worker/message:send",
                    "{'message':{'messageId':'m-1','role':'ROLE_USER','parts':[{'text':'x'}]},'configuration':{'returnImmediately':true}}",
                    "A2A-Version",
                    "1.0");
            String taskId = begun.text("task", "id");
            Answer registered = peer.post(
                    "/agents/worker/one/tasks/" + taskId + "/callback",
                    "{'agentId':'planner','callback':'" + sink.url() + "'}");
            assertThat(registered.status()).isEqualTo(201);
            released.countDown();

            Callback result = sink.until(CallbacksTest::isResult).getLast();

            assertThat(result.content("taskId")).isEqualTo(taskId);
            assertThat(result.envelope().get("from"))
                    .isEqualTo(Map.of("agentId", "worker", "endpoint", hub.agentUrl("worker") + "/one"));
        }
    }

    @Test
    void aRegistrationNamesItsMembers() throws Exception {
        try (Hub hub = hub(OPEN).start()) {
            var peer = new Peer(hub.url());
            String path = "/agents/worker/one/tasks/unknown/callback";

            Answer missing = peer.post(path, "{'callback':'http://a.example'}");
            Answer blank = peer.post(path, "{'agentId':'planner','callback':' '}");
            Answer number = peer.post(path, "{'agentId':7,'callback':'http://a.example'}");

            assertThat(missing.content("details", "path")).isEqualTo("agentId");
            assertThat(blank.content("details", "path")).isEqualTo("callback");
            assertThat(number.content("details", "path")).isEqualTo("agentId");
        }
    }

    @Test
    @DisplayName("a task that waits for its sender says so, and goes on with the response")
    void questions() throws Exception {
        try (var sink = new Sink(0);
                Hub hub = hub(OPEN).start()) {
            var peer = new Peer(hub.url());
            Answer accepted = peer.post("/agents/asking/one", delegation(sink, "m-1", "asking", "ask", "{}"));
            Callback question = sink.until(each -> each.content("state").equals("input-required"))
                    .getLast();
            assertThat(question.content("message")).isEqualTo("Which?");

            peer.send("m-2", "asking", "response", "{'result':'this','taskId':'" + accepted.content("taskId") + "'}");

            assertThat(sink.until(CallbacksTest::isResult).getLast().content("result"))
                    .isEqualTo("took this");
        }
    }

    @Test
    @DisplayName("ONE09, ONE11 a task whose timeout or deadline passes ends as failed with the code timeout")
    void timeouts() throws Exception {
        try (var sink = new Sink(0);
                Hub hub = hub(new CountDownLatch(1)).start()) {
            var peer = new Peer(hub.url());
            peer.post("/agents/worker/one", delegation(sink, "m-1", "worker", "work", "{'timeout':500}"));

            Callback result = sink.until(CallbacksTest::isResult).getLast();
            assertThat(result.content("status")).isEqualTo("failed");
            assertThat(result.content("error").toString()).contains("timeout");

            Answer late = until(peer, "m-late", System.currentTimeMillis() - 1);
            assertThat(late.type()).isEqualTo("error");
            assertThat(late.content("code")).isEqualTo("timeout");
            Answer waited = late;
            // A deadline that passes before the message arrives is refused as above: a busy machine needs more time.
            for (long millis = 500; waited.type().equals("error") && millis < 60_000; millis *= 2) {
                waited = until(peer, "m-2-" + millis, System.currentTimeMillis() + millis);
            }
            assertThat(waited.content("error", "code")).isEqualTo("timeout");
            Answer query = peer.post(
                    "/agents/worker/one", Peer.envelope("m-3", "worker", "query", "{'query':'x'}", "{'timeout':500}"));
            assertThat(query.status()).isEqualTo(504);
            assertThat(query.content("code")).isEqualTo("timeout");
            assertThat(query.content("retryable")).isEqualTo(true);
        }
    }

    @Test
    @DisplayName("ONE09 a timeout that passes before the message has begun its task ends the task")
    void timeoutsBeforeTheBeginning() throws Exception {
        try (Hub hub = hub(new CountDownLatch(1)).start()) {
            var peer = new Peer(hub.url());
            for (int i = 0; i < 20; i++) {
                Answer query = peer.post(
                        "/agents/worker/one",
                        Peer.envelope("m-" + i, "worker", "query", "{'query':'x'}", "{'timeout':1}"));

                assertThat(query.status()).isEqualTo(504);
                assertThat(query.content("code")).isEqualTo("timeout");
            }
        }
    }

    private static Answer until(Peer peer, String messageId, long deadline) throws Exception {
        return peer.send(
                messageId,
                "worker",
                "task_delegation",
                "{'task':'work','deadline':" + deadline + "}",
                "Prefer",
                "wait=60");
    }

    @Test
    @DisplayName(
            "the estimated completion is the median of the skill's measured durations, and absent before the first")
    void estimates() throws Exception {
        estimates(Agent.named("echo", "Echoes").skill("say", "Says").handle((request, reply) -> reply.complete("x")));
    }

    @Test
    @DisplayName("M5: agents that report progress with notes have an estimated completion too")
    void estimatesOfAgentsWithNotes() throws Exception {
        estimates(Agent.named("echo", "Echoes").skill("say", "Says").handle((request, reply) -> {
            reply.progress(10, "begun");
            reply.working("half");
            reply.progress(90, "nearly done");
            reply.complete("x");
        }));
    }

    private static void estimates(Agent agent) throws Exception {
        try (Hub hub = Hub.builder().inMemory().port(0).agents(agent).start()) {
            var peer = new Peer(hub.url());
            Answer first = peer.delegate("m-1", "echo", "say", "x");
            assertThat(first.type()).isEqualTo("task_acceptance");
            assertThat(first.content("estimatedCompletion")).isNull();

            var last = new AtomicInteger(1);
            // The first run may end after its result is seen.
            Answer second = Eventually.value(
                    "an estimate",
                    () -> peer.delegate("m-" + last.incrementAndGet(), "echo", "say", "x"),
                    answer -> answer.content("estimatedCompletion") != null);

            long estimate = ((Number) requireNonNull(second.content("estimatedCompletion"))).longValue();
            assertThat(estimate).isBetween(System.currentTimeMillis() - 60_000, System.currentTimeMillis() + 60_000);
        }
    }
}
